#!/usr/bin/env python3
"""A server without a model: parameters, defaults, tensors, declared errors, the ways to call it and what it says about itself."""
import json
import re
import unittest

import harness


class Hello(harness.ServerCase):
    source = harness.EXAMPLES / "hello/hello.wf"

    def test_a_parameter_and_its_default(self):
        self.assertEqual(self.server.post("/Hello/Greet", {"name": "Ada"}).json, {"text": "hello, Ada"})
        self.assertEqual(self.server.post("/Hello/Greet", {}).json, {"text": "hello, world"})

    def test_text_is_utf8_and_escaped_as_json(self):
        for name in ("Zoë", "日本語", "😀", 'quote " and \\ and \n', "\u0001"):
            self.assertEqual(self.server.post("/Hello/Greet", {"name": name}).json, {"text": f"hello, {name}"})

    def test_a_tensor_of_any_length(self):
        reply = self.server.post("/Hello/Spread", {"xs": [1, 2.5, -0.5]})
        self.assertEqual(reply.json, {"mean": 1, "spread": [0, 1.5, -1.5]})
        many = self.server.post("/Hello/Spread", {"xs": list(range(10_000))}).json
        self.assertAlmostEqual(many["mean"], 4999.5, delta=0.01)
        self.assertEqual(len(many["spread"]), 10_000)

    def test_a_declared_error(self):
        self.assert_error(self.server.post("/Hello/Spread", {"xs": []}), 400, 100001, "no numbers were given")

    def test_keep_alive_and_pipelining(self):
        with self.server.connect() as connection:
            for i in range(100):
                self.assertEqual(connection.call("POST", "/Hello/Greet", b'{"name":"%d"}' % i).json["text"], f"hello, {i}")
            connection.send(b"".join(harness.request("POST", "/Hello/Greet", b'{"name":"%d"}' % i) for i in range(50)))
            for i in range(50):
                self.assertEqual(connection.receive().json["text"], f"hello, {i}")

    def test_a_chunked_body(self):
        with self.server.connect() as connection:
            connection.send(b"POST /Hello/Greet HTTP/1.1\r\nhost: t\r\ntransfer-encoding: chunked\r\n\r\n4\r\n{\"na\r\nb\r\nme\": \"Ada\"}\r\n0\r\n\r\n")
            self.assertEqual(connection.receive().json, {"text": "hello, Ada"})

    def test_every_split_of_a_request(self):
        data = harness.request("POST", "/Hello/Greet", b'{"name": "Ada"}')
        for at in range(1, len(data)):
            with self.server.connect() as connection:
                connection.send(data[:at])
                connection.send(data[at:])
                self.assertEqual(connection.receive().json, {"text": "hello, Ada"})

    def test_health(self):
        for path in ("/livez", "/readyz", "/v2/health/live", "/v2/health/ready"):
            self.assertEqual(self.server.call("GET", path).status, 200, path)
        self.assertEqual(self.server.call("GET", "/readyz", port="admin").status, 200)

    def test_open_inference_protocol(self):
        metadata = self.server.call("GET", "/v2/models/Hello.Greet")
        self.assertEqual(metadata.status, 200, metadata)
        self.assertEqual(metadata.json["inputs"][0]["name"], "name")
        body = {"inputs": [{"name": "xs", "datatype": "FP32", "shape": [3], "data": [1, 2, 3]}]}
        reply = self.server.post("/v2/models/Hello.Spread/infer", body)
        self.assertEqual(reply.status, 200, reply)
        outputs = {output["name"]: output for output in reply.json["outputs"]}
        self.assertEqual(outputs["spread"]["data"], [-1, 0, 1])
        self.assertEqual(outputs["spread"]["shape"], [3])

    def test_open_inference_protocol_takes_many_samples(self):
        body = {"inputs": [{"name": "xs", "datatype": "FP32", "shape": [2, 3], "data": [1, 2, 3, 4, 5, 9]}]}
        reply = self.server.post("/v2/models/Hello.Spread/infer", body)
        self.assertEqual(reply.status, 200, reply)
        outputs = {output["name"]: output for output in reply.json["outputs"]}
        self.assertEqual(outputs["mean"]["data"], [2, 6])
        self.assertEqual(outputs["spread"]["shape"], [2, 3])
        self.assertEqual(outputs["spread"]["data"], [-1, 0, 1, -2, -1, 3])

    def test_metrics_count_requests_by_code(self):
        before = self.server.metric_sum("wf_requests_total")
        self.server.post("/Hello/Greet", {})
        self.server.post("/Hello/Spread", {"xs": []})
        self.assertEqual(self.server.metric_sum("wf_requests_total"), before + 2)
        self.assertTrue(any('code="100001"' in name for name in self.server.metrics()))


class Inspect(unittest.TestCase):
    def test_a_binary_says_what_it_contains(self):
        binary = harness.compiled(harness.EXAMPLES / "hello/hello.wf")
        text = harness.wfc("inspect", binary).stdout
        self.assertRegex(text, r"\Ahello\.wf, built by wfc [\d.]+ for generic\n  source [0-9a-f]{64}\n")
        note = json.loads(harness.wfc("inspect", "--format=json", binary).stdout)
        for service in note["interface"]["services"]:
            self.assertIn(f"service {service['name']}\n", text)
            for call in service["calls"]:
                ports = ", ".join(f"{port['name']}: {port['type']}" for port in call["out"])
                self.assertRegex(text, rf"  workflow {call['name']}\(.*\) -> \({re.escape(ports)}\)\n      POST /{service['name']}/{call['name']}\n")
        for error in note["interface"]["errors"]:
            self.assertIn(f"  {error['code']} {error['name']}: {error['message']}\n", text)

    def test_the_same_source_gives_the_same_bytes(self):
        first, second = (harness.scratch() / name for name in ("one", "two"))
        for binary in (first, second):
            harness.wfc("build", harness.EXAMPLES / "hello/hello.wf", "-o", binary)
        self.assertEqual(first.read_bytes(), second.read_bytes())

    def test_graphs(self):
        source = harness.EXAMPLES / "hello/hello.wf"
        self.assertIn("mean", harness.wfc("graph", source).stdout)
        self.assertIn("digraph", harness.wfc("graph", source, "--format=dot").stdout)
        json.loads(harness.wfc("graph", source, "--format=json").stdout)


WIDE = 150  # more than twice as many as one function of a codec reads or writes


class Wide(harness.ServerCase):
    """Many parameters and results: each stands in its own place, and the rules of a member hold for each."""
    source = harness.scratch() / "wide.wf"
    source.write_text(
        "workflow Wide(" + ", ".join(f"p{i}: i64{' = 7' if i % 50 == 49 else ''}" for i in range(WIDE)) + ") -> ("
        + ", ".join(f"r{i}: i64" for i in range(WIDE)) + ") {\n  return (" + ", ".join(f"r{i}: p{i} * {i + 1}" for i in range(WIDE))
        + ");\n}\nservice S { workflow Wide; }\n")

    def test_each_value_in_its_place_in_any_order(self):
        values = {f"p{i}": 1000 + i for i in reversed(range(WIDE))}
        reply = self.server.post("/S/Wide", values).json
        self.assertEqual(list(reply.items()), [(f"r{i}", (1000 + i) * (i + 1)) for i in range(WIDE)])

    def test_defaults_missing_unknown_and_repeated_members(self):
        values = {f"p{i}": 1 for i in range(WIDE) if i % 50 != 49}
        reply = self.server.post("/S/Wide", values).json
        self.assertEqual([reply["r49"], reply["r99"], reply["r149"], reply["r148"]], [7 * 50, 7 * 100, 7 * 150, 149])
        for i in (0, 63, 64, 127, 128, 148):
            name = f"p{i}"
            self.assert_error(self.server.post("/S/Wide", {k: v for k, v in values.items() if k != name}), 400, 5000, name)
            twice = json.dumps(values)[:-1] + f', "{name}": 2}}'
            reply = self.server.call("POST", "/S/Wide", twice.encode(), {"content-type": "application/json"})
            self.assert_error(reply, 400, 5000, name)
        self.assert_error(self.server.post("/S/Wide", dict(values, p150=1)), 400, 5000, "p150")


if __name__ == "__main__":
    harness.main()
