"""Runs the tests of each program of test_blocks/ and compares the report with the .txt beside it: test_blocks.py --wfc=PATH [--update] [NAME...]

Programs are named by the rule that they show; a name begins with `fail_` exactly if a test of it fails. Times are taken out of the reports.
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "test_blocks"


def report(program, wfc):
    done = subprocess.run([wfc, "test", program.name], cwd=FOLDER, capture_output=True, text=True, timeout=120)
    text = re.sub(r"\([\d.]+ m?s\)", "(TIME)", done.stdout)
    return done.returncode, text + re.sub(r"^", "stderr: ", done.stderr, flags=re.M) if done.stderr else text


def mistakes_of(program, wfc, update):
    status, text = report(program, wfc)
    wanted = 1 if program.name.startswith("fail_") else 0
    mistakes = [] if status == wanted else [f"{program.name}: exit status {status}, wanted {wanted}\n{text}"]
    golden = program.with_suffix(".txt")
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
    programs = [path for path in sorted(FOLDER.glob("*.wf")) if not arguments.names or path.stem in arguments.names]
    if not programs:
        sys.exit("no programs")
    mistakes = [one for program in programs for one in mistakes_of(program, arguments.wfc.resolve(), arguments.update)]
    print("\n".join(mistakes) or f"{len(programs)} programs as expected")
    sys.exit(1 if mistakes else 0)


if __name__ == "__main__":
    main()
