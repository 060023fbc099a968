#!/usr/bin/env python3
"""Each limit that a setting moves: what is within it passes, what is beyond is answered, or closed, as docs/serving.md says."""
import contextlib
import gzip
import json
import random
import socket
import subprocess
import time

import harness

if __name__ == "__main__":
    harness.in_environment()

from http2_client import Client  # noqa: E402

SOURCE = """
workflow Copy(text: string) -> (text: string) { return (text: text); }
workflow Ramp(n: i64) -> (y: f64) { node xs: f64[n] = [i < n] => f64(i); node y = sum[i](xs[i]); return (y: y); }
workflow Refuse(text: string) -> (text: string) { require text == "" else fail InputParams("unknown label {text}"); return (text: text); }
service Texts { workflow Copy; workflow Ramp; workflow Refuse; }
"""


def source():
    path = harness.scratch() / "limits.wf"
    path.write_text(SOURCE)
    return path


def copy_of(size):
    return json.dumps({"text": "x" * size}).encode()


class Limits(harness.ServerCase):
    source = source()
    args = ("--limits-headers=8", "--limits-stream-window=65535B", "--limits-connection-window=100_000B", "--limits-control-frames=20",
            "--limits-discarded-bytes=1000B", "--limits-body-bytes=4MiB", "--limits-unsent-bytes=16KiB", "--limits-turn-bytes=16KiB",
            "--limits-admin-connections=3", "--limits-request-bytes=1MiB")

    def test_fields_of_a_head(self):
        for count, status in ((8, 200), (9, 431)):
            fields = "".join(f"x-{i}: 1\r\n" for i in range(count - 1))
            with self.server.connect() as connection:
                connection.send(f"GET /livez HTTP/1.1\r\nhost: t\r\n{fields}\r\n".encode())
                self.assertEqual(connection.receive().status, status, count)
            with Client(self.server) as client:
                headers = [(f"x-{i}", "1") for i in range(count - 1)]
                self.assertEqual(client.reply(client.begin("/livez", method="GET", headers=headers)).status, status, count)

    def test_the_line_of_a_request(self):
        for size, status in ((200, 404), (8200, 414)):
            with self.server.connect() as connection:
                connection.send(harness.request("GET", "/" + "x" * size))
                self.assertEqual(connection.receive().status, status, size)
            with Client(self.server) as client:
                self.assertEqual(client.reply(client.begin("/" + "x" * size, method="GET")).status, status, size)

    def test_windows_of_http2(self):
        with Client(self.server) as client:
            stream = client.begin("/Texts/Copy", end=False)
            client.call("/Texts/Copy", {"text": ""})  # its answer comes behind the server's settings
            self.assertEqual(client.h2.local_flow_control_window(stream), 65535)
            self.assertIn(client.h2.outbound_flow_control_window, range(99_900, 100_001))
            client.send(stream, copy_of(300_000))  # goes on as windows open
            self.assertEqual(len(client.reply(stream).json["text"]), 300_000)

    def test_control_frames(self):
        name = 'wf_broken_connections_total{reason="limit"}'
        before = self.server.metrics()[name]
        with Client(self.server) as client:
            for _ in range(15):
                client.socket.sendall(client.raw("settings", 0, 0))
            self.assertEqual(client.call("/Texts/Copy", {"text": "a"}).status, 200)
        with Client(self.server) as client:
            for _ in range(40):
                client.socket.sendall(client.raw("settings", 0, 0))
            client.until_closed()
            self.assertEqual(client.goaway.error_code, 11)  # ENHANCE_YOUR_CALM
            self.assertEqual(client.goaway.additional_data, b"more resets, pings and their like than `limits.control_frames`")
        self.assertEqual(self.server.metrics()[name], before + 1)
        self.assertTrue(self.server.logs('"connections were ended for what came on them"', '"count":1', "limits.control_frames"))

    def test_what_is_read_of_a_refused_body(self):
        for size, stays in ((900, True), (1100, False)):
            with self.server.connect() as connection:
                connection.send(harness.request("POST", "/Texts/Nothing", b"x" * size))
                self.assertEqual(connection.receive().status, 404)
                self.assertEqual(not connection.closed_within(2), stays, size)

    def test_connections_of_the_admin_port(self):
        with contextlib.ExitStack() as held:
            for _ in range(3):
                self.assertEqual(held.enter_context(self.server.connect(port="admin")).call("GET", "/livez").status, 200)
            more = held.enter_context(self.server.connect(port="admin"))
            self.assertTrue(more.closed_within(5))
        until = time.monotonic() + 10
        while True:  # until the server has seen that they are gone
            try:
                self.server.metrics()
                break
            except ConnectionError:
                self.assertLess(time.monotonic(), until)
                time.sleep(0.01)

    def test_what_a_failure_quotes(self):
        for size, told in ((1000, 1000 + len("unknown label ")), (100_000, 65536)):
            reply = self.server.call("POST", "/Texts/Refuse", copy_of(size), {"content-type": "application/json"})
            self.assert_error(reply, 400, 5000)
            self.assertEqual(len(reply.error["message"]), told, size)

    def test_memory_of_a_request(self):
        self.assertEqual(self.server.post("/Texts/Ramp", {"n": 50_000}).status, 200)
        self.assert_error(self.server.post("/Texts/Ramp", {"n": 200_000}), 429, 3012)

    def test_little_that_waits_and_short_turns_lose_nothing(self):
        with self.server.connect() as connection:
            count, request = 400, harness.request("POST", "/Texts/Copy", copy_of(60_000))
            sent = 0
            connection.socket.settimeout(0.5)
            with contextlib.suppress(TimeoutError):  # the server stops reading: nobody takes its answers
                while sent < count * len(request):
                    sent += connection.socket.send((request * 2)[sent % len(request):][:len(request)])
            self.assertLess(sent, count * len(request))
            connection.socket.settimeout(30)
            whole = sent // len(request)
            for _ in range(whole):
                self.assertEqual(len(connection.receive().json["text"]), 60_000)
            self.assertGreater(whole, 0)



class MemoryOfOne(harness.ServerCase):
    source = source()
    args = ("--limits-request-bytes=64KiB",)

    def test_samples_that_are_too_many_for_it_are_not_told_to_come_again(self):
        def infer(samples):
            return self.server.post("/v2/models/Ramp/infer", {"inputs": [{"name": "n", "datatype": "INT64", "shape": [samples, 1], "data": [3] * samples}]})

        self.assertEqual(infer(8).status, 200)
        for _ in range(2):
            reply = infer(1024)
            self.assertEqual((reply.status, reply.json["code"]), (503, 3012), reply)
            self.assertNotIn("retry-after", reply.headers)


class MemoryOfAll(harness.ServerCase):
    """What one request alone is too large for is not told to come again."""
    source = source()
    args = ("--limits-memory-bytes=2MiB", "--limits-body-bytes=16MiB")

    def assert_for_good(self, body, status, code, **headers):
        for _ in range(2):
            reply = self.server.call("POST", "/Texts/Copy", body, {"content-type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}})
            self.assert_error(reply, status, code)
            self.assertNotIn("retry-after", reply.headers)

    def test_a_body_and_its_answer(self):
        self.assertEqual(self.server.call("POST", "/Texts/Copy", copy_of(600_000)).status, 200)
        self.assert_for_good(copy_of(1_200_000), 429, 3012)
        self.assert_for_good(copy_of(2_500_000), 413, 5000)

    def test_a_body_with_and_without_its_coding(self):
        self.assertEqual(self.server.call("POST", "/Texts/Copy", gzip.compress(copy_of(600_000)), {"content-encoding": "gzip"}).status, 200)
        self.assert_for_good(gzip.compress(copy_of(1_900_000)), 413, 5000, content_encoding="gzip")
        noise = "".join(random.Random(1).choices("0123456789abcdef", k=1_500_000))
        self.assert_for_good(gzip.compress(json.dumps({"text": noise}).encode()), 413, 5000, content_encoding="gzip")
        self.assertEqual(self.server.metrics()['wf_refused_total{reason="memory"}'], 0)


class Slow(harness.ServerCase):
    source = Limits.source
    args = ("--limits-body-rate=20000B",)

    def test_a_body_that_comes_at_another_rate(self):
        rates = {4_000: 408, 80_000: 200}  # a second
        for rate, status in rates.items():
            with self.subTest(rate), self.server.connect() as connection:
                body = copy_of(rate * 7)
                connection.send(b"POST /Texts/Copy HTTP/1.1\r\nhost: t\r\ncontent-length: %d\r\n\r\n" % len(body))
                began = time.monotonic()
                with contextlib.suppress(OSError):
                    for at in range(0, len(body), rate // 10):
                        connection.send(body[at:at + rate // 10])
                        if (ahead := at / rate - (time.monotonic() - began)) > 0:
                            time.sleep(ahead)
                self.assertEqual(connection.receive().status, status)


class HandedOn(harness.ServerCase):
    """A socket that another process has opened, as a supervisor does."""
    source = Limits.source

    def test_requests_come_by_it(self):
        with socket.create_server(("127.0.0.1", 0)) as listening:
            binary = harness.compiled(self.source)
            server = subprocess.Popen([binary, "--http-socket", str(listening.fileno()), "--admin-port", "0"], pass_fds=[listening.fileno()],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.addCleanup(server.wait, 30)
            self.addCleanup(server.terminate)
            with socket.create_connection(listening.getsockname(), timeout=30) as connection:
                connection.sendall(b"GET /livez HTTP/1.1\r\nhost: t\r\nconnection: close\r\n\r\n")
                self.assertTrue(connection.recv(4096).startswith(b"HTTP/1.1 200 "))

    def test_what_is_no_socket_for_it_is_told_at_once(self):
        binary = harness.compiled(self.source)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as packets, socket.socket(socket.AF_UNIX) as file, open("/dev/null") as none:
            for handed, why in ((packets, "protocol wrong type for socket"), (file, "address family not supported"), (none, "socket operation on non-socket")):
                for flags in ([], ["--check-config"]):
                    done = subprocess.run([binary, "--http-socket", str(handed.fileno()), "--admin-port", "0", *flags], pass_fds=[handed.fileno()],
                                          capture_output=True, text=True, timeout=30, check=False)
                    self.assertEqual(done.returncode, 1, done)
                    self.assertIn(f"descriptor {handed.fileno()}, which is to be a socket that was handed on: {why}", done.stderr)


if __name__ == "__main__":
    harness.main()
