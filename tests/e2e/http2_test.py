#!/usr/bin/env python3
"""HTTP/2 on the port of HTTP/1.1: real clients, many requests on one connection, resets, the drain."""
import asyncio
import json
import signal
import subprocess
import urllib.parse

import harness

if __name__ == "__main__":
    harness.in_environment()

import h2.errors  # noqa: E402
import h2.exceptions  # noqa: E402
import httpx  # noqa: E402
from http2_client import Client  # noqa: E402

HELLO = harness.EXAMPLES / "hello/hello.wf"
SOURCE = """
workflow Count(text: string) -> (n: i64) { return (n: len(text)); }
workflow Copy(text: string) -> (text: string) { return (text: text); }
workflow Note(text: string) -> (n: i64) {
  annotate("one", text);
  annotate("two", text);
  annotate("three", text);
  return (n: len(text));
}
error Declined = 100010 "declined";
workflow Refuse(text: string) -> (n: i64) {
  fail Declined("{text}");
}
service Texts { workflow Count; workflow Copy; workflow Note; workflow Refuse; }
"""


def source():
    path = harness.scratch() / "texts.wf"
    path.write_text(SOURCE)
    return path


class Clients(harness.ServerCase):
    source = HELLO

    def test_curl_with_prior_knowledge(self):
        host, port = self.server.addresses["http"]
        done = subprocess.run(["curl", "-sS", "--http2-prior-knowledge", "-w", "\n%{http_version} %{http_code}", "-d", '{"name": "Ada"}', f"http://{host}:{port}/Hello/Greet"],
                              capture_output=True, text=True, timeout=30)
        self.assertEqual(done.stdout, '{"text":"hello, Ada"}\n2 200', done.stderr)

    def test_an_upgrade_is_ignored(self):
        host, port = self.server.addresses["http"]
        done = subprocess.run(["curl", "-sS", "--http2", "-w", "\n%{http_version} %{http_code}", f"http://{host}:{port}/livez"], capture_output=True, text=True, timeout=30)
        self.assertEqual(done.stdout, "ok\n\n1.1 200", done.stderr)

    def test_httpx_asks_a_hundred_things_at_once(self):
        async def ask():
            host, port = self.server.addresses["http"]
            async with httpx.AsyncClient(http1=False, http2=True, base_url=f"http://{host}:{port}", limits=httpx.Limits(max_connections=1)) as client:
                replies = await asyncio.gather(*(client.post("/Hello/Greet", json={"name": str(i)}) for i in range(300)))
                missing = await client.post("/Hello/Gret", json={})
                return replies, missing
        replies, missing = asyncio.run(ask())
        self.assertEqual([reply.json()["text"] for reply in replies], [f"hello, {i}" for i in range(300)])
        self.assertEqual({reply.http_version for reply in replies}, {"HTTP/2"})
        self.assertEqual(missing.status_code, 404)
        self.assertIn("did you mean", missing.json()["error"]["message"])

    def test_an_answer_before_the_body_reaches_clients_that_still_send(self):
        host, port = self.server.addresses["http"]
        body = harness.scratch() / "long-body"
        for size in (300_000, 5_000_000):
            body.write_bytes(bytes(size))
            for _ in range(5):
                done = subprocess.run(["curl", "-sS", "--http2-prior-knowledge", "-w", "%{http_code}", "-o", "/dev/null", "--data-binary", f"@{body}", f"http://{host}:{port}/Hello/Gret"],
                                      capture_output=True, text=True, timeout=30)
                self.assertEqual((done.stdout, done.stderr), ("404", ""), size)
        with httpx.Client(http1=False, http2=True, base_url=f"http://{host}:{port}") as client:
            for _ in range(5):
                self.assertEqual(client.post("/Hello/Gret", content=bytes(300_000)).status_code, 404)

    def test_both_versions_share_the_port(self):
        with Client(self.server) as client:
            self.assertEqual(client.call("/Hello/Greet", {"name": "Two"}).json, {"text": "hello, Two"})
            self.assertEqual(self.server.post("/Hello/Greet", {"name": "One"}).json, {"text": "hello, One"})

    def test_the_open_inference_protocol_and_the_admin_port(self):
        with Client(self.server) as client:
            self.assertEqual(client.reply(client.begin("/v2/health/ready", method="GET")).json, {"ready": True})
            self.assertEqual(client.reply(client.begin("/Hello/Greet", method="GET")).status, 405)
            head = client.reply(client.begin("/livez", method="HEAD"))
            self.assertEqual((head.status, head.headers["content-length"], head.body), (200, "3", b""))
        host, port = self.server.addresses["admin"]
        done = subprocess.run(["curl", "-sS", "--http2-prior-knowledge", f"http://{host}:{port}/metrics"], capture_output=True, text=True, timeout=30)
        self.assertIn("wf_requests_total", done.stdout)

    def test_headers_reach_the_workflow_and_the_log_id_comes_back(self):
        with Client(self.server) as client:
            reply = client.call("/Hello/Spread", {"xs": []}, headers=[("x-request-id", "call-7")])
            self.assertEqual((reply.status, reply.json["error"]["code"], reply.json["error"]["log_id"]), (400, 100001, "call-7"))


class Streams(harness.ServerCase):
    source = source()
    args = ("--limits-streams=50", "--limits-body-bytes=8MiB")

    def test_bodies_larger_than_every_window(self):
        text = "abcdefghij" * 300_000
        with Client(self.server) as client:
            self.assertEqual(client.call("/Texts/Count", {"text": text}).json, {"n": len(text)})
            self.assertEqual(client.call("/Texts/Copy", {"text": text}).json, {"text": text})

    def test_large_answers_side_by_side(self):
        with Client(self.server) as client:
            texts = [chr(ord("a") + i) * 200_000 for i in range(20)]
            streams = [client.begin("/Texts/Copy", json.dumps({"text": text}).encode()) for text in texts]
            for stream, text in zip(streams, texts):
                self.assertEqual(client.reply(stream).json, {"text": text})

    def test_more_streams_than_there_may_be(self):
        with Client(self.server) as client:
            client.call("/Texts/Count", {"text": ""})
            self.assertEqual(client.h2.remote_settings.max_concurrent_streams, 50)

    def test_a_body_over_the_limit_is_refused_before_it_has_come(self):
        with Client(self.server) as client:
            stream = client.begin("/Texts/Count", b'{"text": "', headers=[("content-length", str(9 << 20))], end=False)
            self.assertEqual(client.reply(stream).status, 413)
            stream = client.begin("/Texts/Count", b'{"text": "', end=False)
            try:
                while stream not in client.replies and stream not in client.reset:
                    client.send(stream, b"x" * 16384, end=False)
                    client.socket.settimeout(0.001)
                    try:
                        client.step()
                    except TimeoutError:
                        pass
                    client.socket.settimeout(30)
            except h2.exceptions.ProtocolError:  # it is closed
                pass
            self.assertEqual(client.replies[stream].status, 413)
            self.assertEqual(client.call("/Texts/Count", {"text": "abc"}).json, {"n": 3})

    def test_one_expectation_is_known(self):
        with Client(self.server) as client:
            stream = client.begin("/Texts/Count", headers=[("expect", "100-Continue")], end=False)
            client.send(stream, b'{"text": "abc"}')
            self.assertEqual(client.reply(stream).json, {"n": 3})
            self.assertEqual(client.informed, [(stream, 100)])
            stream = client.begin("/Texts/Count", headers=[("expect", "100-continue"), ("content-length", str(9 << 20))], end=False)
            self.assertEqual((client.reply(stream).status, client.informed), (413, [(1, 100)]))
            stream = client.begin("/Texts/Count", headers=[("expect", "a miracle")], end=False)
            self.assertEqual(client.reply(stream).status, 417)

    def test_settings_of_a_client_hold_from_their_acknowledgement_on(self):
        """h2 and hpack unpack heads by what they have set as soon as the server has acknowledged it, and no sooner."""
        sizes = (0, 4096, 100, 65536, 0, 1, 4096)
        with Client(self.server) as client:
            client.call("/Texts/Count", {"text": ""})  # h2 counts acknowledgements: that of its first settings has come
            large = [("x-large", "a" * 40_000)]  # answered in the middle of a read
            for round_ in range(40):
                streams = []
                for size in (sizes[round_ % len(sizes)], sizes[(round_ * 5 + 2) % len(sizes)]):
                    for headers in (large, ()):
                        stream = client.h2.get_next_available_stream_id()
                        client.h2.send_headers(stream, [(":method", "POST"), (":path", "/Texts/Count"), (":scheme", "http"), (":authority", "t"), *headers])
                        client.h2.send_data(stream, b'{"text": "abc"}', end_stream=True)
                        streams.append((stream, 431 if headers else 200))
                    client.h2.update_settings({h2.settings.SettingCodes.HEADER_TABLE_SIZE: size, h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: 70_000 - size % 7})
                client.flush()
                for stream, status in streams:
                    self.assertEqual(client.reply(stream).status, status)

    def test_a_head_over_the_limit(self):
        with Client(self.server) as client:
            stream = client.begin("/Texts/Count", b"{}", headers=[("x-large", "a" * 40_000)])
            self.assertEqual(client.reply(stream).status, 431)
            self.assertEqual(client.call("/Texts/Count", {"text": "abc"}).json, {"n": 3})

    def test_an_answer_has_no_larger_head_than_its_client_takes(self):
        """What h2 has set it keeps: a list that is larger ends the connection there."""
        for most, notes in ((10_000, 3), (900, 2), (560, 1), (300, 0), (220, 0)):
            with self.subTest(most), Client(self.server, MAX_HEADER_LIST_SIZE=most) as client:
                reply = client.call("/Texts/Note", {"text": "a" * 300})
                self.assertEqual((reply.status, reply.json), (200, {"n": 300}))
                self.assertEqual(len([name for name in reply.headers if name.startswith("wf-")]), notes)

    def test_nor_has_a_failure_of_grpc_larger_trailers(self):
        text = "é " * 150

        def field(number, value):
            size = len(value)
            return bytes([number << 3 | 2]) + (bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])) + value

        message = field(1, b"Refuse") + field(5, field(1, b"text") + field(2, b"BYTES") + field(5, field(8, text.encode())))

        def refused(most):
            with Client(self.server, MAX_HEADER_LIST_SIZE=most) as client:
                stream = client.begin("/inference.GRPCInferenceService/ModelInfer", b"\0" + len(message).to_bytes(4, "big") + message, headers=[("content-type", "application/grpc")])
                return client.reply(stream).headers

        whole = refused(10_000)
        said = urllib.parse.unquote(whole["grpc-message"], errors="strict")
        self.assertEqual(said, text)
        self.assertIn("grpc-status-details-bin", whole)
        without = {name: value for name, value in whole.items() if name != "grpc-status-details-bin"}
        self.assertEqual(set(refused(sum(len(name) + len(value) + 32 for name, value in without.items()))), set(without))
        for most in range(600, 606):
            less = refused(most)
            self.assertEqual((less["grpc-status"], [name for name in less if name.startswith("wf-")]), (whole["grpc-status"], []))
            cut = urllib.parse.unquote(less["grpc-message"], errors="strict")
            self.assertTrue(said.startswith(cut) and len(cut) > 20, cut)

    def test_resets_at_every_place_leave_nothing(self):
        body = json.dumps({"text": "x" * 300_000}).encode()
        with Client(self.server) as client:
            for sent in (None, b"", body[:1], body[:100_000], body):
                for end in (False, True):
                    stream = client.begin("/Texts/Copy", sent, end=end)
                    client.h2.reset_stream(stream, h2.errors.ErrorCodes.CANCEL)
                    client.flush()
            self.assertEqual(client.call("/Texts/Count", {"text": "abc"}).json, {"n": 3})
            self.assertEqual(self.server.settled("wf_inflight_requests"), 0)

    def test_connections_that_break_off_leave_nothing(self):
        for cut in range(0, 120, 7):
            with Client(self.server) as client:
                client.h2.send_headers(1, [(":method", "POST"), (":path", "/Texts/Count"), (":scheme", "http"), (":authority", "t")])
                client.h2.send_data(1, b'{"text": "abc"}', end_stream=True)
                client.socket.sendall(client.h2.data_to_send()[:cut])
        self.assertEqual(self.server.settled("wf_inflight_requests"), 0)
        self.assertEqual(self.server.settled("wf_connections"), 0)


class Drain(harness.unittest.TestCase):
    def test_goaway_and_what_has_begun_is_answered(self):
        server = harness.Server.of(HELLO)
        self.addCleanup(server.kill)
        with Client(server) as busy, Client(server) as idle:
            idle.call("/Hello/Greet", {})
            stream = busy.begin("/Hello/Greet", b'{"name":', end=False)
            busy.call("/Hello/Greet", {})
            server.process.send_signal(signal.SIGTERM)
            while busy.goaway is None:
                self.assertTrue(busy.step())
            self.assertEqual(busy.goaway.error_code, 0)
            self.assertIsNone(server.process.poll())
            busy.socket.sendall(busy.raw("data", 1, stream, b' "Ada"}'))  # the package sends no more behind a GOAWAY
            buffer = b""
            busy.socket.settimeout(20)
            while data := busy.socket.recv(65536):
                buffer += data
            self.assertIn(b'{"text":"hello, Ada"}', buffer)
            idle.until_closed()
            self.assertEqual(idle.goaway.error_code, 0)
        self.assertEqual(server.stop(), 0, server.output())


if __name__ == "__main__":
    harness.main()
