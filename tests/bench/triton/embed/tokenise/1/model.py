"""Texts as token ids, filled up to the next bucket so that requests share batches."""
from pathlib import Path

import numpy as np
import triton_python_backend_utils as triton
from tokenizers import Tokenizer

BUCKETS = (16, 32, 64, 128)


class TritonPythonModel:
    def initialize(self, args):
        path = Path(args["model_repository"]) / args["model_version"] / "tokenizer.json"
        self.tokenizer = Tokenizer.from_file(str(path))
        self.tokenizer.enable_truncation(BUCKETS[-1])

    def execute(self, requests):
        responses = []
        for request in requests:
            texts = triton.get_input_tensor_by_name(request, "texts").as_numpy()
            encoded = [each.ids for each in self.tokenizer.encode_batch([text.decode() for text in texts])]
            longest = max(map(len, encoded))
            width = next(bucket for bucket in BUCKETS if bucket >= longest)
            ids, mask = np.zeros((len(encoded), width), np.int64), np.zeros((len(encoded), width), np.int64)
            for at, tokens in enumerate(encoded):
                ids[at, :len(tokens)], mask[at, :len(tokens)] = tokens, 1
            responses.append(triton.InferenceResponse([triton.Tensor("input_ids", ids), triton.Tensor("attention_mask", mask)]))
        return responses
