#!/usr/bin/env python3
"""Makes the model files of the tests, and what ONNX Runtime answers for them.

Needed only to change them:  python3 -m venv v && v/bin/pip install onnx onnxruntime && v/bin/python make_models.py

Writes beside itself:
  cnn.onnx external.onnx external.weights     whole models for tests that open files
  ../../../../fuzz/*/corpus/*.onnx       small models to start fuzzing from
  op_cases.bin      one model per operator form, with inputs and the outputs that ONNX Runtime computes
  net_cases.bin     the same for whole networks
A case file is a sequence of records: name, model, inputs, outputs. A text or a model is u32 length and bytes; a list of tensors is u32 count, each tensor
u8 element type (number of runtime/abi/values.h), u8 rank, i64 extents, elements. All little-endian.
"""
import os
import struct
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh

HERE = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(7)
SEEDS = {"Conv pads", "MaxPool ceil", "Gemm transB", "MatMul weight 3d by 2d", "Reshape", "Slice steps", "Pad reflect", "Squeeze", "Concat", "Gather axis 1",
         "ReduceMean opset 18", "Softmax opset 11", "Cast to f16", "Where", "Clip inputs", "BatchNormalization", "residual 1", "attention 1", "embedding 3"}
DTYPES = {"bool": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "uint8": 6, "uint16": 7, "uint32": 8, "uint64": 9, "float16": 10,
          "float32": 12, "float64": 13}


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def model(nodes, inputs, outputs, weights=None, opset=17, ir=8):
    """inputs: {name: (type, shape)}; outputs: names, or {name: (type, shape)}"""
    ins = [h.make_tensor_value_info(n, t, s) for n, (t, s) in inputs.items()]
    if isinstance(outputs, dict):
        outs = [h.make_tensor_value_info(n, t, s) for n, (t, s) in outputs.items()]
    else:
        outs = [onnx.ValueInfoProto(name=n) for n in outputs]
    init = [nh.from_array(np.asarray(v), n) for n, v in (weights or {}).items()]
    graph = h.make_graph(nodes, "g", ins, outs, init)
    return h.make_model(graph, opset_imports=[h.make_opsetid("", opset)], ir_version=ir, producer_name="make_models.py")


def typed_outputs(m):
    m = onnx.shape_inference.infer_shapes(m)
    return m


class Cases:
    def __init__(self, path):
        self.path, self.out, self.names = path, bytearray(), set()

    def text(self, b):
        self.out += struct.pack("<I", len(b)) + b

    def tensors(self, arrays):
        self.out += struct.pack("<I", len(arrays))
        for a in arrays:
            a = np.asarray(a, order="C")
            self.out += struct.pack("<BB", DTYPES[a.dtype.name], a.ndim) + struct.pack(f"<{a.ndim}q", *a.shape) + a.tobytes()

    def add(self, name, m, feeds):
        assert name not in self.names, name
        self.names.add(name)
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 3
        data = m.SerializeToString()
        session = ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        results = session.run(None, feeds)
        self.text(name.encode())
        self.text(data)
        if name in SEEDS:
            for target in ["onnx", "model"]:
                folder = os.path.join(HERE, "../../../../fuzz", target, "corpus")
                os.makedirs(folder, exist_ok=True)
                with open(os.path.join(folder, name.replace(" ", "_").lower() + ".onnx"), "wb") as f:
                    f.write(data)
        self.tensors([feeds[i.name] for i in session.get_inputs()])
        self.tensors(results)

    def save(self):
        with open(self.path, "wb") as f:
            f.write(self.out)
        print(os.path.basename(self.path), len(self.names), "cases", len(self.out), "bytes")


NP_TO_T = {np.dtype(k): v for k, v in
           {"float32": T.FLOAT, "float64": T.DOUBLE, "int64": T.INT64, "int32": T.INT32, "bool": T.BOOL, "uint8": T.UINT8, "int8": T.INT8,
            "float16": T.FLOAT16}.items()}


def op(cases, name, op_type, feeds, weights=None, opset=17, out_type=None, n_in=None, dynamic=False, **attributes):
    """One node. feeds and weights become its inputs in order (feeds first, unless a name says otherwise by sorting key 'a_', 'b_')."""
    weights = weights or {}
    names = sorted([*feeds, *weights])
    node = h.make_node(op_type, names, ["y"], name="n", **attributes)
    first = feeds[sorted(feeds)[0]] if feeds else None
    kind = out_type or NP_TO_T[first.dtype]
    ins = {k: (NP_TO_T[v.dtype], [f"d{i}_{k}" if dynamic else s for i, s in enumerate(v.shape)]) for k, v in sorted(feeds.items())}
    g = h.make_graph([node], "g", [h.make_tensor_value_info(n, t, s) for n, (t, s) in ins.items()],
                     [h.make_tensor_value_info("y", kind, None)], [nh.from_array(np.asarray(v), n) for n, v in weights.items()])
    m = h.make_model(g, opset_imports=[h.make_opsetid("", opset)], ir_version=8)
    cases.add(name, m, feeds)


def i64(*v):
    return np.array(v, dtype=np.int64)


def op_cases():
    c = Cases(os.path.join(HERE, "op_cases.bin"))
    x4 = f32(2, 3, 7, 6)
    for name in ["Abs", "Exp", "Neg", "Relu", "Sigmoid", "Tanh", "Erf", "Identity"]:
        op(c, name, name, {"a": f32(2, 3, 5)})
    for name in ["Sqrt", "Log", "Reciprocal"]:
        op(c, name, name, {"a": np.abs(f32(2, 9)) + np.float32(0.1)})
    op(c, "Relu f64", "Relu", {"a": rng.standard_normal((3, 4))}, opset=14)
    op(c, "LeakyRelu", "LeakyRelu", {"a": f32(3, 4)}, alpha=0.1)
    op(c, "Clip attributes", "Clip", {"a": f32(3, 4)}, opset=7, min=-0.5, max=0.5)
    op(c, "Clip inputs", "Clip", {"a": f32(3, 4)}, {"b": np.float32(-0.2), "c": np.float32(0.7)})
    op(c, "Clip i32", "Clip", {"a": np.arange(-6, 6, dtype=np.int32)}, {"b": np.int32(-2), "c": np.int32(3)})
    for name in ["Add", "Sub", "Mul", "Div"]:
        op(c, name, name, {"a": f32(2, 3, 4), "b": f32(2, 3, 4) + 3})
        op(c, name + " broadcast", name, {"a": f32(2, 1, 4), "b": f32(3, 1) + 3})
        op(c, name + " i64", name, {"a": i64(7, -8, 9), "b": i64(2, 3, 4)})
        op(c, name + " scalar weight", name, {"a": f32(2, 3)}, {"b": np.float32(1.5)})
    op(c, "Pow", "Pow", {"a": np.abs(f32(3, 4)) + np.float32(0.1), "b": f32(4)})
    op(c, "Pow square", "Pow", {"a": f32(3, 4)}, {"b": np.float32(2)})
    op(c, "Pow i64 exponent", "Pow", {"a": f32(3, 4)}, {"b": np.int64(3)})
    op(c, "Where", "Where", {"a": rng.random((3, 1)) > 0.5, "b": f32(3, 4), "c": f32(4)}, out_type=T.FLOAT)
    for ax in [0, 1, -1]:
        op(c, f"Softmax axis {ax}", "Softmax", {"a": f32(2, 5, 3)}, axis=ax)
        op(c, f"LogSoftmax axis {ax}", "LogSoftmax", {"a": f32(2, 5, 3)}, axis=ax)
    op(c, "Softmax opset 11", "Softmax", {"a": f32(2, 5, 3)}, opset=11)
    op(c, "Softmax large", "Softmax", {"a": f32(2, 5) * 100})
    op(c, "BatchNormalization", "BatchNormalization", {"a": x4},
       {"b": f32(3), "c": f32(3), "d": f32(3), "e": np.abs(f32(3)) + np.float32(0.1)}, epsilon=1e-3)
    op(c, "BatchNormalization opset 9", "BatchNormalization", {"a": f32(2, 3)},
       {"b": f32(3), "c": f32(3), "d": f32(3), "e": np.abs(f32(3)) + np.float32(0.1)}, opset=9)
    conv = [("plain", {}, (4, 3, 3, 3)), ("pads", dict(pads=[1, 1, 1, 1]), (4, 3, 3, 3)), ("uneven pads", dict(pads=[0, 1, 2, 0]), (4, 3, 3, 3)),
            ("strides", dict(strides=[2, 3], pads=[1, 1, 1, 1]), (5, 3, 3, 3)), ("dilations", dict(dilations=[2, 2]), (2, 3, 2, 3)),
            ("depthwise", dict(group=3, pads=[1, 1, 1, 1]), (3, 1, 3, 3)), ("grouped", dict(group=3), (6, 1, 2, 2)),
            ("same upper", dict(auto_pad="SAME_UPPER", strides=[2, 2]), (4, 3, 3, 3)),
            ("same lower", dict(auto_pad="SAME_LOWER", strides=[2, 2]), (4, 3, 2, 2)), ("valid", dict(auto_pad="VALID"), (4, 3, 3, 3)),
            ("1x1", {}, (16, 3, 1, 1))]
    for name, attributes, shape in conv:
        op(c, "Conv " + name, "Conv", {"a": x4}, {"b": f32(*shape), "c": f32(shape[0])}, **attributes)
    op(c, "Conv without bias", "Conv", {"a": x4}, {"b": f32(4, 3, 3, 3)})
    op(c, "Conv 1d", "Conv", {"a": f32(2, 3, 9)}, {"b": f32(4, 3, 3), "c": f32(4)}, pads=[1, 1])
    op(c, "Conv 3d", "Conv", {"a": f32(1, 2, 4, 5, 6)}, {"b": f32(3, 2, 2, 2, 2), "c": f32(3)})
    op(c, "Conv weights as input", "Conv", {"a": x4, "b": f32(4, 3, 3, 3)})
    op(c, "Conv wide", "Conv", {"a": f32(1, 32, 14, 14)}, {"b": f32(16, 32, 3, 3), "c": f32(16)}, pads=[1, 1, 1, 1])
    pools = [("2x2", dict(kernel_shape=[2, 2], strides=[2, 2])), ("pads", dict(kernel_shape=[3, 3], pads=[1, 1, 1, 1])),
             ("ceil", dict(kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)), ("uneven", dict(kernel_shape=[2, 3], strides=[1, 2], pads=[1, 0, 0, 1])),
             ("same", dict(kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER"))]
    for name, attributes in pools:
        op(c, "MaxPool " + name, "MaxPool", {"a": x4}, **attributes)
        op(c, "AveragePool " + name, "AveragePool", {"a": x4}, opset=19, **attributes)
    op(c, "MaxPool dilations", "MaxPool", {"a": x4}, kernel_shape=[2, 2], dilations=[2, 2])
    op(c, "MaxPool 1d", "MaxPool", {"a": f32(2, 3, 9)}, kernel_shape=[3], strides=[2])
    op(c, "AveragePool with padding", "AveragePool", {"a": x4}, opset=19, kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)
    op(c, "GlobalAveragePool", "GlobalAveragePool", {"a": x4})
    op(c, "GlobalMaxPool", "GlobalMaxPool", {"a": x4})
    op(c, "Gemm", "Gemm", {"a": f32(3, 5)}, {"b": f32(5, 4), "c": f32(4)})
    op(c, "Gemm transB", "Gemm", {"a": f32(3, 5)}, {"b": f32(4, 5), "c": f32(4)}, transB=1)
    op(c, "Gemm transA", "Gemm", {"a": f32(5, 3)}, {"b": f32(5, 4)}, transA=1)
    op(c, "Gemm alpha beta", "Gemm", {"a": f32(3, 5)}, {"b": f32(5, 4), "c": f32(3, 1)}, alpha=0.5, beta=2.0)
    op(c, "Gemm scalar c", "Gemm", {"a": f32(3, 5)}, {"b": f32(5, 4), "c": np.float32(2)})
    op(c, "Gemm all inputs", "Gemm", {"a": f32(3, 5), "b": f32(5, 4), "c": f32(3, 4)})
    for name, sa, sb in [("2d", (3, 4), (4, 5)), ("batched", (2, 3, 4), (2, 4, 5)), ("broadcast", (2, 1, 3, 4), (5, 4, 2)), ("vector left", (4,), (4, 5)),
                         ("vector right", (3, 4), (4,)), ("vectors", (4,), (4,)), ("3d by 2d", (2, 3, 4), (4, 5))]:
        op(c, "MatMul " + name, "MatMul", {"a": f32(*sa), "b": f32(*sb)})
        op(c, "MatMul weight " + name, "MatMul", {"a": f32(*sa)}, {"b": f32(*sb)})
    op(c, "Flatten", "Flatten", {"a": f32(2, 3, 4)})
    op(c, "Flatten axis 2", "Flatten", {"a": f32(2, 3, 4)}, axis=2)
    op(c, "Reshape", "Reshape", {"a": f32(2, 3, 4)}, {"b": i64(0, -1)})
    op(c, "Transpose", "Transpose", {"a": f32(2, 3, 4)}, perm=[2, 0, 1])
    op(c, "Transpose reversed", "Transpose", {"a": f32(2, 3, 4)})
    op(c, "Transpose nhwc", "Transpose", {"a": f32(2, 5, 4, 3)}, perm=[0, 3, 1, 2])
    op(c, "Transpose u8", "Transpose", {"a": np.arange(6, dtype=np.uint8).reshape(2, 3)})
    op(c, "Concat", "Concat", {"a": f32(2, 3), "b": f32(2, 1), "c": f32(2, 2)}, axis=1)
    op(c, "Concat axis 0", "Concat", {"a": f32(2, 3), "b": f32(1, 3)}, axis=-2)
    op(c, "Squeeze", "Squeeze", {"a": f32(2, 1, 3, 1)}, {"b": i64(1, -1)})
    op(c, "Squeeze attribute", "Squeeze", {"a": f32(2, 1, 3)}, opset=11, axes=[1])
    op(c, "Squeeze all", "Squeeze", {"a": f32(2, 1, 3)})
    op(c, "Unsqueeze", "Unsqueeze", {"a": f32(2, 3)}, {"b": i64(0, -1)})
    op(c, "Unsqueeze attribute", "Unsqueeze", {"a": f32(2, 3)}, opset=11, axes=[1])
    op(c, "Cast to i32", "Cast", {"a": f32(3, 4) * 10}, out_type=T.INT32, to=T.INT32)
    op(c, "Cast to f16", "Cast", {"a": f32(3, 4) * 10}, out_type=T.FLOAT16, to=T.FLOAT16)
    op(c, "Cast from f16", "Cast", {"a": f32(3, 4).astype(np.float16)}, out_type=T.FLOAT, to=T.FLOAT)
    op(c, "Cast to bool", "Cast", {"a": np.array([0, 1, -2, 0.5], np.float32)}, out_type=T.BOOL, to=T.BOOL)
    op(c, "Cast u8 to f32", "Cast", {"a": np.arange(12, dtype=np.uint8)}, out_type=T.FLOAT, to=T.FLOAT)
    op(c, "Gather", "Gather", {"a": f32(5, 3)}, {"b": i64(0, 4, -1, 2)})
    op(c, "Gather axis 1", "Gather", {"a": f32(2, 5, 3), "b": np.array([[0, 4], [1, 1]], np.int64)}, axis=1)
    op(c, "Gather i32 indices", "Gather", {"a": f32(5, 3), "b": np.array(3, np.int32)})
    for name in ["ReduceMean", "ReduceSum"]:
        axes = {"b": i64(1)} if name == "ReduceSum" else {}
        attributes = {} if axes else {"axes": [1]}
        op(c, name, name, {"a": f32(2, 5, 3)}, axes, **attributes)
        op(c, name + " dropped", name, {"a": f32(2, 5, 3)}, axes, keepdims=0, **attributes)
        op(c, name + " all", name, {"a": f32(2, 5, 3)})
    op(c, "ReduceMean opset 18", "ReduceMean", {"a": f32(2, 5, 3)}, {"b": i64(0, -1)}, opset=18)
    op(c, "ReduceSum opset 11", "ReduceSum", {"a": f32(2, 5, 3)}, opset=11, axes=[-1, 0])
    op(c, "ReduceSum noop", "ReduceSum", {"a": f32(2, 3)}, noop_with_empty_axes=1)
    op(c, "ReduceSum i64", "ReduceSum", {"a": np.arange(6, dtype=np.int64).reshape(2, 3)}, {"b": i64(0)})
    op(c, "Pad", "Pad", {"a": f32(2, 3)}, {"b": i64(1, 0, 0, 2)})
    op(c, "Pad value", "Pad", {"a": f32(2, 3)}, {"b": i64(0, 1, 1, 0), "c": np.float32(7)})
    op(c, "Pad edge", "Pad", {"a": f32(2, 3)}, {"b": i64(1, 2, 1, 0)}, mode="edge")
    op(c, "Pad reflect", "Pad", {"a": f32(4, 5)}, {"b": i64(1, 2, 2, 1)}, mode="reflect")
    op(c, "Pad crop", "Pad", {"a": f32(4, 5)}, {"b": i64(-1, 1, 0, -2)})
    op(c, "Pad opset 9", "Pad", {"a": f32(2, 3)}, opset=9, pads=[1, 1, 0, 0], value=2.0)
    op(c, "Slice", "Slice", {"a": f32(4, 6)}, {"b": i64(1, -4), "c": i64(3, 9223372036854775807), "d": i64(0, 1)})
    op(c, "Slice steps", "Slice", {"a": f32(4, 6)}, {"b": i64(0, -1), "c": i64(4, -9223372036854775807), "d": i64(0, 1), "e": i64(2, -2)})
    op(c, "Slice opset 9", "Slice", {"a": f32(4, 6)}, opset=9, starts=[1, 0], ends=[3, -1])
    op(c, "Shape", "Shape", {"a": f32(4, 6, 2)}, out_type=T.INT64)
    op(c, "Shape start end", "Shape", {"a": f32(4, 6, 2)}, out_type=T.INT64, start=1, end=-1)
    op(c, "Dropout", "Dropout", {"a": f32(3, 4)}, opset=12)
    c.save()


def N(kind, ins, outs, **attributes):
    return h.make_node(kind, ins, outs, name=outs[0] + "_node", **attributes)


def cnn(batch="n"):
    w = {"w1": f32(8, 1, 3, 3) * np.float32(0.3), "b1": f32(8), "w2": f32(16, 8, 3, 3) * np.float32(0.1), "g2": f32(16), "h2": f32(16), "m2": f32(16),
         "v2": np.abs(f32(16)) + np.float32(0.5), "w3": f32(12, 784) * np.float32(0.05), "b3": f32(12), "w4": f32(10, 12) * np.float32(0.2), "b4": f32(10)}
    nodes = [N("Conv", ["image", "w1", "b1"], ["c1"], pads=[1, 1, 1, 1]), N("Relu", ["c1"], ["r1"]),
             N("MaxPool", ["r1"], ["p1"], kernel_shape=[2, 2], strides=[2, 2]),
             N("Conv", ["p1", "w2"], ["c2"], pads=[1, 1, 1, 1]), N("BatchNormalization", ["c2", "g2", "h2", "m2", "v2"], ["n2"]), N("Relu", ["n2"], ["r2"]),
             N("MaxPool", ["r2"], ["p2"], kernel_shape=[2, 2], strides=[2, 2]), N("Flatten", ["p2"], ["f"]),
             N("Gemm", ["f", "w3", "b3"], ["g3"], transB=1), N("Relu", ["g3"], ["r3"]), N("Gemm", ["r3", "w4", "b4"], ["logits"], transB=1)]
    return model(nodes, {"image": (T.FLOAT, [batch, 1, 28, 28])}, {"logits": (T.FLOAT, [batch, 10])}, w)


def residual():
    w = {"w1": f32(16, 3, 3, 3) * np.float32(0.3), "b1": f32(16), "wd": f32(16, 1, 3, 3) * np.float32(0.3), "bd": f32(16), "wp": f32(16, 16, 1, 1) * np.float32(0.3),
         "bp": f32(16), "lo": np.float32(0), "hi": np.float32(6), "wf": f32(16, 5), "bf": f32(5)}
    nodes = [N("Conv", ["x", "w1", "b1"], ["c1"], strides=[2, 2], pads=[1, 1, 1, 1]), N("Clip", ["c1", "lo", "hi"], ["r1"]),
             N("Conv", ["r1", "wd", "bd"], ["cd"], group=16, pads=[1, 1, 1, 1]), N("Clip", ["cd", "lo", "hi"], ["rd"]),
             N("Conv", ["rd", "wp", "bp"], ["cp"]), N("Add", ["cp", "r1"], ["s"]), N("Relu", ["s"], ["rs"]),
             N("GlobalAveragePool", ["rs"], ["gp"]), N("Shape", ["gp"], ["shape"]), N("Gather", ["shape", "zero"], ["rows"], axis=0),
             N("Unsqueeze", ["rows", "axes"], ["rows1"]), N("Concat", ["rows1", "minus"], ["to"], axis=0), N("Reshape", ["gp", "to"], ["flat"]),
             N("Gemm", ["flat", "wf", "bf"], ["z"]), N("Sigmoid", ["z"], ["y"])]
    w.update(zero=np.int64(0), axes=i64(0), minus=i64(-1))
    return model(nodes, {"x": (T.FLOAT, ["n", 3, 12, 12])}, {"y": (T.FLOAT, ["n", 5])}, w)


def attention(opset=17):
    d, t = 8, 6
    w = {"wq": f32(d, d), "wk": f32(d, d), "wv": f32(d, d), "wo": f32(d, d), "scale": np.float32(2.0), "two": np.float32(2), "eps": np.float32(1e-5),
         "gamma": f32(d), "beta": f32(d), "w1": f32(d, 2 * d), "b1": f32(2 * d), "w2": f32(2 * d, d), "half": np.float32(0.5), "one": np.float32(1),
         "root": np.float32(1.41421356), "low": np.float32(-1e4), "zero": np.float32(0), "heads": i64(0, 0, 2, 4), "join": i64(0, 0, 8)}
    nodes = []
    for k in "qkv":
        nodes += [N("MatMul", ["x", "w" + k], [k + "0"]), N("Reshape", [k + "0", "heads"], [k + "1"]),
                  N("Transpose", [k + "1"], [k + "2"], perm=[0, 2, 3, 1] if k == "k" else [0, 2, 1, 3])]
    nodes += [N("MatMul", ["q2", "k2"], ["s0"]), N("Div", ["s0", "scale"], ["s1"]), N("Where", ["mask", "s1", "low"], ["s2"]), N("Softmax", ["s2"], ["s3"], axis=-1),
              N("MatMul", ["s3", "v2"], ["o0"]), N("Transpose", ["o0"], ["o1"], perm=[0, 2, 1, 3]), N("Reshape", ["o1", "join"], ["o2"]), N("MatMul", ["o2", "wo"], ["o3"]),
              N("Add", ["o3", "x"], ["r"]), N("ReduceMean", ["r"], ["mu"], axes=[-1]), N("Sub", ["r", "mu"], ["c"]), N("Pow", ["c", "two"], ["c2"]),
              N("ReduceMean", ["c2"], ["var"], axes=[-1]), N("Add", ["var", "eps"], ["ve"]), N("Sqrt", ["ve"], ["sd"]), N("Div", ["c", "sd"], ["nrm"]),
              N("Mul", ["nrm", "gamma"], ["ng"]), N("Add", ["ng", "beta"], ["ln"]), N("MatMul", ["ln", "w1"], ["f0"]), N("Add", ["f0", "b1"], ["f1"]),
              N("Div", ["f1", "root"], ["e0"]), N("Erf", ["e0"], ["e1"]), N("Add", ["e1", "one"], ["e2"]), N("Mul", ["f1", "e2"], ["e3"]), N("Mul", ["e3", "half"], ["e4"]),
              N("MatMul", ["e4", "w2"], ["y"])]
    return model(nodes, {"x": (T.FLOAT, ["n", t, d]), "mask": (T.BOOL, ["n", 1, 1, t])}, {"y": (T.FLOAT, ["n", t, d])}, w)


def embedding():
    w = {"table": f32(20, 4), "wd": f32(8, 3), "shape": i64(-1, 8)}
    nodes = [N("Gather", ["table", "ids"], ["e"]), N("Reshape", ["e", "shape"], ["f"]), N("MatMul", ["f", "wd"], ["g"]), N("Tanh", ["g"], ["y"])]
    return model(nodes, {"ids": (T.INT64, ["n", 2])}, {"y": (T.FLOAT, ["n", 3])}, w)


def net_cases():
    c = Cases(os.path.join(HERE, "net_cases.bin"))
    digits = cnn()
    onnx.save(digits, os.path.join(HERE, "cnn.onnx"))
    for n in [1, 2, 5]:
        c.add(f"cnn {n}", digits, {"image": f32(n, 1, 28, 28)})
    c.add("cnn fixed at 1", cnn(1), {"image": f32(1, 1, 28, 28)})
    res = residual()
    for n in [1, 3]:
        c.add(f"residual {n}", res, {"x": f32(n, 3, 12, 12)})
    att = attention()
    for n in [1, 2]:
        c.add(f"attention {n}", att, {"x": f32(n, 6, 8), "mask": rng.random((n, 1, 1, 6)) > 0.3})
    emb = embedding()
    c.add("embedding 3", emb, {"ids": np.array([[0, 19], [3, 3], [7, 2]], np.int64)})
    big = model([N("Gemm", ["x", "w", "b"], ["y"])], {"x": (T.FLOAT, ["n", 64])}, {"y": (T.FLOAT, ["n", 32])}, {"w": f32(64, 32), "b": f32(32)})
    c.add("gemm 4", big, {"x": f32(4, 64)})
    for name in ["external.onnx", "external.weights"]:
        if os.path.exists(os.path.join(HERE, name)):
            os.remove(os.path.join(HERE, name))
    onnx.save(big, os.path.join(HERE, "external.onnx"), save_as_external_data=True, all_tensors_to_one_file=True, location="external.weights",
              size_threshold=0)
    c.save()


if __name__ == "__main__":
    op_cases()
    net_cases()
