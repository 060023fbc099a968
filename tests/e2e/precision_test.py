#!/usr/bin/env python3
"""`precision bf16`: answers are near those of f32, nodes of one model may differ, and a machine without the instructions says so and computes in f32."""
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import harness
from onnx_file import initializer, model, node, value_info, weights

WIDTH = 96
SOURCE = """package near;
model Layers = onnx("layers.onnx") { batch 4; }
workflow Look(x: f32[96]) -> (exact: f32[96], near: f32[96]) {
  node exact = Layers(x);
  node near = Layers(x) { precision bf16; }
  return (exact: exact, near: near);
}
service Near { workflow Look; }
"""


def layers():
    """f32[n, 96] -> the same: two products with a Relu between them."""
    nodes = [node("Gemm", ["x", "a"], ["h"], "first"), node("Relu", ["h"], ["r"], "relu"), node("Gemm", ["r", "b"], ["y"], "second")]
    return model(nodes, [initializer(name, (WIDTH, WIDTH), weights(WIDTH * WIDTH, seed)) for seed, name in enumerate("ab")],
                 [value_info("x", ("n", WIDTH))], [value_info("y", ("n", WIDTH))])


class Precision(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "layers.onnx").write_bytes(layers())
        self.source = self.folder / "near.wf"
        self.source.write_text(SOURCE)
        self.x = [(i * 37 % 101) / 64 - 0.7 for i in range(WIDTH)]

    def answers(self, *flags, **more):
        server = harness.Server.of(self.source, *flags, **more)
        reply = server.call("POST", "/Near/Look", json.dumps({"x": self.x}).encode())
        self.assertEqual(server.stop(), 0, server.output())
        self.assertEqual(reply.status, 200, reply)
        return reply.json, server

    def test_answers_are_near_those_of_f32(self):
        told = harness.wfc("model", "run", "--random=1", "--precision=bf16", self.folder / "layers.onnx", check=False)
        is_here = told.returncode == 0
        for schedule in ("inline", "pool"):
            with self.subTest(schedule=schedule):
                found, server = self.answers(f"--schedule={schedule}")
                largest = max(map(abs, found["exact"]))
                far = max(abs(a - b) for a, b in zip(found["exact"], found["near"], strict=True))
                self.assertLess(far, 0.02 * largest)
                self.assertEqual(far > 0, is_here)
                self.assertEqual(bool(server.logs("no instructions for bf16")), not is_here)

    def test_a_machine_without_the_instructions_computes_in_f32_and_says_so(self):
        os.environ["ONEDNN_MAX_CPU_ISA"] = "AVX2"
        self.addCleanup(os.environ.pop, "ONEDNN_MAX_CPU_ISA")
        found, server = self.answers()
        self.assertEqual(found["exact"], found["near"])
        self.assertTrue(server.logs("no instructions for bf16", "Layers"), server.output())
        told = harness.wfc("model", "bench", "--seconds=0.01", "--precision=bf16", self.folder / "layers.onnx", check=False)
        self.assertEqual((told.returncode, told.stderr), (1, "wfc: this machine has no instructions for bf16 (avx512_bf16, AMX)\n"))

    def test_auto_takes_what_is_faster_and_near_and_says_why(self):
        self.source.write_text(SOURCE.replace("precision bf16", "precision auto"))
        found, server = self.answers()
        told = harness.wfc("model", "bench", "--seconds=0.01", "--precision=auto", self.folder / "layers.onnx", check=False)
        self.assertEqual(told.returncode, 0, told.stderr)
        if "no instructions" in told.stderr:
            self.assertEqual(found["exact"], found["near"])
            self.assertFalse(server.logs("the precision of a model is chosen"), server.output())
            return
        self.assertRegex(told.stderr, r"^wfc: (bf16|f32): bf16 is [0-9.]+ times as fast, and its results are off by [0-9.e-]+ of them\n$")
        for precision, is_near in (("f32", False), ("bf16", True)):  # which of them is faster, noise may decide
            if server.logs("the precision of a model is chosen", "Layers", f'"precision":"{precision}"', "times as fast"):
                self.assertEqual(found["exact"] != found["near"], is_near)
                return
        self.fail(server.output())

    def test_auto_is_f32_on_a_machine_without_the_instructions(self):
        os.environ["ONEDNN_MAX_CPU_ISA"] = "AVX2"
        self.addCleanup(os.environ.pop, "ONEDNN_MAX_CPU_ISA")
        self.source.write_text(SOURCE.replace("precision bf16", "precision auto"))
        found, _ = self.answers()
        self.assertEqual(found["exact"], found["near"])
        told = harness.wfc("model", "bench", "--seconds=0.01", "--precision=auto", self.folder / "layers.onnx")
        self.assertEqual(told.stderr, "wfc: f32: this machine has no instructions for bf16\n")

    def test_the_plan_shows_two_queues(self):
        told = subprocess.run([harness.WFC, "plan", self.source], capture_output=True, text=True, check=True).stdout
        self.assertIn("precision bf16", told)
        self.assertIn("precision f32", told)


if __name__ == "__main__":
    harness.main()
