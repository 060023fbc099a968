"""Builds each program of rules/ that has no tests into machine code: built.py --wfc=PATH [NAME...]

Those with tests are test_blocks.py's, those with calls served.py's, those that do not compile run.py's.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import harness
import test_blocks

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import cases  # noqa: E402


def mistakes_of(program, wfc, _):
    with tempfile.TemporaryDirectory() as folder:
        product = Path(folder) / "plan.o"
        done = subprocess.run([wfc, "build", program.name, "--emit=obj", "-o", product], cwd=program.parent, capture_output=True, text=True, timeout=240)
        if done.returncode == 0 and product.stat().st_size > 0:
            return []
    return [f"{program.name}: exit status {done.returncode}\n{done.stderr}"]


def programs(folder):
    compiles = [path for path in sorted(folder.glob("*.wf")) if not any(one.severity == "error" for one in harness.expectations(path))]
    return [path for path in compiles if not test_blocks.has_tests(path) and not path.with_suffix(".calls").exists()]


RUNNER = cases.Runner(__doc__, cases=programs, name_of=lambda program: program.stem, mistakes_of=mistakes_of, held="{} programs become machine code",
                      updates=False, folder=test_blocks.FOLDER, at_once=2)

if __name__ == "__main__":
    RUNNER.main()
