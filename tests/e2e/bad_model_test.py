#!/usr/bin/env python3
"""Model files that do not serve: each is refused by name, when the program is compiled and when the server starts."""
import shutil
import subprocess
import sys
import unittest

import harness

sys.path.insert(0, str(harness.ROOT / "tests/bench"))
import tiny_onnx  # noqa: E402

PROGRAM = """model Chain = onnx("chain.onnx");
workflow Run(x: f32[4]) -> (y: f32[4]) {
  node y = Chain(x);
  return (y: y);
}
service S { workflow Run; }
"""
GOOD = tiny_onnx.chain(4, 2)
BAD = {  # a file and what is said of it besides its name
    "missing": (None, "no such file"),
    "empty": (b"", ""),
    "truncated": (GOOD[:len(GOOD) // 2], ""),
    "a picture": ((harness.EXAMPLES / "digits/testdata/seven.png").read_bytes(), "not an ONNX model"),
    "an operator that nobody knows": (GOOD.replace(b"MatMul", b"MatMux"), "MatMux"),
    "another shape": (tiny_onnx.chain(5, 2), "5"),
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
                done = harness.wfc("check", self.folder(name, content) / "run.wf", check=False)
                self.assertEqual(done.returncode, 1, done)
                self.assertRegex(done.stderr, r"(?m)^error\[WF\d{4}\]: .*" + words)
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


if __name__ == "__main__":
    harness.main()
