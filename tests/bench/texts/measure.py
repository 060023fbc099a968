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

import numpy as np  # noqa: E402
from tokenizers import Tokenizer, decoders, pre_tokenizers  # noqa: E402

LINES = 1000  # as many as a node goes over
BUCKETS = np.array([16, 32, 64, 128])


def without_accents(line):
    apart = unicodedata.normalize("NFD", line)
    return unicodedata.normalize("NFC", "".join(c for c in apart if unicodedata.category(c) != "Mn"))


def padded(rows, of):
    """As many columns as models are given, one row after the other."""
    y = np.zeros((len(rows), 128), np.int64)
    for out, row in zip(y, rows):
        out[:len(row)] = row[:128] if of == "ids" else 1
    return y


def groups(line, by=re.compile("([a-z]+) ([a-z]+)")):
    found = by.search(line)
    return [found[0], *found.groups()] if found else []


PYTHON = {
    "normalise": lambda lines: [unicodedata.normalize("NFKC", line) for line in lines],
    "casefold": lambda lines: [line.casefold() for line in lines],
    "find_all": lambda lines, word=re.compile("[a-z]+"): [word.findall(line) for line in lines],
    "split": lambda lines: [line.split(" ") for line in lines],
    "words": lambda lines: [line.split() for line in lines],
    "trim": lambda lines: [line.strip() for line in lines],
    "replace": lambda lines: [line.replace(" ", "--") for line in lines],
    "find": lambda lines: [line.find("not there") for line in lines],
    "contains": lambda lines: ["not there" in line for line in lines],
    "starts_with": lambda lines: [line.startswith("The ") for line in lines],
    "ends_with": lambda lines: [line.endswith(".") for line in lines],
    "characters": lambda lines: [len(line) for line in lines],
    "slice": lambda lines: [line[5:40] for line in lines],
    "lower": lambda lines: [line.lower() for line in lines],
    "strip_accents": lambda lines: [without_accents(line) for line in lines],
    "matches": lambda lines, by=re.compile("[0-9]+$"): [by.search(line) is not None for line in lines],
    "groups": lambda lines: [groups(line) for line in lines],
    "replace_all": lambda lines, by=re.compile("[aeiou]+"): [by.sub("-", line) for line in lines],
    "split_all": lambda lines, by=re.compile("[ ,.]+"): [by.split(line) for line in lines],
    "join": "\n".join,
}
# What is given ids, a list or an array of them for each line.
OF_IDS = {
    "padded_rows": lambda rows: padded(rows, "ids"),
    "mask_rows": lambda rows: padded(rows, "ones"),
    "longest": lambda rows: max(map(len, rows)),
    "bucket": lambda rows: BUCKETS[np.minimum(np.searchsorted(BUCKETS, [len(row) for row in rows]), 3)],
}


def write(folder):
    import tokens_test
    lines = tokens_test.corpus()
    (folder / "lines.json").write_text(json.dumps({"lines": lines[:LINES]}))
    pieces = tokens_test.word_piece(lines)
    pieces.save(str(folder / "wordpiece.json"))
    (folder / "ids.json").write_text(json.dumps({"ids": [one.ids for one in pieces.encode_batch_fast(lines[:LINES])]}))
    tokens_test.byte_pairs(lines, ["<s>"], pre_tokenizers.ByteLevel(), decoder=decoders.ByteLevel()).save(str(folder / "bpe.json"))
    tokens_test.pieces(lines, pre_tokenizers.Metaspace()).save(str(folder / "unigram.json"))


def measure(folder, name, seconds):
    lines = json.loads((folder / "lines.json").read_text())["lines"]
    ids = json.loads((folder / "ids.json").read_text())["ids"]
    if name in PYTHON:
        def run():
            return PYTHON[name](lines)
    elif name in OF_IDS:
        arrays = [np.array(row) for row in ids]

        def run():
            return OF_IDS[name](arrays)
    elif name == "detokenise":
        tokenizer = Tokenizer.from_file(str(folder / "wordpiece.json"))

        def run():
            return tokenizer.decode_batch(ids)
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
