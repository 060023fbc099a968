#!/usr/bin/env python3
"""Answers that take long to write: the deadline holds meanwhile, whatever the protocol, and nobody writes on for a client that has left."""
import gzip
import json
import time

import harness

SOURCE = """
workflow Numbers(n: i64) -> (y: f32[n]) { node y = [i < n] => f32(i) * 1.37; return (y: y); }
workflow Copies(text: string, n: i64) -> (texts: list<string>) {
  let places: i64[n] = [i < n] => i;
  node texts = [text for _ in list(places)];
  return (texts: texts);
}
service Slow { workflow Numbers; workflow Copies; }
"""
MANY = {"n": 20_000_000}  # 190 MB of text
COPIES = {"text": "\\u0001" * 100_000, "n": 400}  # a small request, and 240 MB of text
LATE = "the request's deadline has passed"


def source():
    path = harness.scratch() / "slow_answers.wf"
    path.write_text(SOURCE)
    return path


def infer(timeout_us):
    tensor = {"name": "n", "datatype": "INT64", "shape": [], "data": [MANY["n"]]}
    return {"inputs": [tensor], "parameters": {"timeout": timeout_us}}


class SlowAnswers(harness.ServerCase):
    source = source()
    args = ("--io-threads", "1", "--default-timeout", "200ms")

    def assert_at_rest(self):
        """Others are served, and nothing is written on."""
        self.assertEqual(self.server.post("/Slow/Numbers", {"n": 2}).json["y"], [0, 1.37])
        self.assertEqual(self.server.settled("wf_inflight_requests"), 0)

    def test_the_deadline_ends_the_writing(self):
        for path, question in (("/Slow/Numbers", MANY), ("/Slow/Copies", COPIES)):
            began = time.monotonic()
            reply = self.server.post(path, question)
            print(f"{path}: {(time.monotonic() - began) * 1e3:.0f} ms")
            self.assert_error(reply, 504, 6000, LATE)
            self.assert_at_rest()

    def test_it_ends_the_coding_too(self):
        body = json.dumps({"n": 5_000_000}).encode()
        reply = self.server.call("POST", "/Slow/Numbers", body, {"accept-encoding": "gzip"})
        error = json.loads(gzip.decompress(reply.body)) if "content-encoding" in reply.headers else reply.json
        self.assertEqual((reply.status, error["error"]["code"]), (504, 6000))
        self.assert_at_rest()

    def test_a_client_s_own_limit_ends_it(self):
        reply = self.server.post("/v2/models/Numbers/infer", infer(100_000))
        self.assertEqual(reply.status, 503, reply)
        self.assertIn(LATE, reply.json["error"])
        self.assert_at_rest()

    def test_the_connection_serves_on(self):
        with self.server.connect() as connection:
            for _ in range(3):
                self.assertEqual(connection.call("POST", "/Slow/Numbers", json.dumps(MANY).encode()).status, 504)
                self.assertEqual(connection.call("POST", "/Slow/Numbers", b'{"n": 1}').json, {"y": [0]})
        self.assert_at_rest()


class Leaving(harness.ServerCase):
    source = SlowAnswers.source

    def seconds_of_one(self):
        """Till its first bytes come: it is whole by then."""
        with self.server.connect() as connection:
            began = time.monotonic()
            connection.send(harness.request("POST", "/Slow/Numbers", json.dumps(MANY).encode()))
            self.assertIn(b" 200 ", connection.socket.recv(64))
            return time.monotonic() - began

    @harness.timed
    def test_a_client_that_leaves_ends_the_writing(self):
        whole = self.seconds_of_one()
        self.server.settled("wf_inflight_requests")
        connection = self.server.connect()
        connection.send(harness.request("POST", "/Slow/Numbers", json.dumps(MANY).encode()))
        time.sleep(whole / 4)
        connection.reset()
        began = time.monotonic()
        self.assertEqual(self.server.settled("wf_inflight_requests"), 0)
        took = time.monotonic() - began
        print(f"an answer takes {whole:.2f} s to write, and is given up within {took:.2f} s")
        self.assertLess(took, whole / 2)


if __name__ == "__main__":
    harness.main()
