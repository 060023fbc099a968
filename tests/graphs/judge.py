"""How far answers may be apart: within the tolerance of ONNX's suite, and by what rounding alone does to those of ONNX Runtime.

Two right engines differ in the last places of an Exp or a sum. Where what follows makes that large (a difference of near numbers, a Floor, an index), no bound on
the answers says which is right. So each node is run again on inputs that are off by a few last places, with results that are: what an output moves by is allowed."""
import numpy as np

from onnx.reference import ReferenceEvaluator

from oracle import Refused

RELATIVE, ABSOLUTE = 1e-3, 1e-7  # as runtime/workbench/agree.h
ROUNDS = 12
SHARE = 8  # how far beyond what was seen
# Approximated near 0, sums that cancel, or at places that are rounded: off by a part of the largest element that they read or give.
COARSE = {**dict.fromkeys("""Sigmoid Tanh Erf Gelu QuickGelu FastGelu BiasGelu Mish LSTM GRU RNN Softplus DynamicQuantizeLSTM
 LayerNormalization SkipLayerNormalization SimplifiedLayerNormalization SkipSimplifiedLayerNormalization DFT STFT Softmax""".split(), 2.0**-24),
          **dict.fromkeys("Resize GridSample RoiAlign".split(), 2.0**-18),
          **dict.fromkeys("""Conv ConvTranspose MatMul Gemm FusedMatMul Einsum ReduceSum ReduceMean InstanceNormalization BatchNormalization AveragePool Attention
 MultiHeadAttention GroupQueryAttention HannWindow HammingWindow BlackmanWindow MatMulNBits DeformConv CumSum""".split(), 2.0**-24)}
QUANTISING = frozenset("QuantizeLinear QLinearConv QLinearMatMul QLinearAdd DynamicQuantizeLinear".split())
NOISE = {np.dtype(np.float32): 2.0**-21, np.dtype(np.float64): 2.0**-48, np.dtype(np.float16): 2.0**-10}
# Their results are numbers of the type, which no engine rounds otherwise.
EXACT = frozenset("""Abs And ArgMax ArgMin Binarizer BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor CastLike Ceil CenterCropPad Clip Compress Concat ConstantOfShape
 DepthToSpace DequantizeLinear Dropout Equal Expand EyeLike FeatureVectorizer Flatten Floor Gather GatherElements GatherND Greater GreaterOrEqual Hardmax Identity If IsInf IsNaN Less LessOrEqual
 Max MaxPool Min Neg NonZero Not OneHot Or Pad Range Relu Reshape ReverseSequence Round Scatter Shape Sign Size Slice SpaceToDepth Split Squeeze
 ThresholdedRelu Tile TopK Transpose Trilu Unique Unsqueeze Where Xor ArrayFeatureExtractor ReduceMax ReduceMin GlobalMaxPool Cast""".split())
EXACT_IN_F32 = frozenset("Add Sub Mul Div Sqrt PRelu LeakyRelu".split())


def moved(numbers, array):
    share = NOISE.get(array.dtype)
    if share is None:
        return array
    with np.errstate(all="ignore"):
        return (array.astype(np.float64) * (1 + share * numbers.uniform(-1, 1, array.shape))).astype(array.dtype)


def stepped(numbers, array):
    """Half of them one off: a bias that is an integer, and a zero point that is added before it is rounded, decide what lies near half between two."""
    info = np.iinfo(array.dtype)
    off = np.where(numbers.random(array.shape) < 0.5, numbers.choice((-1, 1), array.shape), 0)
    return np.clip(array.astype(int) + off, info.min, info.max).astype(array.dtype)


def noisy(case, numbers):
    """The outputs with every node a little off."""
    values = {leaf.name: leaf.array for leaf in case.leaves}
    constants = {leaf.name for leaf in case.leaves if leaf.is_constant}
    for node in case.nodes:
        kind = node.proto.op_type
        exact = kind in EXACT or (kind in EXACT_IN_F32 and not any(values[name].dtype == np.float16 for name in node.inputs))
        feeds = {name: values[name] if exact else moved(numbers, values[name]) for name in node.inputs if name not in constants}
        arrays = node.session.run(feeds)
        read = [values[name] for name in node.inputs if values[name].dtype.kind == "f"]
        largest = max((np.abs(array[np.isfinite(array)]).max(initial=0) for array in (*read, *arrays) if array.dtype.kind == "f"), default=0)
        for name, array in zip([each for each in node.outputs if each], arrays):
            values[name] = array if exact else moved(numbers, array)
            if kind in COARSE and array.dtype.kind == "f":
                values[name] = (values[name] + COARSE[kind] * largest * numbers.uniform(-1, 1, array.shape)).astype(array.dtype)
            if kind in QUANTISING and array.dtype.itemsize == 1:
                values[name] = stepped(numbers, array)
    return [values[name] for name in case.outputs]


def moves(case, wanted, rounds=ROUNDS):
    """What each element of the outputs moves by; infinite where a number becomes none."""
    numbers = np.random.default_rng(0)
    most = [np.zeros(array.shape) for array in wanted]
    for _ in range(rounds):
        try:
            found = noisy(case, numbers)
        except Refused:
            return None
        for i, (array, clean) in enumerate(zip(found, wanted)):
            if array.shape != clean.shape:
                return None
            most[i] = np.maximum(most[i], apart(array, clean))
    return most


def apart(array, clean):
    with np.errstate(all="ignore"):
        far = np.abs(array.astype(np.float64) - clean.astype(np.float64))
        same = (array == clean) | ((array != array) & (clean != clean))
    return np.where(same, 0, np.where(np.isnan(far), np.inf, far))


HUGE = {np.dtype(np.float32): 1e12, np.dtype(np.float64): 1e100, np.dtype(np.float16): 200}
TINY = 1e-18  # whose square is 0 in f32


def may_overflow(case, values):
    """Whether a sum of squares is too large or too small for the type where it is computed in one way, and not in another."""
    def is_huge(array):
        if array.dtype not in HUGE:
            return False
        size = np.abs(array[np.isfinite(array)])
        return bool(((size > HUGE[array.dtype]) | ((size < TINY) & (size > 0))).any())
    return any(is_huge(values[name]) for node in case.nodes if node.proto.op_type not in EXACT | EXACT_IN_F32 for name in node.inputs)


def close(ours, wanted, moves_by=0):
    with np.errstate(all="ignore"):
        size = np.nan_to_num(np.abs(wanted.astype(np.float64)), nan=0, posinf=0, neginf=0)
        return bool((apart(ours, wanted) <= ABSOLUTE + RELATIVE * size + SHARE * moves_by).all())


def is_alike(ours, wanted):
    return ours.shape == wanted.shape and ours.dtype == wanted.dtype


def is_as_reference(case, ours):
    """Whether ONNX's own evaluator says the same as ours: then ONNX Runtime is the one that differs."""
    if isinstance(ours, str):
        return False
    try:
        with np.errstate(all="ignore"):
            wanted = [np.asarray(each) for each in ReferenceEvaluator(case.model()).run(None, case.feeds())]
    except Exception:  # it does not have every operator
        return False
    return all(is_alike(a, b) and close(a, b) for a, b in zip(ours, wanted))


def is_rounding(case, values, ours, wanted):
    """Whether rounding explains that these outputs are not alike. values: {name: array} of what nodes read."""
    if isinstance(ours, str) or not all(map(is_alike, ours, wanted)):
        return False
    most = None if may_overflow(case, values) else moves(case, wanted)
    if most is None:
        return True
    return all(map(close, ours, wanted, most))
