"""Runs the tests of each program of rules/ that has some: test_blocks.py --wfc=PATH [--update] [NAME...]

In a program `fail_...` every test fails, and the report is the .txt beside it, word for word but for times; elsewhere all pass. Programs in which wfc
expects errors are run.py's.
"""
import argparse
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import harness

FOLDER = Path(__file__).resolve().parent / "rules"
TEST = re.compile(r"^test\s", re.M)


def has_tests(program):
    errors = any(one.severity == "error" for one in harness.expectations(program))
    return not errors and TEST.search(program.read_text(encoding="utf-8")) is not None


def report(program, wfc):
    done = subprocess.run([wfc, "test", program.name], cwd=FOLDER, capture_output=True, text=True, timeout=240)
    return done.returncode, re.sub(r"\([\d.]+ m?s\)", "(TIME)", done.stdout), done.stderr


def mistakes_of(program, wfc, update):
    status, text, errors = report(program, wfc)
    fails = program.name.startswith("fail_")
    mistakes = [] if status == (1 if fails else 0) else [f"{program.name}: exit status {status}\n{text}{errors}"]
    golden = program.with_suffix(".txt")
    if not fails:
        passed = f"\n{len(TEST.findall(program.read_text(encoding='utf-8')))} passed (TIME)"
        return mistakes if passed in "\n" + text else [*mistakes, f"{program.name}: not all tests have run\n{text}"]
    if update:
        golden.write_text(text, encoding="utf-8")
    elif text != golden.read_text(encoding="utf-8"):
        mistakes.append(f"{program.name}: the report differs\n--- wanted\n{golden.read_text(encoding='utf-8')}--- found\n{text}")
    return mistakes


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--wfc", type=Path, required=True)
    options.add_argument("--update", action="store_true")
    options.add_argument("names", nargs="*")
    arguments = options.parse_args()
    wfc = arguments.wfc.resolve()
    programs = [path for path in sorted(FOLDER.glob("*.wf")) if has_tests(path) and (not arguments.names or path.stem in arguments.names)]
    if not programs:
        sys.exit("no programs")
    with ThreadPoolExecutor(2) as pool:
        mistakes = [one for found in pool.map(lambda program: mistakes_of(program, wfc, arguments.update), programs) for one in found]
    print("\n".join(mistakes) or f"{len(programs)} programs as expected")
    sys.exit(1 if mistakes else 0)


if __name__ == "__main__":
    main()
