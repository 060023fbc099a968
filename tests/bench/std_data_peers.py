"""std_data_peers.py FOLDER: as std_peers.py, for tensors, what stands behind networks, lists, maps, features, hashes and times. numpy is held to one thread."""
import calendar
import datetime
import json
import sys
from pathlib import Path

import alone  # noqa: F401, I001: before numpy
import fast_ctc_decode
import numpy as np
import scipy.ndimage
import scipy.special
import xxhash
from std_peers_loop import serve

F32 = np.float32
dice = np.random.default_rng(5)


def numbers(*shape):
    return dice.normal(0, 2, shape).astype(F32)


def boxes(count):
    corner, size = dice.uniform(0, 600, (count, 2)), dice.uniform(5, 80, (count, 2))
    return np.concatenate([corner, corner + size], 1).astype(F32)


def mask():
    """Some dozens of spots."""
    y, x = np.mgrid[0:240, 0:320]
    return sum((y - cy) ** 2 + (x - cx) ** 2 < 90 for cy, cx in dice.uniform(10, 230, (60, 2))) > 0


def heat():
    """Lines of text, round about as likely as a network finds them."""
    y = dice.uniform(0, 0.2, (320, 320)).astype(F32)
    for row in range(8, 300, 20):
        for column, width in zip((10, 110, 220), dice.integers(30, 90, 3)):
            y[row:row + 9, column:column + width] = dice.uniform(0.4, 1, (9, width))
    return y


WORDS = ["".join(dice.choice(list("abcdefghij"), dice.integers(3, 14))) for _ in range(1000)]
PARTS = [datetime.datetime(int(y), int(m), int(d), int(h), tzinfo=datetime.timezone.utc) for y, m, d, h in
         zip(dice.integers(1970, 2100, 1000), dice.integers(1, 13, 1000), dice.integers(1, 29, 1000), dice.integers(0, 24, 1000))]
# What each kind of row is given: parameters by name.
GIVEN = {
    "vector": {"x": numbers(100_000)},
    "matrix": {"x": numbers(256, 1000)},
    "rows": {"x": numbers(2000, 64), "at": dice.integers(0, 2000, 1000), "values": numbers(1000, 64)},
    "along": {"x": numbers(256, 1000), "at": dice.integers(0, 1000, (256, 100))},
    "sorted": {"sorted": np.sort(numbers(10_000)), "values": numbers(10_000)},
    "pair": {"a": numbers(100_000), "b": numbers(100_000), "where": dice.random(100_000) < 0.5},
    "product": {"a": numbers(128, 128), "b": numbers(128, 128)},
    "products": {"a": numbers(8, 64, 64), "b": numbers(8, 64, 64)},
    "labels": {"at": dice.integers(0, 100, 1000)},
    "parts": {"xs": [numbers(1000) for _ in range(64)]},
    "layer": {"x": numbers(256, 384), "scale": numbers(384), "bias": numbers(384)},
    "boxes": {"boxes": boxes(300), "scores": dice.random(300).astype(F32), "classes": dice.integers(0, 5, 300)},
    "deltas": {"deltas": numbers(3000, 4) / 8, "anchors": boxes(3000)},
    "mask": {"mask": mask()},
    "steps": {"scores": scipy.special.softmax(numbers(400, 64), 1)},
    "tokens": {"tokens": numbers(128, 384), "mask": (np.arange(128) < 100).astype(np.int64)},
    "logits": {"logits": numbers(32_000), "u": F32(0.4), "seen": dice.integers(0, 32_000, 500)},
    "heat": {"heat": heat()},
    "words": {"xs": WORDS, "by": numbers(1000), "at": dice.integers(0, 1000, 500)},
    "integers": {"xs": dice.integers(0, 1000, 1000)},
    "lists": {"xss": [WORDS[i:i + 10] for i in range(0, 1000, 10)]},
    "map": {"m": {word: float(i) for i, word in enumerate(WORDS)}, "wanted": [WORDS[i] + ("z" if i % 4 == 0 else "") for i in dice.integers(0, 1000, 1000)]},
    "bags": {"table": numbers(5000, 32), "ids": dice.integers(0, 5000, 2000), "starts": np.arange(0, 2000, 10)},
    "features": {"x": numbers(1000, 64), "mean": numbers(64), "deviation": np.abs(numbers(64)) + F32(0.1)},
    "positive": {"x": np.abs(numbers(100_000))},
    "vocabulary": {"words": WORDS, "vocabulary": {word: i for i, word in enumerate(WORDS)}},
    "text": {"text": "".join(WORDS) * 100},
    "counts": {"x": dice.integers(0, 10_000, 100_000)},
    "times": {"texts": [at.isoformat() for at in PARTS], "at": [int(at.timestamp()) * 1_000_000_000 for at in PARTS]},
}


def of(kind):
    return GIVEN[kind].values()


(X,), (M,), (WHERE_A, WHERE_B, WHERE) = of("vector"), of("matrix"), of("pair")
(ROWS, AT, VALUES), (ALONG, ALONG_AT), (SORTED, SOUGHT), (A, B), (LABELS,), (STACK,) = (of(kind) for kind in ("rows", "along", "sorted", "product", "labels", "parts"))
(LAYER, SCALE, BIAS), (BOXES, SCORES, CLASSES), (DELTAS, ANCHORS), (MASK,), (STEPS,), (TOKENS, TOKEN_MASK), (LOGITS, _, SEEN) = (
    of(kind) for kind in ("layer", "boxes", "deltas", "mask", "steps", "tokens", "logits"))
(XS, BY, PLACES), (INTEGERS,), (XSS,), (MAP, WANTED) = (of(kind) for kind in ("words", "integers", "lists", "map"))
(HEAT,), (LEFT, RIGHT), (COUNTS,) = of("heat"), of("products"), of("counts")
(TABLE, IDS, STARTS), (FEATURES, MEAN, DEVIATION), (POSITIVE,), (VOCABULARY_WORDS, VOCABULARY), (TEXT,), (TEXTS, TIMES) = (
    of(kind) for kind in ("bags", "features", "positive", "vocabulary", "text", "times"))
MAP_OF_NUMBERS, LIST_OF_INTEGERS, LIST_OF_NUMBERS = dict(MAP), [int(x) for x in INTEGERS], [float(x) for x in BY]
DURATIONS = [datetime.timedelta(microseconds=at // 1000) for at in TIMES]
DAY, HOUR, MINUTE, SECOND, MILLISECOND = (86_400_000_000_000, 3_600_000_000_000, 60_000_000_000, 1_000_000_000, 1_000_000)
LETTERS = [chr(ord("0") + i) for i in range(64)]
BLOB = TEXT.encode()
BOUNDS = np.array([-3, -2, -1, -0.5, 0, 0.5, 1, 2, 3], F32)


def top_k(x, k):
    at = np.argpartition(-x, k)[:k]
    return at[np.argsort(-x[at])]


def top_k_rows(x, k):
    at = np.argpartition(-x, k, 1)[:, :k]
    return np.take_along_axis(at, np.argsort(-np.take_along_axis(x, at, 1), 1), 1)


def last_at():
    y = np.full(100, -1)
    y[LABELS] = np.arange(len(LABELS))
    return y


def padded():
    y = np.zeros((M.shape[0] + 3, M.shape[1] + 7), F32)
    y[1:-2, 3:-4] = M
    return y


def scattered(add):
    y = ROWS.copy()
    if add:
        np.add.at(y, AT, VALUES)
    else:
        y[AT] = VALUES
    return y


def one_hot():
    y = np.zeros((len(LABELS), 100), F32)
    y[np.arange(len(LABELS)), LABELS] = 1
    return y


def layer_norm(x):
    middle = x.mean(1, keepdims=True)
    return (x - middle) / np.sqrt(x.var(1, keepdims=True) + F32(1e-5)) * SCALE + BIAS


def iou(one, others):
    shared = np.maximum(np.minimum(one[..., 2:], others[..., 2:]) - np.maximum(one[..., :2], others[..., :2]), 0)
    area = lambda box: (box[..., 2] - box[..., 0]) * (box[..., 3] - box[..., 1])
    both = shared[..., 0] * shared[..., 1]
    return both / (area(one) + area(others) - both)


def nms(boxes):
    left, stay = np.argsort(-SCORES), []
    while left.size:
        best, left = left[0], left[1:]
        stay.append(best)
        left = left[iou(boxes[best], boxes[left]) <= 0.5]
    return stay


def soft_nms():
    left, scores, taken = np.arange(len(SCORES)), SCORES.copy(), []
    while left.size:
        best = scores[left].argmax()
        at = left[best]
        if scores[at] <= 0.001:
            break
        taken.append(at)
        left = np.delete(left, best)
        scores[left] *= np.exp(-np.square(iou(BOXES[at], BOXES[left])) / F32(0.5))
    return taken, scores[taken]


def from_centres(boxes):
    half = boxes[:, 2:] / 2
    return np.concatenate([boxes[:, :2] - half, boxes[:, :2] + half], 1)


def to_centres(boxes):
    return np.concatenate([(boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]], 1)


def unclipped(boxes, width, height):
    size = boxes[:, 2:] - boxes[:, :2]
    around = 2 * size.sum(1)
    by = F32(1.5) * size.prod(1) / np.where(around == 0, F32(1), around)
    return np.clip(np.concatenate([boxes[:, :2] - by[:, None], boxes[:, 2:] + by[:, None]], 1), 0, np.array([width, height, width, height], F32))


def text_boxes():
    labels, _ = scipy.ndimage.label(HEAT > 0.3, np.ones((3, 3)))
    boxes, scores = [], []
    for rows, columns in scipy.ndimage.find_objects(labels):
        score = HEAT[rows, columns].mean()
        if score > 0.6 and min(rows.stop - rows.start, columns.stop - columns.start) >= 3:
            boxes.append((columns.start, rows.start, columns.stop, rows.stop))
            scores.append(score)
    return unclipped(np.array(boxes, F32), 320, 320), np.array(scores)


def decoded():
    size, middle = ANCHORS[:, 2:] - ANCHORS[:, :2], (ANCHORS[:, 2:] + ANCHORS[:, :2]) / 2
    at, half = DELTAS[:, :2] * size + middle, np.exp(np.minimum(DELTAS[:, 2:], F32(4.135))) * size / 2
    return np.concatenate([at - half, at + half], 1)


def components():
    labels, count = scipy.ndimage.label(MASK, np.ones((3, 3)))
    return labels, scipy.ndimage.find_objects(labels), np.bincount(labels.ravel(), minlength=count + 1)


def ctc_greedy():
    best = STEPS.argmax(1)
    return best[(best != 0) & (np.diff(best, prepend=-1) != 0)]


def mean_pool():
    weights = (TOKEN_MASK != 0).astype(F32)[:, None]
    return (TOKENS * weights).sum(0) / max(weights.sum(), 1)


def top_p():
    order = np.argsort(-LOGITS, kind="stable")
    upto = np.cumsum(scipy.special.softmax(LOGITS[order]))
    y = np.full_like(LOGITS, -np.inf)
    kept = order[:np.searchsorted(upto, 0.9) + 1]
    y[kept] = LOGITS[kept]
    return y


def top_k_mask():
    return np.where(LOGITS < np.partition(LOGITS, -50)[-50], F32(-np.inf), LOGITS)


def penalised():
    y, x = LOGITS.copy(), LOGITS[SEEN]
    y[SEEN] = np.where(x < 0, x * F32(1.2), x / F32(1.2))
    return y


def sample():
    p = scipy.special.softmax(LOGITS)
    upto = np.cumsum(p)
    return np.searchsorted(upto, F32(0.4) * upto[-1], side="right")


def crossed():
    seed = 0
    for word in WORDS[:10]:
        seed = xxhash.xxh64_intdigest(word, seed)
    return seed % 1000


NUMPY = {
    "top-k": lambda: top_k(X, 10),
    "argmax": lambda: X.argmax(),
    "argsort": lambda: np.argsort(X, kind="stable"),
    "sort": lambda: np.sort(X),
    "cumsum": lambda: np.cumsum(X),
    "searchsorted": lambda: np.searchsorted(SORTED, SOUGHT),
    "transpose": lambda: np.ascontiguousarray(M.T),
    "stack": lambda: np.stack(STACK),
    "concat": lambda: np.concatenate([WHERE_A, WHERE_B]),
    "gather": lambda: ROWS[AT],
    "take-along": lambda: np.take_along_axis(ALONG, ALONG_AT, 1),
    "scatter": lambda: scattered(False),
    "scatter-add": lambda: scattered(True),
    "pad": lambda: np.pad(X, (100, 200)),
    "tile": lambda: np.tile(X, 3),
    "repeat": lambda: np.repeat(X, 3),
    "flip": lambda: np.ascontiguousarray(X[::-1]),
    "roll": lambda: np.roll(X, 1000),
    "where": lambda: np.where(WHERE, WHERE_A, WHERE_B),
    "clip": lambda: np.clip(X, -1, 1),
    "compress": lambda: WHERE_A[WHERE],
    "one-hot": one_hot,
    "dot": lambda: np.dot(WHERE_A, WHERE_B),
    "matvec": lambda: A @ B[0],
    "matmul": lambda: A @ B,
    "mean": lambda: X.mean(dtype=np.float64),
    "deviation": lambda: X.std(dtype=np.float64),
    "argmax-rows": lambda: M.argmax(1),
    "top-k-rows": lambda: top_k_rows(M, 10),
    "concat-columns": lambda: np.concatenate([A, B], 1),
    "split": lambda: X.reshape(100, -1).copy(),
    "last-at": last_at,
    "pad2": padded,
    "nonzero": lambda: np.flatnonzero(WHERE),
    "outer": lambda: np.outer(A[0], B[0]),
    "bmm": lambda: LEFT @ RIGHT,
    "var": lambda: X.var(dtype=np.float64),
    "scale-clip-where": lambda: np.where(WHERE, np.clip(WHERE_A * F32(2) + F32(1), -1, 1), WHERE_B * F32(0.5)),
    "softmax-rows": lambda: scipy.special.softmax(M, 1),
    "log-softmax-rows": lambda: scipy.special.log_softmax(M, 1),
    "sigmoid": lambda: scipy.special.expit(X),
    "layer-norm": lambda: layer_norm(LAYER),
    "l2-normalise-rows": lambda: ROWS / np.maximum(np.linalg.norm(ROWS, axis=1, keepdims=True), F32(1e-12)),
    "cosine-rows": lambda: ROWS @ VALUES[0] / (np.linalg.norm(ROWS, axis=1) * np.linalg.norm(VALUES[0])),
    "softmax": lambda: scipy.special.softmax(LOGITS),
    "log-softmax": lambda: scipy.special.log_softmax(LOGITS),
    "l2-normalise": lambda: X / np.maximum(np.linalg.norm(X), F32(1e-12)),
    "cosine": lambda: np.dot(WHERE_A, WHERE_B) / (np.linalg.norm(WHERE_A) * np.linalg.norm(WHERE_B)),
    "box-iou": lambda: iou(BOXES[:, None], BOXES[None]),
    "decode-boxes": decoded,
    "nms": lambda: nms(BOXES),
    "nms-by-class": lambda: nms(BOXES + (CLASSES * F32(1000))[:, None]),
    "soft-nms": soft_nms,
    "iou": lambda: iou(BOXES[:-1], BOXES[1:]),
    "box-area": lambda: (ANCHORS[:, 2] - ANCHORS[:, 0]) * (ANCHORS[:, 3] - ANCHORS[:, 1]),
    "cxcywh-to-xyxy": lambda: from_centres(ANCHORS),
    "xyxy-to-cxcywh": lambda: to_centres(ANCHORS),
    "xywh-to-xyxy": lambda: np.concatenate([ANCHORS[:, :2], ANCHORS[:, :2] + ANCHORS[:, 2:]], 1),
    "clip-boxes": lambda: np.clip(ANCHORS, 0, np.array([640, 480, 640, 480], F32)),
    "unclip": lambda: unclipped(ANCHORS, 640, 480),
    "text-boxes": text_boxes,
    "connected-components": components,
    "ctc-greedy": ctc_greedy,
    "mean-pool": mean_pool,
    "max-pool": lambda: TOKENS[TOKEN_MASK != 0].max(0),
    "top-p-mask": top_p,
    "top-k-mask": top_k_mask,
    "repetition-penalty": penalised,
    "sample": sample,
    "durations": lambda: COUNTS * DAY + COUNTS * HOUR + COUNTS * MINUTE + COUNTS * SECOND + COUNTS * MILLISECOND,
    "bucketise": lambda: np.digitize(X, BOUNDS),
    "embedding-bag": lambda: np.add.reduceat(TABLE[IDS], STARTS),
    "log1p": lambda: np.log1p(POSITIVE),
    "standardise": lambda: (FEATURES - MEAN) / np.where(DEVIATION == 0, F32(1), DEVIATION),
}
PYTHON = {
    "sort-by": lambda: [x for _, x in sorted(zip(LIST_OF_NUMBERS, XS), key=lambda pair: pair[0])],
    "take": lambda: XS[:500],
    "slice": lambda: XS[100:900],
    "reverse": lambda: XS[::-1],
    "concat": lambda: XS + XS,
    "flatten": lambda: [x for xs in XSS for x in xs],
    "chunks": lambda: [XS[i:i + 10] for i in range(0, len(XS), 10)],
    "gather": lambda: [XS[i] for i in PLACES],
    "contains": lambda: "not there" in XS,
    "count-of": lambda: XS.count("abc"),
    "drop": lambda: XS[500:],
    "fill": lambda: ["same"] * len(XS),
    "index-of": lambda: XS.index("not there") if "not there" in XS else None,
    "has": lambda: [word in MAP_OF_NUMBERS for word in WANTED],
    "truncate": lambda: [at.replace(hour=0, minute=0, second=0, microsecond=0) for at in PARTS],
    "in-seconds": lambda: [at.total_seconds() for at in DURATIONS],
    "days-in-month": lambda: [calendar.monthrange(at.year, at.month)[1] for at in PARTS],
    "is-leap": lambda: sum(calendar.isleap(at.year) for at in PARTS),
    "distinct": lambda: list(dict.fromkeys(LIST_OF_INTEGERS)),
    "values": lambda: list(MAP_OF_NUMBERS.values()),
    "values-of": lambda: [MAP_OF_NUMBERS.get(word, -1.0) for word in WANTED],
    "lookup": lambda: np.array([VOCABULARY.get(word, -1) for word in VOCABULARY_WORDS]),
    "parse": lambda: [datetime.datetime.fromisoformat(text) for text in TEXTS],
    "format": lambda: [at.isoformat() for at in PARTS],
    "parts": lambda: [datetime.datetime.fromtimestamp(at / 1e9, datetime.timezone.utc) for at in TIMES],
    "from-parts": lambda: [datetime.datetime(at.year, at.month, at.day, at.hour, tzinfo=datetime.timezone.utc).timestamp() for at in PARTS],
}
XXHASH = {
    "xxh64-bytes": lambda: xxhash.xxh64_intdigest(BLOB),
    "bucket": lambda: [xxhash.xxh64_intdigest(word) % 1000 for word in WORDS],
    "xxh64": lambda: xxhash.xxh64_intdigest(TEXT),
    "hash-bucket": lambda: np.array([xxhash.xxh64_intdigest(word) % 1000 for word in WORDS]),
    "hash-cross": crossed,
}
# It drops classes of a step that are less likely than a bound; ours reads all, as it does at 0.
CTC = {"ctc-beam": lambda: fast_ctc_decode.beam_search(STEPS, LETTERS, 8, 0.0)}
CALLS = {(name, package): call for package, calls in (("numpy", NUMPY), ("python", PYTHON), ("xxhash", XXHASH), ("fast-ctc-decode", CTC)) for name, call in calls.items()}


def main():
    folder = Path(sys.argv[1])
    for kind, values in GIVEN.items():
        (folder / f"{kind}.json").write_text(json.dumps(values, default=lambda value: value.tolist()))
    (folder / "given.blob").write_bytes(BLOB)
    serve(CALLS)


if __name__ == "__main__":
    main()
