#!/usr/bin/env python3
"""The exit status of bench.py says whether every row reached its goal; what is measured of wfc is wfc's own; what one leaves out of the runtime is there."""
import contextlib
import io
import sys
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

import bench


class ExitStatus(unittest.TestCase):
    def status_of(self, *ratios):
        def rates(_options):
            """Rows with these ratios."""
            return [bench.Row("rate", ratio, 1.0, "1/s", "a peer", goal=1.0) for ratio in ratios]
        modules = {"rows": types.SimpleNamespace(BENCHMARKS={"rates": rates})}
        with mock.patch.dict(sys.modules, modules), mock.patch.object(sys, "argv", ["bench.py"]), contextlib.redirect_stdout(io.StringIO()):
            return bench.main()

    def test_a_row_below_its_goal_fails_the_run(self):
        self.assertEqual(self.status_of(1.0, 2.0), 0)
        self.assertEqual(self.status_of(2.0, 0.9, 2.0), 1)


class WfcRun(unittest.TestCase):
    def test_its_memory_is_not_that_of_who_starts_it(self):
        import rows
        held = b"x" * (400 << 20)
        self.assertLess(rows.wfc_run("--version")[1], 200)
        self.assertEqual(len(held), 400 << 20)


class LeftOut(unittest.TestCase):
    def test_the_runtime_has_all_that_is_left_out_to_see_what_it_costs(self):
        import observing
        with tempfile.TemporaryDirectory() as folder:
            observing.write_left_out(Path(folder))
            for name in observing.LEFT_OUT:
                self.assertNotEqual((Path(folder) / name).read_text(), (observing.harness.ROOT / name).read_text(), name)


if __name__ == "__main__":
    unittest.main()
