#!/usr/bin/env python3
"""A limit of addresses that a server meets (RLIMIT_AS): it refuses, what stands still gives way, what is kept goes back, and it serves again as soon as it can."""
import contextlib
import harness

harness.in_environment()

import json
import resource
import socket
import threading
import time
import unittest

import http2_client
from enduring import EnduringCase, status_of, told

HELLO = harness.EXAMPLES / "hello/hello.wf"
DIGITS = harness.EXAMPLES / "digits/digits.wf"
CLASSIFY = ("POST", "/DigitService/Classify?top=1", (DIGITS.parent / "testdata/seven.png").read_bytes(), {"content-type": "application/octet-stream"})
GREET = ("POST", "/Hello/Greet", b'{"name": "Ada"}')
RAMP = "workflow Ramp(n: i64) -> (xs: f64[_]) { require n >= 0; node xs: f64[_] = [i < n] => 1.0 / (f64(i) + 0.3); return (xs: xs); }\nservice Far { workflow Ramp; }\n"
ANSWER_SECONDS = 20  # longer is a hang
MIB = 1 << 20
# A body that is to take a MiB at once, of which less has come: as much as one call takes, so that memory is short where it is not there.
HALF = b"POST /Hello/Greet HTTP/1.1\r\nhost: t\r\ncontent-length: 2000000\r\n\r\n" + b" " * 70_000
PATIENT = ("--io-threads=1", "--limits-body-rate=0", "--limits-header-timeout=600s", "--default-timeout=250s")  # no time is up before memory is


def taken(server):
    with open(f"/proc/{server.process.pid}/status", encoding="utf-8") as status:
        return int(next(line for line in status if line.startswith("VmSize:")).split()[1]) * 1024


class Http1Half:
    """What has begun and stands still, and how the server ends it."""
    wanted = 429

    def __init__(self, server, half=HALF):
        self.connection = server.connect(ANSWER_SECONDS)
        self.connection.send(half)

    def answered(self, seconds):
        self.connection.socket.settimeout(seconds)
        try:
            return self.connection.receive().status
        except TimeoutError:
            return None


class Http2Half:
    wanted = 429
    path, begin, headers = "/Hello/Greet", b" " * 60_000, (("content-length", "2000000"),)

    def __init__(self, server):
        self.connection = http2_client.Client(server)
        self.stream = self.connection.begin(self.path, self.begin, headers=self.headers, end=False)

    def answered(self, seconds):
        self.connection.socket.settimeout(seconds)
        try:
            return self.status_of(self.connection.reply(self.stream))
        except TimeoutError:
            return None

    def status_of(self, reply):
        return reply.status


class GrpcHalf(Http2Half):
    wanted = "8"
    path, begin = "/inference.GRPCInferenceService/ModelInfer", b"\0" + (2_000_000).to_bytes(4, "big") + b" " * 60_000
    headers = (("content-type", "application/grpc"), ("te", "trailers"))

    def status_of(self, reply):
        return reply.headers["grpc-status"]


class GrpcStreamHalf(GrpcHalf):
    path = "/inference.GRPCInferenceService/ModelStreamInfer"


class Http2HalfHead(Http2Half):
    """HEADERS, of which the last byte is to come in a CONTINUATION."""
    def __init__(self, server):
        self.connection = client = http2_client.Client(server)
        while not client.h2.remote_settings.max_header_list_size:
            client.step()
        self.stream = client.h2.get_next_available_stream_id()
        client.h2.send_headers(self.stream, [(":method", "GET"), (":path", "/livez"), (":scheme", "http"), (":authority", "t"), ("x", "x" * 9_000), ("last", "y")], end_stream=True)
        frame = client.h2.data_to_send()
        self.rest = client.raw("continuation", 4, self.stream, frame[-1:])
        client.socket.sendall(client.raw("headers", 1, self.stream, frame[9:-1]))

    def finish(self):
        self.connection.socket.sendall(self.rest)


def zstd_of(blocks):
    """128 KiB of spaces in each block, then what greets; the window is as long as one may be."""
    body = GREET[2]
    each = (131072 << 3 | 2).to_bytes(3, "little") + b" "
    return bytes.fromhex("28b52ffd0068") + each * blocks + (len(body) << 3 | 1).to_bytes(3, "little") + body


@unittest.skipIf(harness.IS_SANITIZED, "a sanitizer needs terabytes of addresses")
class Addresses(EnduringCase):
    def start_limited(self, source, *args):
        """One that has found a limit, if a wide one: its threads share an arena of malloc, as they do under those that users set."""
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (1 << 40, hard))
        try:
            server = harness.Server.of(source, *args, *(harness.patient() if source == DIGITS else ()))
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        self.addCleanup(server.kill)
        if source == DIGITS:
            server.tried_rows()
        return server

    def leave(self, server, addresses):
        resource.prlimit(server.process.pid, resource.RLIMIT_AS, (taken(server) + addresses, resource.RLIM_INFINITY))

    def free(self, server):
        """Threads that began without a limit have arenas of malloc of their own: what one keeps is for no other."""
        resource.prlimit(server.process.pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    def ask_at_once(self, server, threads, turns, ask):
        """What `ask` gives, from several threads in turns; None: the server closed the connection. It lives on, and nothing else is raised."""
        found, wrong = [], []

        def run():
            for _ in range(turns):
                try:
                    found.append(ask())
                except (EOFError, ConnectionError):
                    found.append(None)
                except Exception as problem:
                    wrong.append(problem)

        running = [threading.Thread(target=run) for _ in range(threads)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
        self.assertEqual(wrong, [])
        self.assertIsNone(server.process.poll(), told(server))
        return found

    def test_while_a_model_runs(self):
        """By chance it is oneDNN, or the OpenMP runtime, that finds none."""
        statuses = set()
        for addresses in (0, 1 << 20, 1 << 20, 2 << 20):
            server = self.start_limited(DIGITS, "--io-threads=2")  # whose threads have run no model
            self.leave(server, addresses)

            def ask(server=server):
                status = server.call(*CLASSIFY).status
                server.call("POST", "/v2/models/DigitService/infer", b"x" * 3_000_000)
                return status

            statuses.update(self.ask_at_once(server, 10, 30, ask))
            self.assert_answers_again(server, *CLASSIFY, seconds=15)
            self.assert_ends_well(server)
        self.assertLessEqual(statuses, {200, 429, 503, None})  # a bad picture (400) it is never
        self.assertTrue({429, 503, None} & statuses, statuses)

    def test_requests_of_clients_that_read_nothing_give_way(self):
        server = self.start_limited(DIGITS, "--io-threads=1", "--limits-memory-bytes=8MiB")
        self.leave(server, 8 << 20)
        many = b"GET /v2/models/DigitService HTTP/1.1\r\nhost: x\r\n\r\n" * 1500
        sent = []
        for _ in range(1000):
            with contextlib.suppress(OSError):
                sent.append(socket.create_connection(server.addresses["http"], ANSWER_SECONDS))
                sent[-1].settimeout(0.02)
                sent[-1].sendall(many)
        self.assertIsNone(server.process.poll(), told(server))
        for each in sent:
            each.close()
        self.assert_answers_again(server, *CLASSIFY)
        self.assert_ends_well(server)

    def make_short(self, server):
        """By bodies that stand still, until one is refused, or its connection closed."""
        sent = []
        with contextlib.suppress(EOFError, ConnectionError):
            while not sent or sent[-1].answered(0.3) is None:
                self.assertLess(len(sent), 40)
                sent.append(Http1Half(server))
        for each in sent:
            each.connection.close()
        says_so = server.logs("the process is out of memory; requests are refused", seconds=3)
        self.assertTrue(says_so or server.logs("log lines were dropped"), told(server))  # for want of memory

    def test_what_stands_still_gives_way(self):
        server = self.start_limited(HELLO, *PATIENT)
        head = b"POST /Hello/Greet HTTP/1.1\r\nhost: t\r\nx: " + b"x" * 9_000
        still = [Http1Half(server), Http1Half(server, head), Http2Half(server), GrpcHalf(server), GrpcStreamHalf(server)]
        begun = Http2HalfHead(server)
        for each in [*still, begun]:
            self.assertIsNone(each.answered(0.1))
        self.leave(server, 0)
        self.make_short(server)
        for each in still:
            with self.subTest(type(each).__name__):
                self.assertEqual(each.answered(10), each.wanted)
        self.assert_answers_again(server, *GREET)
        begun.finish()
        self.assertEqual(begun.answered(10), 429, "what had come of it was dropped")
        for each in [*still, begun]:
            each.connection.close()
        self.assert_ends_well(server)

    def test_it_serves_again_where_the_reserve_is_all_there_is(self):
        """The second half of it is for those who work."""
        server = self.start_limited(HELLO, *PATIENT)
        self.leave(server, 0)
        self.make_short(server)
        self.assert_answers_again(server, "GET", "/readyz")
        self.assert_answers_again(server, *GREET)
        self.assert_ends_well(server)

    def test_it_serves_again_where_there_is_not_even_that_but_nobody_asks_for_more(self):
        server = self.start_limited(HELLO, *PATIENT)
        self.assertEqual(status_of(server, *GREET), 200)
        self.leave(server, -3 * MIB // 2)
        self.make_short(server)
        self.assert_answers_again(server, "GET", "/readyz", seconds=20)
        for _ in range(20):
            self.assertEqual(status_of(server, *GREET), 200, told(server))
        self.assert_ends_well(server)

    def test_what_threads_keep_of_codings_goes_back(self):
        """8 MiB each where they have taken zstd off: the loop, which has tried, and a thread for large bodies."""
        server = self.start_limited(HELLO, *PATIENT)
        reply = server.call("POST", "/Hello/Greet", zstd_of(64), {"content-encoding": "zstd"})
        self.assertEqual((reply.status, reply.json["text"]), (200, "hello, Ada"), reply)
        before = taken(server)
        self.leave(server, 0)
        self.make_short(server)
        until = time.monotonic() + 5
        while taken(server) > before - 14 * MIB and time.monotonic() < until:
            time.sleep(0.1)
        self.assertLess(taken(server), before - 14 * MIB)
        self.assert_answers_again(server, *GREET)
        self.assert_ends_well(server)

    def test_large_bodies_and_answers(self):
        server = harness.Server.of(HELLO, "--schedule=pool")
        self.addCleanup(server.kill)
        self.leave(server, 12 << 20)
        spread = ("POST", "/Hello/Spread", json.dumps({"xs": [1.5] * 300_000}).encode())

        def ask():
            reply = server.call(*spread)
            self.assertIn(reply.status, (200, 429, 503))
            if reply.status == 200:
                self.assertEqual(reply.json["mean"], 1.5)
            else:
                self.assertEqual(reply.error["code"], 3010, reply)
            return reply.status

        self.assertIn(429, self.ask_at_once(server, 12, 4, ask))
        self.assertEqual(server.call("GET", "/livez").status, 200)
        self.free(server)
        self.assert_answers_again(server, *spread)
        self.assert_answers_again(server, *GREET)
        self.assert_ends_well(server)

    def test_an_answer_that_finds_none_is_refused_for_now(self):
        """By how much there is left it is the work, the answer in one of its pieces, or the next request that finds none."""
        source = harness.scratch() / "far.wf"
        source.write_text(RAMP)
        server = self.start_limited(source, "--schedule=pool")
        far = {429: ("POST", "/Far/Ramp", b'{"n": 1000000}'),
               503: ("POST", "/v2/models/Far.Ramp/infer", b'{"inputs": [{"name": "n", "datatype": "INT64", "shape": [], "data": [1000000]}]}')}
        refused = 0
        for left in range(6, 30, 8):
            for status, call in far.items():
                self.leave(server, left * MIB)
                with contextlib.suppress(EOFError, ConnectionError):
                    reply = server.call(*call)
                    if reply.status != 200:
                        refused += 1
                        code = (reply.json if status == 503 else reply.error)["code"]
                        self.assertEqual((reply.status, code, reply.headers.get("retry-after")), (status, 3010, "1"), reply)
                self.free(server)
                self.assert_answers_again(server, "POST", "/Far/Ramp", b'{"n": 10}')
        self.assertGreater(refused, 0)
        self.assertFalse(server.logs("a request failed", seconds=1.5), told(server))
        self.assert_answers_again(server, *far[429])
        self.assert_ends_well(server)


if __name__ == "__main__":
    harness.main()
