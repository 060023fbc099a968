#!/usr/bin/env python3
"""`wfc new`: what it makes is checked without a word, passes its tests, builds and answers; `wfc doctor` finds nothing missing where that works."""
import os
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

    def test_what_wfc_new_says_to_try_works(self):
        """`wfc run FOLDER/NAME.wf` from outside of the folder: models lie beside the program."""
        for template in templates():
            with self.subTest(template):
                folder = harness.scratch() / f"tried-{template}"
                program = re.search(r"(?m)^try: wfc run (\S+)$", harness.wfc("new", folder, f"--template={template}").stdout).group(1)
                command = [harness.WFC, "run", program, "--", "--host", "127.0.0.1", "--http-port", "0", "--admin-port", "0"]
                running = subprocess.Popen(command, cwd=harness.scratch(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                try:
                    lines = []
                    while not lines or not (lines[-1].startswith("curl") or lines[-1] == ""):
                        lines.append(running.stdout.readline())
                    self.assertIn("listening http=", "".join(lines))
                    done = subprocess.run(lines[-1], shell=True, cwd=folder, capture_output=True, text=True, timeout=60)
                    self.assertNotIn("error", done.stdout)
                    self.assertTrue(done.stdout.startswith("{"), done.stdout + done.stderr)
                finally:
                    running.terminate()
                    running.communicate(timeout=60)

    def test_a_template_serves_what_its_tests_say(self):
        folder = harness.scratch() / "served"
        harness.wfc("new", folder)
        server = harness.Server.of(folder / "served.wf")
        self.assertEqual(server.post("/Hello/Greet", {"name": "Ada"}).json, {"text": "hello, Ada"})
        server.stop()

    def test_doctor_is_content(self):
        found = harness.wfc("doctor").stdout
        self.assertRegex(found, r"(?m)^ok +a server +built .*, started on a free port, answered, stopped$")
        self.assertRegex(found, r"(?m)^ok +C\+\+ compiler +/")

    def test_doctor_says_why_a_server_does_not_serve(self):
        for setting, why in (("WF_CONFIG", "/no/such/file"), ("WF_AUTH_KEYS", "a key is asked for")):
            with self.subTest(setting):
                value = why if setting == "WF_CONFIG" else "a-key-that-nobody-shows"
                found = subprocess.run([harness.WFC, "doctor"], env=dict(os.environ, **{setting: value}), capture_output=True, text=True, timeout=120)
                self.assertEqual(found.returncode, 1, found.stdout + found.stderr)
                self.assertRegex(found.stdout, r"(?m)^bad +a server +was built, but .*" + why)


if __name__ == "__main__":
    harness.main()
