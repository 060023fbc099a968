#!/usr/bin/env python3
"""Connections that send a little and read nothing, and answers that are large: what they take is bounded by `limits.memory_bytes`, and what is refused is counted."""
import resource
import socket
import threading
import time
import unittest

import harness

HELD = 64 * 1024  # of one connection, more or less, where nothing bounds it
MIB = 1 << 20


class Flood:
    """Connections that send `message` as far as the server takes it, and read nothing."""
    def __init__(self, server, count, message, port="http"):
        self.sockets = []
        left = {}
        for at in range(count):
            client = socket.socket()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            client.bind((f"127.0.0.{1 + at % 250}", 0))
            client.connect(server.addresses[port])
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


def frame(kind, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def text(value):
    """As HPACK writes it (RFC 7541 5.2)."""
    left, length = len(value), b""
    if left < 127:
        return bytes([left]) + value
    left -= 127
    while left >= 128:
        length += bytes([left % 128 + 128])
        left //= 128
    return b"\x7f" + length + bytes([left]) + value


def head(method, path, **fields):
    pairs = {b":method": method, b":scheme": b"http", b":path": path, b":authority": b"t"} | {name.encode(): value for name, value in fields.items()}
    return b"".join(b"\0" + text(name) + text(value) for name, value in pairs.items())


def streams(of_one, count=100):
    """A connection of HTTP/2 that opens no window for answers."""
    begin = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, bytes.fromhex("000400000000"))
    return begin + b"".join(of_one(1 + 2 * i) for i in range(count))


class FloodCase(harness.ServerCase):
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

    def flood(self, count, message, port="http"):
        before = self.resident()
        flood = Flood(self.server, count, message, port)
        self.addCleanup(flood.close)
        time.sleep(1.5)  # what was sent is read, and no limit of time has come
        return flood, self.resident() - before


class Memory(FloodCase):
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
        self.assertLess((1200 - refused) * 30_000, 16 << 20)  # what is held is claimed of `limits.memory_bytes`
        self.assertLess(refused, 900)
        metrics = self.server.metrics()
        self.assertEqual(metrics["wf_request_memory_limit_bytes"], 16 << 20)
        self.assertGreater(metrics["wf_request_memory_bytes"], 8 << 20)
        self.assertLessEqual(metrics["wf_request_memory_bytes"], 16 << 20)
        with self.server.connect() as late:
            late.send(head)
            reply = late.receive()
        self.assertEqual((reply.status, reply.headers["retry-after"], reply.error["code"]), (429, "1", 3010), reply)
        flood.close()
        self.assertEqual(self.server.settled("wf_request_memory_bytes", 0), 0)


class Held(FloodCase):
    """What streams hold, each time of a server that has served nobody: what was freed before would hide it."""
    def setUp(self):
        self.server = harness.Server.of(self.source, *self.args, env=harness.lean())
        self.addCleanup(self.server.stop)

    def test_heads_whose_bodies_are_to_come(self):
        block = head(b"POST", b"/Hello/Greet", x=b"x" * 14_000)
        flood, more = self.flood(60, streams(lambda stream: frame(1, 4, stream, block)))
        self.assertLess(more, (40 if harness.BUILD.name == "release" else 60) * MIB)  # a sanitizer keeps some of what was freed
        flood.close()

    def test_bodies_that_are_only_announced(self):
        """Next to nothing of each has come, and all together would be a hundred times the memory: others' bodies find room."""
        half = 8 * MIB
        message = head(b"POST", b"/inference.GRPCInferenceService/ModelInfer", te=b"trailers", **{"content-type": b"application/grpc"})
        greet = head(b"POST", b"/Hello/Greet", **{"content-length": str(half).encode()})
        for more in (f"POST /Hello/Greet HTTP/1.1\r\nhost: t\r\ncontent-length: {half}\r\n\r\n{{".encode(),
                     streams(lambda stream: frame(1, 4, stream, greet) + frame(0, 0, stream, b"{"), 2),
                     streams(lambda stream: frame(1, 4, stream, message) + frame(0, 0, stream, b"\0" + half.to_bytes(4, "big") + b"\x0a"), 2)):
            flood, _ = self.flood(200, more)
            reply = self.server.call("POST", "/Hello/Greet", b'{"name": "Ada"' + b" " * 2 * MIB + b"}")
            self.assertEqual(reply.status, 200, reply)
            flood.close()

    def test_streams_that_say_nothing(self):
        block = head(b"POST", b"/inference.GRPCInferenceService/ModelStreamInfer", te=b"trailers", **{"content-type": b"application/grpc"})
        flood, more = self.flood(600, streams(lambda stream: frame(1, 4, stream, block)))
        self.assertLess(more, (60 if harness.BUILD.name == "release" else 100) * MIB)  # a sanitizer keeps some of the refused ones
        self.assertGreater(self.refused(), 10_000)
        flood.close()
        self.assertEqual(self.server.post("/Hello/Greet", {}).status, 200)

    def test_small_bodies_that_are_not_whole(self):
        block = head(b"POST", b"/Hello/Greet")
        flood, more = self.flood(60, streams(lambda stream: frame(1, 4, stream, block) + frame(0, 0, stream, b" " * 14_000)))
        self.assertLess(more, 60 * MIB)
        flood.close()
        flood, more = self.flood(5000, harness.request("POST", "/Hello/Greet", b" " * 16_384)[:-1])
        self.assertLess(more, 60 * MIB)
        flood.close()

    def test_own_answers_that_nobody_reads(self):
        for path in (b"/v2/models/stats", b"/v2/nothing"):
            flood, more = self.flood(300, streams(lambda stream, block=head(b"GET", path): frame(1, 5, stream, block)))
            self.assertLess(more, 60 * MIB, path)
            flood.close()
        self.assertGreater(self.server.metrics()['wf_refused_total{reason="connection_memory"}'], 100)
        self.assertEqual(self.server.post("/Hello/Greet", {}).status, 200)

    def test_pages_that_nobody_reads(self):
        block = head(b"GET", b"/metrics")
        flood, more = self.flood(60, streams(lambda stream: frame(1, 5, stream, block)), "admin")
        self.assertLess(more, 60 * MIB)
        flood.close()
        self.assertIn("wf_inflight_requests", "".join(self.server.metrics()))


def peak(server):
    with open(f"/proc/{server.process.pid}/status", encoding="utf-8") as status:
        return int(next(line for line in status if line.startswith("VmHWM:")).split()[1]) * 1024


class LargeAnswers(harness.ServerCase):
    def test_are_bounded_while_they_are_written(self):
        source = harness.scratch() / "big.wf"
        source.write_text("""workflow Big(n: i64) -> (x: f64[a, b]) {
  let x = [i < n, j < n] => f64(i * j) * 0.37;
  return (x: x);
}
service Bigs { workflow Big; }
""")
        server = harness.Server.of(source, "--limits-memory-bytes=64MiB", "--compute-threads=16", env=harness.lean())
        self.addCleanup(server.stop)
        before, statuses = peak(server), []

        def ask():
            for _ in range(3):
                statuses.append(server.post("/Bigs/Big", {"n": 900}).status)
        clients = [threading.Thread(target=ask) for _ in range(12)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        self.assertLessEqual(set(statuses), {200, 429})
        self.assertIn(200, statuses)
        self.assertLess(peak(server) - before, 100 * MIB)
        reply = server.post("/Bigs/Big", {"n": 2200})  # beside nothing else, so that no waiting helps
        self.assert_error(reply, reply.status, 3012, "limits.memory_bytes")


class Freed(FloodCase):
    args = ("--limits-memory-bytes=128MiB", "--io-threads=1")

    @unittest.skipUnless(harness.BUILD.name == "release", "a sanitizer keeps what is freed")
    def test_memory_goes_back_to_the_system_when_clients_have_gone(self):
        block = head(b"POST", b"/Hello/Greet")
        flood, more = self.flood(60, streams(lambda stream: frame(1, 4, stream, block) + frame(0, 0, stream, b" " * 14_000)))
        self.assertGreater(more, 70 * MIB)
        most = self.resident()
        flood.close()
        until = time.monotonic() + 20
        while self.resident() > most - 40 * MIB and time.monotonic() < until:
            time.sleep(0.2)
        self.assertLess(self.resident(), most - 40 * MIB)


if __name__ == "__main__":
    harness.main()
