"""Compares what wfc says of the programs of a folder with the text beside each: mistakes.py FOLDER --wfc=build/dev/bin/wfc [--update]

Each NAME.wf holds one mistake as a newcomer makes it, NAME.txt all that is said about it. --update writes the texts, for review as a diff.
"""
import argparse
import difflib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def said(program, wfc):
    done = subprocess.run([str(wfc), "check", "--color=never", program.name], cwd=program.parent, capture_output=True, timeout=60)
    return done.returncode, done.stderr.decode("utf-8")


def mistakes_of(program, wfc, update):
    status, text = said(program, wfc)
    golden = program.with_suffix(".txt")
    if update:
        golden.write_text(text, encoding="utf-8")
    expected = golden.read_text(encoding="utf-8") if golden.exists() else ""
    mistakes = []
    if not text:
        mistakes.append(f"{program.name}: nothing is said about it\n")
    if status != (1 if "error[" in text else 0):
        mistakes.append(f"{program.name}: exit status {status}\n")
    return mistakes + list(difflib.unified_diff(expected.splitlines(True), text.splitlines(True), golden.name, program.name))


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("--wfc", type=Path, required=True)
    options.add_argument("--update", action="store_true")
    arguments = options.parse_args()
    wfc = arguments.wfc.resolve()
    folder = arguments.folder.resolve()
    programs = sorted(folder.glob("*.wf"))
    left_over = [text.name for text in sorted(folder.glob("*.txt")) if not text.with_suffix(".wf").exists()]
    with ThreadPoolExecutor(4) as pool:
        mistakes = [line for found in pool.map(lambda one: mistakes_of(one, wfc, arguments.update), programs) for line in found]
    mistakes += [f"{name} belongs to no program\n" for name in left_over]
    print("".join(mistakes) or f"{len(programs)} mistakes are told as expected")
    sys.exit(1 if mistakes or not programs else 0)


if __name__ == "__main__":
    main()
