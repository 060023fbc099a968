#!/usr/bin/env python3
"""Clients that take their time: headers within 10 s, a body at 1 KiB/s after 5 s, idle connections closed (runtime limits: docs/server.md)."""
import time

import harness


class SlowHttp(harness.ServerCase):
    source = harness.EXAMPLES / "hello/hello.wf"

    def test_slow_headers_and_slow_bodies_are_cut_off_while_others_are_served(self):
        headers, body = self.server.connect(timeout=60), self.server.connect(timeout=60)
        headers.send(b"POST /Hello/Greet HTTP/1.1\r\nhost: t\r\n")
        body.send(b"POST /Hello/Greet HTTP/1.1\r\nhost: t\r\ncontent-length: 100000\r\n\r\n")
        started = time.monotonic()
        ended = {}
        while len(ended) < 2 and time.monotonic() - started < 40:
            for name, connection, drip in (("headers", headers, b"x: y\r\n"), ("body", body, b" ")):
                if name in ended:
                    continue
                try:
                    connection.send(drip)
                    connection.socket.settimeout(0.2)
                    ended[name] = connection.receive()
                except TimeoutError:
                    pass
            self.assertEqual(self.server.post("/Hello/Greet", {}).status, 200)
        self.assertEqual(sorted(ended), ["body", "headers"], "still open")
        for name, word in (("headers", "head"), ("body", "body")):
            reply = ended[name]
            self.assertEqual((reply.status, reply.headers.get("connection")), (408, "close"), (name, reply))
            self.assertIn(word, reply.error["message"])
        self.assertTrue(headers.closed_within(5) and body.closed_within(5))
        counted = {name: value for name, value in self.server.metrics().items() if name.startswith("wf_requests_total") and 'code="6000"' in name}
        self.assertEqual(sum(counted.values()), 2, counted)


class SilentHttp(harness.ServerCase):
    source = harness.EXAMPLES / "hello/hello.wf"
    args = ("--limits-header-timeout", "1s", "--limits-idle-timeout", "2s")

    def test_a_connection_that_says_nothing_is_closed_on_every_port(self):
        for round_ in range(2):  # the second time connections come from the pool
            silent = {port: [self.server.connect(port=port) for _ in range(3)] for port in ("http", "admin")}
            for port, connections in silent.items():
                for connection in connections:
                    with connection:
                        self.assertTrue(connection.closed_within(15), (port, round_))
        for port in ("http", "admin"):
            with self.server.connect(port=port) as used:
                self.assertEqual(used.call("GET", "/livez").status, 200)
                self.assertTrue(used.closed_within(15), port)


if __name__ == "__main__":
    harness.main()
