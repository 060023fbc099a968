#!/usr/bin/env python3
"""Clients that take their time: headers within 10 s, a body at 1 KiB/s after 5 s, an answer within 30 s, idle connections closed (runtime limits: docs/serving.md)."""
import json
import resource
import socket
import time

import harness

if __name__ == "__main__":
    harness.in_environment()

import h2.events  # noqa: E402
import http2_client  # noqa: E402


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


class LateHttp(harness.ServerCase):
    source = harness.EXAMPLES / "hello/hello.wf"
    args = ("--default-timeout", "100ms")

    def test_a_body_that_does_not_come_ends_with_the_deadline(self):
        took = []
        for _ in range(5):
            with self.server.connect() as connection:
                started = time.monotonic()
                connection.send(b"POST /Hello/Greet HTTP/1.1\r\nhost: t\r\ncontent-length: 100\r\n\r\n{")
                self.assert_error(connection.receive(), 408, 6000, "the deadline passed before the whole body had come")
                took.append(time.monotonic() - started)
        self.assertGreater(min(took), 0.09)
        self.assertLess(min(took), 0.4)

    def test_the_open_inference_protocol_says_the_same(self):
        with self.server.connect() as connection:
            connection.send(b"POST /v2/models/Hello/infer HTTP/1.1\r\nhost: t\r\ncontent-length: 100\r\n\r\n{")
            reply = connection.receive()
        self.assertEqual((reply.status, reply.json["code"], reply.json["error"]), (408, 6000, "the deadline passed before the whole body had come"))


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


COPY = """
workflow Copy(text: string) -> (text: string) { return (text: text); }
service Texts { workflow Copy; }
"""
TEXT = json.dumps({"text": "x" * 8_000_000}).encode()
HTTP2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5)
POST2 = b"\x83\x86\x44\x0b/Texts/Copy\x41\x01t\x5f\x10application/json"
HEADERS2 = b"\x01\x04\0\0\0\x01"  # whole, of stream 1
# What each sends first, then byte by byte, and for how many seconds it is left alone at most.
SLOW = {
    "head": (b"POST /Texts/Copy HTTP/1.1\r\nhost: t\r\nx: ", b"y", 10),
    "body": (b"POST /Texts/Copy HTTP/1.1\r\nhost: t\r\ncontent-length: 100000\r\n\r\n", b" ", 15),
    "chunks": (b"POST /Texts/Copy HTTP/1.1\r\nhost: t\r\ntransfer-encoding: chunked\r\n\r\n", b"1\r\n \r\n", 15),
    "block": (HTTP2 + len(POST2).to_bytes(3, "big") + b"\x01\0\0\0\0\x01" + POST2, b"", 10),  # CONTINUATION never comes
    "frame": (HTTP2 + len(POST2).to_bytes(3, "big") + b"\x01\x04\0\0\0\x01" + POST2, b"\0\0\x01\0\0\0\0\0\x01 ", 15),  # DATA of one byte
    "reader": (harness.request("POST", "/Texts/Copy", TEXT), b"", 45),
}


class SteadyReaders(harness.ServerCase):
    """Who reads all the time, though slowly, gets everything: what the kernel has taken counts for as long as the client has not."""
    args = ("--limits-write-timeout", "1s")

    @classmethod
    def setUpClass(cls):
        cls.source = harness.scratch() / "copy.wf"
        cls.source.write_text(COPY)
        super().setUpClass()

    def read_slowly(self, connection, seconds=4):
        """80 KB each fourth of a second."""
        read, begun = b"", time.monotonic()
        while time.monotonic() - begun < seconds:
            read += connection.recv(80_000)
            time.sleep(0.25)
        return read

    def test_of_http1(self):
        with self.server.connect(30) as client:
            client.send(harness.request("POST", "/Texts/Copy", TEXT))
            begin = self.read_slowly(client.socket)
            answer = begin
            while len(answer) < len(TEXT) and (more := client.socket.recv(1 << 20)):
                answer += more
            self.assertEqual(answer[answer.index(b"{"):], TEXT.replace(b" ", b""))

    def test_of_http2(self):
        with http2_client.Client(self.server, INITIAL_WINDOW_SIZE=1 << 30) as client:
            client.h2.increment_flow_control_window(1 << 30)
            stream = client.begin("/Texts/Copy", TEXT, headers=[("content-type", "application/json")])
            for event in client.h2.receive_data(self.read_slowly(client.socket)):
                self.assertNotIsInstance(event, h2.events.StreamReset)
                if isinstance(event, h2.events.ResponseReceived):
                    client.replies[stream] = harness.Reply(200, {}, b"")
                if isinstance(event, h2.events.DataReceived):
                    client.replies[stream].body += event.data
            self.assertEqual(client.reply(stream).body, TEXT.replace(b" ", b""))


class ManySlow(harness.ServerCase):
    """Two thousand at once."""
    args = ("--limits-header-timeout", "5s", "--limits-idle-timeout", "5s")
    counts = {"head": 600, "body": 500, "chunks": 300, "block": 300, "frame": 250, "reader": 50}

    @classmethod
    def setUpClass(cls):
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        cls.source = harness.scratch() / "copy.wf"
        cls.source.write_text(COPY)
        super().setUpClass()

    def waits(self, count):
        """How long each of so many calls took, 10 ms apart; sorted. Of a connection of their own: one between two would be idle for as long as
        the slow ones take."""
        took = []
        with self.server.connect() as good:
            for _ in range(count):
                started = time.monotonic()
                self.assertEqual(good.call("POST", "/Texts/Copy", b'{"text": "a"}').json, {"text": "a"})
                took.append(time.monotonic() - started)
                time.sleep(0.01)
        return sorted(took)

    def begin(self, name):
        client = socket.socket()
        self.addCleanup(client.close)
        if name == "reader":
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        client.connect(self.server.addresses["http"])
        client.settimeout(30)
        client.sendall(SLOW[name][0])
        client.setblocking(False)
        return client

    def drip(self, name, client):
        """False: the server has closed, or answered what is not whole. Who reads nothing looks at nothing, either."""
        try:
            client.send(SLOW[name][1])
            while name != "reader":
                data = client.recv(4096)
                if not data or HEADERS2 in data:
                    return False
        except BlockingIOError:
            pass
        except OSError:
            return False
        return True

    def test_others_are_served_as_before_and_each_is_cut_off(self):
        alone = self.waits(300)
        slow = [(name, self.begin(name)) for name, count in self.counts.items() for _ in range(count)]
        begun, beside, held = time.monotonic(), [], {}
        while slow and time.monotonic() - begun < 40:
            slow = [(name, client) for name, client in slow if self.drip(name, client)]
            held.update({name: time.monotonic() - begun for name, _ in slow})
            if {name for name, _ in slow} == {"reader"}:
                break
            beside += self.waits(40)
        beside.sort()
        self.assertEqual({name for name, _ in slow}, {"reader"}, "still open")
        for name in set(SLOW) - {"reader"}:
            self.assertLess(held.get(name, 0), SLOW[name][2], name)
        self.assertLess(beside[len(beside) * 9 // 10], 1.5 * alone[len(alone) * 9 // 10] + 0.02)
        while self.server.metric_sum("wf_connections") > 5 and time.monotonic() - begun < SLOW["reader"][2]:
            self.waits(20)
        self.assertLessEqual(self.server.metric_sum("wf_connections"), 5, "who read nothing is still there")
        self.assertEqual(self.server.settled("wf_inflight_requests"), 0)
        self.assertTrue(self.server.logs("connections were ended", "an answer was not taken within `limits.write_timeout`"), self.server.output()[-2000:])


if __name__ == "__main__":
    harness.main()
