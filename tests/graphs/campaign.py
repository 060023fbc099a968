"""Writes random graphs, has ONNX Runtime and wfc-model answer them, and adds what they said to the tally: a row for each day, summed over its runs. Every run has
seeds of its own. What differs is made smaller and kept. A row that tells what was `mended` is closed: what runs after that has a row of its own."""
import argparse
import collections
import datetime
import json
import shutil
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import engine
from generate import generated
from judge import is_as_reference, is_rounding
from oracle import Refused
from shrink import answered, shrunk

HERE = Path(__file__).resolve().parent
TALLY, KEPT = HERE / "tally.json", HERE / "kept"
BATCH = 250
SUMMED = ("graphs", "nodes", "agreed", "rounding", "reference", "unsupported", "differences", "crashes", "not_generated")


class Judged:
    """What became of the cases of a batch."""
    def __init__(self):
        self.counts, self.reasons, self.operators = collections.Counter(), collections.Counter(), collections.Counter()
        self.found = []


def difference(folder, graph, case, wanted):
    """The reason that wfc-model differs for, or is not to be blamed; (word, reason)."""
    engine.write(folder, case, wanted)
    word, reason = engine.tested([folder])[folder.name]
    values = {name: value.array for name, value in graph.values.items()}
    if word == "FAIL":
        ours = engine.answers(folder, case.outputs)
        word = "rounding" if is_rounding(case, values, ours, wanted) else "reference" if is_as_reference(case, ours) else word
    return word, reason


def keep(graph, case, kept, scratch):
    """Makes the case smaller and keeps it."""
    def differs(smaller, wanted):
        shutil.rmtree(scratch, ignore_errors=True)
        return difference(scratch, graph, smaller, wanted)[0] in ("FAIL", "crash")
    small = shrunk(case, graph.values, differs)
    folder = kept / f"{graph.seed}_{'_'.join(node.proto.op_type for node in small.nodes[:4])}"
    wanted = answered(small)
    word, reason = difference(folder, graph, small, wanted)
    shutil.rmtree(folder / "out", ignore_errors=True)
    return f"{folder.name}: {word} {reason}"


def written(seeds, folder):
    """{name of a folder: (graph, case, answers)} of what could be generated."""
    cases = {}
    for seed in seeds:
        try:
            graph, case = generated(seed)
            wanted = answered(case)
        except Refused:
            continue
        engine.write(folder / str(seed), case, wanted)
        cases[str(seed)] = graph, case, wanted
    return cases


def run(seeds, kept):
    judged = Judged()
    with tempfile.TemporaryDirectory(prefix="graphs") as scratch:
        folder = Path(scratch)
        cases = written(seeds, folder)
        judged.counts["not_generated"] += len(seeds) - len(cases)
        for name, (word, reason) in engine.tested([folder / name for name in cases]).items():
            graph, case, wanted = cases[name]
            if word == "FAIL":
                word, _ = difference(folder / name, graph, case, wanted)
            judged.counts.update({"graphs": 1, "nodes": len(case.nodes), {"ok": "agreed", "FAIL": "differences", "crash": "crashes"}.get(word, word): 1})
            judged.operators.update(node.proto.op_type for node in case.nodes)
            if word == "unsupported":
                judged.reasons[reason] += 1
            elif word in ("FAIL", "crash"):
                judged.found.append(keep(graph, case, kept, folder / "small"))
    return judged


def add(first, last, counts):
    rows = json.loads(TALLY.read_text()) if TALLY.exists() else []
    today = datetime.date.today().isoformat()
    if not rows or rows[-1]["date"] != today or "mended" in rows[-1]:
        rows.append({"date": today, "seeds": [first, last], **dict.fromkeys(SUMMED, 0)})
    rows[-1]["seeds"][1] = last
    for name in SUMMED:
        rows[-1][name] += counts[name]
    TALLY.write_text("[\n" + ",\n".join("  " + json.dumps(row) for row in rows) + "\n]\n")


def apart(seeds, kept):
    """`run` in a process of its own; where ONNX Runtime ends it, halves of the seeds by themselves. What is judged of each."""
    try:
        with ProcessPoolExecutor(1) as pool:
            return [pool.submit(run, seeds, kept).result()]
    except BrokenProcessPool:
        if len(seeds) == 1:
            print(f"seed {seeds[0]}: ONNX Runtime ended the process", flush=True)
            judged = Judged()
            judged.counts["not_generated"] = 1
            return [judged]
        half = len(seeds) // 2
        return apart(seeds[:half], kept) + apart(seeds[half:], kept)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, help="the first; default: one that was never run")
    parser.add_argument("--kept", type=Path, default=KEPT)
    parser.add_argument("--no-tally", action="store_true")
    given = parser.parse_args()
    rows = json.loads(TALLY.read_text()) if TALLY.exists() else []
    first = given.seed if given.seed is not None else 1 + max((row["seeds"][1] for row in rows), default=9_999)
    total, reasons, operators = collections.Counter(), collections.Counter(), collections.Counter()
    for begin in range(first, first + given.count, BATCH):
        seeds = range(begin, min(begin + BATCH, first + given.count))
        counts = collections.Counter()
        for judged in apart(seeds, given.kept):
            counts.update(judged.counts)
            reasons.update(judged.reasons)
            operators.update(judged.operators)
            for each in judged.found:
                print(each, flush=True)
        total.update(counts)
        if not given.no_tally:
            add(first, seeds[-1], counts)
    for reason, count in reasons.most_common(12):
        print(f"{count} unsupported: {reason}")
    print(f"{len(operators)} operators; {dict(total)}")
    return 1 if total["differences"] or total["crashes"] else 0


if __name__ == "__main__":
    sys.exit(main())
