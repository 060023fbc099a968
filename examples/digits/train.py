#!/usr/bin/env python3
"""Trains the digit classifier and writes everything of this example that is not source text.

    python3 -m venv .venv && .venv/bin/pip install -r requirements.txt && .venv/bin/python train.py

Data: the 1,797 handwritten digits that scikit-learn carries (8x8, grey levels 0..16). Fixed split: image i is held out when i % 5 == 0 (360 images),
the others (1,437) train. Nothing is chosen by looking at the held-out images: the recipe below runs once, for a fixed number of epochs.

Writes models/digits/1/model.onnx, testdata/held_out/*.png, testdata/held_out/labels.csv and testdata/seven.png.
The same seed gives the same network on the same machine; other BLAS libraries may differ in last bits.
"""
import csv
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

from scans import png, resize

HERE = Path(__file__).resolve().parent
SIDE = 28
EPOCHS = 60
BATCH = 64
PEAK_RATE = 2e-3
DECAY = 1e-3
SHIFT = 3  # pixels of the 28x28 image, less than one of the 8x8 scan
SEED = 7


# ---- the network: each layer keeps what its backward pass needs; images are [batch, channel, y, x] ----
class Conv3x3:
    """3x3, stride 1, zero padding of 1."""
    def __init__(self, random, inputs, outputs):
        self.w = (random.standard_normal((outputs, inputs, 3, 3)) * np.sqrt(2 / (9 * inputs))).astype(np.float32)
        self.b = np.zeros(outputs, np.float32)
        self.params = [self.w, self.b]

    def forward(self, x, training):
        n, c, h, w = x.shape
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
        self.columns = windows.transpose(0, 2, 3, 1, 4, 5).reshape(n * h * w, c * 9)
        self.shape = x.shape
        y = self.columns @ self.w.reshape(len(self.w), -1).T + self.b
        return y.reshape(n, h, w, -1).transpose(0, 3, 1, 2)

    def backward(self, dy):
        n, c, h, w = self.shape
        flat = dy.transpose(0, 2, 3, 1).reshape(n * h * w, -1)
        self.grads = [(flat.T @ self.columns).reshape(self.w.shape), flat.sum(0)]
        windows = (flat @ self.w.reshape(len(self.w), -1)).reshape(n, h, w, c, 3, 3)
        dx = np.zeros((n, c, h + 2, w + 2), np.float32)
        for y in range(3):
            for x in range(3):
                dx[:, :, y:y + h, x:x + w] += windows[:, :, :, :, y, x].transpose(0, 3, 1, 2)
        return dx[:, :, 1:-1, 1:-1]


class Relu:
    params = []

    def forward(self, x, training):
        self.on = x > 0
        return x * self.on

    def backward(self, dy):
        return dy * self.on


class MaxPool2:
    """2x2, stride 2; the sides are even."""
    params = []

    def forward(self, x, training):
        n, c, h, w = x.shape
        tiles = x.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, c, h // 2, w // 2, 4)
        self.at, self.shape = tiles.argmax(-1), x.shape
        return tiles.max(-1)

    def backward(self, dy):
        n, c, h, w = self.shape
        tiles = np.zeros(dy.shape + (4,), np.float32)
        np.put_along_axis(tiles, self.at[..., None], dy[..., None], -1)
        return tiles.reshape(n, c, h // 2, w // 2, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, c, h, w)


class Flatten:
    params = []

    def forward(self, x, training):
        self.shape = x.shape
        return x.reshape(len(x), -1)

    def backward(self, dy):
        return dy.reshape(self.shape)


class Dropout:
    """Only while training; absent from the exported network."""
    params = []

    def __init__(self, random, share):
        self.random, self.share = random, share

    def forward(self, x, training):
        if not training:
            return x
        self.keep = (self.random.random(x.shape) >= self.share).astype(np.float32) / np.float32(1 - self.share)
        return x * self.keep

    def backward(self, dy):
        return dy * self.keep


class Gemm:
    def __init__(self, random, inputs, outputs):
        self.w = (random.standard_normal((outputs, inputs)) * np.sqrt(2 / inputs)).astype(np.float32)
        self.b = np.zeros(outputs, np.float32)
        self.params = [self.w, self.b]

    def forward(self, x, training):
        self.x = x
        return x @ self.w.T + self.b

    def backward(self, dy):
        self.grads = [dy.T @ self.x, dy.sum(0)]
        return dy @ self.w


def make_network(random):
    return [Conv3x3(random, 1, 8), Relu(), MaxPool2(), Conv3x3(random, 8, 16), Relu(), MaxPool2(), Flatten(),
            Dropout(random, 0.3), Gemm(random, 784, 64), Relu(), Gemm(random, 64, 10)]


def forward(layers, x, training=False):
    for layer in layers:
        x = layer.forward(x, training)
    return x


def shifted(random, images):
    """Each image moved by up to SHIFT pixels both ways; what enters is black."""
    out = np.zeros_like(images)
    for i, (dy, dx) in enumerate(random.integers(-SHIFT, SHIFT + 1, (len(images), 2))):
        ys, yd = max(0, -dy), max(0, dy)
        xs, xd = max(0, -dx), max(0, dx)
        out[i, :, yd:SIDE - ys, xd:SIDE - xs] = images[i, :, ys:SIDE - yd, xs:SIDE - xd]
    return out


def train(layers, random, x, labels):
    """Adam with decoupled weight decay and a cosine rate."""
    trained = [layer for layer in layers if layer.params]
    moments = [[(np.zeros_like(p), np.zeros_like(p)) for p in layer.params] for layer in trained]
    steps = EPOCHS * -(-len(x) // BATCH)
    step = 0
    for epoch in range(EPOCHS):
        order, losses = random.permutation(len(x)), []
        for first in range(0, len(x), BATCH):
            rows = order[first:first + BATCH]
            logits = forward(layers, shifted(random, x[rows]), True)
            p = np.exp(logits - logits.max(1, keepdims=True))
            p /= p.sum(1, keepdims=True)
            losses.append(-np.log(p[np.arange(len(rows)), labels[rows]] + 1e-9).mean())
            gradient = p
            gradient[np.arange(len(rows)), labels[rows]] -= 1
            gradient /= np.float32(len(rows))
            for layer in reversed(layers):
                gradient = layer.backward(gradient)
            step += 1
            rate = PEAK_RATE * 0.5 * (1 + np.cos(np.pi * step / steps))
            for layer, pairs in zip(trained, moments):
                for parameter, g, (m, v) in zip(layer.params, layer.grads, pairs):
                    m += 0.1 * (g - m)
                    v += 0.001 * (g * g - v)
                    update = (m / (1 - 0.9 ** step)) / (np.sqrt(v / (1 - 0.999 ** step)) + 1e-8)
                    if parameter.ndim > 1:
                        update = update + DECAY * parameter
                    parameter -= (rate * update).astype(np.float32)
        print(f"epoch {epoch + 1:2d}  loss {np.mean(losses):.4f}", flush=True)


def export(layers, path):
    """ONNX opset 13, a dynamic batch axis, f32[batch, 1, 28, 28] -> f32[batch, 10]."""
    conv1, conv2, gemm1, gemm2 = [layer for layer in layers if layer.params]
    weights = []

    def put(name, array):
        weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    conv = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [1, 1]}
    pool = {"kernel_shape": [2, 2], "strides": [2, 2]}
    nodes = [
        helper.make_node("Conv", ["image", put("conv1.w", conv1.w), put("conv1.b", conv1.b)], ["c1"], "conv1", **conv),
        helper.make_node("Relu", ["c1"], ["r1"], "relu1"),
        helper.make_node("MaxPool", ["r1"], ["p1"], "pool1", **pool),
        helper.make_node("Conv", ["p1", put("conv2.w", conv2.w), put("conv2.b", conv2.b)], ["c2"], "conv2", **conv),
        helper.make_node("Relu", ["c2"], ["r2"], "relu2"),
        helper.make_node("MaxPool", ["r2"], ["p2"], "pool2", **pool),
        helper.make_node("Flatten", ["p2"], ["f"], "flatten", axis=1),
        helper.make_node("Gemm", ["f", put("fc1.w", gemm1.w), put("fc1.b", gemm1.b)], ["g1"], "fc1", transB=1),
        helper.make_node("Relu", ["g1"], ["r3"], "relu3"),
        helper.make_node("Gemm", ["r3", put("fc2.w", gemm2.w), put("fc2.b", gemm2.b)], ["logits"], "fc2", transB=1),
    ]
    graph = helper.make_graph(nodes, "digits",
                              [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, SIDE, SIDE])],
                              [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 10])], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8, producer_name="digits/train.py")
    onnx.checker.check_model(model, full_check=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString(deterministic=True))


def write_held_out(scans, labels, folder):
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "labels.csv", "w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["file", "label"])
        for index in range(0, len(scans), 5):
            name = f"{index:04d}.png"
            (folder / name).write_bytes(png(scans[index]))
            rows.writerow([name, labels[index]])


def main():
    data = load_digits()
    scans = np.rint(data.images * (255 / 16)).astype(np.uint8)
    labels = data.target.astype(np.int64)
    held = np.arange(len(scans)) % 5 == 0
    x = np.stack([resize(scan, SIDE) for scan in scans])[:, None].astype(np.float32) / np.float32(255)

    random = np.random.default_rng(SEED)
    layers = make_network(random)
    train(layers, random, x[~held], labels[~held])
    right = forward(layers, x[held]).argmax(1) == labels[held]
    print(f"held out: {right.sum()} of {len(right)} right, {100 * right.mean():.2f} %")

    export(layers, HERE / "models/digits/1/model.onnx")
    write_held_out(scans, labels, HERE / "testdata/held_out")
    seven = next(i for i in range(0, len(scans), 5) if labels[i] == 7)
    (HERE / "testdata/seven.png").write_bytes(png(scans[seven]))


if __name__ == "__main__":
    main()
