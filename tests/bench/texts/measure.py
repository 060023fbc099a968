"""measure.py FOLDER: writes tokenizers that PyPI's `tokenizers` trains here, and lines. measure.py FOLDER NAME SECONDS: prints the seconds that Python takes for all lines, the mean of many times."""
import json
import os
import re
import sys
import time
import unicodedata
from pathlib import Path

os.environ["TOKENIZERS_PARALLELISM"] = "false"
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "e2e"))

from tokenizers import Tokenizer, decoders, pre_tokenizers  # noqa: E402

LINES = 1000  # as many as a node goes over
PYTHON = {
    "normalise": lambda lines: [unicodedata.normalize("NFKC", line) for line in lines],
    "casefold": lambda lines: [line.casefold() for line in lines],
    "find_all": lambda lines, word=re.compile("[a-z]+"): [word.findall(line) for line in lines],
}


def write(folder):
    import tokens_test
    lines = tokens_test.corpus()
    (folder / "lines.json").write_text(json.dumps({"lines": lines[:LINES]}))
    tokens_test.word_piece(lines).save(str(folder / "wordpiece.json"))
    tokens_test.byte_pairs(lines, ["<s>"], pre_tokenizers.ByteLevel(), decoder=decoders.ByteLevel()).save(str(folder / "bpe.json"))
    tokens_test.pieces(lines, pre_tokenizers.Metaspace()).save(str(folder / "unigram.json"))


def measure(folder, name, seconds):
    lines = json.loads((folder / "lines.json").read_text())["lines"]
    if name in PYTHON:
        def run():
            return PYTHON[name](lines)
    else:
        tokenizer = Tokenizer.from_file(str(folder / f"{name}.json"))

        def run():
            return [one.ids for one in tokenizer.encode_batch_fast(lines)]
    run()
    began, times = time.perf_counter(), 0
    while (passed := time.perf_counter() - began) < seconds:
        run()
        times += 1
    return passed / times


if __name__ == "__main__":
    if len(sys.argv) == 2:
        write(Path(sys.argv[1]))
    else:
        print(measure(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])))
