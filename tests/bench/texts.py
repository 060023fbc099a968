"""Functions of std.text beside PyPI's `tokenizers` and Python, each on one core."""
import subprocess
from pathlib import Path

import bench
import harness
import looped
import peers
from bench import Row

MEASURE = Path(__file__).parent / "texts/measure.py"
CALLS = {
    "wordpiece": "text.wordpiece(line, TOKENS)",
    "bpe": "text.bpe(line, TOKENS)",
    "unigram": "text.unigram(line, TOKENS)",
    "normalise": 'text.normalise(line, "NFKC")',
    "casefold": "text.casefold(line)",
    "find_all": 'text.find_all(line, "[a-z]+")',
}


def std_text(options):
    """tokenizers and functions of texts on 1,000 lines of many languages, against PyPI's `tokenizers` and Python"""
    python = harness.clients()
    folder = harness.scratch() / "texts"
    folder.mkdir()
    subprocess.run([python, "-B", MEASURE, folder], check=True)
    for name, call in CALLS.items():
        is_tokens = (folder / f"{name}.json").exists()
        const = f'const TOKENS = text.tokenizer("{name}.json");\n' if is_tokens else ""
        source = folder / f"{name}.wf"
        source.write_text(f"import std.text;\n{const}workflow Run(lines: list<string>) -> (total: i64) {{\n  node made = for line in lines {{ {call} }};\n"
                          "  node total = sum[i < len(made)](len(made[i]));\n  return (total: total);\n}\nservice Bench { workflow Run; }\n")

        def peer():
            with peers.OnCores(peers.SERVER_CPU):
                return float(subprocess.run([python, "-B", MEASURE, folder, name, str(options.seconds)], check=True, capture_output=True, text=True).stdout)
        took = bench.in_turns(options.rounds, {"ours": lambda: looped.seconds(source, folder / "lines.json", options.seconds), "peer": peer})
        yield Row(f"text-{name}", took["ours"] * 1e3, took["peer"] * 1e3, "ms", "tokenizers" if is_tokens else "Python", 1, higher_is_better=False)
