"""Writes a model over strips of any width as an ONNX file, without packages: f32[n, 2, w] ->
pixels f32[n, 3, w] (a 1x1 convolution, Relu), halves f32[n, 3, w/2] (the larger of two neighbours), level f32[n, 3] (the mean over w)."""
import struct

from onnx_file import _bytes, _number

CHANNELS, PIXELS = 2, 3
WEIGHTS = [0.5, -0.25, 1.0, 0.75, -0.5, 0.125]


def _ints(name, values):
    return _bytes(5, _bytes(1, name) + b"".join(_number(8, value) for value in values) + _number(20, 7))


def _int(name, value):
    return _bytes(5, _bytes(1, name) + _number(3, value) + _number(20, 2))


def _node(kind, inputs, output, *attributes):
    return _bytes(1, b"".join(_bytes(1, each) for each in inputs) + _bytes(2, output) + _bytes(3, output) + _bytes(4, kind) + b"".join(attributes))


def _port(field, name, dims):
    shape = b"".join(_bytes(1, _number(1, dim) if isinstance(dim, int) else _bytes(2, dim) if dim else b"") for dim in dims)
    return _bytes(field, _bytes(1, name) + _bytes(2, _bytes(1, _number(1, 1) + _bytes(2, shape))))


def strip():
    weights = b"".join(_number(1, dim) for dim in (PIXELS, CHANNELS, 1)) + _number(2, 1) + _bytes(8, "k") + _bytes(9, struct.pack("<6f", *WEIGHTS))
    nodes = (_node("Conv", ["x", "k"], "mixed", _ints("kernel_shape", [1])) + _node("Relu", ["mixed"], "pixels")
             + _node("MaxPool", ["pixels"], "halves", _ints("kernel_shape", [2]), _ints("strides", [2]))
             + _node("ReduceMean", ["pixels"], "level", _ints("axes", [2]), _int("keepdims", 0)))
    ports = (_port(11, "x", ["n", CHANNELS, "w"]) + _port(12, "pixels", ["n", PIXELS, "w"]) + _port(12, "halves", ["n", PIXELS, None])
             + _port(12, "level", ["n", PIXELS]))
    return _number(1, 8) + _bytes(7, nodes + _bytes(2, "strip") + _bytes(5, weights) + ports) + _bytes(8, _bytes(1, "") + _number(2, 13))
