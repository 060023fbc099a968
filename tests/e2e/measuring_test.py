#!/usr/bin/env python3
"""What runs of all sizes take is measured beside the requests, after the start and after a reload that makes queues: it ends with the run under way once the
server is to stop, and its memory goes back."""
import os
import re
import resource
import signal
import time
import unittest

import harness
import onnx_file

ROWS = 32
PROGRAM = """model Layers = onnx("layers.onnx") { mixing allowed; }  // so that sizes are measured at once
workflow Run(x: f32) -> (y: f32) {
  let matrix: f32[384, 384] = [i, j] => x;
  node y = Layers(matrix) { batch ROWS; }
  return (y: y[0, 0]);
}
service S { workflow Run; }
""".replace("ROWS", str(ROWS))
BATCH = "nodes: {Run/y: {batch: %d}}\n"
# Sizes from ROWS down to 1 are run twice each: one run of the largest is about a fourth of it all.
ONE_RUN, AT_MOST = 0.25, 0.37
LONG_LAYERS, LONG_RUN = 128, 2  # with so many a run of ROWS works for more than so many seconds on any machine, of which the end waits for half a one
TICKS = os.sysconf("SC_CLK_TCK")


def source(layers=8):
    folder = harness.scratch() / f"measuring{layers}"
    if not folder.exists():
        folder.mkdir()
        (folder / "layers.onnx").write_bytes(onnx_file.square_layers(384, layers))
        (folder / "layers.wf").write_text(PROGRAM)
    return folder / "layers.wf"


def worked(folder):
    """Seconds that a process or a thread has worked."""
    fields = (folder / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


class Measuring(unittest.TestCase):
    whole = None  # seconds of work of all measurements

    def start(self, *args, layers=8):
        server = harness.Server.of(source(layers), *args)
        self.addCleanup(server.kill)
        self.process = harness.Path(f"/proc/{server.process.pid}")
        until = time.monotonic() + harness.START_SECONDS
        self.thread = None
        while self.thread is None and time.monotonic() < until:  # it names itself
            self.thread = next((task for task in (self.process / "task").iterdir() if (task / "comm").read_text() == "wf-preparer\n"), None)
        return server

    def measure(self):
        """Until the thread has nothing more to do; its work."""
        seen, since = -1, time.monotonic()
        until = since + 60
        while time.monotonic() < until and time.monotonic() - since < 0.5:
            if (now := worked(self.thread)) != seen or not self.sleeps():
                seen, since = now, time.monotonic()
            time.sleep(0.02)
        return seen

    def sleeps(self):
        return (self.thread / "stat").read_text().rpartition(")")[2].split()[0] == "S"

    def resident(self):
        return int(re.search(r"RssAnon:\s+(\d+)", (self.process / "status").read_text())[1]) / 1024

    def work_to_end(self, server, before):
        """SIGTERM once the thread has worked some more; what the process then still works."""
        while worked(self.thread) < before + 0.05:
            self.assertIsNone(server.process.poll())
            time.sleep(0.005)
        others = resource.getrusage(resource.RUSAGE_CHILDREN)
        then = worked(self.process)
        self.assertEqual(server.stop(), 0, server.output())
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime - others.ru_utime - others.ru_stime - then

    @classmethod
    def setUpClass(cls):
        case = cls()
        case.start()
        cls.before = case.resident()
        cls.whole = case.measure()
        cls.after = case.resident()
        case.doCleanups()
        print(f"measuring: {cls.whole:.2f} s, {cls.before:.1f} MiB before, {cls.after:.1f} after")

    def test_its_memory_goes_back(self):
        self.assertGreater(self.whole, 0.2)
        if not harness.IS_SANITIZED:  # which keeps what is given back for a while
            self.assertLess(self.after, self.before + 8, "MiB")  # a run of ROWS has 18 of inputs alone, and those of half as many stayed

    def assert_one_run(self, worked_s):
        print(f"measuring: {worked_s:.2f} s of work after SIGTERM, one run of {ROWS} takes about {ONE_RUN * self.whole:.2f}")
        self.assertLess(worked_s, AT_MOST * self.whole + 0.1)

    @harness.timed
    def test_a_server_that_is_to_stop_begins_no_further_run(self):
        server = self.start()
        self.assert_one_run(self.work_to_end(server, 0))

    @harness.timed
    def test_it_does_not_wait_for_a_long_one(self):
        server = self.start(layers=LONG_LAYERS)
        while worked(self.thread) < 1:  # plans are made, and the first run, of ROWS, is under way
            self.assertIsNone(server.process.poll())
            time.sleep(0.005)
        then = time.monotonic()
        worked_s = self.work_to_end(server, 0)
        print(f"measuring: {worked_s:.2f} s of work after SIGTERM in a run that takes long, {time.monotonic() - then:.2f} s in all")
        self.assertLess(worked_s, LONG_RUN - 0.5)

    @harness.timed
    def test_nor_after_a_reload(self):
        config = harness.scratch() / "measuring.yml"
        config.write_text(BATCH % 1)
        server = self.start("--config", config)
        before = self.measure()
        config.write_text(BATCH % ROWS)
        server.reload("ok")
        self.assert_one_run(self.work_to_end(server, before))


if __name__ == "__main__":
    harness.main()
