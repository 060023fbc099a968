"""What the tests of programs share: running wfc and reading expectations out of .wf files. Python 3 alone."""
import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

# `// error: WF2001 part of the message`, `// warning@-1: WF3008`: on the line itself, or so many lines away.
EXPECTATION = re.compile(r"//\s*(error|warning)(?:@([+-]\d+))?:\s*(WF\d{4})[ \t]*(.*?)[ \t]*$")


@dataclass(frozen=True)
class Expected:
    file: str
    line: int
    severity: str
    code: str
    message: str


def expectations(path, name=None):
    found = []
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        match = EXPECTATION.search(line)
        if match:
            severity, offset, code, message = match.groups()
            found.append(Expected(name or Path(path).name, number + int(offset or 0), severity, code, message))
    return found


def check(wfc, arguments, cwd, timeout=60):
    """Runs `wfc check --format=json`; returns the exit status and the diagnostics as dictionaries."""
    done = subprocess.run([str(wfc), "check", "--format=json", "--error-limit=1000", *arguments], cwd=cwd, capture_output=True, timeout=timeout)
    diagnostics = []
    for line in done.stderr.decode("utf-8", "replace").splitlines():
        try:
            diagnostics.append(json.loads(line))
        except json.JSONDecodeError:
            raise AssertionError(f"not a line of JSON: {line!r}") from None
    return done.returncode, diagnostics


def place_of(diagnostic):
    """File and line of the primary span; the empty name and 0 without one."""
    for span in diagnostic["spans"]:
        if span["primary"]:
            return Path(span["file"]).name, span["line"]
    return "", 0


def phase_arguments(folder):
    """Programs of tests/lang/parse stop after that phase: they need not make sense."""
    return ["--stop-after=parse"] if folder == "parse" else []


def programs(folder):
    """The roots in a folder: files, and main.wf of each subfolder."""
    for path in sorted(Path(folder).iterdir()):
        if path.suffix == ".wf":
            yield path, path.stem
        elif (path / "main.wf").exists():
            yield path / "main.wf", path.name
