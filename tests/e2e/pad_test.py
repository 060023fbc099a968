#!/usr/bin/env python3
"""`pad`: requests of different widths share runs of a model, each gets what it would have got alone, and no request waits for a plan."""
import json
import random
import time
import unittest

import harness
import strip_onnx

BUCKETS = (8, 16)
BATCH = 16
SOURCE = """package strips;
model Padded = onnx("strip.onnx") { pad w to [8, 16]; batch 16 within 100ms; queue 128; }
model Plain = onnx("strip.onnx") { batch 1; }
workflow Fill(x: f32[2, w]) -> (pixels: f32[3, _], halves: f32[3, _], level: f32[3]) {
  node y = Padded(x);
  return (pixels: y.pixels, halves: y.halves, level: y.level);
}
workflow Alone(x: f32[2, w]) -> (pixels: f32[3, _], halves: f32[3, _], level: f32[3]) {
  node y = Plain(x);
  return (pixels: y.pixels, halves: y.halves, level: y.level);
}
service Strip { workflow Fill; workflow Alone; }
"""


def source():
    folder = harness.scratch() / "pad"
    if not folder.exists():
        folder.mkdir()
        (folder / "strip.onnx").write_bytes(strip_onnx.strip())
        (folder / "strip.wf").write_text(SOURCE)
    return folder / "strip.wf"


def body(width, dice):
    return json.dumps({"x": [[round(dice.uniform(-2, 2), 3) for _ in range(width)] for _ in range(strip_onnx.CHANNELS)]}).encode()


class PadCase(harness.ServerCase):
    @classmethod
    def setUpClass(cls):
        cls.source = source()
        super().setUpClass()

    def close(self, found, expected, places=5):
        self.assertEqual(len(found), len(expected))
        for a, b in zip(found, expected):
            if isinstance(b, list):
                self.close(a, b, places)
            else:
                self.assertAlmostEqual(a, b, places=places)

    def check(self, width, filled, alone):
        """pixels and halves do not see the padding; the mean does, and says to which bucket the row was filled up."""
        extent = next((bucket for bucket in BUCKETS if width <= bucket), width)
        self.assertEqual(len(filled["pixels"][0]), width)
        self.assertEqual(len(filled["halves"][0]), width // 2)
        self.close(filled["pixels"], alone["pixels"])
        self.close(filled["halves"], alone["halves"])
        self.close(filled["level"], [sum(row) / extent for row in alone["pixels"]])

    def run_widths(self, widths, seed):
        """Answers of one request per width, all sent at once; checked against runs alone. Rows and runs of the padded model."""
        dice = random.Random(seed)
        bodies = [body(width, dice) for width in widths]
        rows, runs = (self.server.metric_sum("wf_batch_size" + part) for part in ("_sum", "_count"))
        connections = [self.server.connect() for _ in widths]
        for connection, data in zip(connections, bodies):
            connection.send(harness.request("POST", "/Strip/Fill", data))
        filled = [connection.receive().json for connection in connections]
        rows, runs = (self.server.metric_sum("wf_batch_size" + part) - before for part, before in (("_sum", rows), ("_count", runs)))
        for width, data, answer, connection in zip(widths, bodies, filled, connections):
            self.check(width, answer, connection.call("POST", "/Strip/Alone", data).json)
            connection.close()
        return rows, runs


class Batched(PadCase):
    args = ("--schedule=pool",)

    @harness.timed
    def test_mixed_widths_share_runs(self):
        rows, runs = self.run_widths([2 + i % 7 for i in range(24)], 1)
        print(f"pad: {rows:.0f} rows of 7 widths in {runs:.0f} runs")
        self.assertEqual(rows, 24)
        self.assertLess(runs, 16)

    def test_rows_longer_than_every_bucket_run_alone(self):
        rows, runs = self.run_widths([17, 40, 17, 17, 100, 17], 2)
        self.assertEqual((rows, runs), (6, 6))

    def test_random_widths(self):
        for seed in range(10):
            dice = random.Random(100 + seed)
            self.run_widths([dice.randint(2, 22) for _ in range(20)], seed)

    def test_every_size_is_measured_and_ready_before_it_is_asked_for(self):
        wanted = {(str(rows), str(bucket)) for rows in (1, 2, 4, 8, BATCH) for bucket in BUCKETS}
        deadline = time.monotonic() + 60
        while True:
            times = [key for key in self.server.metrics() if key.startswith("wf_batch_run_seconds") and 'model="Padded"' in key]
            found = {pair for pair in wanted if any(f'rows="{pair[0]}"' in key and f'bucket="{pair[1]}"' in key for key in times)}
            if found == wanted or time.monotonic() > deadline:
                break
            time.sleep(0.05)
        self.assertEqual(found, wanted)
        key = next(key for key in self.server.metrics() if key.startswith("wf_model_shape_misses_total") and 'model="Padded"' in key)
        misses = self.server.metrics()[key]
        self.run_widths([2 + i % 15 for i in range(24)], 3)
        self.assertEqual(self.server.metrics()[key], misses)
        self.run_widths([23, 23, 24], 4)
        self.assertEqual(self.server.metrics()[key], misses + 2)


class OnTheLoop(PadCase):
    args = ("--schedule=inline",)

    def test_a_model_on_the_loop_pads_too(self):
        self.run_widths([2 + i for i in range(20)], 5)


class Retuned(unittest.TestCase):
    """The configuration gives other sizes; queues outlive the configurations that they were made for."""
    def setUp(self):
        self.file = harness.scratch() / "pad.yml"
        self.file.write_text("")
        self.server = harness.Server.of(source(), "--config", self.file, "--schedule=pool")
        self.addCleanup(self.server.kill)

    def filled_up_to(self, width):
        data = body(width, random.Random(width))
        filled, alone = (self.server.call("POST", f"/Strip/{name}", data).json for name in ("Fill", "Alone"))
        return round(sum(alone["pixels"][0]) / filled["level"][0])

    def reload(self, text):
        self.file.write_text(text)
        self.server.reload("ok")

    def test_other_sizes_hold_for_what_begins_afterwards(self):
        self.assertEqual([self.filled_up_to(width) for width in (5, 9, 17)], [8, 16, 17])
        self.reload("nodes:\n  Fill/y:\n    pad: 6, 20\n")
        for queue in range(100, 110):
            self.assertEqual([self.filled_up_to(width) for width in (5, 6, 9, 21)], [6, 6, 20, 21])
            self.reload(f"nodes:\n  Fill/y: {{pad: '6, 20', batch: 16}}\nlimits: {{inflight: {queue}}}\n")  # the same queue again
        self.reload("")
        self.assertEqual([self.filled_up_to(width) for width in (5, 9, 17)], [8, 16, 17])
        self.assertEqual(self.server.stop(), 0, self.server.output())


if __name__ == "__main__":
    harness.main()
