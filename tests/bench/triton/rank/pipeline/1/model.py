"""What visitors want most: a script that calls the network, since an ensemble has no other way where that fails."""
from pathlib import Path

import numpy as np
import triton_python_backend_utils as triton
import xxhash

CANDIDATES, BUCKETS, CROSSES = 100, 10_000, 10


def sparse_of(words, kinds):
    """Classes of a visitor, of each of these items, and of both together."""
    own = [xxhash.xxh64_intdigest(word) for word in words]
    names = [[str(kind).encode() for kind in row] for row in kinds[:, :2].tolist()]
    both = [[xxhash.xxh64_intdigest(of_item[j // len(words)], own[j % len(words)]) % BUCKETS for j in range(CROSSES)] for of_item in names]
    return np.concatenate([np.tile([each % BUCKETS for each in own], (len(kinds), 1)), kinds, both], axis=1).astype(np.int64)


def called(dense, sparse):
    inputs = [triton.Tensor("dense", dense), triton.Tensor("sparse", sparse)]
    response = triton.InferenceRequest(model_name="wide_deep", requested_output_names=["chances"], inputs=inputs).exec()
    if response.has_error():
        raise triton.TritonModelException(response.error().message())
    return triton.get_output_tensor_by_name(response, "chances").as_numpy()[:, 0]


class TritonPythonModel:
    def initialize(self, args):
        folder = Path(args["model_repository"]) / args["model_version"]
        self.items, self.kinds = (np.load(folder / f"{name}.npy") for name in ("items", "kinds"))
        self.measures = np.log1p(np.load(folder / "measures.npy"))

    def nearest(self, tastes):
        """Items and likenesses, nearest first, for each taste."""
        likenesses = (tastes / np.linalg.norm(tastes, axis=1, keepdims=True)) @ self.items.T
        found = np.argpartition(likenesses, -CANDIDATES, axis=1)[:, -CANDIDATES:]
        order = np.argsort(-np.take_along_axis(likenesses, found, axis=1), axis=1)
        found = np.take_along_axis(found, order, axis=1)
        return found, np.take_along_axis(likenesses, found, axis=1)

    def execute(self, requests):
        tastes, habits, visitors, counts = ([triton.get_input_tensor_by_name(request, name).as_numpy()[0] for request in requests]
                                            for name in ("taste", "habits", "visitor", "count"))
        found, likenesses = self.nearest(np.stack(tastes))
        dense = [np.concatenate([np.tile(habit, (CANDIDATES, 1)), likeness[:, None], self.measures[items]], axis=1)
                 for habit, likeness, items in zip(habits, likenesses, found)]
        sparse = [sparse_of(words, self.kinds[items]) for words, items in zip(visitors, found)]
        try:
            scores, by = called(np.concatenate(dense), np.concatenate(sparse)).reshape(likenesses.shape), "network"
        except triton.TritonModelException as error:
            scores, by = likenesses, f"likeness, for {error}"
        responses = []
        for items, likeness, score, [count] in zip(found, likenesses, scores, counts):
            best = np.argsort(-score, kind="stable")[:count]
            outputs = {"item": items[best], "score": score[best], "likeness": likeness[best], "by": np.array([by.encode()], np.object_)}
            responses.append(triton.InferenceResponse([triton.Tensor(name, value[None]) for name, value in outputs.items()]))
        return responses
