"""Whether the tests of a program pass still where values are written in another way: wrapped.py --wfc=PATH [NAME...]

In each program with tests that all pass, some names `x` become `[x][0]`, `lists.concat([x], [x])[1]` and their kind, one after the other as long as `wfc check`
takes the program (a tensor in a list loses what is known of its extents, so not every place can hold every form). Then as many tests have to pass as before.
Always the same places and forms for the same text.
"""
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import test_blocks

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import cases  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
MODULE = "lists_of_wrapped"
FORMS = ("[{x}][0]", "lists.concat([{x}], [{x}])[1]", "lists.flatten([[q] for q in [{x}]])[0]", "lists.flatten([[{x}], []])[0]", "lists.concat([], [{x}])[0]",
         "[q for q in [[], [{x}]][1]][0]", "lists.fill({x}, 2)[1]", "(if 1 == 1 {{ [{x}] }} else {{ [] }})[0]")
NO_PLACE = {"r33_files", "r33_imports", "r42_crlf"}  # programs that read no value by a name
MEASURED = {"r09_stages", "r24_memory"}  # the time or memory that they take is what they show, and a list in a loop takes both
TRIES, MOST_TRIES = 4, 40  # of a program: each costs a check; the second until one is taken
NAME = re.compile(r"(?<![\w.\"{])([a-z_]\w*)(?![\w.:(\"{}])")
WORDS = set("let node if else for in fn test expect return true false none fail fails match fold list map string bytes bool workflow service import require "
            "stub close as const type error model extern remote batch".split())
DECLARED = re.compile(r"(?:\b(?:let|node|fn|const|as|import)\s+|\.)$")


def places(text):
    """Where names stand that may be read values, in no comment and no string."""
    for match in NAME.finditer(text):
        line = text[text.rfind("\n", 0, match.start()) + 1:match.start()]
        outside = "//" not in line and line.count('"') % 2 == 0
        if outside and match.group(1) not in WORDS and not DECLARED.search(line) and not text[match.end():].lstrip().startswith("="):
            yield match


def with_import(text):
    at = re.search(r"^import ", text, re.M) or re.search(r"^(?!//|package|\s*$)", text, re.M)
    return f"{text[:at.start()]}import std.lists as {MODULE};\n{text[at.start():]}"


def rewritten(program, check):
    """The program with forms in as many of TRIES places as it takes, and how many those are."""
    text = program.read_text(encoding="utf-8")
    dice = random.Random(text)
    found = list(places(text))
    dice.shuffle(found)
    taken, done = 0, []  # done: starts of places, for what stands behind them moves
    for tries, match in enumerate(found[:MOST_TRIES]):
        if tries >= TRIES and taken > 0:
            break
        at = match.start() + sum(longer for start, longer in done if start < match.start())
        form = dice.choice(FORMS).replace("lists.", MODULE + ".").replace("q", "q_of_wrapped").format(x=match.group(1))
        tried = text[:at] + form + text[at + len(match.group(1)):]
        if check(with_import(tried) if MODULE in tried else tried):
            text, taken = tried, taken + 1
            done.append((match.start(), len(form) - len(match.group(1))))
    return with_import(text) if MODULE in text else text, taken


def mistakes_of(program, wfc, _):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder) / program.parent.name
        shutil.copytree(program.parent, folder)  # a program reads files that lie beside it
        return mistakes_in(folder / program.name, wfc)


def mistakes_in(program, wfc):
    def run(command, *options):
        return subprocess.run([wfc, command, *options, program.name], cwd=program.parent, capture_output=True, text=True, timeout=240)

    def check(text):
        program.write_text(text, encoding="utf-8")
        status = run("check", "--error-limit=1").returncode
        crashed.extend([text] if status not in (0, 1) else [])
        return status == 0

    crashed = []
    text, taken = rewritten(program, check)
    mistakes = [f"{program.name}: `wfc check` crashes on\n{one}" for one in crashed]
    if (taken == 0) != (program.stem in NO_PLACE):
        mistakes.append(f"{program.name}: {taken} places took a form; NO_PLACE names the programs that have none")
    if taken == 0:
        return mistakes
    program.write_text(text, encoding="utf-8")
    done = run("test", "-O0")  # test_blocks.py has them optimised
    passed = f"\n{len(test_blocks.TEST.findall(text))} passed ("
    if done.returncode != 0 or passed not in "\n" + done.stdout:
        mistakes.append(f"{program.name}: exit status {done.returncode}\n{done.stdout}{done.stderr}\nof\n{text}")
    return mistakes


def programs(folder):
    found = [*test_blocks.programs(folder), *sorted((ROOT / "examples").rglob("*.wf"))]
    return [path for path in found if not path.name.startswith("fail_") and path.stem not in MEASURED and test_blocks.has_tests(path)]


RUNNER = cases.Runner(__doc__, cases=programs, name_of=lambda program: program.stem, mistakes_of=mistakes_of, held="{} programs keep their tests",
                      updates=False, folder=test_blocks.FOLDER, at_once=2)

if __name__ == "__main__":
    RUNNER.main()
