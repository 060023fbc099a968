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
                    connection._fill()
                    ended[name] = connection.buffer
                except TimeoutError:
                    pass
                except (EOFError, ConnectionError):
                    ended[name] = b""
            self.assertEqual(self.server.post("/Hello/Greet", {}).status, 200)
        self.assertEqual(sorted(ended), ["body", "headers"], "still open")
        for name, answer in ended.items():
            if answer:
                self.assertTrue(answer.startswith(b"HTTP/1.1 408"), (name, answer))


if __name__ == "__main__":
    harness.main()
