"""The encoder, for the texts of all requests of a batch at once."""
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
        ids, masks = ([triton.get_input_tensor_by_name(request, name).as_numpy() for request in requests] for name in ("input_ids", "attention_mask"))
        inputs = {"input_ids": np.concatenate(ids), "attention_mask": np.concatenate(masks)}
        hidden = self.session.run(None, {**inputs, "token_type_ids": np.zeros_like(inputs["input_ids"])})[0]
        parts = np.split(hidden, np.cumsum([len(one) for one in ids])[:-1])
        return [triton.InferenceResponse([triton.Tensor("hidden", part)]) for part in parts]
