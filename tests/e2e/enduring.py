"""Servers that meet limits and faults: they go on, or end well."""
import time
import unittest


def told(server):
    """The last that the server said besides its requests."""
    return "\n".join(line for line in server.output().splitlines() if '"message":"request"' not in line)[-3000:]


def status_of(server, *call):
    """of an answer; None: the connection was closed"""
    try:
        return server.call(*call).status
    except (EOFError, ConnectionError):
        return None


class EnduringCase(unittest.TestCase):
    def assert_answers_again(self, server, *call, seconds=8):
        """Within a few seconds: while the reserve is nearly spent connections are closed unread."""
        until = time.monotonic() + seconds
        while (status := status_of(server, *call)) != 200:
            self.assertIsNone(server.process.poll(), told(server))
            self.assertLess(time.monotonic(), until, (status, told(server)))
            time.sleep(0.1)

    def assert_ends_well(self, server):
        self.assertEqual(server.stop(), 0, told(server))
