"""Checks every program of a folder against the expectations written in it: run.py FOLDER --wfc=build/dev/bin/wfc

A program is a file, or a folder with main.wf. `// error: WFnnnn text` stands on the line where the diagnostic begins (`// error@-1:` one line below it); the
text is part of the message. Every diagnostic must be expected and every expectation met. `fail_` begins the name exactly if an error is expected.
"""
import re
import sys
from pathlib import Path

import harness

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import cases  # noqa: E402


def fails_when_run(root):
    """A .txt says how its tests fail, a .calls how its calls are refused."""
    calls = root.with_suffix(".calls")
    return root.with_suffix(".txt").exists() or (calls.exists() and re.search(r"^< [45]\d\d$", calls.read_text(encoding="utf-8"), re.M) is not None)


def mistakes_of(root, name, wfc):
    files = sorted(root.parent.glob("*.wf")) if root.name == "main.wf" else [root]
    expected = [one for file in files for one in harness.expectations(file)]
    arguments = harness.phase_arguments(root.parent.name)
    status, found = harness.check(wfc, [*arguments, root.name], root.parent)
    mistakes = []
    errors = any(one.severity == "error" for one in expected)
    if (errors or fails_when_run(root)) != name.startswith("fail_"):
        mistakes.append("the name begins with fail_ exactly if a failure is expected")
    if status != (1 if errors else 0):
        mistakes.append(f"exit status {status}")
    for diagnostic in found:
        file, line = harness.place_of(diagnostic)
        match = next((one for one in expected if (one.file, one.line, one.severity, one.code) == (file, line, diagnostic["severity"], diagnostic["code"])
                      and one.message in diagnostic["message"]), None)
        if match:
            expected.remove(match)
        else:
            mistakes.append(f"unexpected: {file}:{line}: {diagnostic['severity']}: {diagnostic['code']} {diagnostic['message']}")
    mistakes += [f"missing: {one.file}:{one.line}: {one.severity}: {one.code} {one.message}" for one in expected]
    return [f"{root}: {text}" for text in mistakes]


RUNNER = cases.Runner(__doc__, cases=harness.programs, name_of=lambda case: case[1], mistakes_of=lambda case, wfc, _: mistakes_of(*case, wfc),
                      held="{} programs as expected", updates=False)

if __name__ == "__main__":
    RUNNER.main()
