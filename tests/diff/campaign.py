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

from serving import LEVELS, served

HERE = Path(__file__).resolve().parent
TALLY = HERE / "tally.json"
KEPT_SERVED = HERE / "kept/served"
FIRST_SEED = 1000  # below are those of the tests
SUMMED = ("workflows", "calls", "failures", "cut", "differences", "asked", "answered_otherwise")


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


def run(given, seed, count):
    """What wf_diff said of a seed, with what servers of its files answered; a file that was answered otherwise than owed is kept with its calls."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([given.program, "run", "--count", str(count), "--seed", str(seed), "--jobs", str(given.jobs), "--keep", HERE / "kept",
                               "--expect", folder], stdout=subprocess.PIPE, text=True)
        if not done.stdout:
            sys.exit(f"wf_diff ended with status {done.returncode}")
        said = {**json.loads(done.stdout.splitlines()[-1]), "asked": 0, "answered_otherwise": 0}  # above it stands what the programs made the test library say
        for i, source in enumerate(sorted(Path(folder).glob("*.wf"))):
            asked, wrong = served(source, LEVELS[i % len(LEVELS)])
            said["asked"] += asked
            said["answered_otherwise"] += len(wrong)
            if wrong:
                print(f"seed {seed}, {source.name}:\n" + "\n".join(wrong[:3]), file=sys.stderr)
                KEPT_SERVED.mkdir(exist_ok=True)
                for name in (source, source.with_suffix(".jsonl")):
                    shutil.copyfile(name, KEPT_SERVED / f"{seed}_{name.name}")
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
