"""Builds ONNX graphs with seeded random weights, as exporters write them: what a model of tests/bench/engine is made of."""
import math

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


class Graph:
    def __init__(self, seed):
        self.dice, self.nodes, self.weights, self.count = np.random.default_rng(seed), [], [], 0
        self.inputs, self.outputs, self.constants = [], [], {}

    def input(self, name, shape, element=FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, element, shape))
        return name

    def output(self, value, shape=None):
        self.outputs.append(helper.make_tensor_value_info(value, FLOAT, shape))

    def weight(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def constant(self, value, kind=np.float32):
        key = (np.dtype(kind).name, repr(value))
        if key not in self.constants:
            self.constants[key] = self.weight(np.array(value, kind))
        return self.constants[key]

    def random(self, *shape, scale=1.0):
        return self.weight((self.dice.standard_normal(shape, np.float32) * np.float32(scale)))

    def op(self, kind, *inputs, outputs=1, domain="", **attributes):
        made = [f"v{self.count + i}" for i in range(outputs)]
        self.count += outputs
        self.nodes.append(helper.make_node(kind, inputs, made, name=f"{kind}_{len(self.nodes)}", domain=domain, **attributes))
        return made[0] if outputs == 1 else made

    def conv(self, x, channels, filters, kernel, stride=1, group=1, pad=None, bias=True, scale=1.0):
        """`kernel`: of a square window, or its two extents."""
        sides = (kernel, kernel) if isinstance(kernel, int) else kernel
        before = [side // 2 for side in sides] if pad is None else [pad, pad]
        fan = channels // group * sides[0] * sides[1]
        inputs = [x, self.random(filters, channels // group, *sides, scale=scale * math.sqrt(2 / fan))]
        if bias:
            inputs.append(self.random(filters, scale=0.05))
        strides = [stride, stride] if isinstance(stride, int) else list(stride)
        return self.op("Conv", *inputs, kernel_shape=list(sides), strides=strides, pads=before * 2, group=group, dilations=[1, 1])

    def conv_bn(self, x, channels, filters, kernel, stride=1, group=1, scale=1.0):
        """With batch normalisation still apart, as training leaves it."""
        y = self.conv(x, channels, filters, kernel, stride, group, bias=False, scale=scale)
        near_one = lambda: self.weight(self.dice.uniform(0.8, 1.2, filters).astype(np.float32))
        return self.op("BatchNormalization", y, near_one(), self.random(filters, scale=0.1), self.random(filters, scale=0.1), near_one(), epsilon=1e-5)

    def linear(self, x, width, features, bias=True, scale=1.0):
        """MatMul and Add, as of a tensor of three axes."""
        y = self.op("MatMul", x, self.random(width, features, scale=scale / math.sqrt(width)))
        return self.op("Add", self.random(features, scale=0.05), y) if bias else y

    def gemm(self, x, width, features, scale=1.4):
        return self.op("Gemm", x, self.random(features, width, scale=scale / math.sqrt(width)), self.random(features, scale=0.05), transB=1)

    def layer_norm(self, x, width):
        return self.op("LayerNormalization", x, self.weight(self.dice.uniform(0.8, 1.2, width).astype(np.float32)), self.random(width, scale=0.1), axis=-1,
                       epsilon=1e-5)

    def gelu(self, x):
        """As it is exported before opset 20."""
        half = self.op("Erf", self.op("Div", x, self.constant(math.sqrt(2))))
        return self.op("Mul", self.op("Mul", x, self.op("Add", half, self.constant(1.0))), self.constant(0.5))

    def silu(self, x):
        return self.op("Mul", x, self.op("Sigmoid", x))

    def shape(self, *extents):
        return self.constant(list(extents), np.int64)

    def model(self, opset=17, ml=False):
        graph = helper.make_graph(self.nodes, "g", self.inputs, self.outputs, self.weights)
        opsets = [helper.make_opsetid("", opset)] + ([helper.make_opsetid("ai.onnx.ml", 3)] if ml else [])
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)
