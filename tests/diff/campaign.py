"""Runs wf_diff and adds what it says to the tally."""
import argparse
import datetime
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TALLY = HERE / "tally.json"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int)
    given = parser.parse_args()
    rows = json.loads(TALLY.read_text())
    seed = given.seed if given.seed is not None else 1 + max((row["seed"] for row in rows), default=1)
    done = subprocess.run([given.program, "run", "--count", str(given.count), "--seed", str(seed), "--jobs", str(os.cpu_count()), "--keep", HERE / "kept"],
                          stdout=subprocess.PIPE, text=True)
    if not done.stdout:
        return done.returncode or 1
    rows.append({"date": datetime.date.today().isoformat(), **json.loads(done.stdout)})
    TALLY.write_text("[\n" + ",\n".join("  " + json.dumps(row) for row in rows) + "\n]\n")
    print(f"{done.stdout.strip()}\n{sum(row['workflows'] for row in rows)} workflows in {TALLY.name}")
    return done.returncode


sys.exit(main())
