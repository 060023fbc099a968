"""Makes a model of f32 one of 8-bit integers, as ONNX Runtime's own tool does it."""
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process


class Seen(CalibrationDataReader):
    """A few seeded images, by which the ranges of all tensors are found."""
    def __init__(self, name, shape):
        dice = np.random.default_rng(0)
        self.left = [{name: dice.uniform(-1, 1, shape).astype(np.float32)} for _ in range(4)]

    def get_next(self):
        return self.left.pop() if self.left else None


def quantised(model, shape):
    """In QDQ form: u8 between operators, s8 weights with a scale for each filter. shape: of the input, of one sample."""
    with tempfile.TemporaryDirectory() as folder:
        whole, joined, out = (Path(folder) / name for name in ("whole.onnx", "joined.onnx", "int8.onnx"))
        onnx.save(model, whole)
        quant_pre_process(str(whole), str(joined), skip_symbolic_shape=True)
        quantize_static(str(joined), str(out), Seen(model.graph.input[0].name, (1, *shape)), quant_format=QuantFormat.QDQ, per_channel=True,
                        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
        return onnx.load(out)
