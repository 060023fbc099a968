#!/usr/bin/env python3
"""Sends each held-out scan of examples/digits as a user of its own to a running server, and counts by the model that read it.

    examples/router/client.py [http://HOST:PORT]
"""
import csv
import json
import sys
import urllib.request
from collections import Counter
from pathlib import Path

SCANS = Path(__file__).resolve().parent.parent / "digits/testdata/held_out"


def read(server, picture, user):
    """The digit, and which model said so."""
    request = urllib.request.Request(f"{server}/Router/Read", picture, {"content-type": "image/png", "user": user})
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)["digit"], reply.headers["wf-arm"]


def main():
    server = sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8080"
    answers, right = Counter(), Counter()
    with open(SCANS / "labels.csv", newline="") as file:
        for number, row in enumerate(csv.DictReader(file)):
            digit, arm = read(server, (SCANS / row["file"]).read_bytes(), f"user{number}")
            answers[arm] += 1
            right[arm] += digit == int(row["label"])
    for arm in sorted(answers):
        print(f"{arm}: {answers[arm]} answers, {right[arm]} right, {100 * right[arm] / answers[arm]:.1f} %")


if __name__ == "__main__":
    main()
