"""Checks every program of a folder against the expectations written in it: run.py FOLDER --wfc=build/dev/bin/wfc

A program is a file, or a folder with main.wf. `// error: WFnnnn text` stands on the line where the diagnostic begins (`// error@-1:` one line below it); the
text is part of the message. Every diagnostic must be expected and every expectation met. `fail_` begins the name exactly if an error is expected.
"""
import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import harness


def mistakes_of(root, name, wfc):
    files = sorted(root.parent.glob("*.wf")) if root.name == "main.wf" else [root]
    expected = [one for file in files for one in harness.expectations(file)]
    arguments = harness.phase_arguments(root.parent.name)
    status, found = harness.check(wfc, [*arguments, root.name], root.parent)
    mistakes = []
    errors = any(one.severity == "error" for one in expected)
    if (errors or root.with_suffix(".txt").exists()) != name.startswith("fail_"):  # a .txt: how its tests fail
        mistakes.append("the name begins with fail_ exactly if a failure is expected")
    if status != (1 if errors else 0):
        mistakes.append(f"exit status {status}")
    for diagnostic in found:
        file, line = harness.place_of(diagnostic)
        match = next((one for one in expected if (one.file, one.line, one.severity, one.code) == (file, line, diagnostic["severity"], diagnostic["code"])
                      and one.message in diagnostic["message"]), None)
        if match:
            expected.remove(match)
        else:
            mistakes.append(f"unexpected: {file}:{line}: {diagnostic['severity']}: {diagnostic['code']} {diagnostic['message']}")
    mistakes += [f"missing: {one.file}:{one.line}: {one.severity}: {one.code} {one.message}" for one in expected]
    return [f"{root}: {text}" for text in mistakes]


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("--wfc", type=Path, required=True)
    arguments = options.parse_args()
    wfc = arguments.wfc.resolve()
    roots = list(harness.programs(arguments.folder.resolve()))
    if not roots:
        sys.exit(f"no programs in {arguments.folder}")
    with ThreadPoolExecutor(4) as pool:
        mistakes = [one for found in pool.map(lambda root: mistakes_of(*root, wfc), roots) for one in found]
    print("\n".join(mistakes) or f"{len(roots)} programs as expected")
    sys.exit(1 if mistakes else 0)


if __name__ == "__main__":
    main()
