"""Whether programs that people read are laid out by `wfc fmt`: formatted.py --wfc=build/dev/bin/wfc [--update]

Looks at the .wf files of examples, stdlib and the templates of `wfc new`, and at the ```wf blocks of docs; a block with a mistake of syntax, which its page is
about, is left out. --update rewrites them.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^(```wf(?: right| wrong| add)?(?: \S+)?\n)(.*?)^```$", re.M | re.S)


def texts():
    """(file, number of the block or None, text)"""
    for folder in ("examples", "stdlib", "compiler/driver/templates"):
        for path in sorted((ROOT / folder).rglob("*.wf")):
            yield path, None, path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "docs").rglob("*.md")):
        for number, match in enumerate(BLOCK.finditer(path.read_text(encoding="utf-8"))):
            if "@repeat" not in match.group(2) and "@byte" not in match.group(2):
                yield path, number, match.group(2)


def replace(path, number, text):
    if number is None:
        path.write_text(text, encoding="utf-8")
        return
    count = iter(range(1 << 30))
    path.write_text(BLOCK.sub(lambda m: m.group(1) + (text if next(count) == number else m.group(2)) + "```", path.read_text(encoding="utf-8")), encoding="utf-8")


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--wfc", type=Path, required=True)
    options.add_argument("--update", action="store_true")
    arguments = options.parse_args()
    found = list(texts())
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{number}.wf" for number in range(len(found))]
        for file, (_, _, text) in zip(files, found):
            file.write_text(text, encoding="utf-8")
        done = subprocess.run([arguments.wfc.resolve(), "fmt", "-w", *files], capture_output=True, text=True, timeout=120)
        if done.returncode not in (0, 1):
            sys.exit(done.stderr)
        changed = set(done.stdout.splitlines())
        formatted = {file: file.read_text(encoding="utf-8") for file in files}
    mistakes = 0
    for file, (path, number, _) in zip(files, found):
        if str(file) not in changed:
            continue
        if arguments.update:
            replace(path, number, formatted[file])
            continue
        mistakes += 1
        print(f"{path.relative_to(ROOT)}{'' if number is None else f', block {number + 1}'}: not as `wfc fmt` lays it out")
    print(f"{len(found)} texts, {mistakes} not formatted" if not arguments.update else f"{len(changed)} texts rewritten")
    sys.exit(1 if mistakes else 0)


if __name__ == "__main__":
    main()
