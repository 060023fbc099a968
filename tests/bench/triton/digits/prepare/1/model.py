"""A picture in grey, resized, as the network takes it."""
import io

import numpy as np
import triton_python_backend_utils as triton
from PIL import Image

SIDE = 28


def prepared(encoded):
    picture = Image.open(io.BytesIO(encoded)).convert("L").resize((SIDE, SIDE), Image.Resampling.BILINEAR)
    return np.asarray(picture, np.float32)[None, None] / 255


class TritonPythonModel:
    def execute(self, requests):
        pictures = [triton.get_input_tensor_by_name(request, "picture").as_numpy()[0, 0] for request in requests]
        return [triton.InferenceResponse([triton.Tensor("pixels", prepared(picture))]) for picture in pictures]
