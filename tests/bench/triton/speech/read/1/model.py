"""The likeliest class of each step, a run of one taken once, as text."""
import numpy as np
import triton_python_backend_utils as triton

WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


class TritonPythonModel:
    def execute(self, requests):
        responses = []
        for request in requests:
            best = triton.get_input_tensor_by_name(request, "scores").as_numpy()[0].argmax(1)
            read = [each - 1 for at, each in enumerate(best) if each != 0 and (at == 0 or best[at - 1] != each)]
            texts = {"digits": "".join(map(str, read)), "words": " ".join(WORDS[each] for each in read)}
            responses.append(triton.InferenceResponse([triton.Tensor(name, np.array([value], object)) for name, value in texts.items()]))
        return responses
