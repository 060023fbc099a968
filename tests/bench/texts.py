"""Functions of std.text beside PyPI's `tokenizers` and Python, each on one core."""
import subprocess
from pathlib import Path

import bench
import harness
import looped
import peers
from bench import Row

MEASURE = Path(__file__).parent / "texts/measure.py"
# The row's name: the call for a line, and what of its result is summed up, so that none is left out.
LENGTH, NUMBER, TRUTH = "len({})", "{}", "if {} {{ 1 }} else {{ 0 }}"
CALLS = {
    "wordpiece": ("text.wordpiece(line, TOKENS)", LENGTH),
    "bpe": ("text.bpe(line, TOKENS)", LENGTH),
    "unigram": ("text.unigram(line, TOKENS)", LENGTH),
    "normalise": ('text.normalise(line, "NFKC")', LENGTH),
    "casefold": ("text.casefold(line)", LENGTH),
    "find_all": ('text.find_all(line, "[a-z]+")', LENGTH),
    "split": ('text.split(line, " ")', LENGTH),
    "words": ("text.words(line)", LENGTH),
    "trim": ("text.trim(line)", LENGTH),
    "replace": ('text.replace(line, " ", "--")', LENGTH),
    "find": ('text.find(line, "not there") ?? -1', NUMBER),
    "contains": ('text.contains(line, "not there")', TRUTH),
    "starts_with": ('text.starts_with(line, "The ")', TRUTH),
    "ends_with": ('text.ends_with(line, ".")', TRUTH),
    "characters": ("text.characters(line)", NUMBER),
    "slice": ("text.slice(line, 5, 40)", LENGTH),
    "lower": ("text.lower(line)", LENGTH),
    "strip_accents": ("text.strip_accents(line)", LENGTH),
    "matches": ('text.matches(line, "[0-9]+$")', TRUTH),
    "groups": ('text.groups(line, "([a-z]+) ([a-z]+)")', LENGTH),
    "replace_all": ('text.replace_all(line, "[aeiou]+", "-")', LENGTH),
    "split_all": ('text.split_all(line, "[ ,.]+")', LENGTH),
}
# Those of all lines: the call, and what is summed up.
WHOLES = {
    "join": ('text.join(lines, "\\n")', LENGTH),
    "detokenise": ("[text.detokenise(line, TOKENS.table) for line in ids]", "sum[i < len({0})](len({0}[i]))"),
    "padded_rows": ("text.padded_rows(ids, 128)", "sum[i < len({0}), j < 128]({0}[i, j])"),
    "mask_rows": ("text.mask_rows(ids, 128)", "sum[i < len({0}), j < 128]({0}[i, j])"),
    "longest": ("text.longest(ids)", NUMBER),
    "bucket": ("[text.bucket(len(line), [16, 32, 64, 128]) for line in ids]", "sum[i < len({0})]({0}[i])"),
}
OF_IDS = "ids: list<i64[_]>"


def program(folder, name):
    """What runs a row, and what it is given."""
    tokens = "wordpiece" if name == "detokenise" else name
    const = f'const TOKENS = text.tokenizer("{tokens}.json");\n' if (folder / f"{tokens}.json").exists() else ""
    if name in WHOLES:
        call, summed = WHOLES[name]
        total = summed.format("made")
    else:
        call, summed = CALLS[name]
        call, total = f"[{call} for line in lines]", f"sum[i < len(made)]({summed.format('made[i]')})"
    given = "ids" if "ids" in call else "lines"
    source = folder / f"{name}.wf"
    source.write_text(f"import std.text;\n{const}workflow Run({OF_IDS if given == 'ids' else 'lines: list<string>'}) -> (total: i64) {{\n  node made = {call};\n"
                      f"  node total = {total};\n  return (total: total);\n}}\nservice Bench {{ workflow Run; }}\n")
    return source, folder / f"{given}.json", const != ""


def std_text(options):
    """tokenizers and functions of texts on 1,000 lines of many languages, against PyPI's `tokenizers` and Python"""
    python = harness.clients()
    folder = harness.scratch() / "texts"
    folder.mkdir()
    subprocess.run([python, "-B", MEASURE, folder], check=True)
    for name in (*CALLS, *WHOLES):
        source, given, is_tokens = program(folder, name)

        def peer():
            with peers.OnCores(peers.SERVER_CPU):
                return float(subprocess.run([python, "-B", MEASURE, folder, name, str(options.seconds)], check=True, capture_output=True, text=True).stdout)
        took = bench.in_turns(options.rounds, {"ours": lambda: looped.seconds(source, given, options.seconds), "peer": peer})
        yield Row(f"text-{name}", took["ours"] * 1e3, took["peer"] * 1e3, "ms", "tokenizers" if is_tokens else "Python", 1, higher_is_better=False)
