"""Writes small ONNX files without the onnx package: fields of onnx.proto encoded by hand."""
import random
import struct

FLOAT, INT64, STRING, BOOL = 1, 7, 8, 9  # TensorProto.DataType


def _varint(value):
    out = bytearray()
    while True:
        low, value = value & 0x7F, value >> 7
        out.append(low | (0x80 if value else 0))
        if not value:
            return bytes(out)


def _number(field, value):
    return _varint(field << 3) + _varint(value)


def _bytes(field, value):
    if isinstance(value, str):
        value = value.encode()
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def initializer(name, shape, values):
    """TensorProto of floats; values: bytes, little-endian."""
    return b"".join(_number(1, extent) for extent in shape) + _number(2, FLOAT) + _bytes(8, name) + _bytes(9, values)


def integers(name, values):
    """TensorProto of one axis."""
    return _number(1, len(values)) + _number(2, INT64) + _bytes(8, name) + _bytes(9, struct.pack(f"<{len(values)}q", *values))


def text(name, *values):
    """TensorProto of strings, of one axis."""
    return _number(1, len(values)) + _number(2, STRING) + b"".join(_bytes(6, value) for value in values) + _bytes(8, name)


def value_info(name, shape, element=FLOAT):
    """ValueInfoProto; an extent is a number or a name."""
    dims = b"".join(_bytes(1, _bytes(2, extent) if isinstance(extent, str) else _number(1, extent)) for extent in shape)
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, element) + _bytes(2, dims)))


def sequence_info(name, element=FLOAT):
    """ValueInfoProto of a sequence of tensors."""
    return _bytes(1, name) + _bytes(2, _bytes(4, _bytes(1, _bytes(1, _number(1, element)))))


def node(op, inputs, outputs, name="", domain="", **given):
    """given: attributes, each an integer, a list of integers, a tuple of strings or the bytes of a graph."""
    kinds = {int: lambda value: _number(3, value) + _number(20, 2),
             list: lambda values: b"".join(_number(8, value) for value in values) + _number(20, 7),
             tuple: lambda values: b"".join(_bytes(9, value) for value in values) + _number(20, 8),
             bytes: lambda graph: _bytes(6, graph) + _number(20, 5)}
    attributes = b"".join(_bytes(5, _bytes(1, each) + kinds[type(value)](value)) for each, value in given.items())
    return b"".join(_bytes(1, i) for i in inputs) + b"".join(_bytes(2, o) for o in outputs) + _bytes(3, name) + _bytes(4, op) + attributes + _bytes(7, domain)


def graph(nodes, initializers, inputs, outputs):
    parts = ((1, nodes), (5, initializers), (11, inputs), (12, outputs))
    return _bytes(2, "g") + b"".join(_bytes(field, each) for field, all_of_it in parts for each in all_of_it)


def model(nodes, initializers, inputs, outputs, opset=17):
    sets = b"".join(_bytes(8, _bytes(1, domain) + _number(2, version)) for domain, version in (("", opset), ("ai.onnx.ml", 3)))
    return _number(1, 8) + _bytes(7, graph(nodes, initializers, inputs, outputs)) + sets


def weights(count, seed):
    """Values of about unit sum of squares over a column of `count`-ish; a short pattern repeated, so that large files are made fast."""
    pattern = random.Random(seed).choices([x / 1000 for x in range(-50, 51)], k=65521)  # a prime: rows of usual lengths differ
    data = struct.pack(f"<{len(pattern)}f", *pattern)
    return (data * (4 * count // len(data) + 1))[:4 * count]


def perceptron(features, hidden, rows="N"):
    """f32[rows, features] -> the same with one hidden layer: a run of one row reads all weights, as a run of 32 does, so that it pays to
    wait for company where there are 100,000 weights and more: fewer take less time than a busy machine's clock errs by."""
    return model([node("MatMul", ["x", "w1"], ["h"], "up"), node("Relu", ["h"], ["r"], "relu"), node("MatMul", ["r", "w2"], ["y"], "down")],
                 [initializer("w1", (features, hidden), weights(features * hidden, 1)),
                  initializer("w2", (hidden, features), weights(features * hidden, 2))],
                 [value_info("x", (rows, features))], [value_info("y", (rows, features))])


def square_layers(width, layers, rows="N"):
    """f32[rows, width, width] -> the same: each row is a matrix, multiplied by one matrix of weights after the other. What a run costs grows with its rows."""
    ends = ["x", *(f"h{layer}" for layer in range(layers - 1)), "y"]
    return model([node("MatMul", [ends[layer], "w"], [ends[layer + 1]], f"layer{layer}") for layer in range(layers)],
                 [initializer("w", (width, width), struct.pack("<f", 1 / width) * width * width)],
                 [value_info("x", (rows, width, width))], [value_info("y", (rows, width, width))])


def scaled(width, factor, operator="Mul", inputs=("x",)):
    """f32[n, width] -> f32[n, width] with n free: the inputs combined by `operator`, and with `factor` last. A batch axis, and an answer that tells the
    factor."""
    nodes, last = [], inputs[0]
    for at, other in enumerate([*inputs[1:], "factor"]):
        result = "y" if other == "factor" else f"h{at}"
        nodes.append(node(operator, [last, other], [result], f"step{at}"))
        last = result
    return model(nodes, [initializer("factor", (1,), struct.pack("<f", factor))], [value_info(name, ("n", width)) for name in inputs],
                 [value_info("y", ("n", width))], opset=13)


def chain(width, layers, weights=None):
    """Fully connected layers, f32[1, width] -> f32[1, width], one sample a call. The weights are fixed, and each row of them comes to 1: values stay as
    large as they are, for those too small to be normal numbers take a CPU fifty times as long.
    weights: how many matrices there are, which the layers take in turn; each its own if not given."""
    weights = weights or layers
    dice = random.Random(1)
    drawn = [dice.uniform(-1, 1) for _ in range(width)]
    row = [(1 + each - sum(drawn) / width) / width for each in drawn]
    data = b"".join(struct.pack(f"<{width}f", *(row[-shift % width:] + row[:-shift % width])) for shift in range(width))
    ends = ["x", *(f"h{layer}" for layer in range(layers - 1)), "y"]
    return model([node("MatMul", [ends[layer], f"w{layer % weights}"], [ends[layer + 1]], f"layer{layer}") for layer in range(layers)],
                 [initializer(f"w{layer}", (width, width), data) for layer in range(weights)],
                 [value_info("x", (1, width))], [value_info("y", (1, width))], opset=13)


def picks(values):
    """i64[N, 1] -> f32[N, 1]: the values at these indices; an index that is none of theirs fails when it runs."""
    table = initializer("table", (len(values),), struct.pack(f"<{len(values)}f", *values))
    return model([node("Gather", ["table", "i"], ["y"], "pick")], [table], [value_info("i", ("N", 1), INT64)], [value_info("y", ("N", 1))])


def squares(steps):
    """f32[a, a] -> f32[a, a]: tanh(.. tanh(x x) x ..) x, which takes as long as one likes."""
    values = ["x", *(f"y{i}" for i in range(1, steps)), "y"]
    nodes = []
    for i in range(steps):
        nodes += [node("MatMul", [values[i], "x"], [f"product{i}"], f"step{i}"), node("Tanh", [f"product{i}"], [values[i + 1]])]
    return model(nodes, [], [value_info("x", ("a", "a"))], [value_info("y", ("a", "a"))])
