#!/usr/bin/env python3
"""Models that take and give sequences: a written signature says how many tensors they have."""
import json
import unittest

import harness
import onnx_file
from onnx_file import model, node, sequence_info, value_info

SOURCE = """
model Joined(a as "x[0]": f32[3], b as "x[1]": f32[2]) -> (y: f32[5]) = onnx("joined.onnx");
model Parts(x: f32[4]) -> (first as "y[0]": f32[3], second as "y[1]": f32[1]) = onnx("parts.onnx");

workflow Join(a: f32[3], b: f32[2]) -> (y: f32[5]) { node y = Joined(a, b); return (y: y); }
workflow Split(x: f32[4]) -> (first: f32[3], second: f32[1]) { node parts = Parts(x); return (first: parts.first, second: parts.second); }
service Sequences { workflow Join; workflow Split; }
"""


def source():
    folder = harness.scratch()
    joined = model([node("ConcatFromSequence", ["x"], ["y"], "join", axis=0)], [], [sequence_info("x")], [value_info("y", ("n",))])
    parts = model([node("SplitToSequence", ["x", "sizes"], ["y"], "split")], [onnx_file.integers("sizes", [3, 1])],
                  [value_info("x", (4,))], [sequence_info("y")])
    (folder / "joined.onnx").write_bytes(joined)
    (folder / "parts.onnx").write_bytes(parts)
    path = folder / "sequences.wf"
    path.write_text(SOURCE)
    return path


class Sequences(harness.ServerCase):
    source = source()

    def call(self, workflow, **body):
        with self.server.connect() as connection:
            connection.send(harness.request("POST", f"/Sequences/{workflow}", json.dumps(body).encode()))
            return connection.receive().json

    def test_each_tensor_is_an_input_or_an_output(self):
        self.assertEqual(self.call("Join", a=[1, 2, 3], b=[4, 5]), {"y": [1, 2, 3, 4, 5]})
        self.assertEqual(self.call("Split", x=[1, 2, 3, 4]), {"first": [1, 2, 3], "second": [4]})

    def test_the_plan_has_the_file_of_a_model_that_takes_one(self):
        for model in json.loads(harness.wfc("plan", "--format=json", self.source).stdout)["models"]:
            self.assertEqual([version["version"] for version in model["versions"]], [1], model)
            self.assertFalse(model.get("missing"), model)

    def test_how_many_there_are_has_to_be_said(self):
        path = self.source.with_name("unsaid.wf")
        path.write_text('model Joined = onnx("joined.onnx");\nworkflow W() -> (y: i64) { return (y: 1); }\nservice S { workflow W; }\n')
        done = harness.wfc("check", path, check=False)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("input `x` is a sequence, and how many tensors it has is not said", done.stderr)


if __name__ == "__main__":
    unittest.main()
