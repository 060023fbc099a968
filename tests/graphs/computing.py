"""Operators that compute across elements: reductions, normalisations, products, windows, recurrences."""
import numpy as np

from graph import FLOATS, NUMBERS
from moving import numbers
from oracle import Refused

F32 = np.float32
REDUCTIONS = ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare")
OF_INTEGERS = ("ReduceSum", "ReduceMax", "ReduceMin")


def reduce(g):
    kind = g.dice.choice(REDUCTIONS)
    x = g.value(types=(np.float32, np.float64, np.int64, np.int32) if kind in OF_INTEGERS else (np.float32, np.float64),
                fits=lambda each: kind != "ReduceMean" or each.array.size)  # "Reduction over an empty set of values yields undefined."
    if kind == "ReduceSum" and x.dtype not in FLOATS and np.abs(x.array.astype(np.float64)).sum() > np.iinfo(x.dtype).max:
        raise Refused("the standard does not say what is beyond the type; ONNX Runtime has its largest number")
    if kind in ("ReduceMax", "ReduceMin"):
        g.numbers_only(x)  # the standard says nothing of NaN; ONNX Runtime finds it or not, by its place
    axes = g.dice.sample(range(x.rank), g.dice.randrange(1, x.rank + 1)) if x.rank and g.chance(0.85) else None
    if axes and g.chance(0.3) and g.opset >= 11:
        axes = [axis - x.rank for axis in axes]
    keep = g.pick(0, 1, None)
    if g.opset >= (13 if kind == "ReduceSum" else 18):
        g.op(kind, x, numbers(axes) if axes else None, keepdims=keep, noop_with_empty_axes=1 if g.chance(0.1) else None)
    else:
        g.op(kind, x, axes=axes, keepdims=keep)


def soft(g):
    kind = g.pick("Softmax", "Softmax", "LogSoftmax", "Hardmax")
    x = g.value(types=FLOATS, least=1)
    axis, at = g.axis(g.numbers_only(x) if kind == "Hardmax" else x)
    g.op(kind, x, axis=g.pick(None, axis if g.opset >= 11 else at))


def lp_normalise(g):
    x = g.value(types=(np.float32, np.float64), least=1)
    g.op("LpNormalization", x, axis=g.axis(x)[0], p=g.pick(1, 2))


def per_channel(g, x, count=None, positive=False):
    made = g.floats((x.shape[1] if count is None else count,), x.dtype, True)
    return g.leaf(np.abs(made) + x.dtype(0.1) if positive else made, g.chance(0.8))


def batch_norm(g, x=None):
    x = g.value(types=(np.float32,), least=2) if x is None else x
    return g.op("BatchNormalization", x, per_channel(g, x), per_channel(g, x), per_channel(g, x), per_channel(g, x, positive=True),
                epsilon=g.pick(None, 1e-3))


def layer_norm(g, x=None):
    x = g.value(types=(np.float32, np.float64), least=1) if x is None else x
    axis, at = g.axis(x)
    kind = g.pick("LayerNormalization", "LayerNormalization", "SimplifiedLayerNormalization")
    bias = (g.like(x, x.shape[at:]),) if kind == "LayerNormalization" and g.chance(0.7) else ()
    return g.op(kind, x, g.like(x, x.shape[at:]), *bias, axis=axis, epsilon=g.pick(1e-5, 1e-3))


def skip_layer_norm(g):
    x = g.value(types=(F32,), least=3, most=3)
    width = x.shape[-1:]
    if g.chance(0.6):
        g.op("SkipLayerNormalization", x, g.like(x, x.shape), g.like(x, width), g.like(x, width), *((g.like(x, width),) if g.chance(0.5) else ()), domain="com.microsoft", epsilon=1e-5)
    else:
        g.op("SkipSimplifiedLayerNormalization", x, g.like(x, x.shape), g.like(x, width), domain="com.microsoft", epsilon=1e-5)


def instance_norm(g):
    x = g.value(types=(F32,), least=3, fits=lambda each: 0 not in each.shape)
    if np.prod(x.shape[2:]) < 2:
        raise Refused("what is 0 but for the mean's rounding")
    g.op("InstanceNormalization", x, per_channel(g, x), per_channel(g, x), epsilon=g.pick(None, 1e-3))


def group_norm(g):
    groups = g.pick(1, 2, 3)
    x = g.new((F32,), (g.pick(1, 2), groups * g.pick(1, 2, 3), *g.shape(least=1, most=2)))
    count = x.shape[1] if g.opset >= 21 else groups
    g.op("GroupNormalization", x, per_channel(g, x, count), per_channel(g, x, count), num_groups=groups)


def other_norms(g):
    if g.chance(0.5):
        x = g.value(types=(F32,), least=3, fits=lambda each: 0 not in each.shape)
        g.op("LRN", x, size=g.pick(1, 3, 5), alpha=g.pick(None, 0.5), beta=g.pick(None, 0.5), bias=g.pick(None, 2.0))
    else:
        x = g.value(types=(F32,), least=4, most=4, fits=lambda each: 0 not in each.shape)
        axes = g.pick(None, [2, 3], [0], [1, 2, 3])
        if (np.ptp(g.finite(x).array.astype(np.float64), axis=tuple(axes or (0, 2, 3))) < 1e-2).any():
            raise Refused("a variance that rounding may put below 0")
        g.op("MeanVarianceNormalization", x, axes=axes)


def matmul(g):
    a = g.value(types=(F32, F32, np.float64, np.int32, np.int64), least=1)
    inner = a.shape[-1]
    lead = g.pick((), g.broadcastable(a.shape[:-2])) if a.rank > 1 else g.pick((), (2,))
    b = g.like(a, g.pick((inner,), (*lead, inner, g.extent()), (inner, g.extent())))
    return g.op("MatMul", a, b)


def gemm(g):
    rows, inner, columns = g.extent(), g.extent(), g.extent()
    trans = g.pick(0, 1), g.pick(0, 1)
    there = g.value(types=(F32,), least=2, most=2)
    if g.chance(0.6):
        inner, rows = (there.shape if trans[0] else there.shape[::-1])
        a = there
    else:
        a = g.new((F32,), (inner, rows) if trans[0] else (rows, inner))
    b = g.like(a, (columns, inner) if trans[1] else (inner, columns))
    c = [g.like(a, g.pick((columns,), (rows, columns), (1, columns), (rows, 1), (), (1,)))] if g.chance(0.8) or g.opset < 11 else []
    return g.op("Gemm", a, b, *c, transA=trans[0], transB=trans[1], alpha=g.pick(None, 0.5, 2.0), beta=g.pick(None, 0.25, 0.0 if not c or np.isfinite(c[0].array).all() else 2.0))  # 0 times NaN is NaN, which ONNX Runtime leaves out


def fused_matmul(g):
    trans = g.pick(0, 1), g.pick(0, 1)
    lead, (rows, inner, columns) = g.shape(most=2), (g.extent(), g.extent(), g.extent())
    a = g.new((F32,), (*lead, inner, rows) if trans[0] else (*lead, rows, inner))
    g.op("FusedMatMul", a, g.like(a, (*lead, columns, inner) if trans[1] else (*lead, inner, columns)), domain="com.microsoft", alpha=g.pick(1.0, 0.5), transA=trans[0], transB=trans[1])


def einsum(g):
    equation = g.pick("ij,jk->ik", "ij->ji", "bij,bjk->bik", "ij,ij->", "ii->i", "ii", "bhid,bhjd->bhij", "i,j->ij", "...ij,...jk->...ik", "ij->i", "abc,c->ab", "ij,kj")
    sizes = {letter: g.extent() for letter in "abcdhijk"}
    inputs = []
    for term in equation.split("->")[0].split(","):
        shape = [size for letter in term.replace("...", "ab" if g.opset else "") for size in (sizes[letter],)]
        inputs.append(g.new((F32,), shape))
    g.op("Einsum", *inputs, equation=equation)


def window(g, spatial, transposed=False):
    """Attributes of a window, and the extents that it needs."""
    kernel = [g.pick(1, 2, 3, 3, 5) for _ in range(spatial)]
    dilations = [g.pick(1, 1, 1, 2) for _ in range(spatial)]
    said = {"kernel_shape": kernel, "strides": [g.pick(1, 1, 2, 3) for _ in range(spatial)] if g.chance(0.8) else None}
    reach = [(size - 1) * apart + 1 for size, apart in zip(kernel, dilations)]
    if g.chance(0.2):
        said["auto_pad"] = g.pick("SAME_UPPER", "SAME_LOWER", "VALID")
    elif g.chance(0.7):
        pads = [g.dice.randrange(min(size, 3)) for size in kernel]
        said["pads"] = pads * 2 if g.chance(0.6) else pads + [g.dice.randrange(min(size, 3)) for size in kernel]
    return kernel, dilations, reach, said


def image(g, channels, reach, types=(F32,)):
    """One that is there, if it is large enough, or a new one of so many channels."""
    spatial = len(reach)
    fits = lambda each: each.shape[1] in (1, 2, 3, 4, 8, 16) and all(have >= need for have, need in zip(each.shape[2:], reach))
    if g.chance(0.6):
        try:
            return g.value(types=types, least=2 + spatial, most=2 + spatial, fits=fits)
        except Refused:
            pass
    batch = 0 if g.empties and g.chance(0.1) else g.pick(1, 1, 2, 3)
    return g.new(types, (batch, channels, *(need + g.dice.randrange(8 if spatial < 3 else 3) for need in reach)))


def conv(g, x=None):
    spatial = g.pick(1, 2, 2, 2, 3) if x is None else x.rank - 2
    kernel, dilations, reach, said = window(g, spatial)
    x = image(g, g.pick(1, 2, 3, 4, 8, 16), reach, (F32, F32, F32, np.float64, np.float16)) if x is None else x
    channels = x.shape[1]
    group = g.pick(1, 1, channels, *(each for each in (2, 4) if channels % each == 0)) if channels else 1
    filters = group * g.pick(1, 1, 2, 3, 8) if group > 1 else g.pick(1, 2, 4, 8, 16, 17)
    bias = (g.like(x, (filters,)),) if g.chance(0.5) else ()
    w = g.leaf(g.floats((filters, channels // group, *kernel), x.dtype, True), g.chance(0.85))  # an infinity times a 0 of the padding is NaN for some
    return g.op("Conv", x, w, *bias, group=group, dilations=dilations if g.chance(0.5) or set(dilations) != {1} else None, **said)


def conv_transpose(g):
    kernel, dilations, reach, said = window(g, g.pick(1, 2, 2))
    x = image(g, g.pick(2, 4), [2] * len(kernel))
    group = g.pick(1, *(each for each in (2, 4) if x.shape[1] % each == 0))
    per_group = g.pick(1, 2, 3)
    strides = said.get("strides") or [1] * len(kernel)
    if said.get("auto_pad", "").startswith("SAME") and any(size < stride for size, stride in zip(reach, strides)):
        raise Refused("ONNX Runtime pads by nothing below 0; the standard: `output_shape[i] = input_shape[i] * strides[i]`")
    room = [g.dice.randrange(max(1, min(stride, 2))) for stride in strides]
    bias = (g.like(x, (per_group * group,)),) if g.chance(0.5) else ()
    g.op("ConvTranspose", x, g.leaf(g.floats((x.shape[1], per_group, *kernel), F32, True), g.chance(0.85)), *bias, group=group, dilations=dilations,
         output_padding=room if g.chance(0.3) else None, **said)


def pool(g):
    kind = g.pick("MaxPool", "MaxPool", "AveragePool", "AveragePool", "LpPool")
    kernel, dilations, reach, said = window(g, g.pick(1, 2, 2, 3))
    pads = said.get("pads")
    if pads and any(each >= size for each, size in zip(pads, kernel * 2)):
        raise Refused("a window of nothing")
    x = image(g, g.pick(1, 2, 3, 8, 16), reach, (F32,) if kind != "MaxPool" or g.opset < 12 else (F32, F32, F32, np.float64, np.uint8, np.int8))
    if said.get("auto_pad", "").startswith("SAME") and any(size < stride for size, stride in zip(reach, said["strides"] or [1] * len(reach))):
        raise Refused("ONNX Runtime pads by less than nothing, and leaves out the first elements")
    if kind == "MaxPool" and x.dtype in FLOATS and np.isnan(x.array).any():
        raise Refused("the standard says nothing of NaN here; ONNX Runtime passes over it")
    if kind == "MaxPool":
        g.finite(x)  # known, and left: oneDNN's maxima begin at the lowest number, which a window of -inf alone then gives
    # ONNX Runtime pads as if there were no dilations; the standard: "output_shape[i] = ceil(input_shape[i] / strides[i])".
    with_dilations = {"MaxPool": g.opset >= 10, "AveragePool": g.opset >= 19, "LpPool": g.opset >= 18}[kind] and "auto_pad" not in said
    if g.opset >= (10 if kind != "LpPool" else 18):
        said["ceil_mode"] = g.pick(0, 0, 1)
    if with_dilations and g.chance(0.3):
        said["dilations"] = dilations
    if kind == "AveragePool":
        said["count_include_pad"] = g.pick(0, 1)
    if kind == "LpPool":
        said["p"] = g.pick(1, 2, 3)
    both = kind == "MaxPool" and g.opset >= 8 and g.chance(0.3)
    g.op(kind, x, outputs=2 if both else 1, **said)


def global_pool(g):
    kind = g.pick("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
    x = g.numbers_only(g.value(types=(F32,), least=3, fits=lambda each: 0 not in each.shape))  # of NaN as MaxPool
    g.op(kind, x, **({"p": g.pick(1, 2)} if kind == "GlobalLpPool" else {}))


def resize(g):
    if g.opset < 11:
        return
    spatial = g.pick(1, 2, 2)
    x = g.finite(image(g, g.pick(1, 3, 8), [2] * spatial))  # a weight of 0 may be left out
    mode = g.pick("nearest", "linear", "cubic" if spatial == 2 else "linear")
    place = g.pick("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")
    said = {"mode": mode, "coordinate_transformation_mode": place}
    if mode == "nearest":
        said["nearest_mode"] = g.pick("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
    if mode == "cubic" and g.chance(0.4):
        said["cubic_coeff_a"] = -0.5
    if mode != "nearest" and g.opset >= 18 and g.chance(0.2):
        said["antialias"] = 1
    sizes = [max(1, int(extent * g.pick(0.5, 1, 1.5, 2, 3))) for extent in x.shape[2:]]
    by_sizes = g.chance(0.5) or place == "align_corners"  # ONNX's own cases take an extent times a scale as the new one unrounded there, ONNX Runtime rounded
    roi = np.zeros(0, F32) if g.opset < 13 else None
    if by_sizes:
        g.op("Resize", x, roi, np.zeros(0, F32) if g.opset < 13 else None, numbers([*x.shape[:2], *sizes]), **said)
    else:
        g.op("Resize", x, roi, np.array([1, 1, *(g.pick(0.5, 1, 1.5, 2, 2.6) for _ in sizes)], F32), **said)


def sampled(g):
    """At places of the image, and somewhat outside."""
    if g.opset < 16:
        return
    x = g.finite(image(g, g.pick(1, 3), [2, 2]))
    grid = g.numbers.uniform(-1.2, 1.2, (x.shape[0], g.pick(1, 3), g.pick(2, 4), 2)).astype(F32)
    mode = g.pick("linear", "nearest", "cubic") if g.opset >= 20 else g.pick("bilinear", "nearest", "bicubic")
    # "use border values for out-of-bound grid locations": as ONNX's evaluator the locations, where ONNX Runtime takes the elements around a cubic one.
    padding = g.pick("zeros", "border", "reflection") if "cubic" not in mode else g.pick("zeros", "reflection")
    g.op("GridSample", x, g.leaf(grid), mode=mode, padding_mode=padding, align_corners=g.pick(0, 1))


def regions(g):
    if g.opset < 10:
        return
    x = g.finite(image(g, g.pick(1, 3), [4, 4]))
    if not x.shape[0]:
        raise Refused("no image")
    count = g.pick(1, 2)
    low = g.numbers.uniform(0, 2, (count, 2))
    boxes = np.concatenate([low, low + g.numbers.uniform(0.5, 4, (count, 2))], 1).astype(F32)
    g.op("RoiAlign", x, g.leaf(boxes), g.leaf(g.numbers.integers(0, x.shape[0], count)), mode=g.pick("avg", "max"), output_height=g.pick(1, 2), output_width=2,
         sampling_ratio=g.pick(0, 2), spatial_scale=g.pick(1.0, 0.5),
         **({"coordinate_transformation_mode": g.pick("half_pixel", "output_half_pixel")} if g.opset >= 16 else {}))


def recurrent(g):
    kind = g.pick("LSTM", "GRU", "RNN")
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[kind]
    steps, batch, width, hidden = g.pick(1, 2, 5), g.pick(1, 1, 2, 3), g.pick(1, 3, 8), g.pick(1, 2, 4, 8)
    direction = g.pick("forward", "reverse", "bidirectional")
    ways = 2 if direction == "bidirectional" else 1
    there = [each for each in g.values.values() if each.dtype == F32 and each.rank == 3 and not each.is_leaf and 0 not in each.shape]
    x = g.dice.choice(there) if there and g.chance(0.4) else g.new((F32,), (steps, batch, width))
    steps, batch, width = x.shape
    g.finite(x)  # ONNX Runtime's activations make numbers of NaN
    weights = [g.leaf(g.floats((ways, gates * hidden, each), F32, True) * F32(0.4), True) for each in (width, hidden)]
    bias = g.leaf(g.floats((ways, 2 * gates * hidden), F32, True), True) if g.chance(0.6) else None
    lengths = g.leaf(np.asarray(g.numbers.integers(1, steps + 1, batch)).astype(np.int32)) if g.chance(0.3) else None
    state = lambda: g.leaf(g.floats((ways, batch, hidden), F32, True)) if g.chance(0.4) else None
    rest = [state(), state(), g.leaf(g.floats((ways, 3 * hidden), F32, True), True) if g.chance(0.3) else None] if kind == "LSTM" else [state()]
    said = {"linear_before_reset": g.pick(0, 1)} if kind == "GRU" else {}
    if g.chance(0.2) and kind != "LSTM":  # "is applied to the input of activations"; ONNX Runtime leaves the last one out
        said["clip"] = 0.5
    g.op(kind, x, *weights, bias, lengths, *rest, outputs=3 if kind == "LSTM" else 2, hidden_size=hidden, direction=direction, **said)


def determinant(g):
    side = g.pick(1, 2, 3, 4)
    g.op("Det", g.new((F32,), (*g.shape(most=2), side, side)))


def embedding(g):
    """Rows of tables side by side, as recommenders have them."""
    batch = g.extent()
    parts = []
    for _ in range(g.dice.randrange(1, 5)):
        table = g.leaf(g.floats((g.pick(3, 10, 50), g.pick(1, 2, 4, 8, 16))), True)
        parts.append(g.op("Gather", table, g.leaf(np.asarray(g.numbers.integers(0, table.shape[0], batch)), False), axis=0))
    if g.chance(0.5):
        parts.append(g.new((F32,), (batch, g.pick(1, 3, 13))))
    g.op("Concat", *parts, axis=1)


PRODUCTIONS = (reduce, reduce, reduce, reduce, soft, soft, lp_normalise, batch_norm, layer_norm, layer_norm, skip_layer_norm, instance_norm, group_norm, other_norms, matmul, matmul, matmul, gemm, gemm,
               fused_matmul, einsum, conv, conv, conv, conv, conv_transpose, pool, pool, pool, global_pool, resize, resize, sampled, regions, recurrent, recurrent,
               determinant, embedding)
