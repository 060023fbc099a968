#!/usr/bin/env python3
"""Triton's perf_analyzer, the program itself, against the examples over HTTP and gRPC: no request fails."""
import base64
import csv
import json
import re
import struct
import subprocess

import harness

PACKAGES = ["tritonclient==2.41.1", "nvidia-cuda-runtime-cu12==12.9.79"]  # the last wheel of tritonclient that carries the program; it wants this library to start
WINDOWS = 3
OF_TIME = ("-p", "150")  # ms
OF_COUNT = ("--measurement-mode", "count_windows", "--measurement-request-count", "20")  # at least a second each, but never empty, whatever else the machine does


class PerfAnalyzer(harness.ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        python = harness.environment("perf-analyzer", *PACKAGES)
        cls.program = python.with_name("perf_analyzer")
        (library,) = python.parents[1].glob("lib/python3*/site-packages/nvidia/cuda_runtime/lib")
        cls.env = {"LD_LIBRARY_PATH": str(library)}

    def counted(self, workflow):
        """{code: calls} of a workflow."""
        found = {}
        for name, value in self.server.metrics().items():
            if name.startswith("wf_requests_total{") and f'workflow="{workflow}"' in name and value:
                code = re.search(r'code="(\d+)"', name).group(1)
                found[code] = found.get(code, 0) + value
        return found

    def measure(self, model, workflow, *args, window=OF_TIME):
        """Three short windows, whatever they differ by. The row of its table."""
        table = harness.scratch() / "table.csv"
        before = self.counted(workflow)
        done = subprocess.run([self.program, "-m", model, "-u", "%s:%d" % self.server.addresses["http"], *window, "-r", str(WINDOWS), "-s", "100000", "-f", table, *map(str, args)],
                              capture_output=True, text=True, timeout=60, env=self.env)
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, said)
        count = int(re.search(r"Request count: (\d+)", said).group(1))
        self.assertGreater(count, 0)
        after = self.counted(workflow)
        self.assertEqual({code for code in after if after[code] != before.get(code, 0)}, {"0"}, said)
        self.assertGreaterEqual(after["0"] - before.get("0", 0), count)
        with open(table, newline="") as file:
            (row,) = csv.DictReader(file)
        self.assertGreater(float(row["Inferences/Second"]), 0)
        return row


class Hello(PerfAnalyzer):
    source = harness.EXAMPLES / "hello/hello.wf"

    def test_texts(self):
        for protocol in ("http", "grpc"):
            row = self.measure("Hello", "Greet", "-i", protocol, "--string-data", "Zoë", "--concurrency-range", 4)
            self.assertEqual(row["Concurrency"], "4")

    def test_tensors_in_batches_by_every_way_of_sending_them(self):
        in_json = ("--input-tensor-format", "json", "--output-tensor-format", "json", "--input-data", "zero")  # its own values are any bits, NaN among them
        ways = (("-i", "http", "--async"), ("-i", "http", *in_json),
                ("-i", "grpc", "--async", "--streaming"), ("-i", "grpc", "--grpc-compression-algorithm", "gzip"))
        for way in ways:
            self.measure("Hello.Spread", "Spread", *way, "-b", 8, "--shape", "xs:1000", "--concurrency-range", 4)

    def test_a_rate(self):
        row = self.measure("Hello.Spread", "Spread", "-i", "grpc", "--shape", "xs:10", "--request-rate-range", 200)
        self.assertEqual(row["Request Rate"], "200")


class Digits(PerfAnalyzer):
    source = harness.EXAMPLES / "digits/digits.wf"

    @classmethod
    def setUpClass(cls):
        config = harness.scratch() / "server.yml"
        config.write_text("nodes: {Classify/logits: {timeout: 20s}}\n")  # whatever else the machine does
        cls.args = ("--config", config)
        super().setUpClass()

    def test_pictures(self):
        picture = (harness.EXAMPLES / "digits/testdata/seven.png").read_bytes()
        data = harness.scratch() / "pictures.json"
        text = base64.b64encode(struct.pack("<I", len(picture)) + picture).decode()
        data.write_text(json.dumps({"data": [{"picture": {"b64": text}}]}))
        self.measure("DigitService", "Classify", "-i", "grpc", "-b", 4, "--input-data", data, "--concurrency-range", 4, window=OF_COUNT)


if __name__ == "__main__":
    harness.main()
