"""Runs the command of each folder beside this file and compares what it prints: run.py --wfc=build/dev/bin/wfc [--update] [NAME...]

A folder holds `cmd` (bash; `wfc` is on the path; `# status: 1` when it ends so), `stdout` and `stderr` (empty ones may be absent), and the files the command
needs. The command runs in a copy of the folder. In outputs `<source>` stands for the project's folder and `<temp>` for the copy.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import cases  # noqa: E402

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def run(case, wfc):
    """Exit status, stdout, stderr of the case's command, with the machine's paths taken out."""
    with tempfile.TemporaryDirectory() as temp:
        shutil.copytree(case, temp, dirs_exist_ok=True)
        environment = dict(os.environ, PATH=f"{wfc.parent}:{os.environ['PATH']}", LC_ALL="C")
        for name in ("NO_COLOR", "CLICOLOR_FORCE"):
            environment.pop(name, None)
        done = subprocess.run(["bash", "cmd"], cwd=temp, env=environment, capture_output=True, timeout=120, stdin=subprocess.DEVNULL)
        texts = [text.decode("utf-8", "replace").replace(temp, "<temp>").replace(str(ROOT), "<source>") for text in (done.stdout, done.stderr)]
        return done.returncode, *texts


def wanted(case, name):
    path = case / name
    return path.read_text(encoding="utf-8") if path.exists() else ""


def write(path, text):
    if text:
        path.write_text(text, encoding="utf-8")
    else:
        path.unlink(missing_ok=True)


def mistakes_of(case, wfc, update):
    status, out, err = run(case, wfc)
    match = re.search(r"^# status: (\d+)$", wanted(case, "cmd"), re.M)
    mistakes = []
    if status != (int(match.group(1)) if match else 0):
        mistakes.append(f"{case.name}: exit status {status}\n{err}")
    if update:
        write(case / "stdout", out)
        write(case / "stderr", err)
        return mistakes
    for name, text in (("stdout", out), ("stderr", err)):
        if text != wanted(case, name):
            mistakes.append(f"{case.name}: {name} differs\n--- wanted\n{wanted(case, name)}--- found\n{text}")
    return mistakes


RUNNER = cases.Runner(__doc__, cases=lambda folder: [case for case in sorted(folder.iterdir()) if (case / "cmd").exists()],
                      name_of=lambda case: case.name, mistakes_of=mistakes_of, held="{} commands as expected", folder=HERE)

if __name__ == "__main__":
    RUNNER.main()
