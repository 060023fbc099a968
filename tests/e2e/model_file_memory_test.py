#!/usr/bin/env python3
"""What a model file takes in memory when `wfc model` reads it and makes a plan follows its parts, as docs/engine.md says."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import harness
from onnx_file import initializer, integers, model, node, value_info, weights

KIB = 1024
BASE = 32 * 1024 * KIB  # the program and its libraries


def chain(op, count, *more):
    names = ["x", *(f"{i:x}" for i in range(count - 1)), "y"]
    return [node(op, [names[i], *more], [names[i + 1]]) for i in range(count)]


@unittest.skipIf(harness.IS_SANITIZED, "a sanitizer takes memory of its own")
class FileMemory(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def resident(self, data):
        """Most bytes of `wfc model inspect` of this file."""
        path = Path(self.folder.name) / "m.onnx"
        path.write_bytes(data)
        with open(os.devnull, "w") as nowhere:
            process = subprocess.Popen([harness.WFC, "model", "inspect", path], stdout=nowhere, stderr=subprocess.PIPE)
            told = process.stderr.read()
            process.stderr.close()
            _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0, told)
        return used.ru_maxrss * KIB

    def test_a_node_takes_so_much(self):
        count = 20_000
        flat = [value_info("x", (1, 1, 1))], [value_info("y", (1, 1, 1))]
        self.assertLess(self.resident(model(chain("Neg", count), [], *flat)), BASE + 1 * KIB * count)
        convolved = chain("Conv", count, "w")
        self.assertLess(self.resident(model(convolved, [initializer("w", (1, 1, 1), weights(1, 1))], *flat)), BASE + 12 * KIB * count)

    def test_constants_make_so_much(self):
        extents = integers("s", [18_000_000])
        nodes = [node("Expand", ["one", "s"], ["c0"]), *(node("Neg", [f"c{i}"], [f"c{i + 1}"]) for i in range(8)), node("Relu", ["x"], ["y"])]
        data = model(nodes, [extents, initializer("one", (1,), weights(1, 1))], [value_info("x", (1,))],
                     [value_info("y", (1,)), value_info("c8", (18_000_000,))])
        self.assertLess(len(data), 512)
        self.assertLess(self.resident(data), BASE + 72 * 1024 * KIB)


if __name__ == "__main__":
    unittest.main()
