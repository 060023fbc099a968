#!/usr/bin/env python3
"""Model files that do not serve: each is refused by name, when the program is compiled and when the server starts."""
import json
import re
import shutil
import struct
import subprocess
import threading
import unittest

import harness
import onnx_file

PROGRAM = """model Chain = onnx("chain.onnx");
workflow Run(x: f32[4]) -> (y: f32[4]) {
  node y = Chain(x);
  return (y: y);
}
service S { workflow Run; }
"""
GOOD = onnx_file.chain(4, 2)
BAD = {  # a file and what is said of it besides its name
    "missing": (None, "no such file"),
    "empty": (b"", "not an ONNX model: it holds no graph"),
    "truncated": (GOOD[:len(GOOD) // 2], "not an ONNX model, or cut short: the field at byte"),
    "a picture": ((harness.EXAMPLES / "digits/testdata/seven.png").read_bytes(), "not an ONNX model"),
    "an operator that nobody knows": (GOOD.replace(b"MatMul", b"MatMux"), "node `layer0` (MatMux): operator `MatMux` of ai.onnx, opset 13, is not supported"),
    "an index that its axis has not": (onnx_file.model(
        [onnx_file.node("Gather", ["x", "at"], ["y"], "pick", axis=1)], [onnx_file.integers("at", [0, 1, 2, 4])],
        [onnx_file.value_info("x", (1, 4))], [onnx_file.value_info("y", (1, 4))]), "node `pick` (Gather, ai.onnx opset 17): index 4 of axis 1 of f32[1, 4]"),
    "a result beyond any memory": (onnx_file.model(
        [onnx_file.node("Pad", ["x", "far"], ["wide"], "far"), onnx_file.node("Slice", ["wide", "from", "to", "axis"], ["y"])],
        [onnx_file.integers("far", [0, 0, 0, 1 << 30]), onnx_file.integers("from", [0]), onnx_file.integers("to", [4]),
         onnx_file.integers("axis", [1])], [onnx_file.value_info("x", (1, 4))], [onnx_file.value_info("y", (1, 4))]),
        "node `far` (Pad, ai.onnx opset 17): a tensor f32[1, 1073741828] is above the limit of 4294967296 bytes"),
    "strings": (onnx_file.model(
        [onnx_file.node("Relu", ["w"], ["y"])], [onnx_file.initializer("w", (1, 4), bytes(16))],
        [onnx_file.value_info("x", (1, 4, 2), element=8)], [onnx_file.value_info("y", (1, 4))]), "input `x: string[1, 4, 2]` takes strings with 2 axes a call, which can give one or a list"),
    "a stride of 0": (onnx_file.model(
        [onnx_file.node("MaxPool", ["x"], ["y"], "pool", kernel_shape=[1], strides=[0])], [],
        [onnx_file.value_info("x", (1, 1, 4))], [onnx_file.value_info("y", (1, 1, 4))]),
        "node `pool` (MaxPool, ai.onnx opset 17): strides [0] with 0, which is not from 1 to 1073741824"),
    "an output that no request has room for": (onnx_file.model(
        [onnx_file.node("Pad", ["x", "far"], ["y"], "far")], [onnx_file.integers("far", [0, 0, 0, 1 << 28])],
        [onnx_file.value_info("x", ("b", 1))], [onnx_file.value_info("y", ("b", (1 << 28) + 1))]),
        "a row of output `y: f32[b, 268435457]` has at least 1073741828 bytes, above the limit of 268435456"),
    "an input as large as a tensor may be": (onnx_file.model(
        [onnx_file.node("Relu", ["x"], ["y"])], [], [onnx_file.value_info("x", ("b", 1 << 30))], [onnx_file.value_info("y", ("b", 1 << 30))]),
        "a row of output `y: f32[b, 1073741824]` has at least 4294967296 bytes, above the limit of 268435456"),
    "an input that no tensor is as large as": (onnx_file.model(
        [onnx_file.node("Relu", ["w"], ["y"])], [onnx_file.initializer("w", (1, 4), bytes(16))],
        [onnx_file.value_info("x", (1, (1 << 30) + 1))], [onnx_file.value_info("y", (1, 4))]),
        "a row of input `x: f32[1, 1073741825]` has at least 4294967300 bytes, above the limit of 4294967296"),
    "another shape": (onnx_file.chain(5, 2), "5"),
}


class BadModel(unittest.TestCase):
    def folder(self, name, content):
        folder = harness.scratch() / name.replace(" ", "-")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "run.wf").write_text(PROGRAM)
        if content is not None:
            (folder / "chain.onnx").write_bytes(content)
        return folder

    def test_when_compiled(self):
        harness.wfc("check", self.folder("good", GOOD) / "run.wf")
        for name, (content, words) in BAD.items():
            with self.subTest(name):
                folder = self.folder(name, content)
                done = harness.wfc("check", folder / "run.wf", check=False)
                self.assertEqual(done.returncode, 1, done)
                self.assertRegex(done.stderr, r"(?m)^error\[WF\d{4}\]: .*" + re.escape(words))
                if "room for" in name:
                    self.assertIn("[WF6001]", done.stderr)
                    self.assertIn("[WF6001]", harness.wfc("plan", folder / "run.wf", check=False).stderr)
                if name != "another shape":  # there the file is sound, and the call is what does not fit
                    self.assertIn("chain.onnx", done.stderr)

    def test_when_the_server_starts(self):
        binary = harness.compiled(self.folder("built", GOOD) / "run.wf")
        for name, (content, words) in BAD.items():
            with self.subTest(name):
                command = [binary, "--http-port", "0", "--admin-port", "0", "--model-root", self.folder(name, content)]
                done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
                self.assertEqual(done.returncode, 1, done)
                self.assertIn("chain.onnx", done.stderr)
                self.assertIn(words, done.stderr)
                self.assertNotIn("listening", done.stdout)

    def test_the_memory_that_settings_leave(self):
        """A server whose requests have less than an output takes does not start; with enough it does, and answers."""
        folder = self.folder("half", onnx_file.model(
            [onnx_file.node("Pad", ["x", "far"], ["y"], "far")], [onnx_file.integers("far", [0, 0, 0, 1 << 20])],
            [onnx_file.value_info("x", ("b", 4))], [onnx_file.value_info("y", ("b", (1 << 20) + 4))]))
        (folder / "run.wf").write_text(PROGRAM.replace("return (y: y);", "return (y: y[0:4]);"))
        server = harness.Server.of(folder / "run.wf", "--limits-memory-bytes", "32MiB", "--model-root", folder)
        self.addCleanup(server.stop)
        self.assertEqual(server.call("POST", "/S/Run", b'{"x": [1, 2, 3, 4]}').json, {"y": [1, 2, 3, 4]})
        command = [harness.compiled(folder / "run.wf"), "--http-port", "0", "--admin-port", "0", "--model-root", folder, "--limits-memory-bytes", "2MiB"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("chain.onnx`: a row of output `y: f32[b, 1048580]` has at least 4194320 bytes, above the limit of 2097152, which all requests "
                      "may have (`limits.memory_bytes`)", done.stderr)

    def test_weights_that_are_no_numbers(self):
        """Which only a run tells: the file is sound, and a server with it does not start."""
        nan = struct.pack("<16f", *[float("nan")] * 16)
        wrong = onnx_file.model([onnx_file.node("MatMul", ["x", "w"], ["y"], "layer")], [onnx_file.initializer("w", (4, 4), nan)],
                                [onnx_file.value_info("x", (1, 4))], [onnx_file.value_info("y", (1, 4))])
        folder = self.folder("weights", wrong)
        binary = harness.compiled(folder / "run.wf")
        done = subprocess.run([binary, "--http-port", "0", "--admin-port", "0", "--model-root", folder], capture_output=True, text=True, timeout=30,
                              check=False)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("chain.onnx`: output `y` is not finite, whatever the input: node `layer` (MatMul) has weights that are NaN or infinite",
                      done.stderr)


class OddModel(unittest.TestCase):
    def test_one_that_no_sample_suits_is_served_with_a_warning(self):
        """Its inputs are beyond what a warm-up tries, or an output holds the infinities of a mask."""
        folder = harness.scratch() / "odd"
        folder.mkdir()
        rare = onnx_file.model([onnx_file.node("Sub", ["x", "least"], ["above"]), onnx_file.node("Sqrt", ["above"], ["y"], "root")],
                               [onnx_file.initializer("least", (1,), struct.pack("<f", 1e6))],
                               [onnx_file.value_info("x", (1, 4))], [onnx_file.value_info("y", (1, 4))])
        mask = onnx_file.model([onnx_file.node("Add", ["x", "mask"], ["y"], "hide")],
                               [onnx_file.initializer("mask", (1, 4), struct.pack("<4f", 0, 0, float("-inf"), float("-inf")))],
                               [onnx_file.value_info("x", (1, 4))], [onnx_file.value_info("y", (1, 4))])
        (folder / "run.wf").write_text(PROGRAM.replace("-> (y: f32[4])", "-> (y: f32[2])").replace("return (y: y);", "return (y: y[0:2]);"))
        for content, node, x, y in ((rare, "root", [1000001, 1000004, 1000009, 1000016], [1, 2]), (mask, "hide", [1, 2, 3, 4], [1, 2])):
            with self.subTest(node):
                (folder / "chain.onnx").write_bytes(content)
                server = harness.Server.of(folder / "run.wf", "--model-root", folder)
                self.addCleanup(server.stop)
                self.assertTrue(server.logs('"level":"warning"', "a model's warm-up has not shown that it works; it is served", '"model":"Chain"',
                                            f"output `y` is not finite; node `{node}` (", "none of 8 runs of its warm-up"), server.output())
                self.assertEqual(server.call("POST", "/S/Run", json.dumps({"x": x}).encode()).json, {"y": y})


class BadValue(unittest.TestCase):
    """A value that the model's kernels refuse: nobody but its sender is told, and no path of the server is."""
    PROGRAM = """model Pick = onnx("pick.onnx");
workflow Run(i: i64) -> (y: f32) {
  let row: i64[1] = [k] => i;
  node picked = Pick(row) { batch 32; }
  return (y: picked[0]);
}
service S { workflow Run; model Pick; }
"""

    def server(self):
        folder = harness.scratch() / "pick"
        folder.mkdir(exist_ok=True)
        (folder / "run.wf").write_text(self.PROGRAM)
        (folder / "pick.onnx").write_bytes(onnx_file.picks([0.5, 1.5, 2.5]))
        server = harness.Server.of(folder / "run.wf", "--schedule", "pool", "--model-root", folder)
        self.addCleanup(server.stop)
        return server, folder

    def test_fails_nobody_else(self):
        server, _ = self.server()
        statuses = {2: set(), 9: set()}

        def call(index):
            with server.connect() as connection:
                for _ in range(300):
                    statuses[index].add(connection.call("POST", "/S/Run", json.dumps({"i": index}).encode()).status)
        clients = [threading.Thread(target=call, args=(index,)) for index in [9, 9] + [2] * 8]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        self.assertEqual(statuses, {2: {200}, 9: {500}})

    def test_is_told_by_the_names_of_the_program(self):
        server, folder = self.server()
        plain = server.call("POST", "/S/Run", b'{"i": 9}')
        self.assertIn("`Pick`: node `pick` (Gather): an index is out of range", json.loads(plain.body)["error"]["message"])
        samples = {"inputs": [{"name": "i", "datatype": "INT64", "shape": [3, 1], "data": [1, 9, 2]}]}
        oip = server.call("POST", "/v2/models/S.Pick/infer", json.dumps(samples).encode())
        self.assertRegex(json.loads(oip.body)["error"], "sample 1")
        for reply in (plain, oip):
            self.assertNotIn(str(folder).encode(), reply.body)
            self.assertNotIn(b".onnx", reply.body)


if __name__ == "__main__":
    harness.main()
