"""The models of `scripts/bench engine`: true architectures, seeded random weights, one file each in a folder that is kept."""
import math
import os
from dataclasses import dataclass, field, replace

import numpy as np
import onnx
from graph import INT64, Graph


def resnet50():
    g = Graph(1)
    x = g.op("Relu", g.conv_bn(g.input("x", ["N", 3, 224, 224]), 3, 64, 7, 2))
    x, channels = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]), 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for block in range(blocks):
            stride = 2 if block == 0 and stage > 0 else 1
            skip = x if block > 0 else g.conv_bn(x, channels, width * 4, 1, stride, scale=0.7)
            y = g.op("Relu", g.conv_bn(x, channels, width, 1))
            y = g.op("Relu", g.conv_bn(y, width, width, 3, stride))
            x, channels = g.op("Relu", g.op("Add", g.conv_bn(y, width, width * 4, 1, scale=0.3), skip)), width * 4
    x = g.op("Flatten", g.op("GlobalAveragePool", x), axis=1)
    g.output(g.gemm(x, 2048, 1000, scale=0.3), ["N", 1000])
    return g.model()


def mobilenet_v2():
    g = Graph(2)
    relu6 = lambda value: g.op("Clip", value, g.constant(0.0), g.constant(6.0))
    x, channels = relu6(g.conv_bn(g.input("x", ["N", 3, 224, 224]), 3, 32, 3, 2)), 32
    for expand, width, repeats, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for block in range(repeats):
            step, inner = stride if block == 0 else 1, channels * expand
            y = x if expand == 1 else relu6(g.conv_bn(x, channels, inner, 1))
            y = g.conv_bn(relu6(g.conv_bn(y, inner, inner, 3, step, group=inner)), inner, width, 1, scale=0.7)
            x, channels = g.op("Add", x, y) if step == 1 and channels == width else y, width
    x = relu6(g.conv_bn(x, channels, 1280, 1))
    g.output(g.gemm(g.op("Flatten", g.op("GlobalAveragePool", x), axis=1), 1280, 1000), ["N", 1000])
    return g.model()


def efficientnet_b0():
    g = Graph(3)
    x, channels = g.silu(g.conv_bn(g.input("x", ["N", 3, 224, 224]), 3, 32, 3, 2)), 32
    for expand, width, repeats, stride, kernel in ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5),
                                                   (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)):
        for block in range(repeats):
            step, inner, narrow = stride if block == 0 else 1, channels * expand, max(1, channels // 4)
            y = x if expand == 1 else g.silu(g.conv_bn(x, channels, inner, 1))
            y = g.silu(g.conv_bn(y, inner, inner, kernel, step, group=inner))
            gate = g.silu(g.conv(g.op("GlobalAveragePool", y), inner, narrow, 1))
            y = g.op("Mul", g.op("Sigmoid", g.conv(gate, narrow, inner, 1)), y)
            y = g.conv_bn(y, inner, width, 1, scale=1.5)
            x, channels = g.op("Add", y, x) if step == 1 and channels == width else y, width
    x = g.silu(g.conv_bn(x, channels, 1280, 1))
    g.output(g.gemm(g.op("Flatten", g.op("GlobalAveragePool", x), axis=1), 1280, 1000), ["N", 1000])
    return g.model()


def attention(g, x, width, heads, mask=None):
    """Self-attention of [n, t, width] with its last projection, as PyTorch's modules are exported."""
    size = width // heads
    split = lambda value: g.op("Reshape", value, g.shape(0, 0, heads, size))
    q, k, v = (g.op("Transpose", split(g.linear(x, width, width)), perm=perm) for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
    scores = g.op("Div", g.op("MatMul", q, k), g.constant(math.sqrt(size)))
    if mask:
        scores = g.op("Add", scores, mask)
    mixed = g.op("Transpose", g.op("MatMul", g.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    return g.linear(g.op("Reshape", mixed, g.shape(0, 0, width)), width, width)


def bert(seed, layers, width, heads, pieces=30522, pooled=True):
    """`pooled`: the first token through a last layer; else all tokens."""
    g = Graph(seed)
    ids, mask, kinds = (g.input(name, ["N", "T"], INT64) for name in ("input_ids", "attention_mask", "token_type_ids"))
    wide = g.op("Cast", g.op("Unsqueeze", mask, g.shape(1, 2)), to=onnx.TensorProto.FLOAT)
    mask = g.op("Mul", g.op("Sub", g.constant(1.0), wide), g.constant(-10000.0))
    length = g.op("Slice", g.op("Shape", ids), g.shape(1), g.shape(2), g.shape(0))
    places = g.op("Slice", g.weight(np.arange(512, dtype=np.int64)[None]), g.shape(0), length, g.shape(1))
    x = g.op("Add", g.op("Gather", g.random(pieces, width), ids), g.op("Gather", g.random(2, width), kinds))
    x = g.layer_norm(g.op("Add", x, g.op("Gather", g.random(512, width), places)), width)
    for _ in range(layers):
        x = g.layer_norm(g.op("Add", attention(g, x, width, heads, mask), x), width)
        x = g.layer_norm(g.op("Add", g.linear(g.gelu(g.linear(x, width, width * 4)), width * 4, width), x), width)
    if not pooled:
        g.output(x, ["N", "T", width])
        return g.model()
    first = g.op("Gather", x, g.constant(0, np.int64), axis=1)
    g.output(g.op("Tanh", g.gemm(first, width, width, scale=0.5)), ["N", width])
    return g.model()


def bert_base():
    return bert(4, 12, 768, 12)


def minilm():
    return bert(5, 6, 384, 12)


def vit_b16():
    g, width = Graph(6), 768
    x = g.conv(g.input("x", ["N", 3, 224, 224]), 3, width, 16, 16, pad=0)
    x = g.op("Transpose", g.op("Reshape", x, g.shape(0, width, 196)), perm=[0, 2, 1])
    rows = g.op("Concat", g.op("Slice", g.op("Shape", x), g.shape(0), g.shape(1), g.shape(0)), g.shape(-1, -1), axis=0)
    x = g.op("Concat", g.op("Expand", g.random(1, 1, width), g.op("Abs", rows)), x, axis=1)
    x = g.op("Add", x, g.random(1, 197, width, scale=0.02))
    for _ in range(12):
        x = g.op("Add", x, attention(g, g.layer_norm(x, width), width, 12))
        x = g.op("Add", x, g.linear(g.gelu(g.linear(g.layer_norm(x, width), width, 3072)), 3072, width))
    first = g.op("Gather", g.layer_norm(x, width), g.constant(0, np.int64), axis=1)
    g.output(g.gemm(first, width, 1000), ["N", 1000])
    return g.model()


def unet():
    g = Graph(7)
    twice = lambda value, channels, width: g.op("Relu", g.conv_bn(g.op("Relu", g.conv_bn(value, channels, width, 3)), width, width, 3))
    x, kept = twice(g.input("x", ["N", 3, 256, 256]), 3, 32), []
    for width in (64, 128, 256, 512):
        kept.append(x)
        x = twice(g.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), width // 2, width)
    for width in (256, 128, 64, 32):
        weights = [g.random(width * 2, width, 2, 2, scale=1 / math.sqrt(width * 2)), g.random(width, scale=0.05)]
        x = g.op("ConvTranspose", x, *weights, kernel_shape=[2, 2], strides=[2, 2])
        x = twice(g.op("Concat", kept.pop(), x, axis=1), width * 2, width)
    g.output(g.op("Sigmoid", g.conv(x, 32, 1, 1)), ["N", 1, 256, 256])
    return g.model()


def yolo():
    """The nano size of the usual family: CSP stages, pooling at three scales, two ways through a pyramid, boxes and classes decoded."""
    g = Graph(8)
    conv = lambda value, channels, width, kernel=1, stride=1: g.silu(g.conv(value, channels, width, kernel, stride, scale=1.3))

    def stage(value, channels, width, blocks, adds=True):
        half = width // 2
        y = conv(value, channels, half)
        for _ in range(blocks):
            z = conv(conv(y, half, half), half, half, 3)
            y = g.op("Add", y, z) if adds else z
        return conv(g.op("Concat", y, conv(value, channels, half), axis=1), width, width)

    x = conv(conv(g.input("x", ["N", 3, 320, 320]), 3, 16, 6 // 2, 2), 16, 32, 3, 2)
    x = conv(stage(x, 32, 32, 1), 32, 64, 3, 2)
    small = stage(x, 64, 64, 2)
    middle = stage(conv(small, 64, 128, 3, 2), 128, 128, 3)
    x = conv(stage(conv(middle, 128, 256, 3, 2), 256, 256, 1), 256, 128)
    pools = [x]
    for _ in range(3):
        pools.append(g.op("MaxPool", pools[-1], kernel_shape=[5, 5], strides=[1, 1], pads=[2, 2, 2, 2]))
    top = conv(conv(g.op("Concat", *pools, axis=1), 512, 256), 256, 128)
    twice = lambda value: g.op("Resize", value, "", g.constant([1.0, 1.0, 2.0, 2.0]), mode="nearest", nearest_mode="floor",
                               coordinate_transformation_mode="asymmetric")
    between = conv(stage(g.op("Concat", twice(top), middle, axis=1), 256, 128, 1, False), 128, 64)
    low = stage(g.op("Concat", twice(between), small, axis=1), 128, 64, 1, False)
    mid = stage(g.op("Concat", conv(low, 64, 64, 3, 2), between, axis=1), 128, 128, 1, False)
    high = stage(g.op("Concat", conv(mid, 128, 128, 3, 2), top, axis=1), 256, 256, 1, False)
    boxes = []
    for value, channels, side in ((low, 64, 40), (mid, 128, 20), (high, 256, 10)):
        y = g.op("Reshape", g.conv(value, channels, 255, 1), g.shape(0, 3, 85, side, side))
        y = g.op("Sigmoid", g.op("Transpose", y, perm=[0, 1, 3, 4, 2]))
        places, sizes, scores = g.op("Split", y, g.shape(2, 2, 81), axis=4, outputs=3)
        places = g.op("Mul", g.op("Add", g.op("Mul", places, g.constant(2.0)), g.random(1, 3, side, side, 2)), g.constant(320 / side))
        sizes = g.op("Mul", g.op("Pow", g.op("Mul", sizes, g.constant(2.0)), g.constant(2.0)), g.random(1, 3, side, side, 2))
        boxes.append(g.op("Reshape", g.op("Concat", places, sizes, scores, axis=4), g.shape(0, -1, 85)))
    g.output(g.op("Concat", *boxes, axis=1), ["N", 6300, 85])
    return g.model()


def crnn():
    """Text of a line of 32 x 160 points: convolutions, two bidirectional LSTMs, characters."""
    g = Graph(9)
    x, channels = g.input("x", ["N", 1, 32, 160]), 1
    for width, pool in ((64, (2, 2)), (128, (2, 2)), (256, None), (256, (2, 1)), (512, None), (512, (2, 1))):
        x, channels = g.op("Relu", g.conv_bn(x, channels, width, 3)), width
        x = x if pool is None else g.op("MaxPool", x, kernel_shape=list(pool), strides=list(pool))
    x = g.op("Relu", g.conv(x, 512, 512, (2, 1), pad=0))
    x = g.op("Transpose", g.op("Squeeze", x, g.shape(2)), perm=[2, 0, 1])
    for width in (512, 512):
        hidden = 256
        weights = [g.random(2, 4 * hidden, width, scale=0.05), g.random(2, 4 * hidden, hidden, scale=0.05), g.random(2, 8 * hidden, scale=0.05)]
        y = g.op("LSTM", x, *weights, hidden_size=hidden, direction="bidirectional")
        x = g.op("Reshape", g.op("Transpose", y, perm=[0, 2, 1, 3]), g.shape(0, 0, 512))
    g.output(g.linear(x, 512, 97), [40, "N", 97])
    return g.model()


def looked_up(g, tables, rows, width):
    """Of each table the row that its column of `sparse` names."""
    ids = g.input("sparse", ["N", tables], INT64)
    return [g.op("Gather", g.random(rows, width, scale=0.3), g.op("Gather", ids, g.constant(table, np.int64), axis=1)) for table in range(tables)]


def wide_deep():
    g = Graph(10)
    x, width = g.op("Concat", g.input("dense", ["N", 13]), *looked_up(g, 26, 10_000, 16), axis=1), 13 + 26 * 16
    wide = g.gemm(x, width, 1)
    for features in (1024, 512, 256):
        x, width = g.op("Relu", g.gemm(x, width, features)), features
    g.output(g.op("Sigmoid", g.op("Add", g.gemm(x, width, 1), wide)), ["N", 1])
    return g.model()


def dlrm():
    g, size = Graph(11), 64
    x, width = g.input("dense", ["N", 13]), 13
    for features in (512, 256, size):
        x, width = g.op("Relu", g.gemm(x, width, features)), features
    rows = [g.op("Unsqueeze", value, g.shape(1)) for value in (x, *looked_up(g, 26, 10_000, size))]
    rows = g.op("Concat", *rows, axis=1)
    pairs = g.op("Reshape", g.op("MatMul", rows, g.op("Transpose", rows, perm=[0, 2, 1])), g.shape(0, 27 * 27))
    below = g.constant([i * 27 + j for i in range(27) for j in range(i)], np.int64)
    x, width = g.op("Concat", x, g.op("Gather", pairs, below, axis=1), axis=1), size + 27 * 26 // 2
    for features in (512, 256):
        x, width = g.op("Relu", g.gemm(x, width, features, scale=1.0)), features
    g.output(g.op("Sigmoid", g.gemm(x, width, 1, scale=0.3)), ["N", 1])
    return g.model()


def forest():
    """500 trees of depth 6 over 32 features, as gradient boosting leaves them."""
    g, trees, depth, features = Graph(12), 500, 6, 32
    inner, nodes = (1 << depth) - 1, (2 << depth) - 1
    at = np.tile(np.arange(nodes), trees)
    branch, tree = at < inner, np.repeat(np.arange(trees), nodes)
    pick = lambda yes, no: np.where(branch, yes, no).tolist()
    leaf = ~branch
    given = {"nodes_treeids": tree.tolist(), "nodes_nodeids": at.tolist(), "nodes_featureids": pick(g.dice.integers(0, features, at.size), 0),
             "nodes_values": pick(g.dice.standard_normal(at.size) * 0.5, 0.0), "nodes_truenodeids": pick(2 * at + 1, 0),
             "nodes_falsenodeids": pick(2 * at + 2, 0), "nodes_modes": ["BRANCH_LEQ" if each else "LEAF" for each in branch],
             "target_treeids": tree[leaf].tolist(), "target_nodeids": at[leaf].tolist(), "target_ids": [0] * int(leaf.sum()),
             "target_weights": (g.dice.standard_normal(int(leaf.sum())) * 0.05).tolist()}
    x = g.input("x", ["N", features])
    g.output(g.op("TreeEnsembleRegressor", x, domain="ai.onnx.ml", n_targets=1, aggregate_function="SUM", post_transform="NONE", **given), ["N", 1])
    return g.model(ml=True)


def mlp():
    g = Graph(13)
    x = g.op("Relu", g.gemm(g.input("x", ["N", 64]), 64, 128))
    x = g.op("Relu", g.gemm(x, 128, 64))
    g.output(g.gemm(x, 64, 10), ["N", 10])
    return g.model()


def quantised(model, shape):
    from quantised import quantised as made  # alone wants onnxruntime
    return made(model, shape)


def resnet50_int8():
    return quantised(resnet50(), (3, 224, 224))


def mobilenet_v2_int8():
    return quantised(mobilenet_v2(), (3, 224, 224))


def saved(make, path):
    """`path`, written when it is first wanted, or when this folder's programs have changed since."""
    sources = [os.path.join(os.path.dirname(__file__), name) for name in ("models.py", "graph.py", "quantised.py")]
    if not path.exists() or path.stat().st_mtime < max(map(os.path.getmtime, sources)):
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.{os.getpid()}")
        onnx.save(make(), part)
        part.rename(path)
    return path


@dataclass
class Case:
    """A row: a model, how many samples a run has, the least ratio, and extents of axes that the file leaves open."""
    name: str
    make: object
    goal: float
    batch: int = 1
    named: dict = field(default_factory=dict)
    openvino: bool = True  # whether it takes the file
    starts: bool = False   # whether loading is measured, too
    close: float = 2e-3    # how far answers may be from those of ONNX Runtime, of the largest: sums in another order, over fifty layers
    precision: str = "f32"

    def file(self, folder):
        return saved(self.make, folder / f"{self.make.__name__}.onnx")

    def extents(self):
        return {"N": self.batch, **self.named}


F32 = [Case("resnet50", resnet50, 1.15, starts=True), Case("mobilenet-v2", mobilenet_v2, 1.4, starts=True), Case("mobilenet-v2-b8", mobilenet_v2, 1.4, 8),
         Case("efficientnet-b0", efficientnet_b0, 1.4),
         *(Case(f"bert-base-{length}", bert_base, 1.15, named={"T": length}, starts=length == 128) for length in (16, 128, 384)),
         *(Case(f"minilm-{length}", minilm, 1.15, named={"T": length}) for length in (16, 128, 384)),
         Case("vit-b16", vit_b16, 1.15), Case("unet", unet, 1.05), Case("yolo", yolo, 1.05), Case("crnn", crnn, 1.05),
         Case("wide-deep", wide_deep, 1.5), Case("wide-deep-b8", wide_deep, 1.5, 8), Case("dlrm", dlrm, 1.05), Case("dlrm-b8", dlrm, 1.05, 8),
         Case("forest", forest, 1.05, openvino=False),
         Case("forest-b8", forest, 1.05, 8, openvino=False), Case("mlp", mlp, 1.5), Case("mlp-b8", mlp, 1.5, 8)]
CASES = [*F32,
         # eight bits of a number, in every layer
         *(replace(case, name=f"{case.name}-bf16", precision="bf16", starts=False, close=0.1) for case in F32 if case.openvino),
         # each layer may round the other way: two steps of the last, over fifty layers
         *(Case(make.__name__.replace("_", "-"), make, 1.05, close=0.05) for make in (resnet50_int8, mobilenet_v2_int8))]
