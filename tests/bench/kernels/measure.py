"""measure.py PROGRAM FOLDER ROUNDS SECONDS: the kernels of kernels.wf, the C++ of peers.cc and numpy, taking turns. Prints a line of JSON for each:
{"name", "wf", "cpp", "numpy"}, in nanoseconds. Run by rows.py with the Python that has numpy, on one core."""
import json
import struct
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import alone  # noqa: E402, F401: before numpy
import numpy as np  # noqa: E402

DTYPES = {np.dtype(np.int64): 5, np.dtype(np.uint8): 6, np.dtype(np.float32): 12}  # as in runtime/abi/values.h
MEAN, DEVIATION = np.array([0.485, 0.456, 0.406], np.float32), np.array([0.229, 0.224, 0.225], np.float32)
BATCH_SECONDS = 0.002


def normalise(px):
    return np.ascontiguousarray(((px.astype(np.float32) / 255 - MEAN) / DEVIATION).transpose(2, 0, 1))


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def layer_norm(x, gain, bias):
    mean = x.mean(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5) * gain + bias


def top_k(x, k):
    best = np.argpartition(-x, k)[:k]
    best = best[np.argsort(-x[best])]
    return x[best], best


def iou(a, b):
    low = np.maximum(a[:, None, :2], b[None, :, :2])
    high = np.minimum(a[:, None, 2:], b[None, :, 2:])
    common = np.prod(np.clip(high - low, 0, None), axis=2)
    area_a, area_b = np.prod(a[:, 2:] - a[:, :2], axis=1), np.prod(b[:, 2:] - b[:, :2], axis=1)
    return common / (area_a[:, None] + area_b[None, :] - common)


def one_hot(label, classes):
    return (label[:, None] == np.arange(classes)).astype(np.float32)


def cosine(query, rows):
    return rows @ query / (np.linalg.norm(rows, axis=1) * np.linalg.norm(query))


def resize(px, height, width):
    def place(inputs, outputs):
        centre = ((np.arange(outputs, dtype=np.float32) + 0.5) * np.float32(inputs / outputs) - 0.5).clip(0, inputs - 1)
        before = centre.astype(np.int64)
        return before, np.minimum(before + 1, inputs - 1), centre - before.astype(np.float32)
    up, down, v = place(px.shape[0], height)
    left, right, u = place(px.shape[1], width)
    image, v = px.astype(np.float32), v[:, None]
    above, below = image[up], image[down]
    above, below = above[:, left] * (1 - u) + above[:, right] * u, below[:, left] * (1 - u) + below[:, right] * u
    return (above * (1 - v) + below * v + 0.5).astype(np.uint8)


def boxes(random, count):
    corner, size = random.random((count, 2)) * 1000, random.random((count, 2)) * 200 + 1
    return np.concatenate([corner, corner + size], axis=1).astype(np.float32)


def floats(random, *shape):
    return random.standard_normal(shape, dtype=np.float32)


# The row's name, the workflow, the numpy expression, its inputs. Pictures may differ by a level: rounding is not that of numpy.
KERNELS = [
    ("normalise-hwc-chw", "Normalise", normalise, lambda r: [r.integers(0, 256, (224, 224, 3), np.uint8)]),
    ("softmax", "Softmax", softmax, lambda r: [floats(r, 1000)]),
    ("layer-norm", "LayerNorm", layer_norm, lambda r: [floats(r, 128, 768), floats(r, 768), floats(r, 768)]),
    ("top-k-1000", "TopK", top_k, lambda r: [floats(r, 1000), 5]),
    ("iou-1000x1000", "Iou", iou, lambda r: [boxes(r, 1000), boxes(r, 1000)]),
    ("one-hot", "OneHot", one_hot, lambda r: [r.integers(0, 1000, 256, np.int64), 1000]),
    ("cosine-10000x768", "Cosine", cosine, lambda r: [floats(r, 768), floats(r, 10000, 768)]),
    ("bilinear-resize", "Resize", resize, lambda r: [r.integers(0, 256, (480, 640), np.uint8), 224, 224]),
]


def write_inputs(path, inputs):
    with open(path, "wb") as file:
        for value in map(np.asarray, inputs):
            file.write(struct.pack(f"<{2 + value.ndim}q", DTYPES[value.dtype], value.ndim, *value.shape) + value.tobytes())


def check(name, path, wanted):
    """The three must have computed the same, or their times say nothing."""
    raw = Path(path).read_bytes()
    for part in wanted if isinstance(wanted, tuple) else (wanted,):
        part = np.asarray(part)
        found, raw = np.frombuffer(raw[:part.nbytes], part.dtype).reshape(part.shape), raw[part.nbytes:]
        loose = {"atol": 1, "rtol": 0} if part.dtype == np.uint8 else {"atol": 1e-5, "rtol": 1e-4}
        if not np.allclose(found.astype(np.float64), part.astype(np.float64), **loose):
            raise AssertionError(f"{name}: {path} is not what numpy says")
    if raw:
        raise AssertionError(f"{name}: {path} is longer than what numpy says")


def numpy_ns(expression, inputs, seconds):
    """As kernels_main.cc measures: the median of batches, in time of the processor."""
    def spent(calls):
        started = time.process_time()
        for _ in range(calls):
            expression(*inputs)
        return time.process_time() - started
    calls = 1
    while spent(calls) < BATCH_SECONDS:
        calls *= 2
    batches, until = [], time.perf_counter() + seconds
    while not batches or time.perf_counter() < until:
        batches.append(spent(calls) / calls)
    return median(batches) * 1e9


def measured(program, folder, workflow, expression, inputs, rounds, seconds):
    write_inputs(folder / "inputs", inputs)
    process = subprocess.Popen([program, workflow, folder / "inputs", folder / "result"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if process.stdout.readline() != "ready\n":
        raise AssertionError(f"{workflow} did not run")
    for who in ("wf", "cpp"):
        check(workflow, folder / f"result.{who}", expression(*inputs))

    def ask(who):
        process.stdin.write(f"{who} {seconds}\n")
        process.stdin.flush()
        return float(process.stdout.readline())
    times = [(ask("wf"), ask("cpp"), numpy_ns(expression, inputs, seconds)) for _ in range(rounds)]
    process.stdin.close()
    process.stdout.close()
    process.wait()
    return [median(column) for column in zip(*times)]


def main():
    program, folder, rounds, seconds = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    for name, workflow, expression, make in KERNELS:
        wf, cpp, numpy = measured(program, folder, workflow, expression, make(np.random.default_rng(7)), rounds, seconds)
        print(json.dumps({"name": name, "wf": wf, "cpp": cpp, "numpy": numpy}), flush=True)


if __name__ == "__main__":
    main()
