#!/usr/bin/env python3
"""wfc plan: what it promises is what the server does, with the files that are there."""
import json
import unittest

import harness

DIGITS = harness.EXAMPLES / "digits"


def plan(source):
    return json.loads(harness.wfc("plan", "--format=json", source).stdout)


class Plan(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plan = plan(DIGITS / "digits.wf")
        cls.server = harness.Server.of(DIGITS / "digits.wf")

    @classmethod
    def tearDownClass(cls):
        assert cls.server.stop() == 0, cls.server.output()

    def test_endpoints_answer(self):
        seven = (DIGITS / "testdata/seven.png").read_bytes()
        for endpoint in self.plan["endpoints"]:
            self.assertEqual(endpoint["raw_body"], "picture")
            self.assertEqual(self.server.call("POST", endpoint["post"], seven, {"content-type": "image/png"}).status, 200)
            self.assertEqual(sorted(endpoint["oip"]), ["Classify", "DigitService", "DigitService.Classify"])
            for name in endpoint["oip"]:
                self.assertEqual(self.server.call("GET", f"/v2/models/{name}").status, 200)

    def test_models_are_those_that_the_server_loads(self):
        model = self.plan["models"][0]
        loaded = {int(name.split('version="')[1].split('"')[0]) for name in self.server.metrics() if name.startswith("wf_model_info")}
        self.assertEqual({version["version"] for version in model["versions"]}, loaded)
        for version in model["versions"]:
            file = harness.ROOT / version["file"]
            self.assertEqual(version["file_bytes"], file.stat().st_size)
            self.assertTrue(0 < version["weight_bytes"] <= version["file_bytes"])
        self.assertEqual(self.plan["totals"]["weight_bytes"], sum(version["weight_bytes"] for version in model["versions"]))

    def test_a_batcher_is_that_of_the_node(self):
        batcher = self.plan["batchers"][0]
        self.assertEqual((batcher["nodes"], batcher["rows"], batcher["row_bytes"]), (["Classify/logits"], 32, 28 * 28 * 4))
        self.assertEqual(self.plan["totals"], {"instances": 1, "weight_bytes": self.plan["totals"]["weight_bytes"], "staging_bytes": 32 * 28 * 28 * 4})
        self.assertEqual(batcher["settings"]["batch"], "32")
        self.assertEqual([stage["name"] for stage in self.plan["graph"]["workflows"][0]["stages"]], ["s1", "s2", "s3"])

    def test_externs_are_named(self):
        folder = harness.scratch() / "externs"
        folder.mkdir()
        (folder / "half.cc").write_text('#include "half.wf.h"\nint64_t externs::half(wf::Context&, int64_t x) { return x / 2; }\n')
        source = folder / "half.wf"
        source.write_text('extern fn half(x: i64) -> i64 = cpp("half.cc");\nworkflow W(x: i64) -> (y: i64) { return (y: half(x)); }\nservice S { workflow W; }\n')
        (one,) = plan(source)["externs"]
        self.assertEqual((one["name"], one["node"], one["source"].endswith("half.cc")), ("half", False, True))
        self.assertIn("fn half: ", harness.wfc("plan", source).stdout)

    def test_a_model_of_no_use_is_told(self):
        folder = harness.scratch() / "plan"
        (folder / "models/1").mkdir(parents=True)
        (folder / "models/1/model.onnx").write_bytes(b"no model")
        source = folder / "bad.wf"
        source.write_text('model M(x: f32[batch, 2]) -> f32[batch, 2] = onnx("models") { versions specific 1 7; }\n'
                          "workflow W(x: f32[2]) -> (y: f32[2]) { node y = M(x); return (y: y); }\nservice S { workflow W; }\n")
        done = harness.wfc("plan", source, check=False)
        self.assertEqual(done.returncode, 1)
        (folder / "models/1").rename(folder / "models/2")
        self.assertIn("none of the versions that the program names", plan(source)["models"][0]["missing"])


if __name__ == "__main__":
    harness.main()
