#!/usr/bin/env python3
"""scripts/demo to its end, as README tells it: what it prints, and that nothing of it is left."""
import json
import re
import subprocess
import unittest

import harness


class Demo(unittest.TestCase):
    def test_ends_with_the_answer_to_a_picture_the_graph_and_a_drained_server(self):
        done = subprocess.run([harness.ROOT / "scripts/demo"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=250)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        parts = dict(zip(*[iter(re.split(r"(?m)^== (.*)\n", done.stdout)[1:])] * 2))
        answer = json.loads(next(text for command, text in parts.items() if command.startswith("curl ")))
        self.assertEqual(answer["labels"][0], "7")
        self.assertIn("stage s1 (inferred)", next(text for command, text in parts.items() if command.startswith("wfc graph ")))
        self.assertIn("the server drained and stopped", parts)


if __name__ == "__main__":
    harness.main()
