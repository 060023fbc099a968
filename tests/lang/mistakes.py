"""Compares what wfc says of the programs of a folder with the text beside each: mistakes.py FOLDER --wfc=build/dev/bin/wfc [--update]

Each NAME.wf holds one mistake as a newcomer makes it, NAME.txt all that is said about it. --update writes the texts, for review as a diff.
"""
import difflib
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import cases  # noqa: E402


def said(program, wfc):
    done = subprocess.run([str(wfc), "check", "--color=never", program.name], cwd=program.parent, capture_output=True, timeout=60)
    return done.returncode, re.sub(r"::: \S*/stdlib/", "::: stdlib/", done.stderr.decode("utf-8"))  # which lies elsewhere on other machines


def mistakes_of(program, wfc, update):
    if program.suffix != ".wf":
        return [f"{program.name} belongs to no program"]
    status, text = said(program, wfc)
    golden = program.with_suffix(".txt")
    if update:
        golden.write_text(text, encoding="utf-8")
    expected = golden.read_text(encoding="utf-8") if golden.exists() else ""
    mistakes = []
    if not text:
        mistakes.append(f"{program.name}: nothing is said about it")
    if status != (1 if "error[" in text else 0):
        mistakes.append(f"{program.name}: exit status {status}")
    return mistakes + list(difflib.unified_diff(expected.splitlines(), text.splitlines(), golden.name, program.name, lineterm=""))


def programs(folder):
    """the programs, and the texts that belong to none"""
    return sorted(folder.glob("*.wf")) + [text for text in sorted(folder.glob("*.txt")) if not text.with_suffix(".wf").exists()]


RUNNER = cases.Runner(__doc__, cases=programs, name_of=lambda path: path.stem, mistakes_of=mistakes_of, held="{} mistakes are told as expected")

if __name__ == "__main__":
    RUNNER.main()
