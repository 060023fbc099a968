#!/usr/bin/env python3
"""Requests whose row still waits for others when the client leaves, or runs when the server's time to drain is over."""
import gzip
import json
import os
import signal
import socket
import time
from pathlib import Path

import harness

if __name__ == "__main__":
    harness.in_environment()

import onnx_file  # noqa: E402
from http2_client import Client  # noqa: E402

SOURCE = """
model Wide = onnx("narrow.onnx");

workflow Score(seed: i64) -> (first: f32) {
  let x = [i < 64] => f32(i * seed % 17) / 17.0;
  node y = Wide(x: x) { batch 32 within 5s; }
  return (first: y[0]);
}

model Chain(x: f32[a, a]) -> (y: f32[a, a]) = onnx("chain.onnx");

workflow Long(seed: i64) -> (first: f32) {
  let x = [i < 2500, j < 2500] => f32(seed) * 0.0;
  node y = Chain(x: x);
  return (first: y[0, 0]);
}

service Scores { workflow Score; workflow Long; }
"""
ID = "call-" + "i" * 1000


def source(name, text):
    path = harness.scratch() / name
    (harness.scratch() / "narrow.onnx").write_bytes(onnx_file.perceptron(64, 2048))
    (harness.scratch() / "chain.onnx").write_bytes(onnx_file.squares(400))
    path.write_text(text)
    return path


def infer(workflow, call_id):
    body = {"id": call_id, "inputs": [{"name": "seed", "datatype": "INT64", "shape": [], "data": [3]}]}
    return harness.request("POST", f"/v2/models/{workflow}/infer", json.dumps(body).encode())


class Leaving(harness.ServerCase):
    source = source("narrow.wf", SOURCE)
    args = ("--schedule=pool", "--log-access=true", "--drain-seconds=1")

    def wait_for_requests(self, count):
        self.assertEqual(self.server.settled("wf_inflight_requests", count), count)

    def test_all_threads_have_names(self):
        wanted, names = {"wf-loop", "wf-pool", "wf-executor"}, set()
        until = time.monotonic() + 10  # each names itself when it gets to run
        while not wanted <= names and time.monotonic() < until:
            names = {(folder / "comm").read_text().strip() for folder in Path(f"/proc/{self.server.process.pid}/task").iterdir()}
        self.assertLessEqual(wanted, names)

    def test_both_are_told_with_the_id_of_the_call(self):
        with self.server.connect() as connection:
            connection.send(infer("Score", ID))
            self.wait_for_requests(1)
        self.assertTrue(self.server.logs('"status":499', ID[:500]), self.server.output())
        self.wait_for_requests(0)
        with self.server.connect() as connection:
            connection.send(infer("Long", "last-" + ID))
            self.wait_for_requests(1)
            self.server.process.send_signal(signal.SIGTERM)
            reply = connection.receive()
            self.assertEqual((reply.status, reply.json["code"], reply.json["log_id"]), (503, 3001, "last-" + ID), reply)
        self.assertEqual(self.server.process.wait(15), 0, self.server.output())
        self.assertTrue(self.server.logs('"status":503', "last-" + ID[:500]), self.server.output())


class Ended(harness.ServerCase):
    """Connections of HTTP/2 that the server ends linger for 2 s; the row of their call would run after 1 s."""
    args = ("--schedule=pool",)
    MISTAKES = {
        "protocol": lambda client: client.raw("window", 0, 99, bytes([0, 0, 0, 1])),  # of a stream that is idle
        "limit": lambda client: client.raw("ping", 0, 0, b"12345678") * 1100,
    }

    @classmethod
    def setUpClass(cls):
        cls.source = source("ended.wf", SOURCE.replace("within 5s", "within 1s"))
        super().setUpClass()

    def counted(self):
        return {code: sum(value for name, value in self.server.metrics().items() if name.startswith("wf_requests_total{") and f'code="{code}"' in name)
                for code in (0, 3011)}

    def test_their_calls_are_given_up_at_once(self):
        for i, (reason, mistake) in enumerate(self.MISTAKES.items(), 1):
            with self.subTest(reason), Client(self.server) as client:
                client.begin("/Scores/Score", b'{"seed": 3}')
                self.assertEqual(self.server.settled("wf_inflight_requests", 1), 1)
                began = time.monotonic()
                client.socket.sendall(mistake(client))
                self.assertEqual(self.server.settled("wf_inflight_requests"), 0)
                self.assertLess(time.monotonic() - began, 0.9, "it was served to the end")
                client.until_closed()
                self.assertEqual(self.server.metrics()[f'wf_broken_connections_total{{reason="{reason}"}}'], 1)
                self.assertEqual(self.counted(), {0: 0, 3011: i})
                self.assertIn(" ", why := client.goaway.additional_data.decode())
                self.assertTrue(self.server.logs(f'"last_reason":"{why}"'), self.server.output())


class Behind(harness.ServerCase):
    """Who leaves behind so many requests that the server has stopped reading them."""
    args = ("--schedule=pool",)

    @classmethod
    def setUpClass(cls):
        cls.source = harness.scratch() / "behind.wf"
        cls.source.write_text("workflow Spin(n: i64) -> (y: f64) { node y = sum[k < n](f64(k) * 0.5); return (y: y); }\n"
                              "service Behind { workflow Spin; }\n")
        super().setUpClass()

    def test_what_it_waited_for_is_given_up(self):
        behind = harness.request("POST", "/Behind/Spin", b'{"n": 1}')
        ends = {"closed": harness.Connection.close, "reset": harness.Connection.reset, "half-closed": lambda connection: connection.socket.shutdown(socket.SHUT_WR)}
        for how, end in ends.items():
            # More than is read, and but for the reset no more than then waits in the kernel: an end arrives behind what came before it.
            size = 2_000_000 if how == "reset" else 150_000
            with self.subTest(how), self.server.connect() as connection:
                connection.send(harness.request("POST", "/Behind/Spin", b'{"n": %d}' % 2**60))
                self.assertEqual(self.server.settled("wf_inflight_requests", 1), 1)
                connection.send(behind * (size // len(behind)))
                end(connection)
                self.assertEqual(self.server.settled("wf_inflight_requests", seconds=10), 0, "it runs until its deadline, after 30 s")


class Large(harness.ServerCase):
    """Bodies that are unpacked and read by a thread of their own, one after the other."""
    MANY = 20

    @classmethod
    def setUpClass(cls):
        cls.source = harness.scratch() / "large.wf"
        cls.source.write_text("workflow Sum(x: f64[n]) -> (y: f64) { return (y: sum[i](x[i])); }\n"
                              "service Large { workflow Sum; }\n")
        cls.args = ("--io-threads=1", "--compute-threads=1", "--limits-body-bytes=64MiB", "--limits-memory-bytes=4GiB")
        super().setUpClass()

    def used(self):
        """Seconds of the processor."""
        stat = Path(f"/proc/{self.server.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")

    def assert_not_paid_for(self, request):
        before = self.used()
        with self.server.connect() as connection:
            connection.send(request)
            self.assertEqual(connection.receive().status, 200)
        one = self.used() - before
        connections = [self.server.connect() for _ in range(self.MANY)]
        before = self.used()
        for connection in connections:
            connection.send(request)
        until = time.monotonic() + 20
        while self.server.metric_sum("wf_inflight_requests") < self.MANY / 2 and time.monotonic() < until:
            time.sleep(0.01)
        for connection in connections:
            connection.close()
        self.assertEqual(self.server.settled("wf_inflight_requests", seconds=60), 0)
        spent = self.used() - before
        print(f"one {one:.2f} s, {self.MANY} that left {spent:.2f} s")
        self.assertLess(spent, self.MANY * one / 2)

    def test_a_body_that_nobody_waits_for_is_not_read(self):
        body = gzip.compress(b'{"x":[' + b"0.1234567890123," * 3_500_000 + b"0]}", 1)
        self.assert_not_paid_for(harness.request("POST", "/Large/Sum", body, {"content-type": "application/json", "content-encoding": "gzip"}))


if __name__ == "__main__":
    harness.main()
