"""`wfc run` at a terminal: Ctrl-C, which a terminal sends to all of a job, ends the server as one request to end does, after what it is answering."""
import json
import os
import pty
import re
import select
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

import harness

PROGRAM = """fn spin(n: i64) -> i64 = sum[i < n](i * 31 % 1000003);

workflow Spin(n: i64) -> (y: i64) {
  node y = spin(n);
  return (y: y);
}

service Work {
  workflow Spin;
}
"""
SECONDS = 120  # a sanitized compiler on a busy machine


class Terminal:
    """A process that has a terminal of its own."""

    def __init__(self, folder, *command):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execv(command[0], command)
        self.text = ""

    def read_until(self, pattern):
        """the match; None when it ends, or the time is over, before there is one"""
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            found = re.search(pattern, self.text)
            if found:
                return found
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    self.text += os.read(self.fd, 4096).decode()
                except OSError:  # so says Linux when nobody has the other end any more
                    break
        return re.search(pattern, self.text)

    def close(self):
        status = os.waitpid(self.pid, 0)[1]
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


class Run(unittest.TestCase):
    def interrupted(self, *flags):
        folder = harness.scratch() / ("run" + "".join(flags))
        folder.mkdir()
        (folder / "main.wf").write_text(PROGRAM)
        terminal = Terminal(folder, str(harness.WFC), "run", *flags, "main.wf", "--", "--host", "127.0.0.1", "--http-port", "0", "--admin-port", "0")
        found = terminal.read_until(r"listening http=127\.0\.0\.1:(\d+)")
        self.assertTrue(found, terminal.text)
        with ThreadPoolExecutor(1) as pool:
            reply = pool.submit(self.ask, int(found.group(1)))
            time.sleep(0.3)
            os.write(terminal.fd, b"\x03")
            self.assertEqual(reply.result().status, 200)
        terminal.read_until(r"nothing says this")  # to its end
        self.assertEqual(terminal.close(), 0, terminal.text)
        self.assertEqual(terminal.text.count('"draining"'), 1, terminal.text)
        self.assertNotIn("second signal", terminal.text)

    @staticmethod
    def ask(port):
        with harness.Connection(("127.0.0.1", port)) as connection:
            return connection.call("POST", "/Work/Spin", json.dumps({"n": 300_000_000}).encode(), {"connection": "close"})

    def test_interrupted(self):
        self.interrupted()

    def test_interrupted_while_it_watches(self):
        self.interrupted("--watch")


if __name__ == "__main__":
    harness.main()
