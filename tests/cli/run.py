"""Runs the command of each folder beside this file and compares what it prints: run.py --wfc=build/dev/bin/wfc [--update] [NAME...]

A folder holds `cmd` (bash; `wfc` is on the path; `# status: 1` when it ends so), `stdout` and `stderr` (empty ones may be absent), and the files the command
needs. The command runs in a copy of the folder. In outputs `<source>` stands for the project's folder and `<temp>` for the copy.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

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


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--wfc", type=Path, required=True)
    options.add_argument("--update", action="store_true")
    options.add_argument("names", nargs="*")
    arguments = options.parse_args()
    cases = [case for case in sorted(HERE.iterdir()) if (case / "cmd").exists() and (not arguments.names or case.name in arguments.names)]
    if not cases:
        sys.exit("no cases")
    with ThreadPoolExecutor(4) as pool:
        mistakes = [one for found in pool.map(lambda case: mistakes_of(case, arguments.wfc.resolve(), arguments.update), cases) for one in found]
    print("\n".join(mistakes) or f"{len(cases)} commands as expected")
    sys.exit(1 if mistakes else 0)


if __name__ == "__main__":
    main()
