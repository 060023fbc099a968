"""Whether `wfc graph` draws what can run: drawn.py --wfc=build/dev/bin/wfc

Of every program of tests/lang and examples that compiles: what a node, control or stage reads or waits for is in the graph, nothing waits for itself by way of
others, and a stage stands behind those that it follows.
"""
import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def circle(before):
    """Names on a way back to its start, or nothing. before: what each waits for."""
    open_names, done = [], set()

    def visit(name):
        if name in done:
            return None
        if name in open_names:
            return open_names[open_names.index(name):] + [name]
        open_names.append(name)
        found = next(filter(None, map(visit, before.get(name, []))), None)
        open_names.pop()
        done.add(name)
        return found

    return next(filter(None, map(visit, before)), None)


def faults(workflow):
    pieces = [node for stage in workflow["stages"] for node in stage["nodes"]] + workflow["controls"]
    before = {piece["name"]: piece["reads"] + piece["after"] for piece in pieces}
    for name, others in before.items():
        for other in others:
            if other not in before:
                yield f"{name} waits for {other}, which there is not"
    if found := circle(before):
        yield "a circle: " + " <- ".join(found)
    seen = set()
    for stage in workflow["stages"]:
        for other in stage["after"]:
            if other not in seen:
                yield f"stage {stage['name']} stands before {other}, which it follows"
        seen.add(stage["name"])


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--wfc", type=Path, required=True)
    options.add_argument("--every", type=int, default=1, metavar="N", help="one program of N")
    given = options.parse_args()
    wfc = given.wfc.resolve()
    drawn = wrong = 0
    for path in sorted([*(ROOT / "tests/lang").rglob("*.wf"), *(ROOT / "examples").rglob("*.wf")])[::given.every]:
        done = subprocess.run([wfc, "graph", "--format=json", path.name], cwd=path.parent, capture_output=True, text=True, timeout=120)
        if done.returncode == 1 and not done.stdout:  # it has a mistake, which it is about
            continue
        drawn += 1
        for workflow in json.loads(done.stdout)["workflows"]:
            for fault in faults(workflow):
                wrong += 1
                print(f"{path.relative_to(ROOT)}: {workflow['name']}: {fault}")
    print(f"{drawn} programs drawn, {wrong} faults")
    sys.exit(1 if wrong or drawn * given.every < 50 else 0)


if __name__ == "__main__":
    main()
