"""Runs the tests of each program of rules/ that has some: test_blocks.py --wfc=PATH [--update] [NAME...]

A program `fail_...` has tests that fail, and the report is the .txt beside it, word for word but for times; in the others all pass. Programs that do
not compile are run.py's.
"""
import re
import subprocess
import sys
from pathlib import Path

import harness

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import cases  # noqa: E402

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


def programs(folder):
    return [path for path in sorted(folder.glob("*.wf")) if has_tests(path)]


RUNNER = cases.Runner(__doc__, cases=programs, name_of=lambda program: program.stem, mistakes_of=mistakes_of, held="{} programs as expected", folder=FOLDER,
                      at_once=2)

if __name__ == "__main__":
    RUNNER.main()
