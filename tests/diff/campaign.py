"""Runs wf_diff again and again, serves what it wrote, and adds what both say to the tally: a row for each day, summed over its runs. Every run has seeds of
its own. A row that tells what was `mended` is closed: what runs after that has a row of its own."""
import argparse
import datetime
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from serving import built, served

HERE = Path(__file__).resolve().parent
TALLY = HERE / "tally.json"
KEPT_SERVED = HERE / "kept/served"
FIRST_SEED = 1000  # below are those of the tests
PER_FILE = 64
OPTIMISED, QUICK = (0, 1, 2, 4), (3, 5, 6)  # sorts of machine code that wf_diff has
TURN = 16  # files: one is optimised, and the server of another is built by wfc from its text; LLVM's passes take nine tenths of all time elsewhere
LEVELS = ("-O2", "-O0")
SUMMED = ("workflows", "optimised", "calls", "failures", "cut", "differences", "asked", "answered_otherwise")


def add(said):
    """The row of today, which `said` is added to; all workflows so far that were served as well."""
    rows = json.loads(TALLY.read_text())
    today = datetime.date.today().isoformat()
    if not rows or rows[-1]["date"] != today or "mended" in rows[-1] or "asked" not in rows[-1]:
        rows.append({"date": today, "seeds": [said["seed"], said["seed"]], **dict.fromkeys(SUMMED, 0)})
    rows[-1]["seeds"][1] = said["seed"]
    for name in SUMMED:
        rows[-1][name] += said[name]
    TALLY.write_text("[\n" + ",\n".join("  " + json.dumps(row) for row in rows) + "\n]\n")
    return sum(row["workflows"] for row in rows if "asked" in row)


def is_over(until):
    """Has HH:MM come, in the last twelve hours?"""
    now = datetime.datetime.now()
    hour, minute = map(int, until.split(":"))
    return (now - now.replace(hour=hour, minute=minute, second=0)).total_seconds() % 86400 < 43200


def is_optimised(number):
    return number % TURN == 0


def sort_of(number):
    return OPTIMISED[number // TURN % len(OPTIMISED)] if is_optimised(number) else QUICK[number % len(QUICK)]


def answered(source, number):
    """What `served` says of a server linked from the object that ran in wf_diff, or of one that wfc makes of the text."""
    try:
        by_wfc = number % TURN == TURN // 2
        return served(source, built(source, LEVELS[number // TURN % len(LEVELS)]) if by_wfc else source.with_suffix(".server"))
    except (AssertionError, OSError) as error:  # wfc or the server ended, or wf_diff had nothing to serve
        return 0, [repr(error)]


def run(given, seed, count):
    """What wf_diff said of a seed, with what servers of its files answered; a file that was answered otherwise than owed is kept with its calls."""
    numbers = range(seed * given.each // PER_FILE, (seed + 1) * given.each // PER_FILE)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([given.program, "run", "--count", str(count), "--seed", str(seed), "--jobs", str(given.jobs), "--keep", HERE / "kept",
                               "--expect", folder, "--servers", "--sorts", ",".join(str(sort_of(number)) for number in numbers)],
                              stdout=subprocess.PIPE, text=True, errors="replace")
        if not done.stdout:
            sys.exit(f"wf_diff ended with status {done.returncode}")
        said = {**json.loads(done.stdout.splitlines()[-1]), "optimised": sum(PER_FILE for number in numbers[:count // PER_FILE] if is_optimised(number)),
                "asked": 0, "answered_otherwise": 0}  # above it stands what the programs made the test library say
        for source in sorted(Path(folder).glob("[0-9]*.wf")):
            asked, wrong = answered(source, numbers[int(source.stem) // PER_FILE])
            said["asked"] += asked
            said["answered_otherwise"] += len(wrong)
            if wrong:
                print(f"seed {seed}, {source.name}:\n" + "\n".join(wrong[:3]), file=sys.stderr)
                KEPT_SERVED.mkdir(exist_ok=True)
                for path in (source, source.with_suffix(".jsonl")):
                    if path.exists():
                        shutil.copyfile(path, KEPT_SERVED / f"{seed}_{path.name}")
        return said


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--each", type=int, default=1024, help="workflows of one seed")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--until", help="HH:MM, when no further run begins")
    given = parser.parse_args()
    differences = done = 0
    while done < given.count:
        if given.until and is_over(given.until):
            break
        seed = 1 + max((row["seeds"][1] for row in json.loads(TALLY.read_text())), default=FIRST_SEED - 1)
        said = run(given, seed, min(given.each, given.count - done))
        done += said["workflows"]
        differences += said["differences"] + said["answered_otherwise"]
        print(f"{json.dumps(said)}; {add(said)} workflows in {TALLY.name}", flush=True)
    return 1 if differences else 0


sys.exit(main())
