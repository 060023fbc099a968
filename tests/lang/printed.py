"""Whether `wfc build --emit=sema` prints each program of the corpus that compiles: printed.py --wfc=PATH [NAME...]

A program that is checked holds no part without a type; the printer comes upon every part.
"""
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import cases  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("examples", "tests/lang", "tests/e2e", "tests/cli", "tests/bench")


def print_of(program, wfc):
    return subprocess.run([wfc, "build", program.name, "--emit=sema", "-o", os.devnull], cwd=program.parent, capture_output=True, text=True, timeout=60)


def mistakes_of(program, wfc, _):
    done = print_of(program, wfc)
    return [] if done.returncode in (0, 1) else [f"{program.relative_to(ROOT)}: exit status {done.returncode}\n{done.stderr}"]


def programs(root):
    return [path for folder in FOLDERS for path in sorted((root / folder).rglob("*.wf"))]


RUNNER = cases.Runner(__doc__, cases=programs, name_of=lambda program: program.stem, mistakes_of=mistakes_of,
                      held="{} programs are printed, or have mistakes", updates=False, folder=ROOT)

if __name__ == "__main__":
    RUNNER.main()
