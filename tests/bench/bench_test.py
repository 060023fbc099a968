#!/usr/bin/env python3
"""The exit status of bench.py says whether every row reached its goal."""
import contextlib
import io
import sys
import types
import unittest
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


if __name__ == "__main__":
    unittest.main()
