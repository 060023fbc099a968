"""What exporters write out as several nodes, which the engine makes one of; integers of 8 bits; bodies."""
import math

import numpy as np
from onnx import TensorProto, helper

from computing import batch_norm, conv, gemm, layer_norm, matmul
from elementwise import activation
from graph import FLOATS
from moving import numbers
from oracle import Refused, described

F32 = np.float32


def scalar(value, dtype=F32):
    return np.array(value, dtype)


def conv_chain(g):
    """With what is joined to a convolution."""
    x = conv(g)
    if x.dtype != F32:
        return
    if g.chance(0.5):
        x = batch_norm(g, x)
    if g.chance(0.5):
        other = g.like(x, x.shape if g.chance(0.7) else (1, x.shape[1], *(1,) * (x.rank - 2)))
        x = g.op("Add", *((x, other) if g.chance(0.5) else (other, x)))
    if g.chance(0.7):
        x = activation(g, x)
    if g.chance(0.4) and all(extent >= 3 for extent in x.shape[2:]):
        x = g.op(g.pick("MaxPool", "AveragePool"), g.finite(x), kernel_shape=[3] * (x.rank - 2), strides=[2] * (x.rank - 2))
    if g.chance(0.4):
        g.op("Concat", x, g.like(x, x.shape), axis=1)


def product_chain(g):
    x = matmul(g) if g.chance(0.6) else gemm(g)
    if x.dtype != F32 or not x.rank:
        return
    if g.chance(0.7):
        x = g.op("Add", x, g.like(x, g.pick(x.shape[-1:], x.shape, (1,))))
    if g.chance(0.4):
        gelu_by_erf(g, x)
    elif g.chance(0.7):
        activation(g, x)


def gelu_by_erf(g, x=None):
    if g.opset < 9:
        raise Refused("no Erf")
    x = g.value(types=(F32,)) if x is None else x
    part = g.op("Erf", g.op("Div", x, scalar(math.sqrt(2))) if g.chance(0.5) else g.op("Mul", x, scalar(1 / math.sqrt(2))))
    part = g.op("Add", part, scalar(1))
    order = g.pick(0, 1, 2)
    if order == 0:
        return g.op("Mul", g.op("Mul", x, part), scalar(0.5))
    if order == 1:
        return g.op("Mul", x, g.op("Mul", part, scalar(0.5)))
    return g.op("Mul", g.op("Mul", x, scalar(0.5)), part)


def silu(g):
    x = g.value(types=(F32,))
    g.op("Mul", *((x, g.op("Sigmoid", x)) if g.chance(0.5) else (g.op("Sigmoid", x), x)))


def attention(g):
    lead, steps, width = g.shape(least=1, most=2), g.pick(1, 3, 8), g.pick(1, 4, 8)
    q, k, v = (g.new((F32,), (*lead, steps, width)) for _ in range(3))
    turned = g.op("Transpose", k, perm=[*range(len(lead)), len(lead) + 1, len(lead)])
    scores = g.op("MatMul", q, turned)
    scores = g.op(g.pick("Mul", "Div"), scores, scalar(g.pick(0.5, 2.0, math.sqrt(width))))
    if g.chance(0.5):
        scores = g.op("Add", scores, g.like(scores, g.pick((steps, steps), scores.shape, (1, steps))))
    g.op("MatMul", g.op("Softmax", scores, axis=-1 if g.opset >= 11 else scores.rank - 1), v)


def norm_written_out(g):
    if g.opset < 11:
        raise Refused("no negative axes")
    x = g.value(types=(F32,), least=2, fits=lambda each: each.array.size)
    mean = lambda y: g.op("ReduceMean", y, axes=[-1], keepdims=1) if g.opset < 18 else g.op("ReduceMean", y, numbers([-1]), keepdims=1)
    apart = g.op("Sub", x, mean(x))
    square = g.op("Pow", apart, scalar(2)) if g.chance(0.6) else g.op("Mul", apart, apart)
    root = g.op("Sqrt", g.op("Add", mean(square), scalar(1e-5)))
    y = g.op("Mul", g.op("Div", apart, root), g.like(x, x.shape[-1:]))
    g.op("Add", y, g.like(x, x.shape[-1:]))


def shape_arithmetic(g):
    """Extents that a graph computes for a Reshape."""
    x = g.value(types=(F32, np.int64), least=2)
    shape = g.op("Shape", x)
    first = g.op("Gather", shape, numbers([0]), axis=0)
    g.op("Reshape", x, g.op("Concat", first, numbers([-1]), axis=0))


def round_trip(g):
    """Through another type and back, which is not for nothing."""
    x = g.value(types=(F32,))
    kind = g.pick(TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16)
    if kind != TensorProto.BFLOAT16:
        g.op("Cast", g.op("Cast", x, to=kind), to=TensorProto.FLOAT)


# Integers of 8 bits

def scale_of(g, count=None):
    made = g.numbers.uniform(0.01, 0.1, () if count is None else count).astype(F32)
    return g.leaf(np.asarray(made), True)


def zero_of(g, dtype, count=None, zero=False):
    info = np.iinfo(dtype)
    made = np.zeros(() if count is None else count) if zero else g.numbers.integers(info.min // 4, info.max // 4, () if count is None else count)
    return g.leaf(np.asarray(made).astype(dtype), True)


def quantised(g, x, scale=None, zero=None):
    g.finite(x)  # the standard does not say what NaN becomes
    dtype = g.pick(np.uint8, np.int8)
    scale, zero = (scale_of(g), zero_of(g, dtype)) if scale is None else (scale, zero)
    return g.op("QuantizeLinear", x, scale, zero), scale, zero


def between(g, x):
    """Quantised and back, as QDQ files have it before and behind every operator."""
    q, scale, zero = quantised(g, x)
    return g.op("DequantizeLinear", q, scale, zero), scale, zero


def quantise(g):
    x = g.value(types=(F32,))
    if g.chance(0.6):
        between(g, x)
    elif x.rank and g.opset >= 13:
        axis, at = g.axis(g.finite(x))
        dtype = g.pick(np.uint8, np.int8)
        g.op("DequantizeLinear", *((q := g.op("QuantizeLinear", x, s := scale_of(g, x.shape[at]), z := zero_of(g, dtype, x.shape[at]), axis=axis)), s, z), axis=axis)


def weights(g, shape, axis=None, zero=True):
    """Of 8 bits, dequantised by a scale, or one for each extent of an axis."""
    dtype = g.pick(np.int8, np.int8, np.uint8)
    count = None if axis is None or g.opset < 13 else shape[axis]
    said = {"axis": axis} if count is not None else {}
    return g.op("DequantizeLinear", g.leaf(g.integers(shape, dtype), True), scale_of(g, count), zero_of(g, dtype, count, zero), **said)


def qdq_product(g):
    x = g.value(types=(F32,), least=2, most=3)
    x, _, _ = between(g, x)
    y = g.op("MatMul", x, weights(g, (x.shape[-1], g.pick(1, 4, 8, 16)), g.pick(None, 1), g.chance(0.8)))
    if g.chance(0.5):
        y = g.op("Add", y, g.leaf(g.floats(y.shape[-1:]), True))
    if g.chance(0.4):
        y = g.op("Relu", y)
    between(g, y)


def qdq_conv(g):
    x = g.new((F32,), (g.pick(1, 2), g.pick(1, 2, 4, 8), g.pick(3, 5, 8), g.pick(3, 6)))
    x, _, _ = between(g, x)
    group = g.pick(1, 1, x.shape[1])
    filters = group * g.pick(1, 2, 4)
    w = weights(g, (filters, x.shape[1] // group, g.pick(1, 3), g.pick(1, 3)), g.pick(None, 0), g.chance(0.8))
    y = g.op("Conv", x, w, *((g.leaf(g.floats((filters,)), True),) if g.chance(0.5) else ()), group=group, pads=g.pick([0] * 4, [1] * 4), strides=g.pick([1, 1], [2, 2]))
    if g.chance(0.4):
        y = g.op("Relu", y)
    y, scale, zero = between(g, y)
    if g.chance(0.5):
        other, _, _ = between(g, g.like(y, y.shape))
        y, _, _ = between(g, g.op(g.pick("Add", "Mul"), y, other))
    if g.chance(0.5) and min(y.shape[2:]) > 1:
        between(g, g.op(g.pick("MaxPool", "AveragePool"), y, kernel_shape=[2, 2]))


def qdq_moves(g):
    """Elements that only move, with the same scale on both sides."""
    x = g.value(types=(F32,), least=2)
    x, scale, zero = between(g, x)
    y = g.pick(lambda: g.op("Transpose", x, perm=g.dice.sample(range(x.rank), x.rank)), lambda: g.op("Reshape", x, numbers([-1])), lambda: g.op("Concat", x, x, axis=0),
               lambda: g.op("Relu", x))()
    quantised(g, y, scale, zero)


def q_operators(g):
    dtype = g.pick(np.uint8, np.int8)
    kind = g.pick("QLinearMatMul", "QLinearConv", "MatMulInteger", "ConvInteger", "QLinearAdd")
    other = g.pick(np.uint8, np.int8) if dtype == np.uint8 else np.int8
    side = lambda array, per=None: (g.leaf(array), scale_of(g, per), zero_of(g, array.dtype.type, per, per is not None))
    rows, inner, columns = g.pick(1, 3, 16), g.pick(1, 2, 5, 8, 32), g.pick(1, 4, 7, 16)
    if kind == "QLinearMatMul":
        g.op(kind, *side(g.integers((rows, inner), dtype)), *side(g.integers((inner, columns), other)), scale_of(g), zero_of(g, dtype))
    elif kind == "QLinearConv":
        x, w = g.integers((1, 2, 6, 5), dtype), g.integers((4, 2, 3, 3), other)
        bias = (g.leaf(np.asarray(g.numbers.integers(-500, 500, 4)).astype(np.int32), True),) if g.chance(0.5) else ()
        g.op(kind, *side(x), *side(w, g.pick(None, 4)), scale_of(g), zero_of(g, dtype), *bias, pads=[1] * 4, strides=g.pick([1, 1], [2, 2]))
    elif kind == "MatMulInteger":
        g.op(kind, a := g.leaf(g.integers((rows, inner), dtype)), b := g.leaf(g.integers((inner, columns), other)), *((zero_of(g, dtype), zero_of(g, other)) if g.chance(0.7) else ()))
    elif kind == "ConvInteger":
        g.op(kind, g.leaf(g.integers((1, 2, 6, 5), np.uint8)), g.leaf(g.integers((4, 2, 3, 3), np.uint8)), *((zero_of(g, np.uint8),) if g.chance(0.7) else ()), pads=g.pick(None, [1] * 4))
    else:
        x = g.integers((rows, inner), dtype)
        g.op(kind, *side(x), *side(g.integers(g.pick((rows, inner), (inner,), (1,)), dtype)), scale_of(g), zero_of(g, dtype), domain="com.microsoft")


def dynamic_product(g):
    """As tools that quantise in the run write it."""
    x = g.value(types=(F32,), least=2, most=3, fits=lambda each: np.isfinite(each.array).all() and each.array.any())  # of zeros alone the scale is 0
    q, scale, zero = g.op("DynamicQuantizeLinear", x, outputs=3)
    columns = g.pick(1, 4, 16)
    per = g.pick(None, columns)
    product = g.op("MatMulInteger", q, g.leaf(g.integers((x.shape[-1], columns), np.int8), True), zero, zero_of(g, np.int8, None, True))
    y = g.op("Mul", g.op("Cast", product, to=TensorProto.FLOAT), g.op("Mul", scale, scale_of(g, per)))
    if g.chance(0.6):
        g.op("Add", y, g.leaf(g.floats((columns,)), True))


def blocks_of_bits(g):
    """MatMulNBits: weights of 4 bits in blocks."""
    size, blocks, columns = g.pick(16, 32), g.pick(1, 2, 3), g.pick(1, 3, 8)
    inner = size * blocks
    x = g.new((F32,), (*g.shape(most=1), g.pick(1, 4), inner))
    b = g.leaf(g.numbers.integers(0, 256, (columns, blocks, size // 2)).astype(np.uint8), True)
    scales = g.leaf(g.numbers.uniform(0.01, 0.1, columns * blocks).astype(F32), True)
    zeros = (g.leaf(g.numbers.integers(0, 256, columns * ((blocks + 1) // 2)).astype(np.uint8), True),) if g.chance(0.5) else ()
    if not zeros and g.chance(0.3):  # ONNX Runtime takes no notice of packed zeros beside them, where its CUDA kernels do
        zeros = (None, g.leaf(g.numbers.integers(0, blocks, inner).astype(np.int32), True))
    g.op("MatMulNBits", x, b, scales, *zeros, domain="com.microsoft", K=inner, N=columns, bits=4, block_size=size)


# Bodies

def body(name, nodes, inputs, outputs):
    describe = lambda each: described(*each) if isinstance(each, tuple) else helper.make_empty_tensor_value_info(each)
    return helper.make_graph(nodes, name, [describe(each) for each in inputs], [helper.make_tensor_value_info(*each) for each in outputs])


def branch(g):
    """If, with bodies that read a value from outside."""
    x = g.value(types=(F32,))
    kind = lambda: g.pick("Neg", "Relu", "Abs", "Exp", "Tanh")
    bodies = {name: body(name, [helper.make_node(kind(), [x.name], [f"{name}{g.count}"])], [], [(f"{name}{g.count}", TensorProto.FLOAT, None)])
              for name in ("then_branch", "else_branch")}
    g.op("If", g.leaf(np.array(g.chance(0.5))), **bodies)


def loop(g):
    """A state that each turn changes, and what each turn gives."""
    if g.opset < 11:
        raise Refused("bodies are older than their operators")
    x = g.value(types=(F32,), most=3)
    nodes = [helper.make_node(g.pick("Tanh", "Sigmoid", "Neg"), ["s"], ["t"]), helper.make_node("Add", ["t", x.name], ["u"]), helper.make_node("Identity", ["c"], ["d"]),
             helper.make_node("Identity", ["u"], ["e"])]
    float_ = lambda name: (name, TensorProto.FLOAT, None)
    turn = helper.make_graph(nodes, "turn", [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("c", TensorProto.BOOL, []), helper.make_tensor_value_info(*float_("s"))],
                             [helper.make_tensor_value_info("d", TensorProto.BOOL, []), helper.make_tensor_value_info(*float_("u")), helper.make_tensor_value_info(*float_("e"))])
    g.op("Loop", g.leaf(numbers(g.pick(1, 2, 5))), None, g.like(x, x.shape), outputs=2, body=turn)


def scan(g):
    if g.opset < 11:
        raise Refused("bodies are older than their operators")
    x = g.value(types=(F32,), least=1, most=3, fits=lambda each: each.shape[0])
    nodes = [helper.make_node(g.pick("Add", "Mul", "Max"), ["s", "r"], ["u"]), helper.make_node("Identity", ["u"], ["e"])]
    part = x.shape[1:]
    describe = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, part)
    turn = helper.make_graph(nodes, "turn", [describe("s"), describe("r")], [describe("u"), describe("e")])
    g.op("Scan", g.like(x, part), x, outputs=2, body=turn, num_scan_inputs=1, scan_input_directions=[g.pick(0, 1)], scan_output_directions=[g.pick(0, 1)])


# Tables

def tabular(g):
    """Operators of ai.onnx.ml that take a table of numbers."""
    x = g.finite(g.value(types=(F32, np.float64, np.int64), least=2, most=2, fits=lambda each: 0 not in each.shape))
    columns = x.shape[1]
    some = lambda count: [float(each) for each in g.numbers.standard_normal(count).astype(F32)]
    kind = g.pick("Normalizer", "Scaler", "Binarizer", "LinearRegressor", "LinearClassifier", "ArrayFeatureExtractor", "FeatureVectorizer", "TreeEnsembleRegressor")
    call = lambda *inputs, **said: g.op(kind, *inputs, domain="ai.onnx.ml", **said)
    if kind == "Normalizer":
        call(x, norm=g.pick("MAX", "L1", "L2"))
    elif kind == "Scaler":
        count = g.pick(1, columns)
        call(x, offset=some(count), scale=some(count))
    elif kind == "Binarizer":
        call(x, threshold=0.5)
    elif kind == "LinearRegressor":
        targets = g.pick(1, 2)
        call(x, coefficients=some(columns * targets), intercepts=some(targets), targets=targets, post_transform=g.pick("NONE", "NONE", "SOFTMAX", "LOGISTIC"))
    elif kind == "LinearClassifier":
        call(x, outputs=2, coefficients=some(3 * columns), intercepts=some(3), classlabels_ints=[4, 0, 7], post_transform=g.pick("NONE", "SOFTMAX", "LOGISTIC"), multi_class=0)
    elif kind == "ArrayFeatureExtractor":
        call(x, numbers([g.dice.randrange(columns) for _ in range(g.pick(1, 3))]))
    elif kind == "FeatureVectorizer":
        call(x, g.like(x, (x.shape[0], 2)), inputdimensions=[columns, 2])
    else:
        call(x, **trees(g, columns))


def trees(g, columns):
    """Stumps and trees of two levels."""
    said = {f"nodes_{each}": [] for each in ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids", "missing_value_tracks_true")}
    said |= {f"target_{each}": [] for each in ("treeids", "nodeids", "ids", "weights")}
    for tree in range(g.pick(1, 2, 5)):
        inner = g.pick(1, 3)
        for node in range(2 * inner + 1):
            leaf = node >= inner
            row = {"treeids": tree, "nodeids": node, "featureids": 0 if leaf else g.dice.randrange(columns), "values": 0.0 if leaf else float(F32(g.dice.gauss(0, 1))),
                   "modes": "LEAF" if leaf else g.pick("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GT", "BRANCH_GTE"), "truenodeids": 0 if leaf else 2 * node + 1,
                   "falsenodeids": 0 if leaf else 2 * node + 2, "missing_value_tracks_true": g.pick(0, 1)}
            for name, value in row.items():
                said[f"nodes_{name}"].append(value)
            if leaf:
                for name, value in (("treeids", tree), ("nodeids", node), ("ids", 0), ("weights", float(F32(g.dice.gauss(0, 1))))):
                    said[f"target_{name}"].append(value)
    return {**said, "n_targets": 1, "aggregate_function": g.pick("SUM", "AVERAGE", "MIN", "MAX"), "post_transform": "NONE"}


PRODUCTIONS = (conv_chain, conv_chain, conv_chain, product_chain, product_chain, product_chain, gelu_by_erf, silu, attention, norm_written_out, shape_arithmetic, round_trip,
               quantise, qdq_product, qdq_conv, qdq_conv, qdq_moves, q_operators, q_operators, dynamic_product, blocks_of_bits, branch, loop, scan, tabular, tabular)
