#!/usr/bin/env python3
"""`wfc new`: what it makes is checked without a word, passes its tests, builds and answers; `wfc doctor` finds nothing missing where that works."""
import re
import subprocess
import unittest

import harness


def templates():
    listed = re.search(r"--template=(\S+)", harness.wfc("new", "--help").stdout)
    return listed.group(1).split("|")


class New(unittest.TestCase):
    def test_every_template_builds_and_passes(self):
        self.assertIn("hello", templates())
        for template in templates():
            with self.subTest(template):
                folder = harness.scratch() / f"made-by-{template}"
                harness.wfc("new", folder, f"--template={template}")
                program = folder / f"made_by_{template}.wf"
                checked = harness.wfc("check", program)
                self.assertEqual(checked.stderr, "")
                self.assertEqual(harness.wfc("fmt", "--check", program).stdout, "")
                server = folder / "server"
                harness.wfc("build", program, "-o", server)
                self.assertEqual(subprocess.run([server, "--version"], capture_output=True, timeout=60).returncode, 0)

    def test_a_template_serves_what_its_tests_say(self):
        folder = harness.scratch() / "served"
        harness.wfc("new", folder)
        server = harness.Server.of(folder / "served.wf")
        self.assertEqual(server.post("/Hello/Greet", {"name": "Ada"}).json, {"text": "hello, Ada"})
        server.stop()

    def test_doctor_is_content(self):
        found = harness.wfc("doctor").stdout
        self.assertRegex(found, r"(?m)^ok +a server +built")
        self.assertRegex(found, r"(?m)^ok +C\+\+ compiler +/")


if __name__ == "__main__":
    harness.main()
