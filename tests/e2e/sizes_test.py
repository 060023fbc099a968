#!/usr/bin/env python3
"""Where a model's file leaves extents open, what was learned of inputs of one size is not believed of others."""
import json

import harness
import onnx_file

SMALL, LARGE, BURST = 16, 1600, 32
SOURCE = """
model Attention = onnx("attention.onnx");

workflow Attend(n: i64) -> (mean: f32) {
  let x = [i < n, j < 8] => f32((i * 3 + j) % 17) / 17.0;
  node y = Attention(x: x) { batch 32; }
  return (mean: sum[i, j](y[i, j]) / f32(8 * n));
}
service Sizes { workflow Attend; }
"""


def source():
    path = harness.scratch() / "sizes.wf"
    nodes = [onnx_file.node("Transpose", ["x"], ["t"], "turn", perm=[0, 2, 1]), onnx_file.node("MatMul", ["x", "t"], ["s"], "scores"),
             onnx_file.node("Softmax", ["s"], ["p"], "soft"), onnx_file.node("MatMul", ["p", "x"], ["y"], "mix")]
    shape = ("N", "S", 8)
    (harness.scratch() / "attention.onnx").write_bytes(
        onnx_file.model(nodes, [], [onnx_file.value_info("x", shape)], [onnx_file.value_info("y", shape)]))
    path.write_text(SOURCE)
    return path


class Sizes(harness.ServerCase):
    source = source()
    args = ("--io-threads", "1", "--compute-threads", "1")

    def burst(self, n, count=BURST):
        connections = [self.server.connect() for _ in range(count)]
        for connection in connections:
            connection.send(harness.request("POST", "/Sizes/Attend", json.dumps({"n": n}).encode()))
        for connection in connections:
            with connection:
                self.assertEqual(connection.receive().status, 200)

    def runs_above(self, rows):
        """How many runs had more rows."""
        metrics = self.server.metrics()
        whole = next(value for key, value in metrics.items() if key.startswith("wf_batch_size_count"))
        return whole - next(value for key, value in metrics.items() if key.startswith("wf_batch_size_bucket") and f'le="{rows}"' in key)

    def batcher(self):
        return self.server.call("GET", "/debug/schedule?format=json", port="admin").json["batchers"][0]

    def test_a_burst_of_large_inputs_begins_with_short_runs_whatever_small_ones_have_taught(self):
        self.server.tried_rows()
        for _ in range(20):
            self.burst(SMALL)
        self.assertNotIn("sizes", self.batcher(), "one size alone")
        long_runs = self.runs_above(16)
        self.burst(LARGE)
        self.assertEqual(self.runs_above(16), long_runs, "32 rows in a run would hold all of them up for seconds")

        report = self.batcher()
        small, large = report["sizes"]
        self.assertEqual((small["elements"], large["elements"]), (128, 8192))
        self.assertGreater(large["run_us"]["1"], small["run_us"]["1"])
        self.assertEqual((report["best_rows"], report["run_us"]), (large["best_rows"], large["run_us"]), "of what ran last")
        times = {key for key in self.server.metrics() if key.startswith("wf_batch_run_seconds") and 'rows="1"' in key}
        self.assertEqual({size for size in (128, 8192) if any(f'elements="{size}"' in key for key in times)}, {128, 8192})
        table = self.server.call("GET", "/debug/schedule", port="admin").body.decode()
        self.assertRegex(table, "from 128 elements a row 1: .*; from 8192 elements a row 1: ")


if __name__ == "__main__":
    harness.main()
