#!/usr/bin/env python3
"""Trains both models and writes everything of this example that is not source text.

    python3 -m venv .venv && .venv/bin/pip install -r requirements.txt && .venv/bin/python train.py

Data: the 178 wines that scikit-learn carries, 13 measurements each, of three grapes. Fixed split: wine i is held out when i % 3 == 0 (60 wines), the others (118)
train. Nothing is chosen by looking at the held-out wines; how sure the cheap model has to be comes from cross-validation over the others.

Writes models/cheap/1/model.onnx, models/exact/1/model.onnx, cheap.json and testdata.
"""
import json
from pathlib import Path

import numpy as np
import onnx
from skl2onnx import to_onnx
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

HERE = Path(__file__).resolve().parent
GRAPES = ["Barolo", "Grignolino", "Barbera"]  # scikit-learn's class_0, class_1, class_2
CHEAP = ["alcohol", "color_intensity", "hue"]  # what is measured while one waits
TREES = 200
SEED = 7


def cheap_features(x, names):
    """As `quick` of fraud.wf: the colour by its logarithm."""
    quick = x[:, [names.index(name) for name in CHEAP]].copy()
    quick[:, 1] = np.log1p(quick[:, 1])
    return quick


def export(model, columns, path, name):
    """f32[batch, columns] -> label i64[batch], probabilities f32[batch, 3]."""
    exported = to_onnx(model, np.zeros((1, columns), np.float32), name=name, options={"zipmap": False}, target_opset={"": 15, "ai.onnx.ml": 1})
    exported.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    for output in exported.graph.output:
        output.type.tensor_type.shape.dim[0].dim_param = "batch"
    exported.producer_name, exported.producer_version = "fraud/train.py", ""
    onnx.checker.check_model(exported)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(exported.SerializeToString(deterministic=True))


def claims(probabilities, grapes, sure):
    """Every wine under each of the three labels: how many claims the model is sure of, and how many of those it is right about."""
    genuine = grapes[:, None] == np.arange(3)
    decided = (probabilities >= sure) | (probabilities <= 1 - sure)
    return int(decided.sum()), int((decided & ((probabilities >= 0.5) == genuine)).sum()), genuine.size


def main():
    data = load_wine()
    names = [name.replace("od280/od315_of_diluted_wines", "od280_od315") for name in data.feature_names]
    x, grapes = data.data.astype(np.float32).astype(np.float64), data.target
    held = np.arange(len(x)) % 3 == 0
    quick = cheap_features(x, names)

    scaler = StandardScaler().fit(quick[~held])
    cheap = LogisticRegression().fit(scaler.transform(quick[~held]), grapes[~held])
    exact = RandomForestClassifier(TREES, random_state=SEED).fit(x[~held], grapes[~held])

    apart = cross_val_predict(make_pipeline(StandardScaler(), LogisticRegression()), quick[~held], grapes[~held], cv=10, method="predict_proba")
    for sure in (0.5, 0.8, 0.9, 0.95, 0.98):
        decided, right, count = claims(apart, grapes[~held], sure)
        print(f"cross-validated, sure of {sure}: {decided} of {count} claims decided, {decided - right} of them wrong")

    by_cheap, by_exact = cheap.predict_proba(scaler.transform(quick[held])), exact.predict_proba(x[held])
    for name, probabilities in (("cheap", by_cheap), ("exact", by_exact)):
        _, right, count = claims(probabilities, grapes[held], 0.5)
        print(f"held out: {name} alone is right about {right} of {count} claims")

    export(cheap, len(CHEAP), HERE / "models/cheap/1/model.onnx", "cheap")
    export(exact, x.shape[1], HERE / "models/exact/1/model.onnx", "exact")
    scale = {"mean": scaler.mean_.astype(np.float32), "deviation": scaler.scale_.astype(np.float32)}
    (HERE / "cheap.json").write_text(json.dumps({name: [float(str(value)) for value in values] for name, values in scale.items()}) + "\n")
    known = [{"wine": dict(zip(names, (float(str(np.float32(value))) for value in row))), "grape": GRAPES[grape],
                         "cheap": [round(float(p), 6) for p in c], "exact": [round(float(p), 6) for p in e]}
             for row, grape, c, e in zip(x[held], grapes[held], by_cheap, by_exact)]
    folder = HERE / "testdata"
    folder.mkdir(exist_ok=True)
    (folder / "held_out.json").write_text("[\n" + ",\n".join(json.dumps(one) for one in known) + "\n]\n")
    for name, one in (("clear", known[0]), ("doubtful", known[1]), ("forged", known[-1])):
        (folder / f"{name}.json").write_text(json.dumps({"wine": one["wine"], "label": "Barolo"}) + "\n")


if __name__ == "__main__":
    main()
