#!/usr/bin/env python3
"""Draws pages of held-out scans: digits that neither network has seen, on paper that is made up. Needs numpy.

    examples/pages/draw.py FOLDER [PAGES]

Writes FOLDER/page001.png and so on, 200 of them, and what is on them to FOLDER/pages.json. The same numpy draws the same pages.
"""
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "digits"))
from scans import held_out, png, resize  # noqa: E402

SEED = 2026
PAGES = 200


def paper(random, height, width):
    """Paper that is lit from one side, with ruled lines, specks and noise."""
    down, across = np.mgrid[0:height, 0:width].astype(np.float32)
    page = random.uniform(205, 245) + random.uniform(-8, 8) * down / height + random.uniform(-8, 8) * across / width
    if random.random() < 0.6:
        page[random.integers(8, 30)::random.integers(24, 44)] -= random.uniform(15, 60)
    for _ in range(random.integers(0, 16)):
        y, x, size = random.integers(0, height), random.integers(0, width), random.integers(1, 4)
        page[y:y + size, x:x + size] -= random.uniform(40, 150)
    return page + random.normal(0, 1, page.shape)


def draw_page(random, lines):
    """A page with these lines of scans. Returns it and, line by line, the (top, left, side) of each scan."""
    size = random.integers(21, 28)
    pitch = size + random.integers(10, 20)
    margin = random.integers(4, 16)
    height = margin * 2 + pitch * max(len(lines), 1)
    width = margin * 2 + 30 + (size + 8) * max([len(line) for line in lines], default=4)
    height, width = (int(-(-extent // 4) * 4) for extent in (height, width))
    page, ink, places = paper(random, height, width), random.uniform(15, 90), []
    for number, line in enumerate(lines):
        left, row = margin + random.integers(0, 30), []
        for scan in line:
            side = int(size + random.integers(-1, 2))
            top = margin + number * pitch + (pitch - size) // 2 + random.integers(-2, 3)
            share = resize(scan, side).astype(np.float32) / 255
            part = page[top:top + side, left:left + side]
            part[:] = part * (1 - share) + np.minimum(ink, part) * share
            row.append((int(top), int(left), side))
            left += side + random.integers(0, 7)
        places.append(row)
    # A scanner of 32 levels; small files.
    return np.clip(page, 0, 255).astype(np.uint8) // 8 * 8, places


def in_lines(random, indices):
    """Cuts them into lines of 2 to 6."""
    lines, first = [], 0
    while first < len(indices):
        lines.append(indices[first:first + int(random.integers(2, 7))])
        first += len(lines[-1])
    return lines


def drawn(random, scans, labels, indices):
    """A page of these scans, and what pages.json says of it."""
    lines = in_lines(random, indices)
    page, places = draw_page(random, [[scans[i] for i in line] for line in lines])
    return page, {"lines": ["".join(str(labels[i]) for i in line) for line in lines], "boxes": [list(square) for row in places for square in row]}


def held_out_pages(count=PAGES):
    """Pages of 6 to 20 of the 360 held-out scans, and what is on them."""
    random, (scans, labels) = np.random.default_rng(SEED), held_out()
    return [drawn(random, scans, labels, list(random.choice(len(scans), random.integers(6, 21), replace=False))) for _ in range(count)]


def write(folder, pages):
    folder.mkdir(parents=True, exist_ok=True)
    digits, listed = max(2, len(str(len(pages)))), []
    for number, (page, said) in enumerate(pages, 1):
        listed.append({"file": f"page{number:0{digits}d}.png", **said})
        (folder / listed[-1]["file"]).write_bytes(png(page))
    (folder / "pages.json").write_text("[\n" + ",\n".join(json.dumps(one) for one in listed) + "\n]\n")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    write(Path(sys.argv[1]), held_out_pages(int(sys.argv[2]) if len(sys.argv) > 2 else PAGES))


if __name__ == "__main__":
    main()
