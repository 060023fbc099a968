#!/usr/bin/env python3
"""Trains the detector and makes the pages: everything of this example that is not source text.

    python3 -m venv .venv && .venv/bin/pip install -r ../digits/requirements.txt && .venv/bin/python train.py

Pages are drawn by draw.py: real scans of digits, with paper, ruled lines, specks and noise around them. Those that train the detector hold scans that trained the
recogniser too (examples/digits/train.py); the pages in testdata hold the 360 held-out scans, each of them once. Nothing is chosen by looking at the latter: the
recipe below runs once, for a fixed number of steps.

Writes models/detect/1/model.onnx, testdata/*.png and testdata/pages.json.
The same seed gives the same pages, and the same network on the same machine; other BLAS libraries may differ in last bits.
"""
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "digits"))
from draw import draw_page, drawn, in_lines, write  # noqa: E402
from scans import png  # noqa: E402
from train import Conv3x3, MaxPool2, Relu, forward  # noqa: E402

SEED = 11
STRIDE = 4  # pixels of the page per cell of the maps
SPREAD = 0.8  # of the target around a digit's centre, in cells
SIDE_SCALE = 8  # of the output that says how large a digit is, in pixels
TRAINING_PAGES = 500
CROP = (48, 80)
STEPS = 2500
BATCH = 8
PEAK_RATE = 3e-3


# ---- training ----
def targets(crop_shape, squares):
    """Per cell: how near the centre of a digit is, and where that centre and its side are, with a mask of the cells that are asked for that."""
    rows, columns = crop_shape[0] // STRIDE, crop_shape[1] // STRIDE
    y, x = np.mgrid[0:rows, 0:columns] + 0.5
    heat, place = np.zeros((rows, columns), np.float32), np.zeros((3, rows, columns), np.float32)
    for top, left, side in squares:
        dy, dx = (top + side / 2) / STRIDE - y, (left + side / 2) / STRIDE - x
        near = np.exp(-(dy**2 + dx**2) / (2 * SPREAD**2))
        nearer = near > heat
        heat[nearer] = near[nearer]
        place[:, nearer] = np.stack([dy, dx, np.full_like(dy, side / SIDE_SCALE)])[:, nearer]
    return heat, place, heat > 0.4


def batch_of(random, pages):
    images, heats, places, masks = [], [], [], []
    for at in random.integers(0, len(pages), BATCH):
        page, squares = pages[at]
        top, left = (int(random.integers(0, have - want + 1)) for have, want in zip(page.shape, CROP))
        images.append(ink_of(page[top:top + CROP[0], left:left + CROP[1]]))
        heat, place, mask = targets(CROP, [(t - top, l - left, side) for t, l, side in squares])
        heats.append(heat), places.append(place), masks.append(mask)
    return np.stack(images)[:, None], np.stack(heats), np.stack(places), np.stack(masks)


def ink_of(page):
    return (255 - page.astype(np.float32)) / np.float32(255)


def make_network(random):
    layers = [Conv3x3(random, 1, 8), Relu(), MaxPool2(), Conv3x3(random, 8, 16), Relu(), MaxPool2(), Conv3x3(random, 16, 16), Relu(),
              Conv3x3(random, 16, 16), Relu(), Conv3x3(random, 16, 4)]
    layers[-1].b[:] = [-3, 0, 0, 24 / SIDE_SCALE]  # most cells are paper
    return layers


def gradient_of(outputs, heat, place, mask):
    """Cross entropy of the heat, in which digits weigh more than paper, and squared error of the places. Returns the loss too."""
    p = 1 / (1 + np.exp(-outputs[:, 0]))
    weight = (1 + 8 * heat) / heat.size
    missed = np.where(mask[:, None], outputs[:, 1:] - place, 0)
    count = max(int(mask.sum()), 1)
    loss = (weight * -(heat * np.log(p + 1e-7) + (1 - heat) * np.log(1 - p + 1e-7))).sum() + 0.2 * (missed**2).sum() / count
    return np.concatenate([(weight * (p - heat))[:, None], 0.4 * missed / count], axis=1).astype(np.float32), loss


def train(layers, random, pages):
    """Adam with a cosine rate."""
    trained = [layer for layer in layers if layer.params]
    moments = [[(np.zeros_like(p), np.zeros_like(p)) for p in layer.params] for layer in trained]
    losses = []
    for step in range(1, STEPS + 1):
        images, *wanted = batch_of(random, pages)
        gradient, loss = gradient_of(forward(layers, images, True), *wanted)
        losses.append(loss)
        for layer in reversed(layers):
            gradient = layer.backward(gradient)
        rate = PEAK_RATE * 0.5 * (1 + np.cos(np.pi * step / STEPS))
        for layer, pairs in zip(trained, moments):
            for parameter, g, (m, v) in zip(layer.params, layer.grads, pairs):
                m += 0.1 * (g - m)
                v += 0.001 * (g * g - v)
                parameter -= (rate * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)).astype(np.float32)
        if step % 100 == 0:
            print(f"step {step:4d}  loss {np.mean(losses[-100:]):.4f}", flush=True)


def export(layers, path):
    """ONNX opset 13: ink f32[batch, 1, h, w] -> heat f32[batch, h/4, w/4], place f32[batch, 3, h/4, w/4]."""
    weights = []

    def put(name, array):
        weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def conv(source, result, w, b):
        return helper.make_node("Conv", [source, put(f"{result}.w", w), put(f"{result}.b", b)], [result], result, kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[1, 1])

    def pool(source, result):
        return helper.make_node("MaxPool", [source], [result], result, kernel_shape=[2, 2], strides=[2, 2])

    *body, head = [layer for layer in layers if layer.params]
    nodes, last = [], "ink"
    for number, layer in enumerate(body, 1):
        nodes += [conv(last, f"conv{number}", layer.w, layer.b), helper.make_node("Relu", [f"conv{number}"], [f"relu{number}"], f"relu{number}")]
        last = f"relu{number}"
        if number <= 2:
            nodes.append(pool(last, f"pool{number}"))
            last = f"pool{number}"
    nodes += [conv(last, "near", head.w[:1], head.b[:1]), conv(last, "place", head.w[1:], head.b[1:]),
              helper.make_node("Sigmoid", ["near"], ["chance"], "chance"),
              helper.make_node("Squeeze", ["chance", "channel"], ["heat"], "heat")]
    weights.append(numpy_helper.from_array(np.array([1], np.int64), "channel"))
    graph = helper.make_graph(nodes, "detect", [helper.make_tensor_value_info("ink", TensorProto.FLOAT, ["batch", 1, "h", "w"])],
                              [helper.make_tensor_value_info("heat", TensorProto.FLOAT, ["batch", "rows", "columns"]),
                               helper.make_tensor_value_info("place", TensorProto.FLOAT, ["batch", 3, "rows", "columns"])], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8, producer_name="pages/train.py")
    onnx.checker.check_model(model, full_check=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString(deterministic=True))


def write_pages(random, scans, labels, folder):
    """24 pages that hold every held-out scan once, and one that holds none."""
    held = random.permutation(np.arange(0, len(scans), 5))
    write(folder, [drawn(random, scans, labels, list(indices)) for indices in np.split(held, 24)])
    page, _ = draw_page(random, [[], [], []])
    (folder / "blank.png").write_bytes(png(page))


def main():
    data = load_digits()
    scans = np.rint(data.images * (255 / 16)).astype(np.uint8)
    labels = data.target.astype(np.int64)
    write_pages(np.random.default_rng(SEED), scans, labels, HERE / "testdata")

    random = np.random.default_rng(SEED + 1)
    seen = np.flatnonzero(np.arange(len(scans)) % 5)
    pages = []
    for _ in range(TRAINING_PAGES):
        lines = in_lines(random, list(random.choice(seen, random.integers(6, 16))))
        page, places = draw_page(random, [[scans[i] for i in line] for line in lines])
        if all(have >= want for have, want in zip(page.shape, CROP)):
            pages.append((page, [square for row in places for square in row]))
    layers = make_network(random)
    train(layers, random, pages)
    export(layers, HERE / "models/detect/1/model.onnx")


if __name__ == "__main__":
    main()
