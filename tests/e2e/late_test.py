#!/usr/bin/env python3
"""A request that would be late for those before it is refused at once; nobody is refused whose turn may come in time."""
import json
import select
import time

import harness
import onnx_file

SOURCE = """
model Wide = onnx("wide.onnx");

fn grind(n: i64) -> f64 = sum[i < n](exp(-f64(i)) * cos(f64(i)));

// By its guess 400 s, as if each element took the branch; without any that does some milliseconds.
fn rare(n: i64, m: i64) -> f64 = sum[i < n](if i % 100000 == m { sum[j < n](1.0 / f64(j + 1)) } else { 0.0 });

workflow Rare(n: i64, m: i64) -> (y: f64) { node y = rare(n, m); return (y: y); }
workflow Grind(n: i64) -> (y: f64) { node y = grind(n); return (y: y); }
workflow Score(seed: i64) -> (mean: f32) {
  let x = [i < 512] => f32(i * seed % 17) / 17.0;
  node y = Wide(x: x) { batch 1; queue 1024; }
  return (mean: (sum[i](y[i])) / 512.0);
}
workflow Either(seed: i64) -> (mean: f32) {
  let x = [i < 512] => f32(i * seed % 17) / 17.0;
  node y = Wide(x: x) { batch 1; queue 1024; } else x;
  return (mean: (sum[i](y[i])) / 512.0);
}
service Late { workflow Rare; workflow Grind; workflow Score; workflow Either; }
"""
REASON = "the deadline would pass while the request waits for others"
BURST = 100
LEARNED = 40
METRIC = 'wf_refused_total{reason="deadline"}'
TURNS = 20  # of a burst, those that have the time
HIDDEN = 8192  # a run takes far longer than a client to send a request, so that they wait for one another


def source():
    path = harness.scratch() / "late.wf"
    (harness.scratch() / "wide.onnx").write_bytes(onnx_file.perceptron(512, HIDDEN))
    path.write_text(SOURCE)
    return path


class Late(harness.ServerCase):
    source = source()
    args = ("--io-threads", "1", "--compute-threads", "1", "--schedule", "pool")

    def seconds_of(self, path, body):
        """What each of many at once takes: others may have the CPU meanwhile, and have it in the tests, too."""
        began = time.perf_counter()
        self.assertEqual(self.burst(self.server, path, body, LEARNED)[0], {200: LEARNED})
        return (time.perf_counter() - began) / LEARNED

    def burst(self, server, path, body, count=BURST):
        """Of so many requests at once: by status how many, and what the refused ones were told, and how soon."""
        connections = [server.connect() for _ in range(count)]
        data, statuses, refused = harness.request("POST", path, body), {}, []
        began = time.perf_counter()
        for connection in connections:
            connection.send(data)
        open_ones = {connection.socket: connection for connection in connections}
        while open_ones:
            for ready in select.select(list(open_ones), [], [], 30)[0]:
                reply = open_ones.pop(ready).receive()
                statuses[reply.status] = statuses.get(reply.status, 0) + 1
                if reply.status == 429:
                    refused.append((reply, time.perf_counter() - began))
        for connection in connections:
            connection.close()
        return statuses, refused

    def limited(self, seconds, path, body):
        """A server whose requests have that long, and which has learned what they take."""
        server = harness.Server.of(self.source, *self.args, "--default-timeout", f"{int(seconds * 1000)}ms")
        self.addCleanup(server.kill)
        for _ in range(3):
            self.burst(server, path, body, LEARNED)
        return server

    @harness.timed
    def refuses_what_would_be_late(self, path, body):
        limit = TURNS * self.seconds_of(path, body)
        server = self.limited(limit, path, body)
        refused_before = server.metrics()[METRIC]
        statuses, refused = self.burst(server, path, body)
        print(f"{path}: {limit * 1e3:.0f} ms: {statuses}")
        self.assertEqual(set(statuses) - {200, 429, 504}, set())
        self.assertGreaterEqual(statuses[200], TURNS // 4)
        self.assertGreaterEqual(len(refused), BURST // 4)  # all of them would have waited, and ended with 504
        self.assertLess(statuses.get(504, 0), BURST // 2)
        for reply, _ in refused:
            self.assertEqual((reply.error["code"], reply.error["message"]), (3010, REASON), reply)
            self.assertGreaterEqual(int(reply.headers["retry-after"]), 1)
        soon = sorted(seconds for _, seconds in refused)[len(refused) // 2]
        self.assertLess(soon, max(limit / 2, 0.05))  # what one client takes for a hundred answers
        self.assertEqual(server.settled("wf_inflight_requests"), 0)
        self.assertEqual(server.metrics()[METRIC] - refused_before, len(refused))
        self.assertEqual(server.call("POST", path, body).status, 200)
        return server

    def grinding(self, seconds=0.005):
        """The body of a request that takes at least so long."""
        n = 1000
        while self.seconds_of("/Late/Grind", json.dumps({"n": n}).encode()) < seconds:
            n *= 2
        return json.dumps({"n": n}).encode()

    def test_in_the_pool(self):
        self.refuses_what_would_be_late("/Late/Grind", self.grinding())

    def test_in_the_queue_of_a_model_but_not_where_something_else_may_do(self):
        server = self.refuses_what_would_be_late("/Late/Score", b'{"seed": 3}')
        statuses, _ = self.burst(server, "/Late/Either", b'{"seed": 3}')
        self.assertEqual(set(statuses) - {200, 504}, set())
        self.assertGreater(statuses[200], BURST // 2)  # by their fallback

    @harness.timed
    def test_who_has_less_time_goes_first_and_is_not_refused(self):
        body = self.grinding()
        seconds = self.seconds_of("/Late/Grind", body)
        connections = [self.server.connect() for _ in range(BURST)]
        for connection in connections:
            connection.send(harness.request("POST", "/Late/Grind", body))
        value = json.loads(body)["n"]
        asked = {"inputs": [{"name": "n", "datatype": "INT64", "shape": [1], "data": [value]}], "parameters": {"timeout": int(20e6 * seconds)}}
        reply = self.server.post("/v2/models/Grind/infer", asked)
        self.assertEqual(reply.status, 200, reply)
        self.assertGreater(self.server.metric_sum("wf_inflight_requests"), 10)  # it has overtaken them
        for connection in connections:
            with connection:
                self.assertEqual(connection.receive().status, 200)

    def rare(self, server):
        report = server.call("GET", "/debug/schedule?format=json", port="admin").json
        return next(task for task in report["tasks"] if task["node"] == "Rare/y")

    def test_nobody_is_refused_for_what_was_guessed_and_not_measured(self):
        body = b'{"n": 1000000, "m": -1}'
        server = harness.Server.of(self.source, *self.args[:-2])  # placed by what it takes
        self.addCleanup(server.kill)
        for _ in range(3):  # the first on a fresh server, the others where it has been measured
            self.assertEqual(self.burst(server, "/Late/Rare", body, 20)[0], {200: 20})
        self.assertLess(self.rare(server)["estimate_us"], 5e6)
        for _ in range(10):  # microseconds, but it might have met the branch
            self.assertEqual(server.post("/Late/Rare", {"n": 2000, "m": -1}).status, 200)
        task = self.rare(server)
        self.assertEqual((task["where"], task["reason"]), ("pool", "too_long"), task)
        self.assertLess(task["estimate_us"], 100)
        self.assertIn("for other inputs perhaps more than the 100.0 us of a loop", task["why"])

    @harness.timed
    def test_what_is_refused_for_long_is_told_to_come_back_later(self):
        body = self.grinding(0.02)
        seconds = self.seconds_of("/Late/Grind", body)
        limit = max(2.4, 120 * seconds)
        server = self.limited(limit, "/Late/Grind", body)
        statuses, refused = self.burst(server, "/Late/Grind", body, int(1.8 * limit / seconds))
        print(f"{limit * 1e3:.0f} ms: {statuses}")
        self.assertGreaterEqual(max([int(reply.headers["retry-after"]) for reply, _ in refused], default=0), 2)


if __name__ == "__main__":
    harness.main()
