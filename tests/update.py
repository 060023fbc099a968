"""Rewrites the expectations of tests/lang and the outputs of tests/cli to what wfc says now: update.py --wfc=build/dev/bin/wfc [PATH...]

Review the diff: it is the change in behaviour. What still holds stays as it is written. Paths limit it to those programs, folders or cases.
"""
import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "lang"))
import harness  # noqa: E402
import run  # noqa: E402


def strip(text):
    """The program without its expectations; lines that held nothing else disappear."""
    lines = []
    for line in text.split("\n"):
        match = harness.EXPECTATION.search(line)
        rest = line[: match.start()].rstrip() if match else line
        if rest or not match:
            lines.append(rest)
    return lines


def rewrite(root, name, wfc):
    """Whether it was: expectations that hold stay, also those that are a part of the message."""
    if not run.mistakes_of(root, name, wfc):
        return False
    before = root.read_text(encoding="utf-8")
    lines = strip(before)
    root.write_text("\n".join(lines), encoding="utf-8")
    _, found = harness.check(wfc, [*harness.phase_arguments(root.parent.name), root.name], root.parent)
    notes = {}
    for diagnostic in found:
        file, line = harness.place_of(diagnostic)
        if file == root.name:
            notes.setdefault(line, []).append((diagnostic["severity"], f"{diagnostic['code']} {diagnostic['message']}"))
    result = []
    for number, line in enumerate(lines, 1):
        own = notes.get(number, [])
        swallowed = any("WF1003" in text for _, text in own)  # a string that is not closed would take the comment in
        first = 0 if swallowed or not own else 1
        result.append(line + (f"  // {own[0][0]}: {own[0][1]}" if first else ""))
        result += [f"// {severity}@-{distance}: {text}" for distance, (severity, text) in enumerate(own[first:], 1)]
    root.write_text("\n".join(result), encoding="utf-8")
    return "\n".join(result) != before


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--wfc", type=Path, required=True)
    options.add_argument("paths", nargs="*", type=Path)
    arguments = options.parse_args()
    wfc = arguments.wfc.resolve()
    chosen = [path.resolve() for path in arguments.paths]
    phases = [phase for phase in sorted((HERE / "lang").iterdir()) if phase.is_dir() and phase.name != "mistakes"]
    for root, name in [program for phase in phases for program in harness.programs(phase)]:
        is_chosen = not chosen or any(path == root or path in root.parents for path in chosen)
        if is_chosen and rewrite(root, name, wfc):
            print(f"rewrote {root.relative_to(HERE)}")
    mistakes = HERE / "lang/mistakes"
    if not chosen or any(path == mistakes or mistakes in path.parents for path in chosen):
        subprocess.run([sys.executable, "-B", HERE / "lang/mistakes.py", mistakes, f"--wfc={wfc}", "--update"], check=False)
    cases = [path.name for path in chosen if path.parent == HERE / "cli"]
    if not chosen or cases:
        subprocess.run([sys.executable, "-B", HERE / "cli/run.py", f"--wfc={wfc}", "--update", *cases], check=True)


if __name__ == "__main__":
    main()
