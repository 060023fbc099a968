#!/usr/bin/env python3
"""Kernels are measured once: a file keeps what was found, the next start takes it, and answers are the same bits."""
import json
import subprocess
import tempfile
import unittest
from pathlib import Path

import harness
from harness import wfc
from onnx_file import initializer, model, node, value_info, weights

CHANNELS, SIDE = 32, 24
SOURCE = """package scenes;
model Filters = onnx("filters.onnx") { batch 4; }
workflow See(x: f32[32, 24, 24]) -> (y: f32[32]) {
  node y = Filters(x);
  return (y: y);
}
service Scenes { workflow See; }
"""


def filters():
    """f32[n, 32, 24, 24] -> f32[n, 32]: a convolution that is large enough to be measured, then the mean of each of its planes."""
    nodes = [node("Conv", ["x", "k"], ["h"], "conv"), node("GlobalAveragePool", ["h"], ["m"], "pool"), node("Flatten", ["m"], ["y"], "flat")]
    return model(nodes, [initializer("k", (CHANNELS, CHANNELS, 3, 3), weights(CHANNELS * CHANNELS * 9, 1))],
                 [value_info("x", ("n", CHANNELS, SIDE, SIDE))], [value_info("y", ("n", CHANNELS))])


class KernelCache(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.model, self.cache = self.folder / "filters.onnx", self.folder / "kernels"
        self.model.write_bytes(filters())

    def bench(self, *flags):
        return wfc("model", "bench", "--seconds=0.1", "--format=json", "--profile", f"--kernel-cache={self.cache}", *flags, self.model, check=False)

    def kernels(self):
        told = json.loads(wfc("model", "inspect", "--format=json", f"--kernel-cache={self.cache}", self.model).stdout)
        return [step["kernel"] for step in told["run"]["steps"] if step["operator"] == "Conv"]

    def test_bench_keeps_what_it_measures_and_takes_it(self):
        done = self.bench()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        kept = self.cache.read_text()
        self.assertRegex(kept, r"^wf-kernel-cache 1\nmachine .*\n[^\n]*\tConv [^\n]*\nend 1 [0-9a-f]{16}\n$")
        way = kept.splitlines()[2].split("\t")[0]
        self.assertEqual(self.kernels(), [f"onednn {way}".strip()])
        found = [row["kernel"] for row in json.loads(done.stdout)["profile"]["operators"] if row["operator"] == "Conv"]
        self.assertEqual(found, self.kernels())
        self.assertEqual(self.bench("--batch=2").stderr, "")
        self.assertEqual(len(self.cache.read_text().splitlines()), len(kept.splitlines()) + 1)

    def test_the_same_file_gives_the_same_bits(self):
        def outputs():
            folder = tempfile.mkdtemp(dir=self.folder)
            wfc("model", "run", "--random=1", f"--output={folder}", f"--kernel-cache={self.cache}", self.model)
            return [file.read_bytes() for file in sorted(Path(folder).iterdir())]

        first = outputs()
        kept = self.cache.read_bytes()
        for _ in range(3):
            self.assertEqual(outputs(), first)
        self.assertEqual(self.cache.read_bytes(), kept)

    def test_a_file_that_does_not_fit_is_told(self):
        self.assertEqual(self.bench().stderr, "")
        whole = self.cache.read_bytes()
        for written, told, stays in ((whole[:-9], "cut off or damaged", False), (whole.replace(b"machine ", b"machine x", 1), "another machine", False),
                                     (b"http_port: 80\n", "left as it is", True)):
            self.cache.write_bytes(written)
            done = self.bench()
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stderr, rf"^wfc: warning: `.*kernels`.*{told}.*; kernels are measured anew\n$")
            self.assertEqual(self.cache.read_bytes() == written, stays)
        self.cache = self.folder / "none" / "kernels"
        done = self.bench()
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "^wfc: warning: `.*kernels`: cannot be written: no such folder")

    def test_a_bare_name_is_a_file_in_the_folder_that_one_is_in(self):
        done = subprocess.run([harness.WFC, "model", "bench", "--seconds=0.1", "--kernel-cache=kernels", "filters.onnx"], cwd=self.folder,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(self.cache.read_text().startswith("wf-kernel-cache 1\n"))

    def test_a_server_answers_with_the_same_bits_after_a_restart(self):
        source = self.folder / "scenes.wf"
        source.write_text(SOURCE)
        x = [[[(c * 31 + i * 7 + j * 3) % 17 / 8 - 1 for j in range(SIDE)] for i in range(SIDE)] for c in range(CHANNELS)]
        body = json.dumps({"x": x}).encode()
        answers, kept = [], []
        for _ in range(2):
            server = harness.Server.of(source, "--kernel-cache", self.cache, "--schedule=pool")
            answers += [server.call("POST", "/Scenes/See", body).body for _ in range(3)]
            self.assertEqual(server.stop(), 0, server.output())
            kept.append(self.cache.read_text())
        self.assertEqual(len(set(answers)), 1, answers)
        self.assertGreaterEqual(len(kept[0].splitlines()), 4)
        self.assertLessEqual(set(kept[0].splitlines()[:-1]), set(kept[1].splitlines()))  # the next start may come further with batch sizes

    def test_a_server_tells_of_a_file_that_does_not_fit_and_serves(self):
        source = self.folder / "scenes.wf"
        source.write_text(SOURCE)
        self.cache.write_text("http_port: 80\n")
        server = harness.Server.of(source, "--kernel-cache", self.cache)
        self.assertEqual(server.stop(), 0)
        self.assertEqual(self.cache.read_text(), "http_port: 80\n")
        self.assertTrue(server.logs("kernels are measured anew", "left as it is"), server.output())
        done = subprocess.run([harness.compiled(source), "--print-config", "--kernel-cache", "k"], capture_output=True, text=True, timeout=30)
        self.assertRegex(done.stdout, r"kernel_cache: k +# --kernel-cache")


if __name__ == "__main__":
    harness.main()
