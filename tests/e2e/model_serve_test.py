"""wfc model serve: a server from nothing but an ONNX file."""
import json
import os
import shlex
import signal
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request
from pathlib import Path

import harness
import onnx_file
from harness import EXAMPLES, wfc


def first_lines(process, count):
    return [process.stdout.readline() for _ in range(count)]


class Serve(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, data):
        path = Path(self.folder.name) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def serve(self, *arguments):
        command = [harness.WFC, "model", "serve", *arguments, "--", "--http-port", "0", "--admin-port", "0", "--host", "127.0.0.1"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_answers_what_the_model_computes(self):
        process = self.serve(self.write("some folder/twice-1.0.onnx", onnx_file.scaled(3, 2.0)))
        listening, curl = first_lines(process, 2)
        self.assertTrue(listening.startswith("listening http="), listening + (process.stderr.read() if not listening else ""))
        self.assertIn("Twice_1_0", curl)
        address = listening.split("http=")[1].split()[0]
        asked = {"inputs": [{"name": "x", "shape": [1, 3], "datatype": "FP32", "data": [1, 2, 3]}]}
        request = urllib.request.Request(f"http://{address}/v2/models/Twice_1_0/infer", json.dumps(asked).encode(), {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as reply:
            self.assertEqual(json.load(reply)["outputs"][0]["data"], [2, 4, 6])
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=30), 0)
        self.assertEqual(os.listdir(self.folder.name + "/some folder"), ["twice-1.0.onnx"])

    def test_a_folder_of_versions_is_served(self):
        process = self.serve(EXAMPLES / "digits/models/digits")
        listening = process.stdout.readline()
        self.assertTrue(listening.startswith("listening http="), listening)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=30), 0)

    def test_the_example_has_a_size_that_the_model_takes(self):
        window = [onnx_file.node("MaxPool", ["x"], ["y"], kernel_shape=[5])]
        path = self.write("window.onnx", onnx_file.model(window, [], [onnx_file.value_info("x", ("n", 1, "w"))], [onnx_file.value_info("y", ("n", 1, "v"))]))
        listening, curl = first_lines(process := self.serve(path), 2)
        self.assertTrue(listening.startswith("listening http="), listening + (process.stderr.read() if not listening else ""))
        words = shlex.split(curl)
        body, url = words[words.index("-d") + 1], words[-1]
        self.assertEqual(json.loads(body), {"x": [[1] * 8]})

        def answered(given):
            request = urllib.request.Request(url, given.encode(), {"content-type": "application/json"})
            try:
                with urllib.request.urlopen(request, timeout=30) as reply:
                    return reply.status, json.load(reply)
            except urllib.error.HTTPError as refused:
                with refused:
                    return refused.code, json.load(refused)
        self.assertEqual(answered(body), (200, {"y": [[1, 1, 1, 1]]}))
        status, said = answered('{"x": [[1, 2]]}')
        self.assertEqual((status, said["error"]["code"]), (400, 5000), said)
        self.assertIn("is smaller than the window", said["error"]["message"])
        self.assertEqual(answered('{"x": [[1, 2, 3, 4, 5]]}'), (200, {"y": [[5]]}))

    def test_says_what_a_file_alone_cannot_say(self):
        element = [onnx_file.node("SequenceAt", ["s", "i"], ["y"])]
        infos = [onnx_file.sequence_info("s"), onnx_file.value_info("i", (), onnx_file.INT64)], [onnx_file.value_info("y", ("n",))]
        done = wfc("model", "serve", self.write("sequence.onnx", onnx_file.model(element, [], *infos)), check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("; a written signature lists them, as in `x as \"s[0]\": f32[n]`, which a program has that `wfc run` serves (WF6001)", done.stderr)
        split = [onnx_file.node("Identity", ["s"], ["t"]), onnx_file.node("Cast", ["t"], ["y"], to=1)]
        texts = [onnx_file.value_info("s", ("n", 2, 2), onnx_file.STRING)], [onnx_file.value_info("y", ("n", 2, 2))]
        done = wfc("model", "serve", self.write("texts.onnx", onnx_file.model(split, [], *texts)), check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("error[WF6001]: model `Texts`: ", done.stderr)
        self.assertIn("takes strings with 2 axes a call, which can give one or a list; the file needs an input of one axis", done.stderr)
        added = [onnx_file.node("Add", ["a.b", "a_b"], ["y"])]
        named = [onnx_file.value_info("a.b", ("n", 2)), onnx_file.value_info("a_b", ("n", 2))], [onnx_file.value_info("y", ("n", 2))]
        done = wfc("model", "serve", self.write("names.onnx", onnx_file.model(added, [], *named)), check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("error[WF6004]: ports `a.b` and `a_b` of model `Names` are both named `a_b`; a written signature names them apart, as in `a as \"a.b\"`",
                      done.stderr)

    def test_says_what_is_wrong_with_a_file(self):
        torn = self.write("torn.onnx", onnx_file.scaled(3, 2.0)[:-20])
        done = wfc("model", "serve", torn, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^wfc: `.*torn.onnx`: .*\(WF6001\)$")
        done = wfc("model", "serve", self.write("a{b}.onnx", b""), check=False)
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stderr)


class OfTheDigits(unittest.TestCase):
    MODEL = EXAMPLES / "digits/models/digits/1/model.onnx"

    def test_bench_tells_the_operators_that_take_the_time(self):
        done = wfc("model", "bench", "--seconds", "0.5", "--batch=4", "--threads", "2", "--profile", "--format=json", self.MODEL)
        said = json.loads(done.stdout)
        self.assertTrue(0 < said["p50_ms"] <= said["p90_ms"] <= said["p99_ms"] <= said["max_ms"], said)
        self.assertAlmostEqual(said["samples_per_second"], 4 * said["per_second"], delta=0.01 * said["samples_per_second"])
        self.assertAlmostEqual(sum(row["share"] for row in said["profile"]["operators"]), 1, delta=0.01)
        text = wfc("model", "bench", "--seconds=0.2", "--profile", self.MODEL).stdout
        self.assertIn("the slowest steps", text)

    def test_inspect_shows_what_the_program_sees(self):
        said = json.loads(wfc("model", "inspect", "--format=json", self.MODEL).stdout)
        self.assertEqual([port["type"] for port in said["inputs"] + said["outputs"]], ["f32", "f32"])
        self.assertTrue(said["batched"])
        self.assertEqual(said["nodes"], sum(said["operators"].values()))
        self.assertTrue(all(step["kernel"] for step in said["run"]["steps"]))

    def test_a_model_agrees_with_itself(self):
        self.assertEqual(wfc("model", "compare", self.MODEL, self.MODEL).returncode, 0)


if __name__ == "__main__":
    harness.main()
