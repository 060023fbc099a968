"""Runs wf_diff again and again, and adds what it says to the tally: a row for each day, summed over its runs. Every run has seeds of its own.
A row that tells what was `mended` is closed: what runs after that has a row of its own."""
import argparse
import datetime
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TALLY = HERE / "tally.json"
FIRST_SEED = 1000  # below are those of the tests
SUMMED = ("workflows", "calls", "failures", "cut", "differences")


def add(said):
    """The row of today, which `said` is added to; all workflows so far."""
    rows = json.loads(TALLY.read_text())
    today = datetime.date.today().isoformat()
    if not rows or rows[-1]["date"] != today or "mended" in rows[-1]:
        rows.append({"date": today, "seeds": [said["seed"], said["seed"]], **dict.fromkeys(SUMMED, 0)})
    rows[-1]["seeds"][1] = said["seed"]
    for name in SUMMED:
        rows[-1][name] += said[name]
    TALLY.write_text("[\n" + ",\n".join("  " + json.dumps(row) for row in rows) + "\n]\n")
    return sum(row["workflows"] for row in rows)


def is_over(until):
    """Has HH:MM come, in the last twelve hours?"""
    now = datetime.datetime.now()
    hour, minute = map(int, until.split(":"))
    return (now - now.replace(hour=hour, minute=minute, second=0)).total_seconds() % 86400 < 43200


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
        run = subprocess.run(["nice", "-n", "19", given.program, "run", "--count", str(min(given.each, given.count - done)), "--seed", str(seed),
                              "--jobs", str(given.jobs), "--keep", HERE / "kept"], stdout=subprocess.PIPE, text=True)
        if not run.stdout:
            sys.exit(f"wf_diff ended with status {run.returncode}")
        last = run.stdout.splitlines()[-1]  # above it stands what the programs that differ made the test library say
        said = json.loads(last)
        done += said["workflows"]
        differences += said["differences"]
        print(f"{last}; {add(said)} workflows in {TALLY.name}", flush=True)
    return 1 if differences else 0


sys.exit(main())
