#!/usr/bin/env python3
"""What a model needs for an extent that the request decides counts in what the request and the server may take: one that needs more is refused
before the model runs, the others go on."""
import json
import threading
import time

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
            self.assert_error(answer, 429, 3012, "model `Filters`: a run for these extents takes ")
            self.assertNotIn("retry-after", answer.headers)
        middle = self.level(100_000)
        self.assertEqual(middle.status, 200, middle)


class InBatches(Scheduled, harness.ServerCase):
    args = ("--schedule=pool", "--limits-memory-bytes=64MiB")


class OnTheLoop(Scheduled, harness.ServerCase):
    args = ("--schedule=inline", "--limits-memory-bytes=64MiB")


class ByTheRequestsOwnShare(harness.ServerCase):
    """A few KB whose product is larger than a request's 256 MiB."""
    @classmethod
    def setUpClass(cls):
        folder = harness.scratch() / "product"
        folder.mkdir()
        (folder / "product.onnx").write_bytes(model([node("MatMul", ["p", "q"], ["y"], "product")], [],
                                                    [value_info("p", ("a", "b")), value_info("q", ("b", "c"))], [value_info("y", ("a", "c"))]))
        cls.source = folder / "product.wf"
        cls.source.write_text('model Product = onnx("product.onnx");\nservice Algebra { model Product; }\n')
        super().setUpClass()

    def product(self, size):
        return self.server.call("POST", "/Algebra/Product", json.dumps({"p": [[1]] * size, "q": [[1] * size]}).encode())

    def test_it_is_refused_before_the_model_runs(self):
        self.assertEqual(self.product(3).json, {"y": [[1] * 3] * 3})
        resident = self.server.metric_sum("process_resident_memory_bytes")
        for size in (9_000, 20_000):
            started = time.monotonic()
            answer = self.product(size)
            self.assert_error(answer, 429, 3012, "model `Product`: a run for these extents takes ", " that the request may have")
            self.assertNotIn("retry-after", answer.headers)
            self.assertLess(time.monotonic() - started, 3, size)
        self.assertLess(self.server.metric_sum("process_resident_memory_bytes") - resident, 200 << 20)
        self.assertTrue(self.server.logs("a request failed", "3012"), self.server.output())
        self.assertEqual(self.product(3).status, 200)


if __name__ == "__main__":
    harness.main()
