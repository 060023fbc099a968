"""Wide & Deep, for all requests of a batch at once."""
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

    def execute(self, requests):
        inputs = {name: [triton.get_input_tensor_by_name(request, name).as_numpy() for request in requests] for name in ("dense", "sparse")}
        rows = [len(one) for one in inputs["dense"]]
        chances = self.session.run(None, {name: np.concatenate(parts) if len(parts) > 1 else parts[0] for name, parts in inputs.items()})[0]
        return [triton.InferenceResponse([triton.Tensor("chances", part)]) for part in np.split(chances, np.cumsum(rows)[:-1])]
