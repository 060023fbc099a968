#!/usr/bin/env python3
"""What a model needs for an extent that the request decides counts in limits.memory_bytes: a request that would need more fails, the others go on."""
import json
import threading

import harness
from onnx_file import initializer, model, node, value_info, weights

FILTERS = 24
SOURCE = """package strips;
model Filters = onnx("filters.onnx") { batch 4 within 2ms; }
workflow Level(x: f32[1, w]) -> (level: f32[24]) {
  node y = Filters(x);
  return (level: y);
}
service Strip { workflow Level; }
"""


def filters():
    """f32[n, 1, w] -> f32[n, FILTERS]: the sum of each filter's answer over the strip, which lies in memory as FILTERS times the input."""
    nodes = [node("Conv", ["x", "k"], ["h"], "conv"), node("Relu", ["h"], ["r"], "relu"), node("GlobalMaxPool", ["r"], ["m"], "pool"),
             node("Flatten", ["m"], ["y"], "flat")]
    return model(nodes, [initializer("k", (FILTERS, 1, 1), weights(FILTERS, 1))], [value_info("x", ("n", 1, "w"))],
                 [value_info("y", ("n", FILTERS))])


def source():
    folder = harness.scratch() / "model_memory"
    if not folder.exists():
        folder.mkdir()
        (folder / "filters.onnx").write_bytes(filters())
        (folder / "strips.wf").write_text(SOURCE)
    return folder / "strips.wf"


def body(width):
    return json.dumps({"x": [[1] * width]}, separators=(",", ":")).encode()


class Scheduled:
    @classmethod
    def setUpClass(cls):
        cls.source = source()
        super().setUpClass()

    def level(self, width):
        return self.server.call("POST", "/Strip/Level", body(width))

    def test_a_run_that_finds_no_memory_fails_alone(self):
        small = self.level(64)
        self.assertEqual(small.status, 200, small)
        large = body(1_000_000)  # 4 MB of input, 96 MB behind the convolution
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(self.server.call("POST", "/Strip/Level", large))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(20):
            self.assertEqual(self.level(64).json, small.json)
        for thread in threads:
            thread.join()
        for answer in answers:
            self.assert_error(answer, 429, 3012, "model `Filters`: no memory for ", " bytes of activations")
        middle = self.level(100_000)
        self.assertEqual(middle.status, 200, middle)


class InBatches(Scheduled, harness.ServerCase):
    args = ("--schedule=pool", "--limits-memory-bytes=64MiB")


class OnTheLoop(Scheduled, harness.ServerCase):
    args = ("--schedule=inline", "--limits-memory-bytes=64MiB")


if __name__ == "__main__":
    harness.main()
