#!/usr/bin/env python3
"""What the Open Inference Protocol tells of queues and runs are parts of the latency of calls that succeeded."""
import json
import time

import harness

harness.in_environment()

import onnx_file
import tritonclient.grpc

# A run takes far longer than a client to send a request, so that calls and samples wait for one another.
SOURCE = """
model Wide = onnx("wide.onnx");

fn x_of(seed: i64) -> f32[512] = [i] => f32(i * seed % 17) / 17.0;

workflow One(seed: i64) -> (first: f32) {
  node y = Wide(x: x_of(seed)) { batch 1; queue 256; }
  return (first: y[0]);
}
workflow At(at: i64) -> (value: f32) {
  node y = Wide(x: x_of(1)) { batch 1; queue 256; }
  return (value: y[at]);
}
workflow Doubled(x: f64[n]) -> (y: f64[n]) { node y: f64[n] = [i] => 2.0 * x[i]; return (y: y); }
workflow Outer(seed: i64) -> (first: f32) { node y = One(seed); return (first: y.first); }
service Parts { workflow One; workflow At; workflow Outer; workflow Doubled; }
"""
CALLS = 16


def source():
    path = harness.scratch() / "parts.wf"
    (harness.scratch() / "wide.onnx").write_bytes(onnx_file.perceptron(512, 4096))
    path.write_text(SOURCE)
    return path


class Statistics(harness.ServerCase):
    source = source()
    args = ("--io-threads", "1", "--schedule", "pool")

    def parts(self, workflow):
        (row,) = self.server.call("GET", f"/v2/models/Parts.{workflow}/stats").json["model_stats"]
        stats = row["inference_stats"]
        counts = {stats[part]["count"] for part in ("success", "queue", "compute_input", "compute_infer", "compute_output")}
        self.assertEqual(len(counts), 1, stats)
        return {part: stats[part]["ns"] for part in ("success", "queue", "compute_input", "compute_infer", "compute_output")}, counts.pop()

    def assert_parts_of_success(self, workflow, calls):
        parts, count = self.parts(workflow)
        print(f"{workflow}: {count} calls, {parts}")
        self.assertEqual(count, calls)
        self.assertGreater(parts["queue"], 0)
        self.assertGreater(parts["compute_infer"], 0)
        self.assertGreater(parts["compute_input"], 0)
        self.assertLessEqual(sum(parts.values()) - parts["success"], parts["success"])
        return parts

    def send(self, workflow, count, body):
        connections = [self.server.connect() for _ in range(count)]
        for connection in connections:
            connection.send(harness.request("POST", f"/Parts/{workflow}", body))
        return connections

    def test_a_workflow_that_calls_another_has_what_its_calls_waited_and_ran(self):
        for connection in self.send("Outer", CALLS, b'{"seed": 1}'):
            with connection:
                self.assertEqual(connection.receive().status, 200)
        parts = self.assert_parts_of_success("Outer", CALLS)
        # The rest is the function's, whose task waits for a thread of the pool like the runs, and is no row of the model.
        self.assertGreater(parts["queue"] + parts["compute_infer"], parts["success"] / 8)

    def test_what_is_read_and_written_is_told_apart_by_the_samples_of_a_call(self):
        for samples, length, calls in ((1, 2, 3), (2, 50_000, 4)):
            body = json.dumps({"inputs": [{"name": "x", "shape": [samples, length], "datatype": "FP64", "data": [0.1] * (samples * length)}]}).encode()
            for _ in range(calls):
                self.assertEqual(self.server.call("POST", "/v2/models/Parts.Doubled/infer", body).status, 200)
        (row,) = self.server.call("GET", "/v2/models/Parts.Doubled/stats").json["model_stats"]
        self.assertEqual((row["inference_count"], row["execution_count"]), (11, 7))
        sizes = row["batch_stats"]
        self.assertEqual([(size["batch_size"], size["compute_infer"]["count"]) for size in sizes], [(1, 3), (2, 4)])
        for part in ("compute_input", "compute_infer", "compute_output"):
            self.assertEqual(sum(size[part]["ns"] for size in sizes), row["inference_stats"][part]["ns"], part)
        self.assertEqual(sizes[0]["compute_output"]["ns"], 0)  # too short to be timed
        for part in ("compute_input", "compute_output"):
            self.assertGreater(sizes[1][part]["ns"], 4 * 500_000, part)  # 100,000 numbers as text
        self.assertLessEqual(sum(row["inference_stats"][part]["ns"] for part in ("queue", "compute_input", "compute_infer", "compute_output")), row["inference_stats"]["success"]["ns"])

    def test_calls_that_fail_are_in_no_part(self):
        self.assertEqual(self.server.post("/Parts/At", {"at": 511}).status, 200)
        parts = self.parts("At")
        for connection in self.send("At", CALLS, b'{"at": 512}'):
            with connection:
                self.assertEqual(connection.receive().error["code"], 7001)
        self.assertEqual(self.parts("At"), parts)

    def test_a_question_that_is_refused_is_no_call_that_failed(self):
        repository = "/v2/repository/models/Parts.Doubled"
        asked = [("POST", repository + "/unload", b""), ("POST", repository + "/load", b'{"parameters": {"config": "{}"}}'),
                 ("POST", "/v2/models/Parts.Doubled/trace/setting", b'{"trace_level": ["TIMESTAMPS"]}'), ("GET", "/Parts/Doubled", b"")]
        self.assertEqual([self.server.call(*each).status for each in asked], [501, 501, 501, 405])
        client = tritonclient.grpc.InferenceServerClient("%s:%d" % self.server.addresses["grpc"])
        self.addCleanup(client.close)
        with self.assertRaisesRegex(tritonclient.grpc.InferenceServerException, "UNIMPLEMENTED"):
            client.unload_model("Parts.Doubled")
        (row,) = self.server.call("GET", "/v2/models/Parts.Doubled/stats").json["model_stats"]
        self.assertEqual(row["inference_stats"]["fail"]["count"], 0)
        counted = {name: value for name, value in self.server.metrics().items() if name.startswith("wf_requests_total") and 'code="0"' not in name}
        self.assertFalse([name for name in counted if 'workflow="Doubled"' in name], counted)
        self.assertEqual(sum(value for name, value in counted.items() if 'workflow="-"' in name), len(asked) + 1, counted)

    def test_of_samples_that_wait_for_one_another_each_moment_counts_once(self):
        began = time.perf_counter_ns()
        body = {"inputs": [{"name": "seed", "shape": [CALLS, 1], "datatype": "INT64", "data": list(range(CALLS))}]}
        reply = self.server.call("POST", "/v2/models/Parts.One/infer", json.dumps(body).encode())
        self.assertEqual(reply.status, 200, reply)
        parts = self.assert_parts_of_success("One", 1)
        self.assertLess(parts["success"], time.perf_counter_ns() - began)


if __name__ == "__main__":
    harness.main()
