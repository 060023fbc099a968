"""The network that serves, for all requests of a batch at once."""
from pathlib import Path

import numpy as np
import onnxruntime
import triton_python_backend_utils as triton


class TritonPythonModel:
    def initialize(self, args):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        path = Path(args["model_repository"]) / args["model_version"] / "model.onnx"
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.name = self.session.get_inputs()[0].name

    def execute(self, requests):
        pixels = [triton.get_input_tensor_by_name(request, "pixels").as_numpy() for request in requests]
        scores = self.session.run(None, {self.name: np.concatenate(pixels) if len(pixels) > 1 else pixels[0]})[0]
        parts = np.split(scores, np.cumsum([len(one) for one in pixels])[:-1])
        return [triton.InferenceResponse([triton.Tensor("scores", part)]) for part in parts]
