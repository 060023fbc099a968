#!/usr/bin/env python3
"""Makes what rank is compiled with and serves, all of it random by a seed and the same everywhere:

  items.npy      26 MB: for each of 100,000 items a vector of 64 numbers, of length 1, in 500 groups
  kinds.npy       8 MB: ten classes of each, of 10,000: its category, its brand and so on
  measures.npy  1.6 MB: its price, its age in days, how often it was looked at, its stock
  models/wide_deep/1/model.onnx  21 MB, opset 17: Wide & Deep over 13 numbers and 26 classes

    python3 -m venv .venv && .venv/bin/pip install -r ../requirements.txt && .venv/bin/python make.py
"""
import os
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests/bench/engine"))
from models import saved, wide_deep  # noqa: E402

ITEMS, WIDTH, GROUPS, KINDS, BUCKETS = 100_000, 64, 500, 10, 10_000


def tables():
    dice = np.random.default_rng(17)
    group = dice.integers(0, GROUPS, ITEMS)
    vectors = dice.standard_normal((GROUPS, WIDTH), np.float32)[group] + np.float32(0.7) * dice.standard_normal((ITEMS, WIDTH), np.float32)
    kinds = dice.integers(0, BUCKETS, (ITEMS, KINDS))
    kinds[:, 0] = group  # the category
    return {"items": vectors / np.linalg.norm(vectors, axis=1, keepdims=True), "kinds": kinds, "measures": dice.lognormal(3, 1, (ITEMS, 4)).astype(np.float32)}


def main():
    saved(wide_deep, HERE / "models/wide_deep/1/model.onnx")
    if all(path.exists() and path.stat().st_mtime >= Path(__file__).stat().st_mtime for path in (HERE / f"{name}.npy" for name in ("items", "kinds", "measures"))):
        return
    for name, table in tables().items():
        part = HERE / f"{name}.{os.getpid()}.npy"
        np.save(part, table)
        part.rename(HERE / f"{name}.npy")


if __name__ == "__main__":
    main()
