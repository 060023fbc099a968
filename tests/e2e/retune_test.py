#!/usr/bin/env python3
"""`nodes:` of the configuration is read again on SIGHUP: what it says holds for requests that begin then, and nothing under way is lost."""
import json
import signal
import threading
import time
from pathlib import Path

import harness
import onnx_file

# A run of one row reads 8 MiB of weights and so costs nearly what a run of 32 does: batches pay on every machine.
SOURCE = """
model Wide = onnx("wide.onnx");

fn grind(n: i64) -> f64 = sum[i < n](exp(-f64(i)) * cos(f64(i)));

workflow Score(seed: i64) -> (mean: f32) {
  let x = [i < 512] => f32(i * seed % 17) / 17.0;
  node y = Wide(x: x) { batch 32 within 2ms; }
  return (mean: (sum[i](y[i])) / 512.0);
}

workflow Grind(n: i64) -> (y: f64) {
  node y = grind(n) { timeout 20s; }
  return (y: y);
}

service Scores { workflow Score; workflow Grind; }
"""
CLIENTS = 12
LONG = 10**12  # of a request that ends only with its client
PLACES = 128  # instances for queues of a model that one node calls


def source():
    path = harness.scratch() / "retune.wf"
    (harness.scratch() / "wide.onnx").write_bytes(onnx_file.perceptron(512, 2048))
    path.write_text(SOURCE)
    return path


class Load:
    """Clients that ask one thing after another, until it is left; every answer is kept by its status, and held against the right one."""
    def __init__(self, server):
        self.server, self.over, self.statuses, self.wrong, self.lock = server, threading.Event(), {}, [], threading.Lock()
        self.expected = [server.post("/Scores/Score", {"seed": seed}).json["mean"] for seed in range(CLIENTS)]
        self.threads = [threading.Thread(target=self.run, args=(seed,)) for seed in range(CLIENTS)]

    def run(self, seed):
        body = json.dumps({"seed": seed}).encode()
        with self.server.connect() as connection:
            while not self.over.is_set():
                reply = connection.call("POST", "/Scores/Score", body)
                right = reply.status != 200 or abs(reply.json["mean"] - self.expected[seed]) < 1e-3
                with self.lock:
                    self.statuses[reply.status] = self.statuses.get(reply.status, 0) + 1
                    if not right or reply.status not in (200, 429):
                        self.wrong.append((seed, reply))

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()


class Retune(harness.ServerCase):
    def setUp(self):
        self.file = harness.scratch() / f"{self._testMethodName}.yml"
        self.file.write_text("")
        self.server = harness.Server.of(PROGRAM, "--config", self.file, "--schedule", "pool", "--compute-threads", "1")
        self.addCleanup(self.server.kill)

    def reload(self, text, result="ok"):
        self.file.write_text(text)
        self.server.reload(result)

    def queues(self):
        page = self.server.call("GET", "/debug/schedule?format=json", port="admin")
        return [{name: row[name] for name in ("batch", "queue", "instances")} for row in page.json["batchers"]]

    def assert_queues(self, *expected):
        """They are these, once those of earlier configurations are gone."""
        until = time.monotonic() + 10
        while (now := self.queues()) != list(expected) and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual(now, list(expected))

    def batches(self):
        """Rows and runs so far, of one look."""
        metrics = self.server.metrics()
        return [sum(value for name, value in metrics.items() if name.startswith("wf_batch_size" + part + "{")) for part in ("_sum", "_count")]

    def sizes(self, seconds):
        """The mean rows of the batches of a while."""
        before = self.batches()
        time.sleep(seconds)
        rows, runs = (now - then for now, then in zip(self.batches(), before))
        return rows / runs

    def test_batches_change_under_load_and_nothing_is_lost(self):
        with Load(self.server) as load:
            for i in range(8):
                self.reload(f"nodes: {{{NODE}: {{batch: {2 + i % 4}}}}}\n")
            self.reload(f"nodes: {{{NODE}: {{batch: 1, queue: 100}}}}\n")
            self.assert_queues({"batch": 1, "queue": 100, "instances": 1})
            self.assertEqual(self.sizes(0.5), 1)
            self.reload(f"nodes: {{{NODE}: {{batch: 32, within: 5ms, instances: 2}}}}\n")
            self.assert_queues({"batch": 32, "queue": 256, "instances": 2})
            self.assertGreater(self.sizes(0.5), 2)
            self.reload("")
            self.assert_queues({"batch": 32, "queue": 256, "instances": 1})
        self.assertEqual(load.wrong, [], [(reply.status, seed, load.expected[seed], reply.body) for seed, reply in load.wrong])
        self.assertEqual(set(load.statuses), {200})
        self.assertEqual(self.server.settled("wf_batch_size_sum", load.statuses[200] + CLIENTS), load.statuses[200] + CLIENTS)  # also of queues that are gone
        self.assertEqual(self.server.settled("wf_inflight_requests"), 0)
        self.assertEqual(self.server.stop(), 0, self.server.output())

    @harness.timed
    def test_the_bound_of_a_queue_changes_under_load(self):
        with Load(self.server) as load:
            self.reload(f"nodes: {{{NODE}: {{batch: 1, queue: 1}}}}\n")
            until = time.monotonic() + 10
            while 429 not in load.statuses and time.monotonic() < until:
                time.sleep(0.01)
            self.reload(f"nodes: {{{NODE}: {{batch: 1, queue: 64}}}}\n")
            self.assert_queues({"batch": 1, "queue": 64, "instances": 1})
            refused, answered = load.statuses.get(429, 0), load.statuses[200]
            time.sleep(0.5)
            self.assertGreater(refused, 0)
            self.assertEqual(load.statuses.get(429, 0), refused)
            self.assertGreater(load.statuses[200], answered)
        self.assertEqual(load.wrong, [])

    def test_a_timeout_holds_for_what_begins_afterwards(self):
        n = 1000
        while True:  # until one takes a quarter of a second
            began = time.monotonic()
            self.assertEqual(self.server.post("/Scores/Grind", {"n": n}).status, 200)
            if time.monotonic() - began > 0.25:
                break
            n *= 2
        request = harness.request("POST", "/Scores/Grind", json.dumps({"n": n}).encode())
        with self.server.connect() as connection:
            connection.send(request)
            self.assertEqual(self.server.settled("wf_inflight_requests", 1), 1)
            self.reload("nodes: {Grind/y: {timeout: 5ms}}\n")
            reply = self.server.post("/Scores/Grind", {"n": 8 * n})
            self.assertEqual((reply.status, reply.error["code"], reply.error["path"]), (504, 6000, "Grind/y"), reply)
            self.assertEqual(connection.receive().status, 200)
        self.reload("")
        self.assertEqual(self.server.post("/Scores/Grind", {"n": n}).status, 200)

    def test_the_report_names_the_nodes_of_each_queue(self):
        with self.server.connect() as connection:
            connection.send(harness.request("POST", "/Scores/Grind", json.dumps({"n": LONG}).encode()))  # holds the first configuration
            self.assertEqual(self.server.settled("wf_inflight_requests", 1), 1)
            self.reload(f"nodes: {{{NODE}: {{batch: 7}}}}\n")
            page = self.server.call("GET", "/debug/schedule?format=json", port="admin").json
            self.assertEqual([(row["batch"], row["nodes"]) for row in page["batchers"]], [(32, []), (7, [NODE])])
            table = self.server.call("GET", "/debug/schedule", port="admin").body.decode()
            self.assertEqual([NODE in line.split() for line in table.splitlines() if line.startswith("Wide")], [False, True], table)

    def settings_of(self, path):
        graph = json.loads(harness.wfc("graph", "--format=json", "--from", "{}:{}".format(*self.server.addresses["admin"]), harness.scratch() / "retune.wf").stdout)
        [node] = [node for flow in graph["workflows"] for stage in flow["stages"] for node in stage["nodes"] if node["path"] == path]
        return {name: node["settings"][name] for name in ("batch", "queue", "instances", "priority", "timeout") if name in node["settings"]}

    def test_the_metrics_and_the_graph_tell_what_is_in_force(self):
        built = {"batch": "32 within 2ms", "queue": "256", "instances": "1", "priority": "normal"}
        self.assertEqual(self.settings_of(NODE), built)
        self.assertFalse([name for name in self.server.metrics() if name.startswith("wf_node_setting")])
        self.reload(f"nodes: {{{NODE}: {{batch: 8, within: 500us, priority: low}}, Grind/y: {{timeout: 1500ms}}}}\n")
        self.assertEqual(self.settings_of(NODE), {"batch": "8 within 500us", "queue": "64", "instances": "1", "priority": "low"})
        self.assertEqual(self.settings_of("Grind/y"), {"timeout": "1.5s"})
        metrics = self.server.metrics()
        self.assertEqual({name.split('setting="')[1][:-2]: value for name, value in metrics.items() if name.startswith("wf_node_setting") and "Grind" not in name},
                         {"batch": 8, "within": 0.0005, "queue": 64, "instances": 1, "threads": 1, "priority": 2})
        self.reload("")
        self.assertEqual(self.settings_of(NODE), built)

    def team(self):
        """Threads that help with runs."""
        return sum(name.read_text().strip() == "wf-team" for name in Path(f"/proc/{self.server.process.pid}/task").glob("*/comm"))

    def assert_team(self, threads):
        """So many work at a run of the queue's instance; that of measurements may still have those of before."""
        wanted, until = range(threads - 1, threads + 2), time.monotonic() + 60
        while (team := self.team()) not in wanted and time.monotonic() < until:
            time.sleep(0.02)
        self.assertIn(team, wanted)

    def test_threads_change_under_load_and_nothing_is_lost(self):
        self.server.stop()
        self.server = harness.Server.of(PROGRAM, "--config", self.file, "--schedule", "pool", "--compute-threads", "3")
        self.addCleanup(self.server.kill)
        self.assertEqual(self.team(), 0)
        with Load(self.server) as load:
            for threads in (2, 3, 1, 2):
                self.reload(f"nodes: {{{NODE}: {{threads: {threads}}}}}\n")
                self.assert_team(threads)
                self.assertEqual(self.server.metrics()[f'wf_node_setting{{workflow="Score",node="{NODE}",setting="threads"}}'], threads)
                time.sleep(0.2)
            self.reload(f"nodes: {{{NODE}: {{threads: 64}}}}\n")  # no more than compute_threads
            self.assert_team(3)
        self.assertEqual(load.wrong, [])
        self.assertEqual(set(load.statuses), {200})

    def test_a_file_with_a_mistake_leaves_the_old_one(self):
        self.reload(f"nodes: {{{NODE}: {{batch: 7}}}}\n")
        self.assert_queues({"batch": 7, "queue": 64, "instances": 1})
        for text, words in ((f"nodes: {{{NODE}x: {{batch: 3}}}}\n", "unknown node"), (f"nodes: {{{NODE}: {{batch: 0}}}}\n", "whole number from 1"),
                            (f"nodes: {{{NODE}: {{batch: 3}}, Grind/y: {{batch: 2}}}}\n", "calls no model"), ("nodes: {", "retune")):
            self.reload(text, "error")
            self.assertTrue(self.server.logs('"error"', words if words != "retune" else self.file.name), self.server.output())
            self.assert_queues({"batch": 7, "queue": 64, "instances": 1})
            self.assertEqual(self.server.post("/Scores/Score", {"seed": 1}).status, 200)

    def test_instances_that_earlier_configurations_hold_are_not_given_twice(self):
        held = []
        for i in range(2):  # each holds half of them
            self.reload(f"nodes: {{{NODE}: {{batch: {2 + i}, instances: {63 + i}}}}}\n")
            held.append(self.server.connect())
            held[-1].send(harness.request("POST", "/Scores/Grind", json.dumps({"n": LONG}).encode()))
            self.assertEqual(self.server.settled("wf_inflight_requests", i + 1), i + 1)
        self.reload(f"nodes: {{{NODE}: {{batch: 5, instances: 2}}}}\n", "error")
        self.assertTrue(self.server.logs('"error"', f"the {PLACES} instances that it may have are taken"), self.server.output())
        self.assertEqual(self.server.post("/Scores/Score", {"seed": 1}).status, 200)
        for connection in held:
            connection.close()
        self.assertEqual(self.server.settled("wf_inflight_requests"), 0)
        self.reload(f"nodes: {{{NODE}: {{batch: 5, instances: 2}}}}\n")
        self.assert_queues({"batch": 5, "queue": 64, "instances": 2})
        self.assertEqual(self.server.post("/Scores/Score", {"seed": 1}).status, 200)


NODE = "Score/y"
PROGRAM = source()

if __name__ == "__main__":
    harness.main()
