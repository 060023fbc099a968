#!/usr/bin/env python3
"""Makes models/encoder/1/model.onnx (56 MB, opset 17): MiniLM's architecture, 6 layers of 384 numbers with 12 heads, for the pieces of tokenizer.json. Its weights are random,
by a seed: the same everywhere, and trained for nothing.

    python3 -m venv .venv && .venv/bin/pip install -r ../requirements.txt && .venv/bin/python make.py
"""
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests/bench/engine"))
from models import bert, saved  # noqa: E402


def main():
    pieces = json.loads((HERE / "tokenizer.json").read_text())["model"]["vocab"]
    saved(lambda: bert(5, 6, 384, 12, pieces=len(pieces), pooled=False), HERE / "models/encoder/1/model.onnx")


if __name__ == "__main__":
    main()
