"""The held-out scans of this example and what is done with pictures of their kind. Needs numpy."""
import csv
import struct
import zlib
from pathlib import Path

import numpy as np

HELD_OUT = Path(__file__).resolve().parent / "testdata/held_out"


def resize(image, side):
    """Bilinear, as stdlib/image.wf does it: half-pixel centres, clamped at the edge, halves round up. u8 in, u8 out."""
    f = np.float32

    def axis(size):
        at = (np.arange(side).astype(f) + f(0.5)) * (f(size) / f(side)) - f(0.5)
        at = np.clip(at, f(0), f(size - 1))
        low = at.astype(np.int64)
        return low, np.minimum(low + 1, size - 1), at - low.astype(f)

    y0, y1, wy = axis(image.shape[0])
    x0, x1, wx = axis(image.shape[1])
    p = image.astype(f)
    top = p[y0][:, x0] + (p[y0][:, x1] - p[y0][:, x0]) * wx
    bottom = p[y1][:, x0] + (p[y1][:, x1] - p[y1][:, x0]) * wx
    return (top + (bottom - top) * wy[:, None] + f(0.5)).astype(np.uint8)


def png(image):
    """An 8-bit grey PNG of a u8[h, w] array, without time stamps: the same pixels give the same bytes."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = image.shape
    rows = b"".join(b"\0" + row.tobytes() for row in image)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) + \
        chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def pixels_of(encoded):
    """The u8[h, w] that `png` was given."""
    height, width = struct.unpack(">II", encoded[16:24])[::-1]
    size = struct.unpack(">I", encoded[33:37])[0]
    rows = np.frombuffer(zlib.decompress(encoded[41:41 + size]), np.uint8).reshape(height, width + 1)
    return rows[:, 1:]


def held_out():
    """Scans u8[8, 8] that no network has seen, and their digits."""
    with open(HELD_OUT / "labels.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    return [pixels_of((HELD_OUT / row["file"]).read_bytes()) for row in rows], [int(row["label"]) for row in rows]
