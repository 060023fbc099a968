#!/usr/bin/env python3
"""What a running server shows of its inside: what runs where and why, and what its threads did in a few seconds."""
import collections
import json
import os
import threading
import time
import unittest
from pathlib import Path

import harness
import onnx_file

# The model reads 8 MiB of weights, so batches pay; `long` is too long for a loop, `short` is not.
SOURCE = """
model Wide = onnx("wide.onnx");

workflow Score(seed: i64) -> (first: f32, total: f64) {
  node x = [i < 512] => f32(i * seed % 17) / 17.0;
  node y = Wide(x: x) { batch 32 within 2ms; }
  node first = y[0];
  node total = sum[i < 3000000](f64(i * seed % 7));
  return (first: first, total: total);
}

workflow Add(a: i64, b: i64) -> (sum: i64) {
  node added = a + b;
  return (sum: added);
}

service Scores { workflow Score; workflow Add; }
"""
SCORE, ADD = "/Scores/Score", "/Scores/Add"


def source():
    path = harness.scratch() / "inside.wf"
    (harness.scratch() / "wide.onnx").write_bytes(onnx_file.perceptron(512, 4096))
    path.write_text(SOURCE)
    return path


def load(server, path, bodies, connections=16):
    """Sends all bodies over so many connections at once."""
    held = [server.connect() for _ in range(connections)]
    for at in range(0, len(bodies), connections):
        pairs = list(zip(held, bodies[at:at + connections]))
        for connection, body in pairs:
            connection.send(harness.request("POST", path, json.dumps(body).encode()))
        for connection, _ in pairs:
            reply = connection.receive()
            assert reply.status == 200, reply
    for connection in held:
        connection.close()


def switches(server):
    """How often threads that run models began to wait."""
    told = [(task / "status").read_text() for task in Path(f"/proc/{server.process.pid}/task").iterdir()]
    return sum(int(text.split("voluntary_ctxt_switches:")[1].split()[0]) for text in told if text.startswith("Name:\twf-executor"))


class OneCpu(unittest.TestCase):
    def serve(self, text):
        path = source().with_name(f"{self._testMethodName}.wf")
        path.write_text(text)
        cpus = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(cpus)})
        try:
            server = harness.Server.of(path)
        finally:
            os.sched_setaffinity(0, cpus)
        self.addCleanup(server.stop)
        return server

    def between_turns_us(self, server):
        return server.call("GET", "/debug/schedule?format=json", port="admin").json["between_turns_us"]

    def test_its_loop_runs_short_batches_itself(self):
        server = self.serve(SOURCE.replace(" workflow Add; }", " }").replace(" within 2ms", "").replace("3000000", "3"))
        self.assertEqual(self.between_turns_us(server), 2000)
        load(server, SCORE, [{"seed": n} for n in range(64)])
        until = time.monotonic() + 30
        while (tried := self.rows_without_a_switch(server)) > 16 and time.monotonic() < until:
            pass  # while sizes are measured, the thread runs some
        self.assertLessEqual(tried, 16)

    def rows_without_a_switch(self, server):
        before = switches(server)
        load(server, SCORE, [{"seed": n} for n in range(128)])
        return switches(server) - before

    def test_a_workflow_that_is_quick_keeps_it_free(self):
        self.assertEqual(self.between_turns_us(self.serve(SOURCE)), 0)


class Schedule(harness.ServerCase):
    source = source()

    def report(self, server=None):
        reply = (server or self.server).call("GET", "/debug/schedule?format=json", port="admin")
        self.assertEqual((reply.status, reply.headers["content-type"]), (200, "application/json"))
        return reply.json

    def tasks(self, report):
        """Of each node those that ran last: what it does, and where."""
        return {task["node"]: task for task in report["tasks"] if task["node"]}

    def test_each_task_is_where_it_fits_and_the_report_says_why(self):
        before = self.tasks(self.report())["Add/added"]["runs"]
        load(self.server, ADD, [{"a": n, "b": 2} for n in range(48)])
        load(self.server, SCORE, [{"seed": n} for n in range(64)])
        until = time.monotonic() + 30
        while not {"1", "32"} <= (report := self.report())["batchers"][0]["run_us"].keys() and time.monotonic() < until:
            time.sleep(0.1)  # sizes are measured when there is time
        tasks = self.tasks(report)
        self.assertEqual((report["schedule"], report["inline_task_us"]), ("auto", 100))
        added = tasks["Add/added"]
        self.assertEqual((added["workflow"], added["where"], added["reason"], added["kind"], added["line"]), ("Add", "loop", "fits", "run", 13))
        self.assertEqual(added["runs"]["loop"] - before["loop"], 48)
        self.assertLess(added["estimate_us"], 100)
        total = tasks["Score/total"]
        self.assertEqual(total["where"], "pool", total)
        self.assertIn(total["reason"], ("too_long", "barred"))
        self.assertGreater(total["estimate_us"], 100)
        self.assertEqual(total["runs"]["loop"] + total["runs"]["pool"], 64)
        row = tasks["Score/y"]
        self.assertEqual((row["kind"], row["model"], row["where"], row["runs"]), ("model", "Wide", "batch", {"loop": 0, "pool": 0, "batch": 64}), row)
        self.assertRegex(row["why"], "a batch pays|too long for a loop")
        [batcher] = report["batchers"]
        self.assertEqual((batcher["model"], batcher["version"], batcher["batch"], batcher["rows"], batcher["on_loop"]), ("Wide", 1, 32, 64, False))
        self.assertGreater(batcher["best_rows"], 1)

    def test_the_setting_is_the_reason_where_it_decides(self):
        for schedule, where in (("pool", "pool"), ("inline", "loop")):
            server = harness.Server.of(self.source, "--schedule", schedule)
            load(server, ADD, [{"a": 1, "b": 2}] * 16)
            added = self.tasks(self.report(server))["Add/added"]
            self.assertEqual((added["where"], added["why"], added["runs"][where]), (where, f"schedule={schedule}", 16))
            self.assertEqual(server.stop(), 0)

    def test_what_has_not_run_says_so(self):
        server = harness.Server.of(self.source)
        self.assertEqual({(task["where"], task["why"]) for task in self.report(server)["tasks"]}, {("-", "has not run yet")})
        self.assertEqual(server.stop(), 0)

    def test_for_people_it_is_a_table(self):
        load(self.server, ADD, [{"a": 1, "b": 2}] * 16)
        reply = self.server.call("GET", "/debug/schedule", port="admin")
        self.assertEqual(reply.headers["content-type"], "text/plain; charset=utf-8")
        lines = reply.body.decode().splitlines()
        self.assertEqual(lines[2].split(), ["WHERE", "NODE", "TAKES", "LOOP", "POOL", "BATCH", "WHY"])
        [line] = [line.split() for line in lines if " Add/added " in line]
        self.assertEqual(line[0], "loop")
        self.assertIn("at most 100.0 us", " ".join(line))
        self.assertTrue(any(line.startswith("Wide") for line in lines), lines)
        accepted = self.server.call("GET", "/debug/schedule", headers={"accept": "application/json"}, port="admin")
        self.assertEqual(accepted.json["loops"], self.report()["loops"])

    def test_threads_spin_only_where_each_has_a_cpu(self):
        report = self.report()  # as many threads of the pool, and of the executor, as CPUs
        self.assertEqual((report["pool_threads"], report["executor_threads"]), (report["cpus"], report["cpus"]))
        self.assertEqual((report["spin_us"], report["spin_why"].split()[0]), (0, str(report["loops"] + 2 * report["cpus"])))
        plain = harness.Server.of(harness.EXAMPLES / "hello/hello.wf", "--io-threads", "1", "--compute-threads", "1")
        report = self.report(plain)  # calls no model
        self.assertEqual((report["executor_threads"], report["spin_us"]), (0, 50 if report["cpus"] >= 2 else 0))
        self.assertEqual(plain.stop(), 0)

    def test_the_admin_port_alone_has_it(self):
        self.assertEqual(self.server.call("GET", "/debug/schedule").status, 404)
        self.assertEqual(self.server.call("POST", "/debug/schedule", port="admin").status, 405)


class Trace(harness.ServerCase):
    source = source()
    args = ("--io-threads=2", "--compute-threads=3", "--log-level=debug")

    def record(self, seconds, meanwhile, server=None):
        """The recording of so many seconds, during which `meanwhile` runs from its begin to its end."""
        found = {}

        def ask():
            found["reply"] = (server or self.server).call("GET", f"/debug/trace?seconds={seconds}", port="admin")

        asker = threading.Thread(target=ask)
        begun = time.monotonic()
        asker.start()
        time.sleep(0.3)  # so that it has begun
        meanwhile()
        self.assertLess(time.monotonic() - begun, seconds, "the load took longer than the recording: nothing can be said of it")
        asker.join()
        self.assertEqual((found["reply"].status, found["reply"].headers["content-type"]), (200, "application/json"), found["reply"])
        return found["reply"].json

    def assert_nests(self, events):
        """On each lane any two slices lie apart, or one within the other; times are of the recording. Answers the lanes."""
        lanes = collections.defaultdict(list)
        for event in events:
            lanes[event["pid"], event["tid"]].append((round(event["ts"] * 1000), -round(event["dur"] * 1000), event))
        for lane, slices in lanes.items():
            open_ends = []
            for begin, minus, event in sorted(slices, key=lambda at: at[:2]):
                self.assertGreaterEqual(begin, 0)
                self.assertLessEqual(minus, 0)
                while open_ends and open_ends[-1] <= begin:
                    open_ends.pop()
                if open_ends:
                    self.assertLessEqual(begin - minus, open_ends[-1], (lane, event))
                open_ends.append(begin - minus)
        return lanes

    @harness.timed
    def test_under_load_every_request_task_row_and_batch_is_there_once_and_lanes_nest(self):
        adds, scores, connections = 400, 320, 16

        def both():
            threads = [threading.Thread(target=load, args=(self.server, path, bodies, connections))
                       for path, bodies in ((ADD, [{"a": n, "b": 1} for n in range(adds)]), (SCORE, [{"seed": n} for n in range(scores)]))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        load(self.server, SCORE, [{"seed": n} for n in range(32)])
        trace = self.record(12, both)
        self.assertEqual(trace["otherData"], {"dropped": 0})
        events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        self.assertEqual({event["ph"] for event in trace["traceEvents"]}, {"X", "M"})
        lanes = self.assert_nests(events)
        names = {(event["pid"], event["tid"]): event["args"]["name"] for event in trace["traceEvents"] if event.get("name") == "thread_name"}
        self.assertEqual(set(names), set(lanes), "a lane without a name, or a name without a lane")
        found = collections.Counter((event["cat"], event["name"]) for event in events)
        for what, name, count in (("request", "Add", adds), ("request", "Score", scores), ("serve", "Add", adds), ("serve", "Score", scores), ("write", "Add", adds),
                                  ("write", "Score", scores), ("task", "Add/added", adds), ("task", "Score/x", scores), ("task", "Score/first", scores),
                                  ("task", "Score/total", scores), ("wait", "Score/y", scores)):
            self.assertEqual(found[what, name], count, (what, name, found))
        batches = [event for event in events if event["cat"] == "batch"]
        self.assertEqual(sum(event["args"]["rows"] for event in batches), scores)
        self.assertGreater(max(event["args"]["rows"] for event in batches), 1, "nothing was batched")
        self.assertLessEqual({event["args"]["closed"] for event in batches}, {"full", "delay", "idle"})
        self.assertEqual([found[part, "Wide"] for part in ("gather", "run", "scatter")], [len(batches)] * 3)
        self.assert_parts_are_of_their_request(events)
        threads = {name.rsplit(" ", 1)[0] for (process, _), name in names.items() if process == 1}
        self.assertLessEqual({"wf-loop", "wf-pool", "wf-executor"}, threads)

    def assert_parts_are_of_their_request(self, events):
        """What carries the id of a request lies within it."""
        requests = {event["args"]["data_id"]: event for event in events if event["cat"] == "request"}
        self.assertEqual(len(requests), sum(event["cat"] == "request" for event in events), "an id came twice")
        for event in events:
            if event["cat"] not in ("task", "wait"):
                continue
            request = requests[event["args"]["data_id"]]
            self.assertEqual(event["name"].split("/")[0], request["name"])
            self.assertGreaterEqual(event["ts"], request["ts"])
            self.assertLessEqual(event["ts"], request["ts"] + request["dur"])

    def test_one_at_a_time_and_a_client_that_leaves_ends_it(self):
        left = self.server.connect(port="admin")
        left.send(harness.request("GET", "/debug/trace?seconds=60"))
        until = time.monotonic() + 10
        while (second := self.server.call("GET", "/debug/trace?seconds=1", port="admin")).status == 200 and time.monotonic() < until:
            pass
        self.assertEqual(second.status, 409)
        self.assertIn("one at a time", second.error["message"])
        self.assertEqual(self.server.call("GET", "/metrics", port="admin").status, 200)
        left.close()
        while (third := self.server.call("GET", "/debug/trace", port="admin")).status == 409 and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual((third.status, [event for event in third.json["traceEvents"] if event["ph"] == "X"]), (200, []))

    def test_seconds_are_bounded(self):
        for seconds in ("0", "61", "-1", "1.5", "", "x", "99999999999"):
            reply = self.server.call("GET", f"/debug/trace?seconds={seconds}", port="admin")
            self.assertEqual(reply.status, 400, seconds)
            self.assertIn("from 1 to 60", reply.error["message"])

    def test_a_query_says_one_thing(self):
        for query, message in (("trace?seconds=1&seconds=2", "given twice: `seconds`"), ("trace?second=2", "unknown parameter `second`"),
                               ("trace?seconds", "from 1 to 60"), ("schedule?format=xml", "`format` is `json` or `text`"),
                               ("schedule?format=json&format=text", "given twice: `format`"), ("schedule?json", "unknown parameter `json`")):
            reply = self.server.call("GET", "/debug/" + query, port="admin")
            self.assertEqual((reply.status, reply.error["code"]), (400, 5000), query)
            self.assertIn(message, reply.error["message"])

    def test_a_server_ends_while_one_is_under_way(self):
        server = harness.Server.of(self.source)
        connection = server.connect(port="admin")
        connection.send(harness.request("GET", "/debug/trace?seconds=60"))
        load(server, ADD, [{"a": 1, "b": 2}] * 64)
        self.assertEqual(server.stop(), 0)
        connection.close()


if __name__ == "__main__":
    harness.main()
