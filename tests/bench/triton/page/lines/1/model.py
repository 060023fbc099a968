"""What was read, in lines from top to bottom and from left to right; `?` is what no digit is likely for."""
import numpy as np
import triton_python_backend_utils as triton

SURE = 0.5


def text_of(scores, boxes):
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    digits = shares.argmax(axis=1)
    letters = [str(digit) if share[digit] >= SURE else "?" for digit, share in zip(digits, shares)]
    lines, above = [], None
    middles = boxes[:, 0] + boxes[:, 2] / 2
    for at in np.argsort(middles, kind="stable"):
        if above is None or middles[at] - above > boxes[at, 2] / 2:
            lines.append([])
        lines[-1].append(at)
        above = middles[at]
    return "\n".join("".join(letters[at] for at in sorted(line, key=lambda at: boxes[at, 1])) for line in lines)


class TritonPythonModel:
    def execute(self, requests):
        responses = []
        for request in requests:
            scores, boxes = (triton.get_input_tensor_by_name(request, name).as_numpy() for name in ("scores", "boxes"))
            responses.append(triton.InferenceResponse([triton.Tensor("text", np.array([text_of(scores, boxes).encode()], np.object_))]))
        return responses
