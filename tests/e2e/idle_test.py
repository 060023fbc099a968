#!/usr/bin/env python3
"""Ten thousand connections that are open and ask nothing: they take less than 10 KB each, others are answered beside them, and what they took comes back."""
import resource
import socket
import time
import unittest

import harness

COUNT = 10_000
MOST_BYTES = 100_000_000
ASK = harness.request("POST", "/Hello/Greet", b'{"name": "Ada"}')


@unittest.skipIf(resource.getrlimit(resource.RLIMIT_NOFILE)[1] < COUNT + 500, "so many descriptors are not to be had")
class Idle(harness.ServerCase):
    source = harness.EXAMPLES / "hello/hello.wf"
    args = ("--limits-idle-timeout=300s", "--limits-header-timeout=300s")

    @classmethod
    def setUpClass(cls):
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        super().setUpClass()

    def resident(self):
        with open(f"/proc/{self.server.process.pid}/status", encoding="utf-8") as status:
            return int(next(line for line in status if line.startswith("VmRSS:")).split()[1]) * 1024

    def open(self):
        """All of them, some hundred at a time, so that none is refused for the backlog."""
        sockets = []
        self.addCleanup(lambda: [one.close() for one in sockets])
        while len(sockets) < COUNT:
            sockets += [socket.create_connection(self.server.addresses["http"], timeout=20) for _ in range(100)]
            if len(sockets) % 1000 == 0:
                self.server.settled("wf_connections", len(sockets))
        return sockets

    def asked_by(self, sockets):
        """Each asks once, keeps its connection, and is answered."""
        for at in range(0, COUNT, 100):
            part = sockets[at:at + 100]
            for one in part:
                one.sendall(ASK)
            for one in part:
                reply = b""
                while not reply.endswith(b'{"text":"hello, Ada"}'):
                    reply += one.recv(4096) or self.fail(f"closed after {reply}")

    def assert_answers(self):
        took = []
        for _ in range(200):
            began = time.monotonic()
            with self.server.connect() as other:
                other.send(ASK)
                self.assertEqual(other.receive().json, {"text": "hello, Ada"})
            took.append(time.monotonic() - began)
        took.sort()
        print(f"beside {COUNT} others: {took[100] * 1e3:.2f} ms, {took[-1] * 1e3:.1f} ms at most")
        self.assertLess(took[100], 0.02)

    @harness.timed
    def test_connections_that_never_asked_and_those_that_did_are_small(self):
        before = self.resident()
        sockets = self.open()
        self.assertEqual(self.server.settled("wf_connections", COUNT), COUNT)
        silent = self.resident() - before
        self.assert_answers()
        self.asked_by(sockets)
        asked = self.resident() - before
        self.assert_answers()
        print(f"{silent / 1e6:.1f} MB before they asked, {asked / 1e6:.1f} MB afterwards")
        if harness.BUILD.name == "release":  # a sanitizer takes more
            self.assertLess(asked, MOST_BYTES)
        for one in sockets:
            one.close()
        self.assertEqual(self.server.settled("wf_connections"), 0)
        self.assertEqual(self.server.metrics()['wf_refused_total{reason="connections"}'], 0)


if __name__ == "__main__":
    harness.main()
