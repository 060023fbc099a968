#!/usr/bin/env python3
"""A path of a model starts from the folder of the .wf that names it: what wfc reads there is what servers serve, wherever the program's folder lies."""
import json
import shutil
import subprocess
import unittest

import harness
import onnx_file

WIDTH = 3
MAIN = """import parts.deep.scale;

model Scale = onnx("scale.onnx");

workflow Both(x: f32[3]) -> (own: f32[3], theirs: f32[3], shared: f32[3]) {
  node own = Scale(x);
  node theirs = scale.Scale(x);
  node shared = scale.Shared(x);
  return (own: own, theirs: theirs, shared: shared);
}

service S { workflow Both; }

test "each is its own" {
  let got = Both(x: [1.0, 1.0, 1.0]);
  expect got.own[0] == 2.0 && got.theirs[0] == 3.0 && got.shared[0] == 5.0;
}
"""
MODULE = """model Scale = onnx("scale.onnx");
model Shared = onnx("../../shared/scale.onnx");
"""


class ModelPlaces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = harness.scratch() / "places"
        for name, factor in (("scale.onnx", 2), ("parts/deep/scale.onnx", 3), ("shared/scale.onnx", 5)):
            (cls.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (cls.folder / name).write_bytes(onnx_file.scaled(WIDTH, factor))
        cls.source = cls.folder / "main.wf"
        cls.source.write_text(MAIN)
        (cls.folder / "parts/deep/scale.wf").write_text(MODULE)

    def answers(self, root):
        server = harness.Server(harness.compiled(self.source), "--model-root", root)
        try:
            server.wait_ready()
            reply = server.call("POST", "/S/Both", json.dumps({"x": [1, 1, 1]}).encode()).json
            return [reply[name][0] for name in ("own", "theirs", "shared")]
        finally:
            server.stop()

    def test_tests_run_them(self):
        harness.wfc("test", self.source)
        done = subprocess.run([harness.WFC, "test", "main.wf"], cwd=self.folder, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_server_serves_them_from_its_model_root(self):
        self.assertEqual(self.answers(self.folder), [2, 3, 5])

    def test_a_model_root_needs_nothing_but_the_models(self):
        root = harness.scratch() / "root"
        shutil.copytree(self.folder, root, ignore=shutil.ignore_patterns("*.wf"))
        self.assertEqual(self.answers(root), [2, 3, 5])

    def test_plan_and_server_name_the_paths_that_are_looked_for(self):
        wanted = ["parts/deep/scale.onnx", "scale.onnx", "shared/scale.onnx"]
        models = json.loads(harness.wfc("plan", "--format=json", self.source).stdout)["models"]
        self.assertEqual(sorted(model["path"] for model in models), wanted)
        self.assertEqual([len(model["versions"]) for model in models], [1, 1, 1])
        note = json.loads(harness.wfc("inspect", "--format=json", harness.compiled(self.source)).stdout)
        self.assertEqual(sorted(model["path"] for model in note["models"]), wanted)

    def test_one_that_is_missing_is_told_as_the_module_names_it(self):
        folder = harness.scratch() / "places-missing"
        shutil.copytree(self.folder, folder)
        (folder / "shared/scale.onnx").unlink()
        done = harness.wfc("check", folder / "main.wf", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("`../../shared/scale.onnx`: no such file or folder", done.stderr)
        self.assertIn(f"`{folder}/shared/scale.onnx` was looked for", done.stderr)


if __name__ == "__main__":
    harness.main()
