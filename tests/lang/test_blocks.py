"""Runs the tests of each program of test_blocks/ and compares the report with the .txt beside it: test_blocks.py --wfc=PATH [--update] [NAME...]

Programs are named by the rule that they show; a name begins with `fail_` exactly if a test of it fails. Times are taken out of the reports.
"""
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import cases  # noqa: E402

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


RUNNER = cases.Runner(__doc__, cases=lambda folder: sorted(folder.glob("*.wf")), name_of=lambda program: program.stem, mistakes_of=mistakes_of,
                      held="{} programs as expected", folder=FOLDER, at_once=2)

if __name__ == "__main__":
    RUNNER.main()
