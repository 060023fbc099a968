"""Whether wines are of the grapes on their labels: a script that calls the models, since which of them is asked depends on what the first one says."""
import json
from pathlib import Path

import numpy as np
import triton_python_backend_utils as triton

GRAPES = [b"Barolo", b"Grignolino", b"Barbera"]
SURE = np.float32(0.95)
ALCOHOL, COLOUR, HUE = 0, 9, 10


def called(model, features):
    request = triton.InferenceRequest(model_name=model, requested_output_names=["probabilities"], inputs=[triton.Tensor("features", features)])
    response = request.exec()
    if response.has_error():
        raise triton.TritonModelException(response.error().message())
    return triton.get_output_tensor_by_name(response, "probabilities").as_numpy()


def response_of(probability, by):
    return triton.InferenceResponse([triton.Tensor("genuine", np.array([[probability >= 0.5]])), triton.Tensor("probability", np.array([[probability]], np.float32)),
                                     triton.Tensor("by", np.array([[by.encode()]], np.object_))])


class TritonPythonModel:
    def initialize(self, args):
        path = Path(args["model_repository"]) / args["model_version"] / "cheap.json"
        scale = json.loads(path.read_text())
        self.mean, self.deviation = (np.array(scale[name], np.float32) for name in ("mean", "deviation"))

    def quick(self, wines):
        features = np.stack([wines[:, ALCOHOL], np.log1p(wines[:, COLOUR]), wines[:, HUE]], axis=1)
        return (features - self.mean) / self.deviation

    def execute(self, requests):
        wines = np.concatenate([triton.get_input_tensor_by_name(request, "wine").as_numpy() for request in requests])
        grapes = [GRAPES.index(triton.get_input_tensor_by_name(request, "label").as_numpy()[0, 0]) for request in requests]
        probabilities = called("cheap", self.quick(wines))[np.arange(len(wines)), grapes]
        by = ["cheap"] * len(wines)
        doubtful = np.flatnonzero((probabilities < SURE) & (probabilities > 1 - SURE))
        if len(doubtful) > 0:
            try:
                probabilities[doubtful] = called("exact", wines[doubtful])[np.arange(len(doubtful)), np.array(grapes)[doubtful]]
                said = "exact"
            except triton.TritonModelException as error:
                said = f"cheap, for {error}"
            for at in doubtful:
                by[at] = said
        return [response_of(*each) for each in zip(probabilities, by)]
