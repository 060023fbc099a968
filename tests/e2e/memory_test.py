#!/usr/bin/env python3
"""Thousands of connections whose bytes nobody reads: what they take is bounded, and what is refused is counted."""
import resource
import socket
import time

import harness

HELD = 64 * 1024  # of one connection, more or less, where nothing bounds it
MIB = 1 << 20


class Flood:
    """Connections that send `message` as far as the server takes it, and read nothing."""
    def __init__(self, server, count, message):
        self.sockets = []
        left = {}
        for at in range(count):
            client = socket.socket()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            client.bind((f"127.0.0.{1 + at % 250}", 0))
            client.connect(server.addresses["http"])
            client.setblocking(False)
            self.sockets.append(client)
            left[client] = message
        quiet = 0
        while left and quiet < 10:
            moved = False
            for client in list(left):
                try:
                    sent = client.send(left[client])
                except BlockingIOError:
                    continue
                except OSError:  # refused, and closed
                    sent = len(left[client])
                moved = moved or sent > 0
                left[client] = left[client][sent:]
                if not left[client]:
                    del left[client]
            quiet = 0 if moved else quiet + 1
            time.sleep(0 if moved else 0.1)

    def close(self):
        for client in self.sockets:
            client.close()


class Memory(harness.ServerCase):
    source = harness.EXAMPLES / "hello/hello.wf"
    args = ("--limits-memory-bytes=16MiB",)

    @classmethod
    def setUpClass(cls):
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        cls.server = harness.Server.of(cls.source, *cls.args, env=harness.lean())

    def resident(self):
        with open(f"/proc/{self.server.process.pid}/status", encoding="utf-8") as status:
            return int(next(line for line in status if line.startswith("VmRSS:")).split()[1]) * 1024

    def refused(self):
        return self.server.metrics()['wf_refused_total{reason="memory"}']

    def flood(self, count, message):
        before = self.resident()
        flood = Flood(self.server, count, message)
        self.addCleanup(flood.close)
        time.sleep(1.5)  # what was sent is read, and no limit of time has come
        return flood, self.resident() - before

    def test_bodies_of_probes_and_metadata(self):
        for path in ("/livez", "/v2", "/v2/models/Hello"):
            message = harness.request("GET", path, b"x" * HELD)[:-1]  # the last byte does not come
            flood, more = self.flood(2000, message)
            self.assertLess(more, 2000 * HELD / 2, path)
            flood.close()

    def test_requests_behind_one_another(self):
        flood, more = self.flood(3000, harness.request("GET", "/livez") * 8000)
        self.assertLess(more, 3000 * 2 * HELD)  # a sanitized server takes far more for the rest of them than another
        flood.close()
        self.assertEqual(self.server.post("/Hello/Greet", {}).status, 200)

    def test_a_body_that_all_the_memory_cannot_hold_is_not_put_off(self):
        before = self.refused()
        for framing in ("content-length: 20000000\r\n\r\n", "transfer-encoding: chunked\r\n\r\n1312d00\r\n"):
            with self.server.connect() as connection:
                connection.send(f"POST /Hello/Greet HTTP/1.1\r\nhost: t\r\n{framing}".encode())
                if "chunked" in framing:
                    connection.send(b"x" * 17_000_000)
                reply = connection.receive()
            self.assert_error(reply, 413, 5000, "14680064 bytes that bodies may have of `limits.memory_bytes`")
            self.assertNotIn("retry-after", reply.headers)
        self.assertEqual(self.refused(), before)

    def test_heads_that_are_not_whole(self):
        before = self.refused()
        head = harness.request("GET", "/livez", headers={"x": "a" * 30_000})[:-4]
        flood, _ = self.flood(1200, head)
        refused = self.refused() - before
        self.assertGreater(refused, 50)
        self.assertLess(refused, 600)
        with self.server.connect() as late:
            late.send(head)
            reply = late.receive()
        self.assertEqual((reply.status, reply.headers["retry-after"], reply.error["code"]), (429, "1", 3010), reply)
        flood.close()


if __name__ == "__main__":
    harness.main()
