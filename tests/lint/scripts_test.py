#!/usr/bin/env python3
"""Each script says how it is used, and does nothing else, when it is asked to or called wrongly."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
NAMES = sorted(path.name for path in SCRIPTS.iterdir() if os.access(path, os.X_OK))
WORKERS = ("apt-get", "cmake", "ctest", "dpkg-query", "ninja", "python3", "sudo")


class Scripts(unittest.TestCase):
    def run_script(self, name, *arguments):
        """Status, stdout, stderr; what would install, build or run anything only leaves a note, which is an error."""
        with tempfile.TemporaryDirectory() as folder:
            noted = Path(folder) / "noted"
            for worker in WORKERS:
                stand_in = Path(folder) / worker
                stand_in.write_text(f"#!/bin/sh\necho {worker} >>{noted}\nexit 1\n")
                stand_in.chmod(0o755)
            environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
            done = subprocess.run([SCRIPTS / name, *arguments], capture_output=True, text=True, timeout=20, env=environment)
            self.assertFalse(noted.exists(), name)
            return done.returncode, done.stdout, done.stderr

    def test_help_is_the_comment_at_the_head(self):
        self.assertIn("build", NAMES)
        for name in NAMES:
            head = (SCRIPTS / name).read_text().split("\nset -")[0].splitlines()[1:]
            for flag in ("--help", "-h"):
                status, out, err = self.run_script(name, flag)
                self.assertEqual((status, out, err), (0, "".join(line[2:] + "\n" for line in head), ""), name)
                self.assertIn(f"scripts/{name}", out)

    def test_an_unknown_flag_is_told_with_the_usage(self):
        for name in NAMES:
            status, out, err = self.run_script(name, "--no-such")
            self.assertEqual((status, out), (2, ""), name)
            self.assertIn("unknown flag --no-such\n", err, name)
            self.assertIn(f"scripts/{name}", err, name)

    def test_what_takes_no_such_argument_says_so(self):
        for name, *arguments in (("setup", "x"), ("demo", "x"), ("test", "x"), ("test", "--fast", "--long"), ("build",), ("fuzz", "lexer"), ("fuzz", "no_such", "1"),
                                 ("diff", "500"), ("diff", "--count"), ("diff", "--count", "0"), ("diff", "--jobs=two"), ("diff", "--until", "24:00")):
            self.assertEqual(self.run_script(name, *arguments)[0], 2, (name, arguments))


if __name__ == "__main__":
    unittest.main()
