"""Tries the programs of docs/errors: pages.py docs/errors --wfc=build/dev/bin/wfc

Each page WFnnnn.md has a block ```wf wrong, which must yield that code and no other, and a block ```wf right, which must yield no diagnostic. A file name
after these words makes it one file of several; the first is the root. ```sh wrong holds a command instead. In programs `@repeat(n, text)` stands for
the text n times and `@byte(ff)` for one byte.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import harness

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import cases  # noqa: E402

BLOCK = re.compile(r"^```(wf|sh) (wrong|right)(?: (\S+))?\n(.*?)^```$", re.M | re.S)


def expand(text):
    data = re.sub(r"@repeat\((\d+), (.*?)\)(?=[^)]|$)", lambda m: m.group(2) * int(m.group(1)), text, flags=re.S).encode()
    return re.sub(rb"@byte\(([0-9a-f]{2})\)", lambda m: bytes.fromhex(m.group(1).decode()), data)


def codes_of(language, blocks, folder, wfc):
    """Exit status and the set of codes that the blocks of one kind yield."""
    for name, text in blocks:
        path = folder / (name or ("script.sh" if language == "sh" else "main.wf"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(expand(text))
    if language == "sh":
        environment = dict(os.environ, PATH=f"{wfc.parent}:{os.environ['PATH']}")
        done = subprocess.run(["bash", "-e", folder / "script.sh"], cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
        return done.returncode, set(re.findall(r"^(?:error|warning)\[(WF\d{4})\]", done.stderr, re.M))
    status, found = harness.check(wfc, [blocks[0][0] or "main.wf"], folder, timeout=120)
    return status, {diagnostic["code"] for diagnostic in found}


def mistakes_of(page, wfc):
    code, text = page.stem, page.read_text(encoding="utf-8")
    kinds = {}
    for language, kind, name, body in BLOCK.findall(text):
        kinds.setdefault(kind, (language, []))[1].append((name, body))
    mistakes = [] if text.startswith(f"# {code}: ") else [f"the first line is `# {code}: ...`"]
    for kind in ("wrong", "right"):
        if kind not in kinds:
            mistakes.append(f"no block ```wf {kind}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            status, codes = codes_of(*kinds[kind], Path(folder), wfc)
        if kind == "wrong" and codes != {code}:
            mistakes.append(f"the wrong program yields {sorted(codes)}")
        if kind == "right" and (codes or status != 0):
            mistakes.append(f"the right program yields {sorted(codes)}, exit status {status}")
    return [f"{page.name}: {one}" for one in mistakes]


RUNNER = cases.Runner(__doc__, cases=lambda folder: sorted(folder.glob("WF*.md")), name_of=lambda page: page.stem,
                      mistakes_of=lambda page, wfc, _: mistakes_of(page, wfc), held="{} pages hold", updates=False)

if __name__ == "__main__":
    RUNNER.main()
