"""Operators that move elements, choose among them, or say where they are."""
import numpy as np

from graph import ANY, FLOATS, INTEGERS, NUMBERS, SIGNED
from oracle import Refused

INT64 = np.int64


def numbers(values):
    return np.array(values, INT64)


def factors(g, count, parts):
    """Extents of a tensor of this many elements."""
    extents = []
    for _ in range(parts - 1):
        ways = [each for each in range(1, min(count, 40) + 1) if count and count % each == 0] or [1]
        extents.append(g.dice.choice(ways))
        count //= extents[-1]
    extents.append(count)
    g.dice.shuffle(extents)
    return extents


def reshape(g):
    x = g.value()
    shape = factors(g, x.array.size, g.dice.randrange(1, 5)) if x.array.size else list(x.shape[::-1]) or [1]
    if x.array.size and g.chance(0.4):
        shape[g.dice.randrange(len(shape))] = -1
    if x.array.size and g.chance(0.2) and x.rank and len(shape) > 0 and shape[0] == x.shape[0]:
        shape[0] = 0
    g.op("Reshape", x, numbers(shape), allowzero=1 if g.opset >= 14 and 0 in shape and not x.array.size else None)


def flatten(g):
    x = g.value(types=ANY if g.opset >= 9 else FLOATS)
    g.op("Flatten", x, axis=g.dice.randrange(-x.rank if g.opset >= 11 else 0, x.rank + 1))


def squeeze(g):
    x = g.value(fits=lambda each: 1 in each.shape)
    axes = [axis for axis, extent in enumerate(x.shape) if extent == 1 and g.chance(0.7)]
    if g.chance(0.3) and g.opset >= 11:
        axes = [axis - x.rank for axis in axes]
    if not axes:
        g.op("Squeeze", x)
    elif g.opset < 13:
        g.op("Squeeze", x, axes=axes)
    else:
        g.op("Squeeze", x, numbers(axes))


def unsqueeze(g):
    x = g.value(most=3)
    rank = x.rank + g.pick(1, 1, 2)
    axes = g.dice.sample(range(rank), rank - x.rank)
    if g.chance(0.3) and g.opset >= 11:
        axes = [axis - rank for axis in axes]
    g.op("Unsqueeze", x, *((numbers(axes),) if g.opset >= 13 else ()), axes=axes if g.opset < 13 else None)


def transpose(g):
    x = g.value()
    g.op("Transpose", x, perm=g.dice.sample(range(x.rank), x.rank) if x.rank and g.chance(0.85) else None)


def concat(g):
    x = g.value(least=1)
    axis, at = g.axis(x)
    others = []
    for _ in range(g.dice.randrange(4)):
        shape = list(x.shape)
        shape[at] = g.extent()
        others.append(g.like(x, shape) if g.chance(0.8) else x)
    parts = [x, *others]
    g.dice.shuffle(parts)
    g.op("Concat", *parts, axis=axis if g.opset >= 11 else at)


def split(g):
    x = g.value(least=1)
    axis, at = g.axis(x)
    count = g.dice.randrange(1, 4)
    cuts = sorted(g.dice.randrange(x.shape[at] + 1) for _ in range(count - 1))
    sizes = [end - begin for begin, end in zip([0, *cuts], [*cuts, x.shape[at]])]
    axis = axis if g.opset >= 11 else at
    if g.opset >= 18 and g.chance(0.3):
        g.op("Split", x, outputs=count, axis=axis, num_outputs=count)
    elif g.opset < 18 and x.shape[at] % count == 0 and g.chance(0.3):
        g.op("Split", x, outputs=count, axis=axis)
    elif g.opset >= 13:
        g.op("Split", x, numbers(sizes), outputs=count, axis=axis)
    else:
        g.op("Split", x, outputs=count, axis=axis, split=sizes)


def slice_(g):
    """Ends beyond the tensor, from the back, and with negative steps."""
    x = g.value(least=1)
    axes = g.dice.sample(range(x.rank), g.dice.randrange(1, x.rank + 1))
    starts, ends, steps = [], [], []
    far = (-2**63, 2**63 - 1, -2**31, 2**31 - 1, -1000, 1000)
    for axis in axes:
        extent = x.shape[axis]
        near = range(-extent - 2, extent + 3)
        starts.append(g.dice.choice(far) if g.chance(0.15) else g.dice.choice(near))
        steps.append(g.pick(1, 1, 1, 2, 3, -1, -1, -2, -3, 100, -100) if g.opset >= 10 else 1)
        # Backwards an end beyond the tensor selects nothing: "for negative stepping it is [-1, dims[axes[i]]-1]". ONNX Runtime takes INT_MAX for the very end.
        ends.append(g.dice.choice([each for each in far if steps[-1] > 0 or each < 2**31 - 1]) if g.chance(0.3) else g.dice.choice(near))
    if g.opset < 10:
        g.op("Slice", x, starts=starts, ends=ends, axes=axes)
        return
    axes = [axis - x.rank if g.chance(0.3) else axis for axis in axes]
    if axes == list(range(len(axes))) and g.chance(0.4):
        axes = None
    kind = INT64 if g.chance(0.8) else np.int32
    if kind == np.int32:
        starts, ends = ([max(-2**31, min(2**31 - 1, each)) for each in some] for some in (starts, ends))
    rest = (np.array(axes, kind) if axes else None, np.array(steps, kind) if set(steps) != {1} or g.chance(0.3) else None)
    g.op("Slice", x, np.array(starts, kind), np.array(ends, kind), *rest)


def pad(g):
    x = g.value(types=FLOATS if g.opset < 11 else NUMBERS, least=1)
    mode = g.pick("constant", "constant", "reflect", "edge", "wrap" if g.opset >= 19 else "constant")
    pads = []
    for _ in range(2):
        for extent in x.shape:
            most = {"reflect": extent - 1, "wrap": extent}.get(mode, 4)
            pads.append(g.dice.randrange(max(0, min(most, 4)) + 1) if g.chance(0.6) else 0)
    if mode == "constant" and g.chance(0.2):
        axis = g.dice.randrange(x.rank)
        pads[axis + g.pick(0, x.rank)] = -min(1, x.shape[axis])
    if mode != "constant" and 0 in x.shape:
        raise Refused("nothing to repeat")
    if g.opset < 11:
        g.op("Pad", x, mode=mode, pads=pads, value=1.5 if g.chance(0.4) else None)
        return
    value = np.array(3, x.dtype) if mode == "constant" and g.chance(0.5) else None
    if g.opset >= 18 and g.chance(0.3):
        axes = g.dice.sample(range(x.rank), g.dice.randrange(1, x.rank + 1))
        pads = [pads[axis + side] for side in (0, x.rank) for axis in axes]
        g.op("Pad", x, numbers(pads), value, numbers(axes), mode=mode)
    else:
        g.op("Pad", x, numbers(pads), value, mode=mode)


def expand(g):
    x = g.value(most=3)
    shape = [g.extent() if extent == 1 else g.pick(1, extent) for extent in x.shape]
    g.op("Expand", x, numbers([g.extent() for _ in range(g.dice.randrange(2))] + shape))


def tile(g):
    x = g.value()
    g.op("Tile", x, numbers([g.pick(1, 1, 2, 3, 0 if g.empties else 1) for _ in x.shape]))


def indices(g, shape, extent, kind=None):
    """Places on an axis, counted from either end where the operator set takes that."""
    if extent == 0 and np.prod(shape):
        raise Refused("nothing to choose from")
    kind = g.pick(INT64, INT64, np.int32) if kind is None else kind
    least = -extent if g.opset >= 11 and g.chance(0.4) else 0
    return np.asarray(g.numbers.integers(least, max(extent, 1), shape)).astype(kind)


def gather(g):
    x = g.value(least=1)
    axis, at = g.axis(x)
    g.op("Gather", x, g.leaf(indices(g, g.shape(most=2), x.shape[at])), axis=axis)


def gather_elements(g):
    x = g.value(least=1)
    axis, at = g.axis(x)
    shape = [extent if i == at else g.dice.randrange(1, extent + 1) if extent else 0 for i, extent in enumerate(x.shape)]
    shape[at] = g.extent()
    g.op("GatherElements", x, g.leaf(indices(g, shape, x.shape[at])), axis=axis)


def places(g, shape, depth, lead):
    """Tuples of places on the first axes; of different ones, so that no order decides what is written last."""
    spots = int(np.prod(shape[:depth], dtype=INT64))
    count = g.dice.randrange(1, 6)
    if spots < count:
        raise Refused("too few places")
    flat = np.asarray(g.numbers.choice(spots, count, replace=False))
    found = np.stack(np.unravel_index(flat, shape[:depth]), -1).astype(INT64)
    return found.reshape((*lead, count, depth))


def gather_nd(g):
    x = g.value(least=1)
    batch = g.dice.randrange(x.rank) if g.opset >= 12 and g.chance(0.3) else 0
    depth = g.dice.randrange(1, x.rank - batch + 1)
    if 0 in x.shape:
        raise Refused("nothing to choose from")
    lead = (*x.shape[:batch], *g.shape(most=2))
    chosen = np.stack([g.numbers.integers(-extent if g.chance(0.3) else 0, extent, lead) for extent in x.shape[batch:batch + depth]], -1)
    g.op("GatherND", x, g.leaf(chosen.astype(INT64)), batch_dims=batch or None)


def scatter_elements(g):
    """Each place once, unless what is written is joined."""
    x = g.value(least=1)
    axis, at = g.axis(x)
    if 0 in x.shape:
        raise Refused("nothing to write to")
    shape = [g.dice.randrange(1, extent + 1) for extent in x.shape]
    order = np.argsort(g.numbers.random(x.shape), axis=at)
    chosen = order[tuple(slice(extent) for extent in shape)].astype(g.pick(INT64, np.int32))
    reduction = None
    if g.opset >= 16 and x.dtype in NUMBERS and g.chance(0.5):
        reduction = g.pick("add", "mul", *(("max", "min") if g.opset >= 18 else ()))
        chosen = indices(g, shape, x.shape[at])
    kind = "Scatter" if g.opset < 11 else "ScatterElements"
    g.op(kind, x, g.leaf(chosen), written(g, x, shape, reduction), axis=axis if g.opset >= 11 else at, reduction=reduction)


def written(g, x, shape, reduction):
    """What is written into x. Where the larger counts, NaN is not said to be one."""
    made = g.like(x, shape)
    if reduction in ("max", "min"):
        g.numbers_only(x)
        g.numbers_only(made)
    return made


def scatter_nd(g):
    x = g.value(least=1)
    depth = g.dice.randrange(1, x.rank + 1)
    chosen = places(g, x.shape, depth, ())
    reduction = g.pick("add", "mul", *(("max", "min") if g.opset >= 18 else ())) if g.opset >= 16 and x.dtype in NUMBERS and g.chance(0.4) else None
    g.op("ScatterND", x, g.leaf(chosen), written(g, x, (len(chosen), *x.shape[depth:]), reduction), reduction=reduction)


def depth_to_space(g):
    side = g.pick(1, 2, 3)
    shape = (g.extent(), side * side * g.pick(1, 2, 3), g.extent(), g.extent())
    x = g.value(types=(np.float32, np.float64, np.uint8), least=4, most=4, fits=lambda each: each.shape[1] % (side * side) == 0) if g.chance(0.3) else g.new((np.float32,), shape)
    g.op("DepthToSpace", x, blocksize=side, mode=g.pick("DCR", "CRD") if g.opset >= 11 else None)


def space_to_depth(g):
    side = g.pick(1, 2, 3)
    g.op("SpaceToDepth", g.new((np.float32,), (g.extent(), g.extent(), side * g.pick(1, 2, 3), side * g.pick(1, 2))), blocksize=side)


def reverse_sequence(g):
    x = g.value(least=2)
    batch = g.pick(0, 1)
    lengths = [g.dice.randrange(1, x.shape[1 - batch] + 1) for _ in range(x.shape[batch])] if x.shape[1 - batch] else None
    if lengths is None:
        raise Refused("nothing to reverse")
    g.op("ReverseSequence", x, numbers(lengths), batch_axis=batch, time_axis=1 - batch)


def trilu(g):
    g.op("Trilu", g.value(least=2), numbers(g.dice.randrange(-4, 5)) if g.chance(0.6) else None, upper=g.pick(0, 1, None))


def one_hot(g):
    depth = g.dice.randrange(1, 6)
    x = g.leaf(np.asarray(g.numbers.integers(-depth, depth, g.shape(most=3))).astype(g.pick(INT64, np.int32, np.float32)))
    kind = g.pick(np.float32, INT64, np.int32)
    g.op("OneHot", x, numbers(depth) if g.chance(0.5) else numbers([depth]), np.array(g.pick([0, 1], [5, -2]), kind), axis=g.dice.randrange(-1, x.rank + 1))


def made(g):
    kind = g.pick("EyeLike", "ConstantOfShape", "Range", "Shape", "Size", "Identity")
    if kind == "EyeLike":
        x = g.value(types=NUMBERS, least=2, most=2)
        g.op(kind, x, k=g.dice.randrange(-3, 4), dtype=g.pick(None, 1, 7))
    elif kind == "ConstantOfShape":
        from onnx import numpy_helper
        value = numpy_helper.from_array(g.content((1,), g.dice.choice(ANY))) if g.chance(0.7) else None
        g.op(kind, numbers(list(g.shape(most=3))), value=value)
    elif kind == "Range":
        dtype = g.pick(np.float32, INT64, np.int32, np.float64)
        step = g.pick(1, 2, -1, -3)
        start = g.dice.randrange(-5, 6)
        g.op(kind, *(np.array(each, dtype) for each in (start, start + step * g.dice.randrange(0, 9), step)))
    elif kind == "Shape" and g.opset >= 15:
        g.op(kind, g.value(), start=g.dice.randrange(-3, 3), end=g.pick(None, g.dice.randrange(-3, 4)))
    else:
        g.op(kind, g.value())


def compress(g):
    x = g.value(least=1)
    if g.chance(0.3):
        g.op("Compress", x, g.leaf(g.content((min(x.array.size, g.dice.randrange(1, 9)),), np.bool_)))
        return
    axis, at = g.axis(x)
    g.op("Compress", x, g.leaf(g.content((x.shape[at],), np.bool_)), axis=axis if g.opset >= 11 else at)


def non_zero(g):
    g.op("NonZero", g.value(least=1))


def unique(g):
    x = g.value(types=(np.float32, INT64, np.int8, np.float64), least=1, fits=lambda each: each.array.size and (each.is_leaf or each.dtype not in FLOATS))
    g.numbers_only(x)
    axis = g.axis(x)[0] if g.chance(0.6) else None
    g.op("Unique", x, outputs=[True, *(g.chance(0.5) for _ in range(2)), True], axis=axis, sorted=g.pick(1, 1, 0))


def center_crop_pad(g):
    x = g.value(types=NUMBERS, least=1)
    axes = g.dice.sample(range(x.rank), g.dice.randrange(1, x.rank + 1))
    g.op("CenterCropPad", x, numbers([g.dice.randrange(1, 8) for _ in axes]), axes=axes)


def top_k(g):
    """Of equal elements "the element with lower index will appear first", and NaN has no place."""
    x = g.value(types=FLOATS if g.opset < 11 else (*FLOATS, INT64, np.int32), least=1, fits=lambda each: not (each.dtype in FLOATS and np.isnan(each.array).any()))
    axis, at = g.axis(x)
    k = g.dice.randrange(min(x.shape[at], 6) + 1)
    if g.opset < 10:
        g.op("TopK", x, outputs=2, axis=axis if g.opset >= 11 else at, k=max(k, 1))
    else:
        g.op("TopK", x, numbers([k]), outputs=2, axis=axis if g.opset >= 11 else at, **({"largest": g.pick(0, 1)} if g.opset >= 11 else {}))


def arg_extreme(g):
    x = g.value(types=NUMBERS, least=1, fits=lambda each: 0 not in each.shape and not (each.dtype in FLOATS and np.isnan(each.array).any()))
    axis, at = g.axis(x)
    g.op(g.pick("ArgMax", "ArgMin"), x, axis=axis if g.opset >= 11 else at, keepdims=g.pick(0, 1), select_last_index=g.pick(0, 1, None) if g.opset >= 12 else None)


def cum_sum(g):
    x = g.value(types=(np.float32, np.float64, INT64, np.int32), least=1)
    g.op("CumSum", x, np.array(g.axis(x)[0], g.pick(INT64, np.int32)), exclusive=g.pick(0, 1), reverse=g.pick(0, 1))


def suppression(g):
    boxes, classes, batch = g.dice.randrange(1, 9), g.pick(1, 2), g.pick(1, 2)
    corners = g.numbers.uniform(0, 1, (batch, boxes, 4)).astype(np.float32)
    scores = g.numbers.uniform(0, 1, (batch, classes, boxes)).astype(np.float32)
    g.op("NonMaxSuppression", g.leaf(corners), g.leaf(scores), numbers([g.dice.randrange(5)]), np.array([0.3], np.float32), np.array([0.2], np.float32) if g.chance(0.6) else None,
         center_point_box=g.pick(0, 1))


PRODUCTIONS = (reshape, reshape, flatten, squeeze, unsqueeze, transpose, transpose, concat, concat, split, slice_, slice_, slice_, pad, pad, expand, tile, gather, gather,
               gather_elements, gather_nd, scatter_elements, scatter_nd, depth_to_space, space_to_depth, reverse_sequence, trilu, one_hot, made, made, compress,
               non_zero, unique, center_crop_pad, top_k, arg_extreme, cum_sum, suppression)
