#!/usr/bin/env python3
"""Has a running server read the pages of a folder, 16 at a time, and compares with what is on them.

    examples/pages/client.py [FOLDER [http://HOST:PORT]]

FOLDER is `testdata` beside this file, or what draw.py made.
"""
import http.client
import json
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

IN_FLIGHT = 16


def overlap(one, other):
    """Intersection over union of two squares (top, left, side)."""
    down, across = (max(min(one[axis] + one[2], other[axis] + other[2]) - max(one[axis], other[axis]), 0) for axis in (0, 1))
    return down * across / (one[2]**2 + other[2]**2 - down * across)


def compare(lines, said):
    """Counts for one page: how many digits, boxes, lines and pages there are, and how many of each are right."""
    boxes = [(box["top"], box["left"], box["side"]) for line in lines for box in line["boxes"]]
    read = list(zip(boxes, "".join(line["text"] for line in lines), strict=True))
    there = list(zip(said["boxes"], "".join(said["lines"]), strict=True))
    texts = [line["text"] for line in lines]
    return {
        "digits": len(there),
        "digits found": sum(any(overlap(square, box) >= 0.5 for box in boxes) for square, _ in there),
        "digits right": sum(any(overlap(square, box) >= 0.5 and text == digit for box, text in read) for square, digit in there),
        "digits unsure": sum(text == "?" for _, text in read),
        "boxes": len(boxes),
        "lines": len(said["lines"]),
        "lines right": sum(a == b for a, b in zip(texts, said["lines"])) if len(texts) == len(said["lines"]) else 0,
        "pages": 1,
        "pages right": int(texts == said["lines"]),
    }


def totals(counts):
    counts = list(counts)
    return {name: sum(one[name] for one in counts) for name in counts[0]}


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent / "testdata"
    address = (sys.argv[2] if len(sys.argv) > 2 else "http://localhost:8080").removeprefix("http://")
    listed = json.loads((folder / "pages.json").read_text())
    pages = [(folder / said["file"]).read_bytes() for said in listed]
    mine = threading.local()

    def read(page):
        mine.connection = getattr(mine, "connection", None) or http.client.HTTPConnection(address)
        mine.connection.request("POST", "/Pages/Read", page, {"content-type": "image/png"})
        reply = mine.connection.getresponse()
        answer = json.load(reply)
        if reply.status != 200:
            raise SystemExit(answer["error"]["message"])
        return answer["lines"]

    with ThreadPoolExecutor(IN_FLIGHT) as pool:
        began = time.perf_counter()
        read_pages = list(pool.map(read, pages))
        seconds = time.perf_counter() - began
    for name, count in totals(map(compare, read_pages, listed)).items():
        print(f"{count:5d} {name}")
    print(f"{len(pages) / seconds:.0f} pages a second")


if __name__ == "__main__":
    main()
