"""Writes small ONNX files, without packages."""
import random
import struct


def _varint(value):
    out = b""
    while True:
        value, low = value >> 7, value & 127
        out += bytes([low | (128 if value else 0)])
        if not value:
            return out


def _number(field, value):
    return _varint(field << 3) + _varint(value)


def _bytes(field, value):
    value = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _value_info(name, dims):
    shape = b"".join(_bytes(1, _bytes(2, dim) if isinstance(dim, str) else _number(1, dim)) for dim in dims)
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, 1) + _bytes(2, shape)))


def scaled(width, factor, operator="Mul", inputs=("x",)):
    """f32[n, width] -> f32[n, width] with n free: the inputs combined by `operator`, and with `factor` last. A batch axis, and an answer that tells the
    factor."""
    data = struct.pack("<f", factor)
    weight = _bytes(5, _number(1, 1) + _number(2, 1) + _bytes(8, "factor") + _bytes(9, data))
    nodes, last = b"", inputs[0]
    for at, other in enumerate([*inputs[1:], "factor"]):
        result = "y" if other == "factor" else f"h{at}"
        nodes += _bytes(1, _bytes(1, last) + _bytes(1, other) + _bytes(2, result) + _bytes(3, f"step{at}") + _bytes(4, operator))
        last = result
    ends = b"".join(_bytes(11, _value_info(name, ["n", width])) for name in inputs) + _bytes(12, _value_info("y", ["n", width]))
    return _number(1, 8) + _bytes(7, nodes + _bytes(2, "scaled") + weight + ends) + _bytes(8, _bytes(1, "") + _number(2, 13))


def chain(width, layers):
    """Fully connected layers, f32[1, width] -> f32[1, width], one sample a call; weights are small and fixed, so that outputs stay finite."""
    dice = random.Random(1)
    row = [dice.uniform(-1, 1) / width for _ in range(width)]
    nodes, weights, last = b"", b"", "x"
    for layer in range(layers):
        data = b"".join(struct.pack(f"<{width}f", *(row[-shift % width:] + row[:-shift % width])) for shift in range(width))
        weights += _bytes(5, _number(1, width) + _number(1, width) + _number(2, 1) + _bytes(8, f"w{layer}") + _bytes(9, data))
        result = "y" if layer == layers - 1 else f"h{layer}"
        nodes += _bytes(1, _bytes(1, last) + _bytes(1, f"w{layer}") + _bytes(2, result) + _bytes(3, f"layer{layer}") + _bytes(4, "MatMul"))
        last = result
    graph = nodes + _bytes(2, "chain") + weights + _bytes(11, _value_info("x", [1, width])) + _bytes(12, _value_info("y", [1, width]))
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, _bytes(1, "") + _number(2, 13))
