#!/usr/bin/env python3
"""Makes narrow_cases.bin: models whose weights are stored in 8 or 4 bits, with inputs, and what is computed of them; laid out as in make_models.py.

Needed only to change it:  python3 -m venv v && v/bin/pip install onnx==1.23.2 onnxruntime==1.32.0 && v/bin/python make_narrow_models.py

ONNX Runtime answers; what it has no kernel for, onnx's own reference does.
"""
import os

import numpy as np
import onnxruntime as ort
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh
from onnx.reference import ReferenceEvaluator

from make_models import HERE, Cases

rng = np.random.default_rng(23)
TYPES = {"e4m3fn": T.FLOAT8E4M3FN, "e4m3fnuz": T.FLOAT8E4M3FNUZ, "e5m2": T.FLOAT8E5M2, "e5m2fnuz": T.FLOAT8E5M2FNUZ, "u4": T.UINT4, "i4": T.INT4,
         "e2m1": T.FLOAT4E2M1}
WHOLE = ("u4", "i4")


def stored(name, dim, kind, raw=True):
    """Weights by their codes, without those of NaN and of numbers beside which the others would be rounding."""
    count, dtype = int(np.prod(dim)), TYPES[kind]
    bits = 8 if kind.startswith("e4") or kind.startswith("e5") else 4
    codes = rng.integers(0, 1 << bits, count)
    if bits == 8:
        codes = np.where((codes & 0x7F) >= (0x58 if kind.startswith("e4") else 0x4C), codes & 0xBF, codes)
        codes = np.where(codes == 0x80, 0, codes)
    packed = codes.astype(np.uint8)
    if bits == 4:
        even = np.append(packed, np.zeros(count % 2, np.uint8))
        packed = even[::2] | even[1::2] << 4
    tensor = h.make_tensor(name, dtype, dim, packed.tobytes(), raw=True)
    if not raw:
        tensor.ClearField("raw_data")
        tensor.int32_data.extend(packed.tolist())
    return tensor


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


class NarrowCases(Cases):
    def add(self, name, nodes, x, weights, opset):
        graph = h.make_graph(nodes, "g", [h.make_tensor_value_info("x", T.FLOAT, x.shape)], [h.make_tensor_value_info("y", T.FLOAT, None)], weights)
        model = h.make_model(graph, opset_imports=[h.make_opsetid("", opset)], ir_version=11 if opset > 22 else 10)
        options = ort.SessionOptions()
        options.log_severity_level = 4
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL  # which would quantise x beside weights of 4 bits
        data = model.SerializeToString()
        try:
            results = ort.InferenceSession(data, options, providers=["CPUExecutionProvider"]).run(None, {"x": x})
        except Exception:
            results = ReferenceEvaluator(model).run(None, {"x": x})
            print(f"{name}: by the reference")
        assert name not in self.names, name
        self.names.add(name)
        self.text(name.encode())
        self.text(data)
        self.tensors([x])
        self.tensors(results)


def weighed(c, kind, opset):
    node, dim = h.make_node, (6, 5)
    inputs = ["w", "s", "z"] if kind in WHOLE else ["w", "s"]

    def add(name, shape, scale, into, x, zero_of=None, raw=True, **attributes):
        weights = [stored("w", shape, kind, raw), nh.from_array(np.asarray(scale, np.float32), "s")]
        if kind in WHOLE:
            weights.append(stored("z", np.shape(scale) if zero_of is None else zero_of, kind))
        c.add(f"{kind} opset {opset} {name}", [node("DequantizeLinear", inputs, ["d"], **attributes), into], x, weights, opset)

    product = node("MatMul", ["x", "d"], ["y"])
    add("all", dim, 0.25, product, f32(3, 6))
    add("numbers", dim, 0.25, product, f32(3, 6), raw=False)
    add("columns", dim, abs(f32(5)) + 0.1, product, f32(3, 6), axis=1)
    add("rows to Gemm", dim, abs(f32(6)) + 0.1, node("Gemm", ["x", "d"], ["y"], transB=1), f32(2, 5), axis=0)
    add("filters", (4, 3, 3, 3), abs(f32(4)) + 0.1, node("Conv", ["x", "d"], ["y"]), f32(1, 3, 6, 7), axis=0)
    if opset > 20:
        add("blocks", dim, abs(f32(3, 5)) + 0.1, product, f32(3, 6), axis=0, block_size=2)
        add("blocks of columns", dim, abs(f32(6, 3)) + 0.1, product, f32(3, 6), axis=1, block_size=2)


def converted(c, kind, opset):
    node, x = h.make_node, (f32(40) * 20).astype(np.float32)
    x[:8] = [np.nan, np.inf, -np.inf, -0.0, 449, -465, 1e6, 2.0 ** -11]
    to, back = TYPES[kind], node("Cast", ["q"], ["y"], to=T.FLOAT)
    if kind in WHOLE:
        x = np.arange(-8, 8).astype(np.float32) if kind == "i4" else np.arange(16).astype(np.float32)  # out of range each engine has its own
        c.add(f"{kind} opset {opset} cast", [node("Cast", ["x"], ["q"], to=to), back], x, [], opset)
    else:
        if kind == "e2m1":
            c.add(f"{kind} opset {opset} cast", [node("Cast", ["x"], ["q"], to=to), back], x, [], opset)
        else:
            for saturate in (0, 1):
                c.add(f"{kind} opset {opset} cast {saturate}", [node("Cast", ["x"], ["q"], to=to, saturate=saturate), back], x, [], opset)
    x = (f32(4, 6) * 9).astype(np.float32)
    scale = nh.from_array(np.float32([0.5, 1.5, 2, 0.25]), "s")
    zero = h.make_tensor("z", to, (4,), b"\0" * (2 if kind in WHOLE or kind == "e2m1" else 4), raw=True)
    c.add(f"{kind} opset {opset} quantised", [node("QuantizeLinear", ["x", "s", "z"], ["q"], axis=0), node("DequantizeLinear", ["q", "s", "z"], ["y"], axis=0)], x,
          [scale, zero], opset)


if __name__ == "__main__":
    cases = NarrowCases(os.path.join(HERE, "narrow_cases.bin"))
    for each in TYPES:
        for version in {"u4": [21], "i4": [21], "e2m1": [23]}.get(each, [19, 21]):
            weighed(cases, each, version)
            converted(cases, each, version)
    cases.save()
