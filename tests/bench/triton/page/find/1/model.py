"""The digits on a page: the detector's peaks become boxes, and what is in them is cut out as the recogniser takes it."""
import io
from pathlib import Path

import numpy as np
import onnxruntime
import triton_python_backend_utils as triton
from PIL import Image

FOUND = 0.4
SIDE = 28


def peaks(heat):
    """Rows and columns of the cells that are hot, and no cell within two steps hotter; of equal ones the first counts."""
    rows, columns = np.nonzero(heat >= FOUND)
    padded = np.pad(heat, 2, mode="edge")
    near = np.lib.stride_tricks.sliding_window_view(padded, (5, 5))[rows, columns].reshape(-1, 25)
    own = near[:, 12:13]
    highest = (near[:, :12] < own).all(axis=1) & (near[:, 13:] <= own).all(axis=1)
    return rows[highest], columns[highest]


def boxes_of(heat, place, height, width):
    """Top, left and side of a square for each peak."""
    rows, columns = peaks(heat)
    down, across, size = place[:, rows, columns]
    sides = np.clip(np.rint(8 * size), 8, min(height, width))
    tops = np.clip(np.rint(4 * (rows + 0.5 + down) - sides / 2), 0, height - sides)
    lefts = np.clip(np.rint(4 * (columns + 0.5 + across) - sides / 2), 0, width - sides)
    return np.stack([tops, lefts, sides], axis=1).astype(np.float32)


def glyphs_in(picture, pixels, boxes):
    """0 where there is paper, 1 where there is ink."""
    paper, ink = float(np.bincount(pixels.ravel(), minlength=256).argmax()), float(pixels.min())
    glyphs = np.empty((len(boxes), 1, SIDE, SIDE), np.float32)
    for glyph, (top, left, side) in zip(glyphs, boxes):
        part = picture.crop((left, top, left + side, top + side)).resize((SIDE, SIDE), Image.Resampling.BILINEAR)
        glyph[0] = np.clip((paper - np.asarray(part, np.float32)) / max(paper - ink, 1), 0, 1)
    return glyphs


class TritonPythonModel:
    def initialize(self, args):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        path = Path(args["model_repository"]) / args["model_version"] / "model.onnx"
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def found(self, encoded):
        picture = Image.open(io.BytesIO(encoded)).convert("L")
        pixels = np.asarray(picture)
        ink = (255 - pixels).astype(np.float32)[None, None] / 255
        heat, place = self.session.run(["heat", "place"], {"ink": ink})
        boxes = boxes_of(heat[0], place[0], *pixels.shape)
        return glyphs_in(picture, pixels, boxes), boxes

    def execute(self, requests):
        responses = []
        for request in requests:
            glyphs, boxes = self.found(triton.get_input_tensor_by_name(request, "page").as_numpy())
            responses.append(triton.InferenceResponse([triton.Tensor("glyphs", glyphs), triton.Tensor("boxes", boxes)]))
        return responses
