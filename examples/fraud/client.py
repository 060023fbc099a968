#!/usr/bin/env python3
"""Sends every held-out wine under each of the three labels to a running server and counts the verdicts.

    examples/fraud/client.py [http://HOST:PORT]
"""
import json
import sys
import time
import urllib.request
from collections import Counter
from pathlib import Path

GRAPES = ["Barolo", "Grignolino", "Barbera"]


def check(server, wine, label):
    request = urllib.request.Request(f"{server}/Fraud/Check", json.dumps({"wine": wine, "label": label}).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)["verdict"]


def main():
    server = sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8080"
    known = json.loads((Path(__file__).resolve().parent / "testdata/held_out.json").read_text())
    right, asked, began = Counter(), Counter(), time.perf_counter()
    for one in known:
        for label in GRAPES:
            verdict = check(server, one["wine"], label)
            asked[verdict["by"]] += 1
            right[verdict["by"]] += verdict["genuine"] == (label == one["grape"])
    claims = sum(asked.values())
    for by in sorted(asked):
        print(f"{by}: {asked[by]} claims, right about {right[by]}")
    print(f"together: right about {sum(right.values())} of {claims}, {(time.perf_counter() - began) / claims * 1000:.2f} ms a claim, with connecting")


if __name__ == "__main__":
    main()
