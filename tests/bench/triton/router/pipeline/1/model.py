"""What digit a picture shows, by the model of its user: a script that calls the models, since an ensemble always calls the same ones."""
import io

import numpy as np
import triton_python_backend_utils as triton
import xxhash
from PIL import Image

SHARE, EXPERIMENT = 20, 1


def arm_of(user):
    return "b" if user and xxhash.xxh64_intdigest(user, EXPERIMENT) % 100 < SHARE else "a"


def resized(picture, side):
    return np.asarray(picture.resize((side, side), Image.Resampling.BILINEAR), np.float32) / 255


def current(pictures):
    logits = called("current", "scores", np.stack([resized(picture, 28)[None] for picture in pictures]))
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def candidate(pictures):
    return called("candidate", "probabilities", np.stack([resized(picture, 8).ravel() for picture in pictures]))


def called(model, output, pixels):
    response = triton.InferenceRequest(model_name=model, requested_output_names=[output], inputs=[triton.Tensor("pixels", pixels)]).exec()
    if response.has_error():
        raise triton.TritonModelException(response.error().message())
    return triton.get_output_tensor_by_name(response, output).as_numpy()


def read(pictures, arm):
    """Scores, and who they are from."""
    if arm == "a":
        return current(pictures), arm
    try:
        return candidate(pictures), arm
    except triton.TritonModelException as error:
        return current(pictures), f"a, for {error}"


class TritonPythonModel:
    def execute(self, requests):
        pictures = [Image.open(io.BytesIO(triton.get_input_tensor_by_name(request, "picture").as_numpy()[0, 0])).convert("L") for request in requests]
        arms = [arm_of(triton.get_input_tensor_by_name(request, "user").as_numpy()[0, 0]) for request in requests]
        responses = [None] * len(requests)
        for arm in set(arms):
            places = [at for at, each in enumerate(arms) if each == arm]
            scores, by = read([pictures[at] for at in places], arm)
            for at, score in zip(places, scores):
                best = score.argmax()
                responses[at] = triton.InferenceResponse([triton.Tensor("digit", np.array([[best]])), triton.Tensor("score", score[None, best:best + 1]),
                                                          triton.Tensor("arm", np.array([[by.encode()]], np.object_))])
        return responses
