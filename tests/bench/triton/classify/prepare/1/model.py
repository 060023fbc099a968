"""The square in the middle of a picture, resized and normalised, as the network takes it."""
import io

import numpy as np
import triton_python_backend_utils as triton
from PIL import Image

SIDE = 224
MEAN = np.array([0.485, 0.456, 0.406], np.float32)
DEVIATION = np.array([0.229, 0.224, 0.225], np.float32)
SCALE, SHIFT = 1 / (255 * DEVIATION), -MEAN / DEVIATION


def prepared(encoded):
    picture = Image.open(io.BytesIO(encoded))
    picture.draft("RGB", (2 * SIDE, 2 * SIDE))
    picture = picture.convert("RGB")
    side = 7 * min(picture.size) // 8
    left, top = (picture.width - side) // 2, (picture.height - side) // 2
    square = picture.crop((left, top, left + side, top + side)).resize((SIDE, SIDE), Image.Resampling.BILINEAR)
    pixels = np.asarray(square, np.float32) * SCALE + SHIFT
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)[None])


class TritonPythonModel:
    def execute(self, requests):
        pictures = [triton.get_input_tensor_by_name(request, "picture").as_numpy() for request in requests]
        return [triton.InferenceResponse([triton.Tensor("pixels", prepared(picture))]) for picture in pictures]
