"""wfc model of files with strings: no command leaves them out without a word."""
import json
import tempfile
import unittest
from pathlib import Path

import harness
import onnx_file
from harness import wfc
from onnx_file import STRING, node, value_info


class Strings(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, numbers=True, operator="Identity"):
        """Strings, and, beside them, numbers."""
        nodes, inputs, outputs = [node("Identity", ["s"], ["label"])], [value_info("s", ("n",), STRING)], [value_info("label", ("n",), STRING)]
        if numbers:
            nodes.append(node(operator, ["x"], ["y"]))
            inputs.append(value_info("x", ("n", 3)))
            outputs.append(value_info("y", ("n", 3)))
        path = self.folder / name
        path.write_bytes(onnx_file.model(nodes, [], inputs, outputs))
        return path

    def test_inspect_shows_them_and_says_what_programs_have(self):
        for numbers in (True, False):
            said = json.loads(wfc("model", "inspect", "--format=json", self.write("m.onnx", numbers)).stdout)
            self.assertEqual([port["type"] for port in said["outputs"]], ["string", "f32"][:1 + numbers])
            self.assertNotIn("notes", said)
            self.assertIn("label: string[n]", wfc("model", "inspect", self.folder / "m.onnx").stdout)
        path = self.folder / "deep.onnx"
        path.write_bytes(onnx_file.model([node("Identity", ["s"], ["label"])], [], [value_info("s", ("n", 2, 3), STRING)], [value_info("label", ("n", 2, 3), STRING)]))
        self.assertEqual(json.loads(wfc("model", "inspect", "--format=json", path).stdout)["notes"],
                         ["no program can give input `s`, which is of strings with 2 axes a call", "programs do not have output `label`, which is of strings with 2 axes a call"])

    def test_bench_runs_them(self):
        said = json.loads(wfc("model", "bench", "--seconds=0.1", "--format=json", self.write("m.onnx", numbers=False)).stdout)
        self.assertGreater(said["runs"], 0)
        done = wfc("model", "bench", "--seconds=0.1", "--profile", self.write("numbers.onnx"), check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("input `s` takes strings", done.stderr)

    def test_a_profile_says_which_are_left_out(self):
        nodes = [node("Relu", ["x"], ["y"]), node("Identity", ["word"], ["label"])]
        path = self.folder / "m.onnx"
        path.write_bytes(onnx_file.model(nodes, [onnx_file.text("word", "cat")], [value_info("x", ("n", 3))],
                                         [value_info("y", ("n", 3)), value_info("label", (1,), STRING)]))
        self.assertIn("`label`", wfc("model", "bench", "--seconds=0.1", "--profile", path).stderr)
        self.assertEqual(wfc("model", "bench", "--seconds=0.1", path).stderr, "")

    def test_compare_holds_them_against_each_other(self):
        a = self.write("a.onnx")
        said = json.loads(wfc("model", "compare", "--format=json", a, self.write("b.onnx")).stdout)
        self.assertEqual([(row["output"], row["agrees"]) for row in said["outputs"]], [("label", True), ("y", True)])
        said = json.loads(wfc("model", "compare", "--format=json", a, self.write("c.onnx", operator="Neg"), check=False).stdout)
        self.assertEqual([(row["output"], row["agrees"]) for row in said["outputs"]], [("label", True), ("y", False)])


if __name__ == "__main__":
    harness.main()
