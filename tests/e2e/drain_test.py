#!/usr/bin/env python3
"""SIGTERM: not ready at once, what is in flight is finished, exit 0."""
import json
import signal
import time
import unittest

import harness
import onnx_file

HELLO = harness.EXAMPLES / "hello/hello.wf"


class Drain(unittest.TestCase):
    def setUp(self):
        self.server = harness.Server.of(HELLO)
        self.addCleanup(self.server.kill)

    def ready(self):
        try:
            return self.server.call("GET", "/readyz", port="admin").status == 200
        except (OSError, EOFError):
            return False

    def test_a_request_in_flight_is_answered_and_the_server_ends_well(self):
        data = harness.request("POST", "/Hello/Greet", b'{"name": "Ada"}')
        idle = self.server.connect()
        idle.call("POST", "/Hello/Greet", b"{}")
        with self.server.connect() as busy:
            busy.send(data[:-5])
            time.sleep(0.2)  # the headers have arrived: admitted
            self.server.process.send_signal(signal.SIGTERM)
            until = time.monotonic() + 5
            while self.ready() and time.monotonic() < until:
                time.sleep(0.01)
            self.assertFalse(self.ready())
            self.assertIsNone(self.server.process.poll())
            busy.send(data[-5:])
            reply = busy.receive()
            self.assertEqual(reply.json, {"text": "hello, Ada"})
            self.assertEqual(reply.headers.get("connection", "").lower(), "close")
        self.assertTrue(idle.closed_within(10))
        self.assertEqual(self.server.process.wait(15), 0, self.server.output())

    def test_what_is_sent_to_a_draining_server_is_answered(self):
        """On a connection that is kept alive, whose client cannot know yet: what comes while the server stands still is there when its time is over."""
        data = harness.request("POST", "/Hello/Greet", b'{"name": "Ada"}')
        kept = [self.server.connect() for _ in range(20)]
        for connection in kept:
            connection.call("POST", "/Hello/Greet", b"{}")
        self.server.process.send_signal(signal.SIGTERM)
        while self.ready():
            pass
        self.server.process.send_signal(signal.SIGSTOP)
        for connection in kept:
            connection.send(data)
        time.sleep(0.5)
        self.server.process.send_signal(signal.SIGCONT)
        for connection in kept:
            reply = connection.receive()
            self.assertEqual((reply.json, reply.headers.get("connection")), ({"text": "hello, Ada"}, "close"))
            connection.send(data)  # it is read no more, and breaks nothing
            self.assertEqual(connection.socket.recv(1), b"")
            connection.close()
        self.assertEqual(self.server.process.wait(15), 0, self.server.output())

    def test_an_idle_connection_is_ended_not_reset(self):
        with self.server.connect() as idle:
            idle.call("POST", "/Hello/Greet", b"{}")
            self.server.process.send_signal(signal.SIGTERM)
            self.assertEqual(idle.socket.recv(1), b"")
            idle.send(harness.request("POST", "/Hello/Greet", b"{}"))  # crosses the end
            self.assertEqual(idle.socket.recv(1), b"")
        self.assertEqual(self.server.process.wait(15), 0, self.server.output())

    def test_idle_connections_do_not_hold_it(self):
        idle = [self.server.connect() for _ in range(20)]
        for connection in idle[:10]:
            connection.call("POST", "/Hello/Greet", b"{}")
        started = time.monotonic()
        self.assertEqual(self.server.stop(15), 0, self.server.output())
        self.assertLess(time.monotonic() - started, 10)

    def test_a_recording_is_answered_with_what_it_has(self):
        with self.server.connect(port="admin") as admin:
            admin.send(harness.request("GET", "/debug/trace?seconds=60"))
            time.sleep(0.2)
            self.assertEqual(self.server.post("/Hello/Greet", {"name": "Ada"}).status, 200)
            self.server.process.send_signal(signal.SIGTERM)
            reply = admin.receive()
            self.assertEqual(reply.status, 200)
            self.assertIn('"cat":"request"', reply.body.decode())
            json.loads(reply.body)
        self.assertEqual(self.server.process.wait(15), 0, self.server.output())

    def test_a_second_signal_stops_at_once(self):
        with self.server.connect() as busy:
            busy.send(b"POST /Hello/Greet HTTP/1.1\r\nhost: t\r\ncontent-length: 100\r\n\r\n")
            time.sleep(0.2)
            self.server.process.send_signal(signal.SIGTERM)
            time.sleep(0.2)
            self.assertIsNone(self.server.process.poll())
            self.server.process.send_signal(signal.SIGTERM)
            self.assertEqual(self.server.process.wait(5), 0, self.server.output())
            self.assertIn("stopped by a second signal", self.server.output())
            self.assertTrue(busy.closed_within(5))

    def test_a_signal_that_comes_twice_is_one(self):
        """As GNU timeout sends it: to the server, and to its group."""
        data = harness.request("POST", "/Hello/Greet", b'{"name": "Ada"}')
        with self.server.connect() as busy:
            busy.send(data[:-5])
            time.sleep(0.2)
            self.server.process.send_signal(signal.SIGTERM)
            time.sleep(0.005)  # two that come at once may be one to the process
            self.server.process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
            busy.send(data[-5:])
            self.assertEqual(busy.receive().json, {"text": "hello, Ada"})
        self.assertEqual(self.server.process.wait(15), 0, self.server.output())
        self.assertNotIn("second signal", self.server.output())

    def test_the_limit_of_the_drain(self):
        server = harness.Server.of(HELLO, "--drain-seconds", "1")
        self.addCleanup(server.kill)
        with server.connect() as busy:
            busy.send(b"POST /Hello/Greet HTTP/1.1\r\nhost: t\r\ncontent-length: 100\r\n\r\n" + b"x" * 50)
            time.sleep(0.2)
            server.process.send_signal(signal.SIGTERM)
            reply = busy.receive()
            self.assertEqual((reply.status, reply.error["code"], reply.headers.get("connection")), (503, 3001, "close"), reply)
            self.assertEqual(server.stop(10), 0, server.output())


class RowsThatWaitForCompany(unittest.TestCase):
    def test_they_run_at_once(self):
        folder = harness.scratch() / "company"
        folder.mkdir()
        (folder / "wide.onnx").write_bytes(onnx_file.perceptron(64, 2048))
        (folder / "company.wf").write_text('''model Wide = onnx("wide.onnx");
workflow Score(seed: f32) -> (first: f32) {
  let x = [i < 64] => seed;
  node y = Wide(x: x) { batch 16 within 10s; }
  return (first: y[0]);
}
service Company { workflow Score; }
''')
        server = harness.Server.of(folder / "company.wf", "--schedule=pool", "--drain-seconds", "15")
        self.addCleanup(server.kill)
        with server.connect() as waiting:
            waiting.send(harness.request("POST", "/Company/Score", b'{"seed": 0.5}'))
            until = time.monotonic() + 10
            while server.metric_sum("wf_queue_depth") == 0 and time.monotonic() < until:
                time.sleep(0.01)
            self.assertEqual(server.metric_sum("wf_queue_depth"), 1)
            started = time.monotonic()
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual(waiting.receive().status, 200)
            self.assertLess(time.monotonic() - started, 5)
        self.assertEqual(server.stop(10), 0, server.output())


class WorkThatNobodyWaitsFor(unittest.TestCase):
    def test_it_does_not_hold_the_drain(self):
        folder = harness.scratch() / "chain"
        folder.mkdir()
        (folder / "chain.onnx").write_bytes(onnx_file.squares(400))
        (folder / "chain.wf").write_text('''model Chain(x: f32[a, a]) -> (y: f32[a, a]) = onnx("chain.onnx");
workflow Long(n: i64) -> (first: f32) {
  let x = [i < n, j < n] => 0.0;
  node y = Chain(x: x);
  return (first: y[0, 0]);
}
service Work { workflow Long; }
''')
        server = harness.Server(harness.compiled(folder / "chain.wf"), "--model-root", folder, "--schedule=pool", "--drain-seconds", "60")
        self.addCleanup(server.kill)
        server.wait_ready()
        self.assertEqual(server.post("/Work/Long", {"n": 4}).json, {"first": 0})
        with server.connect() as leaves:
            leaves.send(harness.request("POST", "/Work/Long", b'{"n": 2500}'))
            self.assertEqual(server.settled("wf_inflight_requests", 1), 1)
            time.sleep(0.5)
        self.assertEqual(server.settled("wf_abandoned_inflight", 1), 1)
        started = time.monotonic()
        self.assertEqual(server.stop(30), 0, server.output())
        self.assertLess(time.monotonic() - started, 15)
        self.assertIn("nobody waits for the work", server.output())


class WhileItStarts(unittest.TestCase):
    """Signals that come while models load: of a hundred versions, so that it takes a while."""
    @classmethod
    def setUpClass(cls):
        folder = harness.scratch() / "slow"
        for version in range(1, 101):
            (folder / f"wide/{version}").mkdir(parents=True)
            (folder / f"wide/{version}/model.onnx").symlink_to(folder / "model.onnx")
        (folder / "model.onnx").write_bytes(onnx_file.perceptron(64, 1024))
        cls.source = folder / "slow.wf"
        cls.source.write_text('model Wide = onnx("wide") { versions all; }\nservice S { model Wide; }\n')
        harness.compiled(cls.source)

    def start(self):
        server = harness.Server(harness.compiled(self.source), "--model-root", self.source.parent, "--drain-seconds", "1")
        self.addCleanup(server.kill)
        caught = 1 << (signal.SIGABRT - 1)  # by the handler of crashes: the program has begun
        until = time.monotonic() + 10
        while time.monotonic() < until:
            with open(f"/proc/{server.process.pid}/status", encoding="utf-8") as status:
                if int(next(line for line in status if line.startswith("SigCgt:")).split()[1], 16) & caught:
                    break
        return server

    def test_a_reload_does_no_harm(self):
        server = self.start()
        signals = 0
        while "listening" not in server.output() and server.process.poll() is None:
            server.process.send_signal(signal.SIGHUP)
            signals += 1
            time.sleep(0.02)
        server.wait_ready()
        self.assertGreater(signals, 0, "it was too quick")
        self.assertTrue(server.logs("the configuration was read again"), server.output())
        self.assertEqual(server.call("GET", "/readyz").status, 200)
        self.assertEqual(server.stop(), 0, server.output())

    def test_it_ends_at_once(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            server = self.start()
            server.process.send_signal(number)
            self.assertEqual(server.process.wait(10), 0, server.output())
            self.assertNotIn("listening", server.output())


if __name__ == "__main__":
    harness.main()
