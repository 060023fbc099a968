#!/usr/bin/env python3
"""The functions of std.tensor, nn, lists, maps, feature and hash against numpy and Python: random values, nothing, one, NaN, infinities, extremes.

Each row of FUNCTIONS is a workflow of the program that is served, and cases for it; what a reference gives is what the server has to answer, a number the code of its failure.
What PyTorch, torchvision, sentence-transformers and transformers give is written here as their pages define it, for they are too large to be installed; OTHERS have what other packages give."""
import itertools
import re
import unittest

import harness

if __name__ == "__main__":
    harness.in_environment()

import cv2  # noqa: E402
from native_case import NativeCase  # noqa: E402
import numpy as np  # noqa: E402
import scipy.ndimage  # noqa: E402
import scipy.sparse  # noqa: E402
from sklearn.metrics.pairwise import cosine_similarity  # noqa: E402
from sklearn.preprocessing import StandardScaler, normalize  # noqa: E402
import xxhash  # noqa: E402

F32, I64 = np.float32, np.int64
NAN, INF, MOST, LEAST = np.nan, np.inf, np.finfo(F32).max, np.finfo(F32).smallest_subnormal
INDEX, DIMENSION, EMPTY, TYPE = 7001, 7004, 7005, 7000
dice = np.random.default_rng(7)
MANY = 1_000 if harness.IS_SANITIZED else 10_000  # boxes, each of which is held against each


def floats(*values):
    return np.array(values, F32)


def ints(*values):
    return np.array(values, I64)


def rows_of(width, *rows):
    return np.array(rows, F32).reshape(-1, width)


EDGES = [floats(), floats(0), floats(NAN), floats(INF), floats(-INF, INF), floats(-0.0, 0.0), floats(MOST, -MOST, LEAST, -LEAST), floats(1, NAN, -INF, NAN, 3, INF, 1)]
MILLIONS = [np.full(1_000_000, 0.1, F32), (1000 + np.arange(1_000_000) % 2).astype(F32), dice.normal(-300, 2, 1_000_000).astype(F32)]
TAME_EDGES = [floats(), floats(0), floats(-3), floats(-0.0, 0.0), floats(LEAST, 1, 1e-30), floats(7, 7, 7)]


def vectors(edges=EDGES, sizes=(2, 16, 33, 300)):
    """Random vectors, some with many equal values."""
    return edges + [dice.normal(0, 5, size).astype(F32) for size in sizes] + [dice.integers(-3, 3, size).astype(F32) for size in sizes]


def matrices():
    return [dice.normal(0, 3, shape).astype(F32) for shape in ((1, 1), (1, 7), (5, 1), (3, 4), (17, 33))]


def each(values):
    return [(x,) for x in values]


def corners(count, side=40):
    """Boxes on a grid: f32 computes with them exactly."""
    at = dice.integers(0, side, (count, 2))
    return np.concatenate([at, at + dice.integers(1, 24, (count, 2))], axis=1).astype(F32).reshape(count, 4)


# References.

def softmax(x):
    if x.shape[-1] == 0:
        return EMPTY if x.ndim == 1 else np.zeros_like(x)
    weight = np.exp((x - x.max(-1, keepdims=True)).astype(np.float64))
    return weight / weight.sum(-1, keepdims=True)


def log_softmax(x):
    if x.shape[-1] == 0:
        return EMPTY if x.ndim == 1 else np.zeros_like(x)
    shifted = (x - x.max(-1, keepdims=True)).astype(np.float64)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def at_places(x, at):
    return x[at] if all(0 <= i < len(x) for i in at) else INDEX


def scattered(x, at, values):
    if not all(0 <= i < len(x) for i in at):
        return INDEX
    y = x.copy()
    y[at] = values
    return y


def added(x, at, values):
    if not all(0 <= i < len(x) for i in at):
        return INDEX
    y = x.astype(np.float64)
    np.add.at(y, at, values)
    return y


def padded(x, before, after):
    y = np.pad(x, [(max(before, 0), max(after, 0))] + [(0, 0)] * (x.ndim - 1), constant_values=7)
    return y[max(-before, 0):len(y) - max(-after, 0)] if before + len(x) + after >= 0 else DIMENSION


def parts_of(x, parts):
    return np.stack(np.split(x, parts)) if parts > 0 and len(x) % parts == 0 else TYPE


def layer_norm(x, scale, bias):
    """torch.nn.LayerNorm: (x - E[x]) / sqrt(Var[x] + eps) * weight + bias, the variance over n."""
    wide = x.astype(np.float64)
    return (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5) * scale + bias


def length(x):
    return np.sqrt((x.astype(np.float64) ** 2).sum(-1))


def normalised(x):
    """torch.nn.functional.normalize: v / max(|v|, eps)."""
    return x / np.maximum(length(x), 1e-12)[..., None]


def cosine(a, b):
    """torch.nn.functional.cosine_similarity: a . b / (max(|a|, eps) * max(|b|, eps))."""
    return (a.astype(np.float64) * b).sum(-1) / (np.maximum(length(a), 1e-8) * np.maximum(length(b), 1e-8))


def iou(a, b):
    """Of each of `a` with each of `b`."""
    a, b = a[:, None].astype(np.float64), b[None].astype(np.float64)
    sides = np.maximum(np.minimum(a[..., 2:], b[..., 2:]) - np.maximum(a[..., :2], b[..., :2]), 0)
    shared = sides.prod(-1)
    cover = (a[..., 2:] - a[..., :2]).prod(-1) + (b[..., 2:] - b[..., :2]).prod(-1) - shared
    return np.divide(shared, cover, out=np.zeros_like(shared), where=shared > 0)


def ranks(scores):
    return np.argsort(np.where(np.isnan(scores), np.inf, -scores.astype(np.float64)), kind="stable")


def nms(boxes, scores, classes, most):
    shares, stay = iou(boxes, boxes), []
    for i in ranks(scores):
        if not any(classes[i] == classes[j] and shares[i, j] > most for j in stay):
            stay.append(i)
    return np.array(stay, I64)


def soft_nms(boxes, scores, sigma, least):
    shares, left, taken, kept = iou(boxes, boxes), scores.astype(np.float64), [], []
    while True:
        open_ = [i for i in range(len(left)) if i not in taken and left[i] > least]
        if not open_:
            return np.array(taken, I64), np.array(kept, F32)
        best = max(open_, key=lambda i: left[i])
        taken.append(best)
        kept.append(left[best])
        left = left * np.where(np.arange(len(left)) == best, 1, np.exp(-shares[best] ** 2 / sigma))


def apart(boxes, scores):
    """What is left of boxes that share nothing."""
    order = ranks(scores)[:np.count_nonzero(scores)]
    return order, scores[order]


def decoded(deltas, anchors, weights):
    """torchvision's BoxCoder, after Ren and others, Faster R-CNN: t = (x - x_a) / w_a, log(w / w_a), the latter at most log(1000 / 16)."""
    deltas, size = deltas.astype(np.float64) / weights, anchors[:, 2:].astype(np.float64) - anchors[:, :2]
    centre = anchors[:, :2] + size / 2 + deltas[:, :2] * size
    half = np.exp(np.minimum(deltas[:, 2:], np.log(1000 / 16))) * size / 2
    return np.concatenate([centre - half, centre + half], axis=1)


def components(mask):
    """By walking from pixel to pixel."""
    labels, boxes, areas = np.zeros(mask.shape, I64), [], []
    for start in zip(*np.nonzero(mask)):
        if labels[start]:
            continue
        pixels, left = [], [start]
        labels[start] = len(boxes) + 1
        while left:
            pixels.append(left.pop())
            y, x = pixels[-1]
            for near in itertools.product((y - 1, y, y + 1), (x - 1, x, x + 1)):
                if 0 <= near[0] < mask.shape[0] and 0 <= near[1] < mask.shape[1] and mask[near] and not labels[near]:
                    labels[near] = labels[start]
                    left.append(near)
        ys, xs = zip(*pixels)
        boxes.append((min(xs), min(ys), max(xs) + 1, max(ys) + 1))
        areas.append(len(pixels))
    return labels, np.array(boxes, I64).reshape(-1, 4), np.array(areas, I64)


def text_boxes(heat, threshold, least, ratio, least_side):
    boxes, scores = [], []
    for x0, y0, x1, y1 in components(heat > F32(threshold))[1]:
        score = heat[y0:y1, x0:x1].mean(dtype=np.float64)
        if score <= least or min(x1 - x0, y1 - y0) < least_side:
            continue
        by = ratio * (x1 - x0) * (y1 - y0) / (2 * (x1 - x0 + y1 - y0))
        boxes.append(np.clip([x0 - by, y0 - by, x1 + by, y1 + by], 0, [heat.shape[1], heat.shape[0]] * 2))
        scores.append(score)
    return np.array(boxes, F32).reshape(-1, 4), np.array(scores, F32)


def ctc_greedy(scores, blank):
    if scores.shape[1] == 0 and len(scores):
        return EMPTY
    return np.array([c for c, _ in itertools.groupby(scores.argmax(1) if len(scores) else []) if c != blank], I64)


def beams(scores, width, blank):
    """Prefix beam search in its textbook form: probabilities of each prefix with and without a blank at its end, times exp of the number beside them."""
    found, scale = {(): (1.0, 0.0)}, 0.0
    for row in scores.astype(np.float64):
        row = np.where(row > 0, row, 0)
        ahead = {}
        for prefix, (with_blank, without) in found.items():
            for c, p in enumerate(row):
                longer = prefix if c == blank else (*prefix, c)
                old = ahead.get(longer, (0.0, 0.0))
                if c == blank:
                    ahead[longer] = (old[0] + p * (with_blank + without), old[1])
                    continue
                ahead[longer] = (old[0], old[1] + p * (with_blank if prefix[-1:] == (c,) else with_blank + without))
                if prefix[-1:] == (c,):
                    old = ahead.get(prefix, (0.0, 0.0))
                    ahead[prefix] = (old[0], old[1] + p * without)
        found = dict(sorted(((k, v) for k, v in ahead.items() if sum(v) > 0), key=lambda entry: -sum(entry[1]))[:width])
        most = max(map(sum, found.values()), default=1)
        found, scale = {prefix: (a / most, b / most) for prefix, (a, b) in found.items()}, scale + np.log(most)
    return found, scale


def ctc_beam(scores, width, blank):
    if not 1 <= width <= 10000:
        return TYPE
    if not 0 <= blank < scores.shape[1]:
        return INDEX
    found, scale = beams(scores, width, blank)
    return np.array(next(iter(found), ()), I64), np.log(np.array([sum(value) for value in found.values()])) + scale


def readings(scores):
    """What all ways through the steps read, with their probabilities."""
    found = {}
    for way in itertools.product(range(scores.shape[1]), repeat=len(scores)):
        read = tuple(c for c, _ in itertools.groupby(way) if c != 0)
        found[read] = found.get(read, 0) + np.prod([row[c] for row, c in zip(scores.astype(np.float64), way)])
    best = max(found, key=found.get)
    return np.array(best, I64), np.log(np.array(sorted(found.values(), reverse=True)))


def top_k_mask(x, k):
    return TYPE if k < 1 or len(x) == 0 else np.where(x < np.sort(x)[::-1][min(k, len(x)) - 1], -INF, x)


def top_p_mask(x, p):
    if len(x) == 0:
        return EMPTY
    order = np.argsort(-x, kind="stable")
    before = np.concatenate([[0], np.cumsum(softmax(x[order]))[:-1]])
    y = np.full_like(x, -INF)
    stay = order[(before < p) | (np.arange(len(x)) == 0)]
    y[stay] = x[stay]
    return y


def penalised(x, seen, penalty):
    """RepetitionPenaltyLogitsProcessor of transformers, after Keskar and others, CTRL."""
    if not all(0 <= i < len(x) for i in seen):
        return INDEX
    return np.where(np.isin(np.arange(len(x)), seen), np.where(x < 0, x * penalty, x / penalty), x)


def sampled(p, u):
    upto = np.cumsum(p)
    if not (len(p) and upto[-1] > 0):
        return TYPE
    above = np.flatnonzero(upto > F32(u) * upto[-1])
    return I64(above[0] if len(above) else np.flatnonzero(p)[-1])


def bags(table, ids, starts, mean):
    ends = [*starts[1:], len(ids)]
    if any(start < 0 or start > end for start, end in zip(starts, ends)):
        return TYPE
    if len(starts) and not all(0 <= i < len(table) for i in ids[starts[0]:]):
        return INDEX
    rows = [table[ids[start:end]].sum(0, dtype=np.float64) / (max(end - start, 1) if mean else 1) for start, end in zip(starts, ends)]
    return np.array(rows).reshape(-1, table.shape[1])


def hash_cross(values, buckets):
    seed = 0
    for value in values:
        seed = xxhash.xxh64(value.encode(), seed=seed).intdigest()
    return seed % buckets if buckets > 0 else TYPE


# The same by packages.

def labelled(mask):
    labels, count = scipy.ndimage.label(mask, np.ones((3, 3)))
    boxes = [(across.start, down.start, across.stop, down.stop) for down, across in scipy.ndimage.find_objects(labels)]
    return labels, np.array(boxes, I64).reshape(-1, 4), scipy.ndimage.sum_labels(mask, labels, np.arange(1, count + 1))


def of_opencv(boxes, scores):
    """As OpenCV takes them: with sizes, and scores above 0, NaN below the others."""
    return np.hstack([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]]).astype(int).tolist(), np.nan_to_num(scores + 1, nan=0.5).tolist()


def kept(boxes, scores, most):
    if np.isnan(boxes).any():
        return None  # OpenCV has no such boxes
    return np.array(cv2.dnn.NMSBoxes(*of_opencv(boxes, scores), 0, float(most)) if len(boxes) else [], I64)


def kept_by_class(boxes, scores, classes, most):
    return np.array(cv2.dnn.NMSBoxesBatched(*of_opencv(boxes, scores), classes.tolist(), 0, float(most)) if len(boxes) else [], I64)


def softly_kept(boxes, scores, sigma, least):
    if not len(boxes) or np.isnan(scores).any() or not sigma > 0:
        return None
    left, at = cv2.dnn.softNMSBoxes(of_opencv(boxes, scores)[0], scores.tolist(), float(least), 1, 0, float(sigma), cv2.dnn.SOFT_NMSMETHOD_SOFTNMS_GAUSSIAN)
    return np.array(at, I64), np.array(left, F32)


def product_of_bags(table, ids, starts, mean):
    """The sums as the product with a sparse matrix: a row for each bag, a column for each row of the table."""
    ends = [*starts[1:], len(ids)]
    if not len(starts) or not all(0 <= start <= end <= len(ids) for start, end in zip(starts, ends)) or not all(0 <= i < len(table) for i in ids):
        return None
    shares = np.concatenate([np.full(end - start, 1 / max(end - start, 1) if mean else 1.0) for start, end in zip(starts, ends)])
    return scipy.sparse.csr_array((shares, ids[starts[0]:], np.append(starts, len(ids)) - starts[0]), shape=(len(starts), len(table))) @ table


# Parameters, results, the call, the reference, the cases, and how far an answer may be off.

class Function:
    def __init__(self, parameters, results, call, reference, cases, relative=0.0, absolute=0.0):
        self.parameters, self.results, self.call, self.reference, self.cases = parameters, results, call, reference, cases
        self.relative, self.absolute = relative, absolute
        self.inputs, self.outputs = ([part.split(":")[0].strip() for part in re.split(r",(?![^\[]*\])", text)] for text in (parameters, results))

    def workflow(self, name):
        values = ", ".join(f"{output}: found.{output}" for output in self.outputs) if len(self.outputs) > 1 else f"{self.outputs[0]}: found"
        return f"workflow {name}({self.parameters}) -> ({self.results}) {{\n  node found = {self.call};\n  return ({values});\n}}\n"


def random_rows(n, width):
    return dice.normal(0, 3, (n, width)).astype(F32)


PLACES = [(n, dice.integers(0, n, k)) for n, k in ((1, 1), (5, 3), (5, 40), (200, 77))] + [(0, ints()), (3, ints()), (3, ints(3)), (3, ints(-1)), (0, ints(0)), (3, ints(2**62))]
SCORES = [np.where(np.arange(count) % 17 == 5, NAN, dice.integers(0, 20, count)).astype(F32) for count in (0, 1, 12, 60, 60, 60)]
LISTS = [[], [5], [5, 6, 7, 8, 5]]
TABLE = {"a": 1, "b": 2, "zeta": -7, "": 0}

FUNCTIONS = {
    "Sort": Function("x: f32[n]", "y: f32[_]", "tensor.sort(x)", np.sort, each(vectors())),
    "SortInt": Function("x: u8[n]", "y: u8[_]", "tensor.sort(x)", np.sort, each([np.array([], np.uint8), dice.integers(0, 256, 99).astype(np.uint8)])),
    "Argsort": Function("x: f32[n]", "y: i64[_]", "tensor.argsort(x)", lambda x: np.argsort(x, kind="stable"), each(vectors())),
    "ArgsortWide": Function("x: f64[n]", "y: i64[_]", "tensor.argsort(x)", lambda x: np.argsort(x, kind="stable"), each([dice.normal(0, 1, 50), np.array([1 + 2**-50, 1])])),
    "ArgsortBool": Function("x: bool[n]", "y: i64[_]", "tensor.argsort(x)", lambda x: np.argsort(x, kind="stable"), each([x > 0 for x in vectors()])),
    "ArgmaxBool": Function("x: bool[m, n]", "y: i64[_]", "tensor.argmax_rows(x)", lambda x: x.argmax(1), each([x > 0 for x in matrices()])),
    "SearchsortedBool": Function("x: bool[n], of: bool[k]", "y: i64[_]", "tensor.searchsorted(x, of)", np.searchsorted, [(np.sort(x > 0), np.array([True, False])) for x in vectors()]),
    "TopKRows": Function("x: f32[m, n], k: i64", "values: f32[_, _], indices: i64[_, _]", "tensor.top_k_rows(x, k)",
                         lambda x, k: (np.sort(x)[:, ::-1][:, :k], np.argsort(-x, kind="stable")[:, :k]) if 0 <= k <= x.shape[1] else INDEX, [(x, I64(k)) for x in matrices() for k in (1, 3, x.shape[1], -1)]),
    "ArgmaxRows": Function("x: f32[m, n]", "y: i64[_]", "tensor.argmax_rows(x)", lambda x: x.argmax(1), each([*matrices(), np.zeros((3, 2), F32)])),
    "Searchsorted": Function("x: f32[n], of: f32[k]", "y: i64[_]", "tensor.searchsorted(x, of)", np.searchsorted, [(np.sort(x), v) for x in vectors() for v in (EDGES[-1], random_rows(1, 9)[0])]),
    "SearchsortedRight": Function("x: f32[n], of: f32[k]", "y: i64[_]", "tensor.searchsorted(x, of, right: true)", lambda x, v: np.searchsorted(x, v, "right"),
                                  [(np.sort(x), v) for x in vectors() for v in (EDGES[-1], random_rows(1, 9)[0])]),
    "Cumsum": Function("x: f32[n]", "y: f32[_]", "tensor.cumsum(x)", lambda x: np.cumsum(x, dtype=F32), each(vectors())),
    "CumsumInt": Function("x: i32[n]", "y: i32[_]", "tensor.cumsum(x)", lambda x: np.cumsum(x, dtype=np.int32), each([np.array([], np.int32), dice.integers(-2**31, 2**31, 99).astype(np.int32)])),
    "Mean": Function("x: f32[n]", "y: f32", "tensor.mean(x)", lambda x: x.mean(dtype=np.float64) if len(x) else NAN, each(vectors(TAME_EDGES) + MILLIONS), 1e-6, 1e-6),
    "Var": Function("x: f32[n]", "y: f32", "tensor.var(x)", lambda x: x.var(dtype=np.float64) if len(x) else NAN, each(vectors(TAME_EDGES) + MILLIONS), 1e-6, 1e-6),
    "Deviation": Function("x: f32[n]", "y: f32", "tensor.deviation(x)", lambda x: x.std(dtype=np.float64) if len(x) else NAN, each(vectors(TAME_EDGES) + MILLIONS), 1e-6, 1e-6),
    "Transpose": Function("x: f32[m, n]", "y: f32[_, _]", "tensor.transpose(x)", np.transpose, each(matrices())),
    "Concat": Function("a: f32[m], b: f32[n]", "y: f32[_]", "tensor.concat(a, b)", lambda a, b: np.concatenate([a, b]), list(itertools.product(EDGES, EDGES))),
    "ConcatOfRows": Function("a: u8[m, w, 3], b: u8[n, w, 3]", "y: u8[_, _, _]", "tensor.concat(a, b)", lambda a, b: np.concatenate([a, b]),
                             [tuple(dice.integers(0, 256, (rows, 2, 3)).astype(np.uint8) for rows in pair) for pair in ((1, 1), (2, 3), (4, 1))]),
    "ConcatColumns": Function("a: f32[h, m], b: f32[h, n]", "y: f32[_, _]", "tensor.concat_columns(a, b)", lambda a, b: np.hstack([a, b]), [(random_rows(3, m), random_rows(3, n)) for m, n in ((1, 1), (2, 5), (7, 1))]),
    "Split": Function("x: f32[n], parts: i64", "y: f32[_, _]", "tensor.split(x, parts)", parts_of,
                      [(random_rows(1, n)[0], I64(parts)) for n, parts in ((1, 1), (6, 1), (6, 2), (6, 6), (6, 4), (6, 0), (6, -2), (6, 7), (300, 3))]),
    "SplitRows": Function("x: f32[n, w]", "y: f32[_, _, _]", "tensor.split(x, 3)", lambda x: parts_of(x, 3), each([random_rows(3, 2), random_rows(9, 4), random_rows(4, 2)])),
    "Reshape": Function("x: f32[n, w], a: i64, b: i64", "y: f32[_, _]", "tensor.reshape(x, a, b)", lambda x, a, b: x.reshape(a, b) if a >= 0 and b >= 0 and a * b == x.size else DIMENSION,
                        [(x, I64(a), I64(b)) for x in (random_rows(3, 4), random_rows(1, 1)) for a, b in ((4, 3), (1, 12), (12, 1), (1, 1), (2, 7), (-1, 12), (-3, -4), (0, 12), (2**62, 4))]),
    "Stack": Function("x: f32[n, w]", "y: f32[_, _]", "tensor.stack([row for row in x])", np.stack, each(matrices())),
    "Gather": Function("x: f32[n, w], at: i64[k]", "y: f32[_, _]", "tensor.gather(x, at)", at_places, [(random_rows(n, 3), at) for n, at in PLACES if n]),
    "TakeAlong": Function("x: f32[m, n], at: i64[m, k]", "y: f32[_, _]", "tensor.take_along(x, at)", lambda x, at: np.take_along_axis(x, at, 1) if (at < x.shape[1]).all() else INDEX,
                          [(random_rows(4, n), dice.integers(0, n, (4, k))) for n, k in ((1, 1), (5, 9), (9, 2))] + [(random_rows(1, 2), np.array([[2]]))]),
    "LastAt": Function("at: i64[k], extent: i64", "y: i64[_]", "tensor.last_at(at, extent)", lambda at, n: scattered(np.full(n, -1), at, np.arange(len(at))), [(at, I64(n)) for n, at in PLACES]),
    "Scatter": Function("x: f32[n], at: i64[k], of: f32[k]", "y: f32[_]", "tensor.scatter(x, at, of)", scattered, [(random_rows(1, n)[0], at, random_rows(1, len(at))[0]) for n, at in PLACES]),
    "ScatterRows": Function("x: f32[n, w], at: i64[k], of: f32[k, w]", "y: f32[_, _]", "tensor.scatter(x, at, of)", scattered, [(random_rows(n, 3), at, random_rows(len(at), 3)) for n, at in PLACES[:4]]),
    "ScatterAdd": Function("x: f32[n], at: i64[k], of: f32[k]", "y: f32[_]", "tensor.scatter_add(x, at, of)", added,
                           [(random_rows(1, n)[0], at, random_rows(1, len(at))[0]) for n, at in PLACES], 1e-5, 1e-5),
    "ScatterAddRows": Function("x: f32[n, w], at: i64[k], of: f32[k, w]", "y: f32[_, _]", "tensor.scatter_add(x, at, of)", added,
                               [(random_rows(n, 3), at, random_rows(len(at), 3)) for n, at in PLACES[:4]], 1e-5, 1e-5),
    "Pad": Function("x: f32[n], before: i64, after: i64", "y: f32[_]", "tensor.pad(x, before, after, 7.0)", padded,
                    [(x, I64(before), I64(after)) for x in TAME_EDGES for before, after in ((0, 0), (1, 0), (0, 2), (3, 4), (-1, 1), (1, -1), (-2, -3))]),
    "PadTwo": Function("x: f32[h, w], top: i64, bottom: i64, left: i64, right: i64", "y: f32[_, _]", "tensor.pad2(x, top, bottom, left, right, 7.0)",
                       lambda x, t, b, l, r: padded(padded(x, t, b).T, l, r).T, [(x, *map(I64, by)) for x in matrices() for by in ((0, 0, 0, 0), (1, 2, 3, 4), (0, 0, 1, 0))]),
    "PixelsBehind": Function("x: u8[h, w, 3], start: i64", "y: u8[_, _, _]", "[i < h, j < w, c < 3] => if j < start { 7 } else { x[i, j - max(start, 0), c] }",
                             lambda x, start: np.pad(x, ((0, 0), (min(max(start, 0), x.shape[1]), 0), (0, 0)), constant_values=7)[:, :x.shape[1]], [(dice.integers(0, 256, (2, 5, 3)).astype(np.uint8), I64(start)) for start in (0, 1, 4, 5, -1, 2**62, -2**62, 6148914691236517206, 2**63 - 1, -2**63)]),
    "Tile": Function("x: f32[n], times: i64", "y: f32[_]", "tensor.tile(x, times)", np.tile, [(x, I64(times)) for x in EDGES for times in (0, 1, 3)]),
    "Repeat": Function("x: f32[n, w], times: i64", "y: f32[_, _]", "tensor.repeat(x, times)", lambda x, times: np.repeat(x, times, 0), [(x, I64(times)) for x in matrices() for times in (1, 3)]),
    "Flip": Function("x: f32[n]", "y: f32[_]", "tensor.flip(x)", np.flip, each(EDGES)),
    "Roll": Function("x: f32[n], by: i64", "y: f32[_]", "tensor.roll(x, by)", np.roll, [(x, I64(by)) for x in EDGES for by in (0, 1, -1, 5, -9, 2**40, -2**40)]),
    "Where": Function("c: bool[n], a: f32[n], b: f32[n]", "y: f32[_]", "tensor.where(c, a, b)", np.where, [(x > 0, x, np.flip(x)) for x in vectors()]),
    "Clip": Function("x: f32[n], low: f32, high: f32", "y: f32[_]", "tensor.clip(x, low, high)", np.clip, [(x, F32(low), F32(high)) for x in vectors() for low, high in ((-1, 1), (2, 2), (-INF, INF))]),
    "Nonzero": Function("x: bool[n]", "y: i64[_]", "tensor.nonzero(x)", np.flatnonzero, each([x > 0 for x in vectors()])),
    "Compress": Function("c: bool[n], x: f32[n]", "y: f32[_]", "tensor.compress(c, x)", np.compress, [(x > 0, x) for x in vectors()]),
    "OneHot": Function("at: i64[n], classes: i64", "y: f32[_, _]", "tensor.one_hot(at, classes)", lambda at, n: (at[:, None] == np.arange(n)).astype(F32),
                       [(at, I64(4)) for at in (ints(0), ints(3, 4, -1), dice.integers(0, 4, 30))]),
    "Dot": Function("a: f32[n], b: f32[n]", "y: f32", "tensor.dot(a, b)", lambda a, b: np.dot(a.astype(np.float64), b), [(x, np.flip(x)) for x in vectors(TAME_EDGES)], 1e-5, 1e-4),
    "Outer": Function("a: f32[m], b: f32[n]", "y: f32[_, _]", "tensor.outer(a, b)", np.outer, [(x, y) for x in EDGES[1:] for y in EDGES[1:]]),
    "Matvec": Function("a: f32[m, n], x: f32[n]", "y: f32[_]", "tensor.matvec(a, x)", np.matmul, [(a, random_rows(1, a.shape[1])[0]) for a in matrices()], 1e-4, 1e-4),
    "Matmul": Function("a: f32[m, k], b: f32[k, n]", "y: f32[_, _]", "tensor.matmul(a, b)", np.matmul, [(a, random_rows(a.shape[1], n)) for a in matrices() for n in (1, 5, 40)], 1e-4, 1e-4),
    "MatmulInt": Function("a: i64[m, k], b: i64[k, n]", "y: i64[_, _]", "tensor.matmul(a, b)", np.matmul, [(dice.integers(-2**62, 2**62, (3, 4)), dice.integers(-2**62, 2**62, (4, 5)))]),
    "Bmm": Function("a: f32[g, m, k], b: f32[g, k, n]", "y: f32[_, _, _]", "tensor.bmm(a, b)", np.matmul, [tuple(dice.normal(0, 1, shape).astype(F32) for shape in ((g, m, k), (g, k, n))) for g, m, k, n in ((1, 1, 1, 1), (3, 4, 5, 6), (2, 1, 40, 3))], 1e-4, 1e-4),
    "Softmax": Function("x: f32[n]", "y: f32[_]", "nn.softmax(x)", softmax, each(vectors()), 1e-5, 1e-7),
    "SoftmaxRows": Function("x: f32[m, n]", "y: f32[_, _]", "nn.softmax_rows(x)", softmax, each(matrices()), 1e-5, 1e-7),
    "LogSoftmax": Function("x: f32[n]", "y: f32[_]", "nn.log_softmax(x)", log_softmax, each(vectors()), 1e-5, 1e-5),
    "LogSoftmaxRows": Function("x: f32[m, n]", "y: f32[_, _]", "nn.log_softmax_rows(x)", log_softmax, each(matrices()), 1e-5, 1e-5),
    "Sigmoid": Function("x: f32[n, w]", "y: f32[_, _]", "nn.sigmoid(x)", lambda x: 1 / (1 + np.exp(-x.astype(np.float64))), each([x[:, None] for x in EDGES[1:]] + matrices()), 1e-6, 1e-30),
    "LayerNorm": Function("x: f32[m, n], scale: f32[n], bias: f32[n]", "y: f32[_, _]", "nn.layer_norm(x, scale, bias)", layer_norm,
                          [(x, *random_rows(2, x.shape[1])) for x in [*matrices(), rows_of(2, 5, 5), rows_of(3, 1, NAN, 2), rows_of(2, INF, 1)]], 1e-4, 1e-4),
    "Norm": Function("x: f32[n]", "y: f32", "nn.norm(x)", length, each(vectors(TAME_EDGES + [floats(NAN, 1), floats(INF, -INF)])), 1e-6, 1e-20),
    "Normalised": Function("x: f32[n]", "y: f32[_]", "nn.l2_normalise(x)", normalised, each(vectors([floats(), floats(0), floats(0, 0), floats(-3), floats(NAN, 1), floats(INF, 1)])), 1e-6, 1e-7),
    "NormalisedRows": Function("x: f32[m, n]", "y: f32[_, _]", "nn.l2_normalise_rows(x)", normalised, each([*matrices(), np.zeros((2, 3), F32)]), 1e-6, 1e-7),
    "Cosine": Function("a: f32[n], b: f32[n]", "y: f32", "nn.cosine(a, b)", cosine, [(x, np.roll(x, 1)) for x in vectors([floats(), floats(0), floats(-3), floats(NAN, 1)])], 1e-5, 1e-6),
    "CosineRows": Function("x: f32[m, n], to: f32[n]", "y: f32[_]", "nn.cosine_rows(x, to)", cosine, [(x, random_rows(1, x.shape[1])[0]) for x in [*matrices(), np.zeros((2, 3), F32)]], 1e-5, 1e-6),
    "Iou": Function("boxes: f32[n, 4]", "y: f32", "nn.iou(boxes, 0, 1)", lambda boxes: iou(boxes[:1], boxes[1:])[0, 0], each([corners(2) for _ in range(20)] + [rows_of(4, [1, 1, 1, 1], [1, 1, 1, 1])]), 1e-6),
    "BoxArea": Function("boxes: f32[n, 4]", "y: f32[_]", "nn.box_area(boxes)", lambda b: (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1]), each([corners(n) for n in (1, 9)])),
    "BoxIou": Function("a: f32[m, 4], b: f32[n, 4]", "y: f32[_, _]", "nn.box_iou(a, b)", iou, [(corners(m), corners(n)) for m, n in ((1, 1), (7, 3), (20, 30))], 1e-6),
    "FromCentres": Function("boxes: f32[n, 4]", "y: f32[_, _]", "nn.cxcywh_to_xyxy(boxes)", lambda b: np.hstack([b[:, :2] - b[:, 2:] / 2, b[:, :2] + b[:, 2:] / 2]), each([random_rows(9, 4)])),
    "ToCentres": Function("boxes: f32[n, 4]", "y: f32[_, _]", "nn.xyxy_to_cxcywh(boxes)", lambda b: np.hstack([(b[:, :2] + b[:, 2:]) / 2, b[:, 2:] - b[:, :2]]), each([random_rows(9, 4)])),
    "FromSizes": Function("boxes: f32[n, 4]", "y: f32[_, _]", "nn.xywh_to_xyxy(boxes)", lambda b: np.hstack([b[:, :2], b[:, :2] + b[:, 2:]]), each([random_rows(9, 4)])),
    "DecodeBoxes": Function("d: f32[n, 4], a: f32[n, 4], w: f32[4]", "y: f32[_, _]", "nn.decode_boxes(d, a, w)", decoded,
                            [(random_rows(n, 4), corners(n), w) for n in (1, 30) for w in (floats(1, 1, 1, 1), floats(10, 10, 5, 5))] + [(rows_of(4, [0, 0, 1e9, -1e9]), corners(1), floats(1, 1, 1, 1))], 1e-5, 1e-3),
    "ClipBoxes": Function("boxes: f32[n, 4]", "y: f32[_, _]", "nn.clip_boxes(boxes, 20.0, 30.0)", lambda b: np.clip(b, 0, floats(30, 20, 30, 20)), each([corners(30) - 5])),
    "Nms": Function("boxes: f32[n, 4], scores: f32[n], most: f32", "y: i64[_]", "nn.nms(boxes, scores, most)", lambda b, s, most: nms(b, s, np.zeros(len(s)), most),
                    [(corners(len(s)), s, F32(most)) for s in SCORES for most in (0, 0.25, 0.5, 1)] +
                    [(np.array([[0, 0, 2, 2], [0, 0, NAN, 2], [0, 0, 2, 2], [NAN] * 4, [1, NAN, 2, 2]], F32), floats(1, 5, 2, 4, 3), F32(0))]),
    "NmsByClass": Function("boxes: f32[n, 4], scores: f32[n], classes: i64[n], most: f32", "y: i64[_]", "nn.nms_by_class(boxes, scores, classes, most)", nms,
                           [(corners(len(s)), s, dice.integers(0, 3, len(s)), F32(most)) for s in SCORES for most in (0.25, 0.5)]),
    "SoftNms": Function("boxes: f32[n, 4], scores: f32[n], sigma: f32, least: f32", "indices: i64[_], scores: f32[_]", "nn.soft_nms(boxes, scores, sigma, least)", lambda b, s, sigma, least: soft_nms(b, s, sigma, least) if sigma > 0 else TYPE,
                        [(corners(n), dice.random(n).astype(F32), F32(sigma), F32(least)) for n in (1, 2, 20, 60) for sigma, least in ((0.5, 0.001), (0.1, 0.2), (0.5, 2))] +
                        [(np.zeros((0, 4), F32), floats(), F32(0.5), F32(0)), (corners(3), floats(NAN, 0.5, NAN), F32(0.5), F32(0)), (corners(3), floats(1, 2, 3), F32(0), F32(0)), (corners(3), floats(1, 2, 3), F32(-1), F32(0))], 1e-4),
    "SoftNmsOfMany": Function("boxes: f32[n, 4], scores: f32[n]", "indices: i64[_], scores: f32[_]", "nn.soft_nms(boxes, scores)", apart,
                              [(floats(0, 0, 5, 5) + 10 * np.arange(MANY, dtype=F32)[:, None], (np.arange(MANY) % 500 == 7) * np.arange(MANY, dtype=F32))]),
    "Components": Function("mask: bool[h, w]", "labels: i64[_, _], boxes: i64[_, _], areas: i64[_]", "nn.connected_components(mask)", components,
                           each([dice.random(shape) < share for shape in ((1, 1), (1, 9), (9, 1), (20, 30), (64, 64)) for share in (0, 0.2, 0.4, 0.6, 1)])),
    "Unclip": Function("boxes: f32[n, 4]", "y: f32[_, _]", "nn.unclip(boxes, 1.5, 40.0, 50.0)", lambda b: np.clip(b + (0.75 * (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1]) / np.maximum(b[:, 2] - b[:, 0] + b[:, 3] - b[:, 1], 1e-9))[:, None] *
                       floats(-1, -1, 1, 1), 0, floats(50, 40, 50, 40)), each([corners(1), corners(30), rows_of(4, (3, 4, 3, 4), (3, 4, 3, 9))]), 1e-6, 1e-5),
    "TextBoxes": Function("heat: f32[h, w], threshold: f32, least: f32, ratio: f32, side: i64", "boxes: f32[_, _], scores: f32[_]", "nn.text_boxes(heat, threshold, least, ratio, side)", text_boxes,
                          [((dice.random((h, w)) * dice.integers(0, 2, (h, w)) + 0.3).astype(F32), F32(t), F32(least), F32(1.5), I64(side)) for h, w in ((1, 1), (20, 30), (50, 50))
                           for t, least, side in ((0.5, 0, 1), (0.9, 0.61, 2), (0.95, 0.5, 3), (2, 0, 1))], 1e-5, 1e-4),
    "CtcGreedy": Function("scores: f32[t, c], blank: i64", "y: i64[_]", "nn.ctc_greedy(scores, blank)", ctc_greedy, [(random_rows(t, c), I64(b)) for t, c in ((1, 1), (1, 4), (40, 3), (200, 30)) for b in (0, c - 1)]),
    "CtcBeam": Function("x: f32[t, c], width: i64, blank: i64", "tokens: i64[_], scores: f32[_]", "read(x, width, blank)", ctc_beam,
                        [(softmax(random_rows(t, c)).astype(F32), I64(width), I64(b)) for t, c in ((1, 1), (1, 4), (6, 3), (40, 5), (100, 30)) for width in (1, 2, 16, 100) for b in (0, c - 1)] +
                        [(x, I64(width), I64(b)) for x in (softmax(random_rows(3, 4)).astype(F32),) for width, b in ((0, 0), (10001, 0), (4, -1), (4, 4))] +
                        [(rows_of(2, NAN, 0.5, 0.5, -1), I64(4), I64(0)), (rows_of(2, 0, 0), I64(4), I64(0)), (np.full((3000, 2), 1e-30, F32), I64(4), I64(0))], 1e-5, 1e-4),
    "CtcBeamOfAll": Function("x: f32[t, c]", "tokens: i64[_], scores: f32[_]", "read(x, 1000, 0)", readings, each([softmax(random_rows(t, c)).astype(F32) for t, c in ((1, 2), (4, 3), (5, 3), (7, 2))]), 1e-5, 1e-5),
    "MeanPool": Function("x: f32[t, n], mask: i64[t]", "y: f32[_]", "nn.mean_pool(x, mask)", lambda x, m: x[m != 0].sum(0, dtype=np.float64) / max((m != 0).sum(), 1),
                         [(x, dice.integers(0, 2, len(x))) for x in matrices()] + [(random_rows(3, 4), ints(0, 0, 0))], 1e-5, 1e-6),
    "MaxPool": Function("x: f32[t, n], mask: i64[t]", "y: f32[_]", "nn.max_pool(x, mask)", lambda x, m: x[m != 0].max(0, initial=-INF),
                        [(x, dice.integers(0, 2, len(x))) for x in matrices()] + [(random_rows(3, 4), ints(0, 0, 0))]),
    "TopKMask": Function("x: f32[n], k: i64", "y: f32[_]", "nn.top_k_mask(x, k)", top_k_mask, [(x, I64(k)) for x in vectors(TAME_EDGES) for k in (-1, 0, 1, 2, 500)]),
    "TopPMask": Function("x: f32[n], p: f32", "y: f32[_]", "nn.top_p_mask(x, p)", top_p_mask, [(x, F32(p)) for x in vectors(TAME_EDGES) for p in (0, 0.3, 0.61, 0.93)]),
    "Penalty": Function("x: f32[n], seen: i64[k], by: f32", "y: f32[_]", "nn.repetition_penalty(x, seen, by)", penalised, [(random_rows(1, n)[0], at, F32(1.5)) for n, at in PLACES], 1e-6),
    "Sample": Function("p: f32[n], u: f32", "y: i64", "nn.sample(p, u)", sampled, [(np.abs(x), F32(u)) for x in vectors([floats(), floats(1), floats(0, 1, 0), floats(0, 0, 3), floats(0, 0)]) for u in (0, 0.2, 0.5, 0.999, 1)]),
    "Bucketise": Function("x: f32[n], bounds: f32[k]", "y: i64[_]", "feature.bucketise(x, bounds)", np.digitize, [(x, b) for x in vectors() for b in (floats(), floats(0), floats(-3, 0, 1, 4))]),
    "LogOnePlus": Function("x: f32[n, w]", "y: f32[_, _]", "feature.log1p(x)", lambda x: np.log1p(x.astype(np.float64)),
                           each([floats(0, -0.0, 1e-10, -1e-10, 1e-4, -1e-4, 0.5, -0.5, -1, -2, MOST, LEAST, INF, NAN)[:, None], *[np.abs(x) for x in matrices()]]), 1e-6),
    "EmbeddingBag": Function("table: f32[v, d], ids: i64[k], starts: i64[b], mean: bool", "y: f32[_, _]", "feature.embedding_bag(table, ids, starts, mean)", bags,
                             [(random_rows(9, 4), ids, starts, np.bool_(mean)) for ids in (ints(3), dice.integers(0, 9, 20), ints(0, 9), ints(-1, 0))
                              for starts in (ints(0), ints(0, 0, 1), ints(1, 1)) for mean in (False, True)] +
                             [(random_rows(9, 4), ints(1, 2, 3), starts, np.bool_(False)) for starts in (ints(), ints(3), ints(2, 0), ints(4), ints(0, 4), ints(0, 2**63 - 1), ints(-1, 0), ints(-2**63))] +
                             [(random_rows(9, 4), ints(), starts, np.bool_(True)) for starts in (ints(), ints(0, 0), ints(1))], 1e-5, 1e-6),
    "Standardise": Function("x: f32[m, n], mean: f32[n], by: f32[n]", "y: f32[_, _]", "feature.standardise(x, mean, by)", lambda x, m, d: (x - m) / np.where(d == 0, 1, d),
                            [(x, random_rows(1, x.shape[1])[0], dice.integers(0, 3, x.shape[1]).astype(F32)) for x in matrices()], 1e-6),
    # Lists, maps and texts go as JSON.
    "SortBy": Function("xs: list<string>, by: i64[n], down: bool", "y: list<string>", "lists.sort_by(xs, by, down)",
                       lambda xs, by, down: [xs[i] for i in sorted(range(len(by)), key=lambda i: -by[i] if down else by[i])] if len(xs) == len(by) else TYPE,
                       [(list("abcdef")[:len(by)], by, down) for by in ([], [1], [3, 1, 2], [2, 1, 2, 1]) for down in (False, True)] + [(["a"], [1, 2], False)]),
    "Take": Function("xs: list<i64>, count: i64", "y: list<i64>", "lists.take(xs, count)", lambda xs, n: xs[:max(n, 0)], [(xs, n) for xs in LISTS for n in (-1, 0, 1, 9)]),
    "Drop": Function("xs: list<i64>, count: i64", "y: list<i64>", "lists.drop(xs, count)", lambda xs, n: xs[max(n, 0):], [(xs, n) for xs in LISTS for n in (-1, 0, 1, 9)]),
    "Slice": Function("xs: list<i64>, a: i64, b: i64", "y: list<i64>", "lists.slice(xs, a, b)", lambda xs, a, b: xs[a:b], [(xs, a, b) for xs in LISTS for a, b in ((0, 0), (0, 9), (1, 3), (3, 1), (9, 10), (2, 2**63 - 1), (2**63 - 1, 2**63 - 1))]),
    "Reverse": Function("xs: list<i64>", "y: list<i64>", "lists.reverse(xs)", lambda xs: xs[::-1], each(LISTS)),
    "ConcatLists": Function("a: list<i64>, b: list<i64>", "y: list<i64>", "lists.concat(a, b)", lambda a, b: a + b, list(itertools.product(LISTS, LISTS))),
    "Flatten": Function("xss: list<list<i64>>", "y: list<i64>", "lists.flatten(xss)", lambda xss: sum(xss, []), each([[], [[]], [[], [1], [], [], [2, 3], []], [[1], [2]]])),
    "Chunks": Function("xs: list<i64>, size: i64", "y: list<list<i64>>", "lists.chunks(xs, size)", lambda xs, n: [xs[i:i + n] for i in range(0, len(xs), n)] if n > 0 else TYPE,
                       [(xs, n) for xs in LISTS for n in (-1, 0, 1, 2, 5, 9)] + [(list(range(20000)), 1), (list(range(20000)), 3)]),
    "Fill": Function("x: string, count: i64", "y: list<string>", "lists.fill(x, count)", lambda x, n: [x] * n, [("é", n) for n in (-1, 0, 1, 3)]),
    "GatherList": Function("xs: list<i64>, at: i64[k]", "y: list<i64>", "lists.gather(xs, at)", lambda xs, at: [xs[i] for i in at] if all(0 <= i < len(xs) for i in at) else INDEX,
                           [(xs, at) for xs in LISTS for at in ([], [0], [4, 4, 1], [-1])]),
    "IndexOf": Function("xs: list<string>, x: string", "y: i64?", "lists.index_of(xs, x)", lambda xs, x: xs.index(x) if x in xs else None, [(xs, x) for xs in ([], ["a"], ["b", "a", "a"]) for x in ("a", "b", "")]),
    "Contains": Function("xs: list<i64>, x: i64", "y: bool", "lists.contains(xs, x)", lambda xs, x: x in xs, [(xs, x) for xs in LISTS for x in (5, 8, 9)]),
    "CountOf": Function("xs: list<i64>, x: i64", "y: i64", "lists.count_of(xs, x)", lambda xs, x: xs.count(x), [(xs, x) for xs in LISTS for x in (5, 8, 9)]),
    "Distinct": Function("xs: list<string>", "y: list<string>", "lists.distinct(xs)", lambda xs: list(dict.fromkeys(xs)), each([[], ["a"], ["b", "a", "b", "", "a", ""]])),
    "Has": Function("m: map<i64>, key: string", "y: bool", "maps.has(m, key)", lambda m, key: key in m, [(m, key) for m in ({}, TABLE) for key in ("a", "zeta", "", "A")]),
    "Values": Function("m: map<i64>", "y: list<i64>", "maps.values(m)", lambda m: [m[key] for key in sorted(m)], each([{}, TABLE])),
    "ValuesOf": Function("m: map<string>, keys_: list<string>", "y: list<string>", "maps.values_of(m, keys_, \"-\")", lambda m, keys: [m.get(key, "-") for key in keys],
                         [(m, keys) for m in ({}, {"a": "x", "b": ""}) for keys in ([], ["a"], ["b", "z", "b"])]),
    "Lookup": Function("words: list<string>, m: map<i64>", "y: i64[_]", "feature.lookup(words, m, -9)", lambda words, m: [m.get(word, -9) for word in words],
                       [(words, m) for m in ({}, TABLE) for words in ([], ["a"], ["zeta", "", "none", "a"])]),
    "HashText": Function("x: string, seed: u64", "y: u64", "hash.xxh64(x, seed)", lambda x, seed: xxhash.xxh64(x.encode(), seed=seed).intdigest(), [("é" * n, n % 3 * (2**63 - 1)) for n in range(0, 70)]),
    "HashBytes": Function("x: string, seed: u64", "y: u64", "hash.xxh64_bytes(BYTES, seed)", lambda x, seed: xxhash.xxh64(BYTES, seed=seed).intdigest(), [("", 0), ("", 5)]),
    "HashBucket": Function("x: string, n: i64, seed: u64", "y: i64", "hash.bucket(x, n, seed)", lambda x, n, seed: xxhash.xxh64(x.encode(), seed=seed).intdigest() % n if n > 0 else TYPE,
                           [(x, n, 3) for x in ("", "abc", "x" * 1000) for n in (-1, 0, 1, 7, 2**62)]),
    "HashBuckets": Function("words: list<string>, n: i64", "y: i64[_]", "feature.hash_bucket(words, n)", lambda words, n: [xxhash.xxh64(word.encode()).intdigest() % n for word in words],
                            [(words, n) for words in ([], ["a"], ["b", "", "a", "b"]) for n in (1, 1000)]),
    "HashCross": Function("values: list<string>, n: i64", "y: i64", "feature.hash_cross(values, n)", hash_cross, [(values, n) for values in ([], ["a"], ["a", "b"], ["ab", ""], ["", "ab"]) for n in (0, 1, 1000)]),
}
READ = """fn read(x: f32[t, c], width: i64, blank: i64) -> (tokens: i64[_], scores: f32[_]) {
  let found = nn.ctc_beam(x, width, blank);
  let nothing: i64[_] = [i < 0] => 0;
  let tokens: i64[_] = if len(found) > 0 { found[0].tokens } else { nothing };
  (tokens: tokens, scores: [i < len(found)] => found[i].score)
}
"""
# What packages give in the cases of rows; None: that is nothing that the package takes.
OTHERS = {
    "NormalisedRows": normalize,
    "CosineRows": lambda x, to: cosine_similarity(x, to[None])[:, 0],
    "Nms": kept,
    "NmsByClass": kept_by_class,
    "SoftNms": softly_kept,
    "Components": labelled,
    "EmbeddingBag": product_of_bags,
}
BYTES = bytes(range(256)) * 5 + b"\0\xff"
MODULES = ("feature", "hash", "lists", "maps", "nn", "tensor")


def program():
    (harness.scratch() / "bytes.bin").write_bytes(BYTES)
    lines = [f"import std.{module};" for module in MODULES] + ['const BYTES: bytes = file("bytes.bin");']
    lines.append(READ)
    lines += [function.workflow(name) for name, function in FUNCTIONS.items()]
    return "\n".join([*lines, "service Numeric {", *[f"  workflow {name};" for name in FUNCTIONS], "}"])


def as_json(value):
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


class Numeric(NativeCase):
    program = staticmethod(program)

    def check(self, name, function, case, wanted):
        plain = {key: as_json(value) for key, value in zip(function.inputs, case, strict=True)}
        if isinstance(wanted, int) and not isinstance(wanted, bool) and wanted in (TYPE, INDEX, DIMENSION, EMPTY):
            return self.assert_error(self.server.post(f"/Numeric/{name}", plain), 500, wanted)
        if not isinstance(case[0], (np.ndarray, np.generic)):
            reply = self.server.post(f"/Numeric/{name}", plain)
            self.assertEqual(reply.status, 200, reply)
            return self.assertEqual(reply.json[function.outputs[0]], wanted)
        for found, value in zip(self.raw(name, function.outputs, **dict(zip(function.inputs, case, strict=True))), wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
            with np.errstate(all="ignore"):
                value = np.asarray(value).astype(found.dtype)
            self.assertEqual(found.shape, value.shape)
            np.testing.assert_allclose(found, value, function.relative, function.absolute)

    def test_what_numpy_and_python_give(self):
        for name, function in FUNCTIONS.items():
            for case in function.cases:
                with self.subTest(function=name, case=case), np.errstate(all="ignore"):
                    self.check(name, function, case, function.reference(*case))

    def test_what_opencv_scipy_and_scikit_learn_give(self):
        for name, reference in OTHERS.items():
            function = FUNCTIONS[name]
            known = [(case, wanted) for case in function.cases if (wanted := reference(*case)) is not None]
            self.assertGreater(3 * len(known), len(function.cases), name)
            for case, wanted in known:
                with self.subTest(function=name, case=case):
                    self.check(name, function, case, wanted)

    def test_features_are_scaled_as_by_scikit_learn(self):
        edges = [np.full((4, 1), 0.1, F32), rows_of(2, 5, 0), np.full((3, 2), 1e-30, F32), rows_of(2, 1, NAN, 3, NAN, 8, 2), dice.integers(0, 2, (40, 3)).astype(F32), dice.normal(300, 4, (50, 2)).astype(F32)]
        for x in edges + matrices():
            with self.subTest(x=x):
                scaler = StandardScaler().fit(x)
                found, = self.raw("Standardise", ["y"], x=x, mean=scaler.mean_.astype(F32), by=np.sqrt(scaler.var_).astype(F32))
                np.testing.assert_allclose(found, scaler.transform(x), 1e-5, 1e-4)


if __name__ == "__main__":
    harness.main()
