#!/usr/bin/env python3
"""Trains the candidate; the other model is that of examples/digits.

    python3 -m venv .venv && .venv/bin/pip install -r ../fraud/requirements.txt && .venv/bin/python train.py

Data and split are those of examples/digits: of the 1,797 handwritten digits that scikit-learn carries, image i is held out when i % 5 == 0.

Writes models/candidate/1/model.onnx.
"""
from pathlib import Path

import numpy as np
import onnx
from skl2onnx import to_onnx
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

HERE = Path(__file__).resolve().parent


def main():
    data = load_digits()
    pixels, labels = data.images.reshape(-1, 64).astype(np.float32) / 16, data.target
    held = np.arange(len(pixels)) % 5 == 0
    candidate = LogisticRegression(max_iter=1000).fit(pixels[~held], labels[~held])
    right = candidate.predict(pixels[held]) == labels[held]
    print(f"held out: {right.sum()} of {len(right)} right, {100 * right.mean():.2f} %")

    exported = to_onnx(candidate, pixels[:1], name="candidate", options={"zipmap": False}, target_opset={"": 15, "ai.onnx.ml": 1})
    for value in (*exported.graph.input, *exported.graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = "batch"
    exported.producer_name, exported.producer_version = "router/train.py", ""
    onnx.checker.check_model(exported)
    path = HERE / "models/candidate/1/model.onnx"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(exported.SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
