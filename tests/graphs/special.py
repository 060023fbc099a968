"""Operators of signals, training, attention and tables that few models have."""
import numpy as np
from onnx import TensorProto

from computing import image, per_channel
from moving import numbers
from oracle import Refused

F32 = np.float32
MICROSOFT, ML = "com.microsoft", "ai.onnx.ml"


def signal_window(g):
    g.op(g.pick("HannWindow", "HammingWindow", "BlackmanWindow"), numbers(g.dice.randrange(2, 20)), periodic=g.pick(0, 1), output_datatype=g.pick(None, TensorProto.DOUBLE))


def fourier(g):
    if g.opset < 17:
        raise Refused("no DFT")
    if g.chance(0.4):
        step, length = g.pick(1, 2, 4), g.pick(4, 8)
        signal = g.leaf(g.floats((g.pick(1, 2), length + step * g.dice.randrange(4), 1), F32, True))
        g.op("STFT", signal, numbers(step), g.leaf(g.floats((length,), F32, True)), onesided=g.pick(0, 1))
        return
    inverse = g.pick(0, 1)
    x = g.leaf(g.floats((g.pick(1, 2), g.pick(1, 2, 5, 8), g.pick(1, 3, 4), 2 if inverse else g.pick(1, 2)), F32, True))
    said = {"inverse": inverse, "onesided": 0 if x.shape[-1] == 2 else g.pick(0, 1)}
    if g.opset < 20:
        g.op("DFT", x, axis=g.pick(1, 2), **said)
    else:
        g.op("DFT", x, None, numbers(g.pick(1, 2, -2)), **said)


def mel(g):
    g.op("MelWeightMatrix", *(numbers(each) for each in (g.pick(4, 8), g.pick(16, 32), 8000)), np.array(0, F32), np.array(4000, F32))


def fold(g):
    if g.opset < 18:
        raise Refused("no Col2Im")
    block, blocks = g.pick((1, 2), (2, 2), (3, 1)), (g.pick(2, 3), g.pick(2, 4))
    extents = [(count - 1) + size for count, size in zip(blocks, block)]
    x = g.new((F32,), (g.pick(1, 2), g.pick(1, 2) * block[0] * block[1], blocks[0] * blocks[1]))
    g.op("Col2Im", x, numbers(extents), numbers(block))


def affine(g):
    corners = g.pick(0, 1)
    extents = [g.pick(2, 5) if corners else g.pick(1, 2, 5), g.pick(2, 3)]  # the corners of a single point are nowhere for ONNX, and everywhere for others
    g.op("AffineGrid", g.leaf(g.floats((2, 2, 3), F32, True)), numbers([2, 1, *extents]), align_corners=corners)


def deformed(g):
    if g.opset < 19:
        raise Refused("no DeformConv")
    side = g.pick(1, 2, 3)
    x = g.leaf(g.floats((g.pick(1, 2), 2, 5, 6), F32, True))
    out = 5 - side + 1, 6 - side + 1
    offset = g.leaf(g.numbers.uniform(-1, 1, (x.shape[0], 2 * side * side, *out)).astype(F32))
    mask = g.leaf(g.numbers.uniform(0, 1, (x.shape[0], side * side, *out)).astype(F32)) if g.chance(0.5) else None
    g.op("DeformConv", x, g.leaf(g.floats((g.pick(1, 4), 2, side, side), F32, True)), offset, None, mask, kernel_shape=[side, side])


def unpool(g):
    x = g.leaf(g.floats((g.pick(1, 2), g.pick(1, 3), g.pick(2, 4), g.pick(2, 6)), F32, True))
    pooled, places = g.op("MaxPool", x, outputs=2, kernel_shape=[2, 2], strides=[2, 2])
    g.op("MaxUnpool", pooled, places, kernel_shape=[2, 2], strides=[2, 2])


def upsample(g):
    x = g.finite(image(g, g.pick(1, 3), [2, 2]))
    if g.opset not in (7, 8, 9):
        raise Refused("Upsample is older")
    scales = [1.0, 1.0, float(g.pick(1, 2, 3)), float(g.pick(1, 2))]
    if g.opset < 9:
        g.op("Upsample", x, scales=scales, mode="nearest")
    else:
        g.op("Upsample", x, g.leaf(np.array(scales, F32), True), mode=g.pick("nearest", "linear"))


def dropout(g):
    g.op("Dropout", g.value(types=(F32, np.float64)))


def loss(g):
    classes, batch, rest = g.pick(2, 5), g.pick(1, 3), g.pick((), (2,), (2, 3))
    x = g.leaf(g.floats((batch, classes, *rest), F32, True))
    labels = g.leaf(np.asarray(g.numbers.integers(0, classes, (batch, *rest))))
    weights = g.leaf(g.numbers.uniform(0.1, 1, classes).astype(F32)) if g.chance(0.5) else None
    kind = g.pick("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
    g.op(kind, x, labels, weights, reduction=g.pick("mean", "sum", "none"), ignore_index=g.pick(None, 1), outputs=2 if kind == "SoftmaxCrossEntropyLoss" and g.chance(0.4) else 1)


def fused_attention(g):
    heads, size, batch, steps = g.pick(1, 2, 4), g.pick(4, 8), g.pick(1, 2), g.pick(1, 3, 7)
    width = heads * size
    plain = lambda *shape: g.leaf(g.floats(shape, F32, True) * F32(0.5))
    if g.chance(0.5):
        mask = g.leaf(np.asarray(g.numbers.integers(1, steps + 1, batch)).astype(np.int32)) if g.chance(0.5) else None
        g.op("Attention", plain(batch, steps, width), plain(width, 3 * width), plain(3 * width), mask, domain=MICROSOFT, num_heads=heads, unidirectional=g.pick(0, 1))
    else:
        others = g.pick(steps, 5)
        bias = plain(3 * width) if g.chance(0.4) else None
        keys = (batch, heads, others, size) if g.chance(0.3) else (batch, others, width)
        g.op("MultiHeadAttention", plain(batch, steps, width), plain(*keys), plain(*keys), bias, domain=MICROSOFT, num_heads=heads)


def layer_in_bytes(g):
    steps, batch, width, hidden, directions = g.pick(1, 4), g.pick(1, 3), g.pick(2, 5), g.pick(3, 8), g.pick(1, 2)
    weights = lambda rows: g.leaf(np.asarray(g.numbers.integers(-127, 128, (directions, rows, 4 * hidden))).astype(np.int8), True)
    scale = lambda: g.leaf(g.numbers.uniform(0.002, 0.01, g.pick((directions,), (directions, 4 * hidden))).astype(F32), True)
    lengths = g.leaf(np.asarray(g.numbers.integers(1, steps + 1, batch)).astype(np.int32)) if g.chance(0.3) else None
    bias = g.leaf(g.floats((directions, 8 * hidden), F32, True), True) if g.chance(0.5) else None
    scales = scale(), scale()
    zeros = [g.leaf(np.zeros(each.shape, np.int8), True) for each in scales]
    g.op("DynamicQuantizeLSTM", g.leaf(g.floats((steps, batch, width), F32, True), False), weights(width), weights(hidden), bias, lengths, None, None, None,
         scales[0], zeros[0], scales[1], zeros[1], domain=MICROSOFT, hidden_size=hidden, direction="bidirectional" if directions == 2 else g.pick("forward", "reverse"), outputs=3)


def grouped_attention(g):
    heads, shared, size, batch, steps = g.pick(2, 4), g.pick(1, 2), 16, g.pick(1, 2), g.pick(1, 4)
    plain = lambda *shape: g.leaf(g.floats(shape, F32, True) * F32(0.5), False)
    past = [plain(batch, shared, 0, size) for _ in range(2)] if g.chance(0.5) else [None, None]
    lengths = g.leaf(np.full(batch, steps - 1, np.int32), True)
    g.op("GroupQueryAttention", plain(batch, steps, heads * size), plain(batch, steps, shared * size), plain(batch, steps, shared * size), *past, lengths,
         g.leaf(np.array(steps, np.int32), True), None, None, None, g.leaf(g.floats((1, heads, steps, steps), F32, True)) if g.chance(0.2) else None,
         g.leaf(g.floats((heads,), F32, True), True) if g.chance(0.2) else None, domain=MICROSOFT, num_heads=heads, kv_num_heads=shared, outputs=3,
         smooth_softmax=g.pick(None, None, 1))


def rotated(g):
    heads, size, batch, steps = g.pick(1, 2), g.pick(4, 8), g.pick(1, 2), g.pick(1, 3)
    angles = g.numbers.uniform(0, 3, (8, size // 2))
    places = np.tile(np.arange(steps), (batch, 1)) if g.chance(0.5) else np.array([g.pick(0, 2)])
    g.op("RotaryEmbedding", g.leaf(g.floats((batch, steps, heads * size), F32, True)), g.leaf(places.astype(np.int64)), g.leaf(np.cos(angles).astype(F32), True),
         g.leaf(np.sin(angles).astype(F32), True), domain=MICROSOFT, interleaved=g.pick(0, 1))


def embedded(g):
    batch, steps, width = g.pick(1, 2), g.pick(1, 4), g.pick(4, 8)
    table = lambda rows: g.leaf(g.floats((rows, width), F32, True), True)
    ids = lambda most: g.leaf(np.asarray(g.numbers.integers(0, most, (batch, steps))).astype(np.int32), False)
    mask = g.leaf(np.ones((batch, steps), np.int32), False) if g.chance(0.5) else None
    has_segments = g.chance(0.6)
    g.op("EmbedLayerNormalization", ids(10), ids(2) if has_segments else None, table(10), table(8), table(2) if has_segments else None, g.leaf(g.floats((width,), F32, True), True), g.leaf(g.floats((width,), F32, True), True), mask,
         domain=MICROSOFT, outputs=2 if mask else [True])


def integers_to_float(g):
    rows, inner, columns = g.pick(1, 3), g.pick(2, 8, 32), g.pick(1, 4, 16)
    a, b = g.integers((rows, inner), np.uint8), g.integers((inner, columns), np.int8)
    scale = lambda shape=(): g.leaf(np.asarray(g.numbers.uniform(0.01, 0.1, shape)).astype(F32), True)
    g.op("MatMulIntegerToFloat", g.leaf(a, False), g.leaf(b, True), scale(), scale(g.pick((), (columns,))), g.leaf(np.array(3, np.uint8), True), g.leaf(np.array(0, np.int8), True),
         *((g.leaf(g.floats((columns,), F32, True), True),) if g.chance(0.5) else ()), domain=MICROSOFT)


def product_of_integers(g):
    x, y = (g.leaf(g.integers((2, 5), np.uint8)) for _ in range(2))
    said = lambda: (g.leaf(np.array(g.dice.uniform(0.01, 0.1), F32), True), g.leaf(np.array(g.dice.randrange(40), np.uint8), True))
    g.op("QLinearMul", x, *said(), y, *said(), *said(), domain=MICROSOFT)


def encoders(g):
    keys = [0, 2, 5, 7]
    x = g.leaf(np.asarray(g.numbers.choice([*keys, 9], g.pick((5,), (3, 1)))))
    kind = g.pick("LabelEncoder", "OneHotEncoder", "Imputer")
    if kind == "LabelEncoder":
        g.op(kind, x, domain=ML, keys_int64s=keys, **(g.pick({"values_int64s": [3, 1, 4, 1], "default_int64": -7}, {"values_floats": [0.5, 1.5, -2.0, 3.0], "default_float": 9.0})))
    elif kind == "OneHotEncoder":
        g.op(kind, x, domain=ML, cats_int64s=keys, zeros=1)
    else:
        array = g.floats((4, 3), F32, True)
        array[g.numbers.random((4, 3)) < 0.4] = g.pick(np.nan, -1.0)
        g.op(kind, g.leaf(array), domain=ML, imputed_value_floats=g.pick([2.5], [1.0, 2.0, 3.0]), replaced_value_float=g.pick(float("nan"), -1.0))


def vectors(g):
    """Support vectors, for numbers."""
    columns, count = g.pick(2, 3), g.pick(1, 4)
    some = lambda size: [float(each) for each in g.floats((size,), F32, True)]
    g.op("SVMRegressor", g.leaf(g.floats((g.pick(1, 4), columns), F32, True)), domain=ML, kernel_type=g.pick("LINEAR", "RBF", "POLY", "SIGMOID"), kernel_params=[0.4, 0.7, 2.0],
         coefficients=some(count), support_vectors=some(count * columns), n_supports=count, rho=some(1), post_transform="NONE")


def classified(g):
    """A tree whose leaves vote for classes."""
    some = lambda: float(F32(g.dice.gauss(0, 1)))
    x = g.leaf(g.floats((g.pick(1, 5), 2), F32, True))
    classes = g.pick([0, 1], [0, 1, 2])
    g.op("TreeEnsembleClassifier", x, outputs=2, domain=ML, nodes_treeids=[0] * 5, nodes_nodeids=list(range(5)), nodes_featureids=[0, 1, 0, 0, 0],
         nodes_modes=["BRANCH_LEQ", "BRANCH_GT", "LEAF", "LEAF", "LEAF"], nodes_values=[some(), some(), 0.0, 0.0, 0.0], nodes_truenodeids=[1, 3, 0, 0, 0],
         nodes_falsenodeids=[2, 4, 0, 0, 0], class_treeids=[0] * 3, class_nodeids=[2, 3, 4], class_ids=[g.dice.choice(classes) for _ in range(3)] if len(classes) > 2 else [0, 1, 0],
         class_weights=[abs(some()) for _ in range(3)], classlabels_int64s=classes, post_transform=g.pick("NONE", "SOFTMAX") if len(classes) > 2 else "NONE")


def normalised_and_trained(g):
    """A step of Momentum is ONNX's own only; BatchNormalization that trains gives new means."""
    x = g.new((F32,), (g.pick(2, 3), 3, 4))
    g.op("BatchNormalization", x, per_channel(g, x), per_channel(g, x), per_channel(g, x), per_channel(g, x, positive=True), outputs=3 if g.opset >= 14 else 1,
         training_mode=1 if g.opset >= 14 else None)


PRODUCTIONS = (signal_window, fourier, mel, fold, affine, deformed, unpool, upsample, dropout, loss, fused_attention, fused_attention, grouped_attention, layer_in_bytes, rotated, embedded,
               integers_to_float, product_of_integers, encoders, vectors, classified, normalised_and_trained)
