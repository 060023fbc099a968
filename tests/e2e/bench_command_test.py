"""wfc bench: loads of real servers, what it reports, and what it refuses."""
import json
import os
import signal
import subprocess
import time
import unittest

import harness
from harness import EXAMPLES, Server, wfc

HELLO = EXAMPLES / "hello/hello.wf"


def report(*args, check=True):
    done = wfc("bench", "--format=json", "--warm-up", "0", *args, check=check)
    return json.loads(done.stdout)


class OfAServer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server.of(HELLO)
        cls.address = "{}:{}".format(*cls.server.addresses["http"])

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def test_counts_what_the_server_counts(self):
        before = self.server.metrics().get('wf_requests_total{service="Hello",workflow="Greet",protocol="plain",code="0"}', 0)
        seen = report("--duration", "1", "--connections", "4", "--data", '{"name":"Ada"}', f"http://{self.address}/Hello/Greet")
        after = self.server.metrics()['wf_requests_total{service="Hello",workflow="Greet",protocol="plain",code="0"}']
        self.assertEqual(seen["answered"], after - before)
        self.assertEqual(seen["statuses"], {"200": seen["answered"]})
        self.assertGreater(seen["answered"], 100)
        self.assertEqual([seen[name] for name in ("lost", "timed_out", "refused", "not_sent")], [0, 0, 0, 0])
        latency = seen["latency_seconds"]
        self.assertTrue(0 < latency["p50"] <= latency["p90"] <= latency["p99"] <= latency["p999"] <= latency["max"], latency)

    def test_keeps_a_rate_and_asks_the_server_for_its_times(self):
        admin = "{}:{}".format(*self.server.addresses["admin"])
        seen = report("--duration", "1", "--rate", "200", "--data", '{"xs":[1,2]}', "--admin", admin, f"{self.address}/Hello/Spread")
        self.assertAlmostEqual(seen["answered"] + seen["not_sent"], 200, delta=2)
        self.assertEqual(seen["rate"], 200)
        self.assertGreater(seen["server"]["request_seconds"], 0)
        self.assertLess(seen["server"]["request_seconds"], seen["latency_seconds"]["max"])

    def test_fields_of_ours_are_replaced(self):
        seen = report("--duration", "0.2", "--warm-up", "0", "--data", '{"xs":[1,2]}', "--header", "Host: other", "--header", "content-type: application/json", f"{self.address}/Hello/Spread")
        self.assertEqual(list(seen["statuses"]), ["200"])

    def test_a_graph_shows_what_the_server_took(self):
        for name in ("Greet", "Spread"):
            self.assertEqual(self.server.post(f"/Hello/{name}", {"xs": [1, 2]} if name == "Spread" else {}).status, 200)
        admin = "http://{}:{}".format(*self.server.addresses["admin"])
        calls = self.server.metrics()['wf_request_duration_seconds_count{service="Hello",workflow="Spread",protocol="plain"}']
        graph = json.loads(wfc("graph", "--format=json", "--from", admin, HELLO).stdout)
        spread = next(one for one in graph["workflows"] if one["name"] == "Spread")
        self.assertEqual([(one["what"], one["count"]) for one in spread["measured"]], [("request", calls)])
        for form in ("text", "dot", "mermaid", "svg"):
            self.assertRegex(wfc("graph", f"--format={form}", "--from", admin, HELLO).stdout, "(request|compute|stage) [0-9.]+ [mun]?s x [0-9]+")
        other = wfc("graph", "--from", admin, EXAMPLES / "fallback/fallback.wf", check=False)
        self.assertEqual((other.returncode, other.stderr), (1, f"wfc: the server at {admin} is of another program\n"))

    def test_a_graph_shows_what_nodes_of_a_called_workflow_took(self):
        program = harness.scratch() / "called.wf"
        program.write_text("workflow Inner(n: i64) -> (y: f64) {\n  node y = sum[k < n](1.0 / f64(k + 1));\n  return (y: y);\n}\n\n"
                           "workflow Outer(n: i64) -> (y: f64) {\n  node b = Inner(n: n);\n  return (y: b.y);\n}\n\nservice S {\n  workflow Outer;\n}\n")
        server = Server.of(program)
        self.addCleanup(server.kill)
        self.assertEqual(server.post("/S/Outer", {"n": 1_000_000}).status, 200)
        graph = json.loads(wfc("graph", "--format=json", "--from", "{}:{}".format(*server.addresses["admin"]), program).stdout)
        nodes = {node["path"]: node for flow in graph["workflows"] for stage in flow["stages"] for node in stage["nodes"]}
        self.assertEqual([one["what"] for one in nodes["Outer/b/Inner/y"].get("measured", [])], ["compute"], graph)

    def test_says_what_was_wrong(self):
        done = wfc("bench", "--warm-up", "0", "--duration", "1", "--data", '{"nom":1}', f"{self.address}/Hello/Greet", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"400 +\d+ answers")
        self.assertIn('"InputParams"', done.stdout)

    def test_an_interrupt_ends_the_measurement_with_a_report(self):
        bench = subprocess.Popen([harness.WFC, "bench", "--warm-up", "0", "--duration", "60", "--data", "{}", f"{self.address}/Hello/Greet"],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(1.5)
        os.kill(bench.pid, signal.SIGINT)
        out, err = bench.communicate(timeout=30)
        self.assertEqual((bench.returncode, err), (0, ""))
        self.assertIn("answered", out)


class OfAProgram(unittest.TestCase):
    def test_builds_and_serves_it_and_shows_its_nodes(self):
        seen = report("--duration", "1", "--workflow", "Spread", HELLO)
        self.assertEqual(set(seen["statuses"]), {"200"})
        self.assertGreater(seen["answered"], 100)
        self.assertTrue(seen["url"].endswith("/Hello/Spread"))

    def test_shows_the_times_of_models_and_their_batches(self):
        pngs = sorted((EXAMPLES / "digits").rglob("*.png"))
        seen = report("--duration", "1", "--data", f"@{pngs[0]}", EXAMPLES / "digits/digits.wf")
        self.assertGreater(seen["answered"], 20, seen)
        self.assertTrue(any(node["compute_seconds"] > 0 for node in seen["server"]["nodes"]), seen)

    def test_needs_to_know_which_workflow(self):
        done = wfc("bench", HELLO, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("`--workflow` must name one of Hello/Greet, Hello/Spread", done.stderr)


class Refusals(unittest.TestCase):
    def refused(self, *args):
        done = wfc("bench", *args, check=False)
        self.assertEqual(done.stdout, "")
        return done.returncode, done.stderr

    def test_what_is_no_server(self):
        with harness.socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
            status, text = self.refused("--warm-up", "0", f"127.0.0.1:{port}")
        self.assertEqual((status, text), (1, f"wfc: cannot connect to 127.0.0.1:{port}: connection refused\n"))
        self.assertEqual(self.refused("https://127.0.0.1/"), (1, "wfc: `https://127.0.0.1/` is no URL of a server: `https` is not spoken here; http:// is\n"))
        self.assertEqual(self.refused("--data", "@nowhere.json", "127.0.0.1:9"), (1, "wfc: cannot read `nowhere.json`: no such file\n"))

    def test_what_is_no_admin_address(self):
        with harness.socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
            status, text = self.refused("--warm-up", "0", "--admin", f"127.0.0.1:{port}", "127.0.0.1:9")
        self.assertEqual((status, text), (1, f"wfc: no metrics of a server at 127.0.0.1:{port}, where its admin address is wanted: connection refused\n"))

    def test_lengths_are_those_of_the_body(self):
        for field in ("Content-Length: 5", "transfer-encoding: chunked"):
            status, text = self.refused("--header", field, "127.0.0.1:9")
            self.assertEqual((status, text), (2, f"wfc: `--header` gives `{field.split(':')[0].lower()}`, which the body of `--data` says\n"))

    def test_a_server_on_a_unix_socket(self):
        status, text = self.refused("--workflow", "Greet", HELLO, "--", "--listen", f"unix:{harness.scratch()}/s")
        self.assertEqual((status, text.split(" on ")[0], text.split("`")[-2]), (2, "wfc: the server listens", "listen"))

    def test_what_is_no_option(self):
        for args in (["--rate", "0"], ["--connections", "0"], ["--duration", "-1"], ["--header", "no colon"], ["--header", "a: b\r\nc: d"]):
            status, text = self.refused(*args, "127.0.0.1:9")
            self.assertEqual(status, 2, text)


if __name__ == "__main__":
    unittest.main()
