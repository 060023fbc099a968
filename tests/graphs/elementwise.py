"""Operators that compute each element by itself, alone, with broadcasting and in chains."""
import numpy as np

from graph import ANY, FLOATS, INTEGERS, NUMBERS, SIGNED, UNSIGNED
from oracle import Refused

PLAIN = ("Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Erf", "Exp", "Floor", "HardSwish", "Log", "Mish", "Reciprocal", "Round",
         "Sigmoid", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh", "Relu", "Neg", "Abs", "Sign")
OF_NUMBERS = ("Relu", "Neg", "Abs", "Sign")
WITH_ALPHA = ("Celu", "Elu", "LeakyRelu", "ThresholdedRelu")
ACTIVATIONS = ("Relu", "Sigmoid", "Tanh", "LeakyRelu", "Elu", "HardSigmoid", "HardSwish", "Softplus", "Selu", "Exp", "Abs", "Sqrt", "Gelu", "Mish", "Neg")


def unary(g):
    kind = g.dice.choice(PLAIN)
    g.op(kind, g.value(NUMBERS if kind in OF_NUMBERS and g.chance(0.4) else FLOATS))


def activation(g, x=None):
    """One of those that other nodes take in."""
    return g.op(g.dice.choice(ACTIVATIONS), g.value((np.float32,)) if x is None else x)


def with_parameters(g):
    kind = g.pick(*WITH_ALPHA, "HardSigmoid", "Selu", "Shrink", "Gelu")
    some = lambda: float(round(g.dice.uniform(0.05, 1.5), 3))
    x = g.value(FLOATS)
    if kind in WITH_ALPHA:
        g.op(kind, x, alpha=some() if g.chance(0.7) else None)
    elif kind == "HardSigmoid":
        g.op(kind, x, alpha=some(), beta=some())
    elif kind == "Selu":
        g.op(kind, x, alpha=some(), gamma=some())
    elif kind == "Shrink":
        g.op(kind, x, lambd=some(), bias=some() if g.chance(0.6) else None)
    else:
        g.op(kind, x, approximate=g.pick("none", "tanh"))


def tests(g):
    kind = g.pick("IsNaN", "IsInf", "Not", "BitwiseNot")
    types = {"Not": (np.bool_,), "BitwiseNot": INTEGERS}.get(kind, FLOATS)
    g.op(kind, g.value(types), **({"detect_negative": g.pick(0, 1), "detect_positive": g.pick(0, 1)} if kind == "IsInf" else {}))


def pair(g, types):
    a = g.value(types, most=4)
    b = g.like(a, g.broadcastable(a.shape))
    return (a, b) if g.chance(0.6) else (b, a)


def arithmetic(g):
    g.op(g.pick("Add", "Sub", "Mul"), *pair(g, NUMBERS if g.chance(0.3) else FLOATS))


def check_division(a, b):
    """The standard says nothing of integers over 0, and processors stop at the least one over -1."""
    if a.dtype in INTEGERS and ((b.array == 0).any() or (b.dtype in SIGNED and (b.array == -1).any())):
        raise Refused("it cannot be divided")


def division(g):
    a, b = pair(g, NUMBERS if g.chance(0.5) else FLOATS)
    check_division(a, b)
    kind = g.pick("Div", "Div", "Mod")
    fmod = a.dtype in FLOATS or g.chance(0.4)  # "If the input type is floating point, then `fmod` attribute must be set to 1."
    g.op(kind, a, b, **({"fmod": int(fmod)} if kind == "Mod" else {}))


def power(g):
    """Of integers no power that leaves the type, or is no integer; the standard does not say what it is."""
    a = g.value(FLOATS + (np.int64, np.int32), most=4)
    if a.dtype in FLOATS:
        b = g.leaf(np.asarray(g.numbers.choice([2, 3, 0.5, -1, 0, 1, -0.5, 2.5], g.pick((), a.shape)), a.dtype)) if g.chance(0.7) else g.like(a, g.broadcastable(a.shape))
    else:
        if np.abs(a.array.astype(float)).max(initial=0) > 100:
            raise Refused("it may overflow")
        b = g.leaf(np.asarray(g.numbers.integers(0, 4, g.pick((), a.shape)), g.pick(a.dtype, np.float32)))
    g.op("Pow", a, b)


def comparison(g):
    kind = g.pick("Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual")
    g.op(kind, *pair(g, ANY if kind == "Equal" else NUMBERS))


def logic(g):
    g.op(g.pick("And", "Or", "Xor"), *pair(g, (np.bool_,)))


def bits(g):
    if g.chance(0.5):
        g.op(g.pick("BitwiseAnd", "BitwiseOr", "BitwiseXor"), *pair(g, INTEGERS))
        return
    a = g.value(UNSIGNED, most=4)
    shift = g.numbers.integers(0, 8 * a.array.itemsize, g.broadcastable(a.shape))
    g.op("BitShift", a, g.leaf(shift.astype(a.dtype)), direction=g.pick("LEFT", "RIGHT"))


def variadic(g):
    kind = g.pick("Max", "Min", "Sum", "Mean")
    first = g.value(NUMBERS if kind in ("Max", "Min") and g.chance(0.3) else FLOATS, most=3)
    g.op(kind, first, *(g.like(first, g.broadcastable(first.shape)) for _ in range(g.dice.randrange(4))))


def where(g):
    x = g.value(most=3)
    condition = g.leaf(g.content(g.broadcastable(x.shape), np.bool_))
    there = [each for each in g.values.values() if each.dtype == np.bool_ and each.shape in (x.shape, ())]
    y = g.like(x, g.broadcastable(x.shape))
    g.op("Where", g.dice.choice(there) if there and g.chance(0.6) else condition, *((x, y) if g.chance(0.5) else (y, x)))


def clip(g):
    x = g.value(FLOATS if g.opset < 12 else NUMBERS)
    if g.opset < 11:
        low = float(g.dice.randrange(-3, 2))
        g.op("Clip", x, min=low, max=low + 3 if g.chance(0.7) else None)
        return
    low = int(g.dice.randrange(0, 3) if x.dtype in UNSIGNED else g.dice.randrange(-4, 3))
    bounds = [np.array(low, x.dtype) if g.chance(0.7) else None, np.array(low + g.dice.randrange(5), x.dtype) if g.chance(0.7) else None]
    g.op("Clip", x, *bounds)


def check_castable(x, to):
    """"Casting from floating point to fixed point: undefined if OOR", which includes NaN."""
    if x.dtype in FLOATS and to in INTEGERS:
        info, wide = np.iinfo(to), x.array.astype(np.float64)
        whole = np.trunc(wide)
        if not np.isfinite(wide).all() or (whole < info.min).any() or (whole > info.max).any() or (np.abs(wide) >= 2.0**53).any():
            raise Refused("it leaves the type")


def cast(g):
    x, to = g.value(), g.dice.choice(ANY)
    check_castable(x, to)
    g.op("Cast", x, to=number_of(to))


def cast_like(g):
    x, to = g.value(), g.dice.choice(ANY)
    check_castable(x, to)
    g.op("CastLike", x, g.leaf(g.content(g.pick((), (1,), (2,)), to)))


def number_of(dtype):
    from onnx import helper
    return int(helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


def prelu(g):
    x = g.value(FLOATS, least=1)
    slope = (x.shape[1], *(1,) * (x.rank - 2)) if x.rank > 1 and g.chance(0.6) else g.pick((1,), x.shape, (1, *x.shape[1:]))
    g.op("PRelu", x, g.like(x, slope))


def chain(g):
    """Three or more that one kernel may compute."""
    x = g.value((np.float32,), least=1)
    for _ in range(g.dice.randrange(3, 7)):
        if g.chance(0.5):
            x = activation(g, x)
        else:
            other = g.pick(lambda: g.like(x, g.pick(x.shape, x.shape[-1:], (), (1,))), lambda: g.like(x, g.broadcastable(x.shape)))()
            x = g.op(g.pick("Add", "Mul", "Sub", "Div", "Max", "Min"), *((x, other) if g.chance(0.7) else (other, x)))
        if x.rank > 4:
            return


def microsoft(g):
    x = g.value((np.float32,), least=1)
    kind = g.pick("Gelu", "QuickGelu", "FastGelu", "BiasGelu")
    bias = (g.leaf(g.floats(x.shape[-1:])),) if kind == "BiasGelu" or (kind == "FastGelu" and g.chance(0.5)) else ()
    g.op(kind, x, *bias, domain="com.microsoft", **({"alpha": 1.5} if kind == "QuickGelu" and g.chance(0.5) else {}))


PRODUCTIONS = (unary, unary, unary, activation, with_parameters, tests, arithmetic, arithmetic, arithmetic, division, power, comparison, logic, bits, variadic,
               where, clip, cast, cast, cast_like, prelu, chain, chain, microsoft)
