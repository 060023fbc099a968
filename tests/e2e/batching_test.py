#!/usr/bin/env python3
"""Requests of different connections share runs of the model, and each gets its own answer."""
import json
import signal
import unittest

import harness
import onnx_file

CONNECTIONS = 64
ROUNDS = 20
LEAST_MEAN = 4

# A run of one row reads 8 MiB of weights and so costs nearly what a run of 32 does: batches pay on every machine.
SOURCE = """
model Wide = onnx("wide.onnx");

workflow Score(seed: i64) -> (mean: f32, first: f32) {
  let x = [i < 512] => f32(i * seed % 17) / 17.0;
  node y = Wide(x: x) { batch 32 within 2ms; }
  let total = sum[i](y[i]);
  return (mean: total / 512.0, first: y[0]);
}

workflow Crowded(seed: i64) -> (first: f32) {
  let x = [i < 512] => f32(i * seed % 17) / 17.0;
  node y = Wide(x: x) { batch 1; queue 1; }
  return (first: y[0]);
}

workflow ScoreAll(seeds: list<i64>) -> (firsts: list<f32>) {
  node firsts = for seed in seeds { Score(seed).first };
  return (firsts: firsts);
}

service Scores { workflow Score; workflow ScoreAll; workflow Crowded; }
"""


def source():
    path = harness.scratch() / "wide.wf"
    (harness.scratch() / "wide.onnx").write_bytes(onnx_file.perceptron(512, 2048))
    path.write_text(SOURCE)
    return path


class Batching(harness.ServerCase):
    source = source()
    args = ("--schedule=pool",)

    @harness.timed
    def test_64_connections_fill_batches_and_keep_their_own_answers(self):
        self.server.tried_rows()
        requests = [harness.request("POST", "/Scores/Score", json.dumps({"seed": seed}).encode()) for seed in range(CONNECTIONS)]
        with self.server.connect() as connection:
            alone = []
            for data in requests:
                connection.send(data)
                alone.append(connection.receive().json)
        self.assertGreater(len({answer["mean"] for answer in alone}), 10, "the answers hardly differ")
        rows, runs = (self.server.metric_sum("wf_batch_size" + part) for part in ("_sum", "_count"))
        connections = [self.server.connect() for _ in range(CONNECTIONS)]
        for _ in range(ROUNDS):
            for connection, data in zip(connections, requests):
                connection.send(data)
            for connection, expected in zip(connections, alone):
                answer = connection.receive().json
                for name, value in expected.items():  # runs of different sizes may differ in last bits
                    self.assertAlmostEqual(answer[name], value, places=3)
        for connection in connections:
            connection.close()
        rows = self.server.metric_sum("wf_batch_size_sum") - rows
        runs = self.server.metric_sum("wf_batch_size_count") - runs
        print(f"batching: {rows:.0f} rows in {runs:.0f} runs, mean {rows / runs:.1f}")
        self.assertEqual(rows, CONNECTIONS * ROUNDS)
        self.assertGreater(rows / runs, LEAST_MEAN)

    @harness.timed
    def test_who_meets_a_full_queue_is_told_when_to_come_back(self):
        connections = [self.server.connect() for _ in range(CONNECTIONS)]
        for seed, connection in enumerate(connections):
            connection.send(harness.request("POST", "/Scores/Crowded", json.dumps({"seed": seed}).encode()))
        refused = 0
        for connection in connections:
            with connection:
                reply = connection.receive()
            if reply.status != 200:
                self.assertEqual((reply.status, reply.error["code"], reply.headers.get("retry-after")), (429, 3010, "1"), reply)
                refused += 1
        self.assertGreater(refused, 0)
        self.assertLess(refused, CONNECTIONS)

    @harness.timed
    def test_elements_of_one_loop_share_runs_and_keep_their_order(self):
        self.server.tried_rows()
        seeds = list(range(CONNECTIONS))
        alone = [self.server.post("/Scores/Score", {"seed": seed}).json["first"] for seed in seeds]
        rows, runs = (self.server.metric_sum("wf_batch_size" + part) for part in ("_sum", "_count"))
        firsts = self.server.post("/Scores/ScoreAll", {"seeds": seeds}).json["firsts"]
        rows = self.server.metric_sum("wf_batch_size_sum") - rows
        runs = self.server.metric_sum("wf_batch_size_count") - runs
        for found, expected in zip(firsts, alone, strict=True):
            self.assertAlmostEqual(found, expected, places=3)
        self.assertEqual(rows, len(seeds))
        self.assertGreater(rows / runs, LEAST_MEAN)


ONE = """
model Chain = onnx("chain.onnx");

workflow Run(x: f32) -> (y: f32) {
  let row: f32[128] = [k] => x;
  node y = Chain(row);
  return (y: y[0]);
}

service Scores { workflow Run; }
"""


class OneSampleACall(unittest.TestCase):
    """A model whose file fixes its samples to 1, and which takes microseconds: its queue holds 8 rows, and nobody is refused for it."""
    @harness.timed  # a model that a busy machine slows down is measured as too slow for the loop
    def test_64_connections_at_once_are_answered(self):
        (harness.scratch() / "chain.onnx").write_bytes(onnx_file.chain(128, 4))
        source = harness.scratch() / "chain.wf"
        source.write_text(ONE)
        server = harness.Server.of(source, "--io-threads=1")
        self.addCleanup(server.stop)
        data = harness.request("POST", "/Scores/Run", b'{"x": 0.5}')
        connections = [server.connect() for _ in range(CONNECTIONS)]
        for _ in range(ROUNDS):  # the first of them as soon as the server listens
            server.process.send_signal(signal.SIGSTOP)  # so that all of them come in one turn of the loop
            for connection in connections:
                connection.send(data)
            server.process.send_signal(signal.SIGCONT)
            replies = [connection.receive() for connection in connections]
            self.assertEqual({reply.status for reply in replies}, {200}, next((reply for reply in replies if reply.status != 200), None))
        for connection in connections:
            connection.close()
        self.assertEqual(server.metric_sum("wf_refused_total"), 0)
        self.assertEqual(server.stop(), 0)


if __name__ == "__main__":
    harness.main()
