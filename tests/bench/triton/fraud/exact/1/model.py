"""The forest, for all requests of a batch at once."""
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
        features = [triton.get_input_tensor_by_name(request, "features").as_numpy() for request in requests]
        probabilities = self.session.run(["probabilities"], {self.name: np.concatenate(features) if len(features) > 1 else features[0]})[0]
        parts = np.split(probabilities, np.cumsum([len(one) for one in features])[:-1])
        return [triton.InferenceResponse([triton.Tensor("probabilities", part)]) for part in parts]
