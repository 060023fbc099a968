#!/usr/bin/env python3
"""Coded bodies and answers over both versions of HTTP: gzip, deflate and zstd, by curl, httpx, Triton's client and by hand; what is not coded as it says, and bombs."""
import gzip
import json
import os
import signal
import subprocess
import time
import zlib
from concurrent.futures import ThreadPoolExecutor

import harness

if __name__ == "__main__":
    harness.in_environment()

import httpx  # noqa: E402
import numpy as np  # noqa: E402
import tritonclient.http as triton  # noqa: E402
import zstandard  # noqa: E402
from tritonclient.utils import InferenceServerException  # noqa: E402

SOURCE = """
workflow Copy(text: string) -> (text: string) { return (text: text); }
workflow Count(data: bytes) -> (n: i64) { return (n: len(data)); }
workflow Line(line: i32[n]) -> (line: i32[n]) { return (line: line); }
service Texts { workflow Copy; workflow Count; workflow Line; }
service Short { body 64KiB; workflow Copy; }
"""
COPY = "/Texts/Copy"
JSON = {"content-type": "application/json"}


def gunzip(data):
    return gzip.decompress(data)


def unzstd(data):
    return zstandard.ZstdDecompressor().decompressobj().decompress(data)


CODINGS = {"gzip": (gzip.compress, gunzip), "deflate": (zlib.compress, zlib.decompress), "zstd": (zstandard.compress, unzstd)}


COMPRESSORS = {"gzip": lambda: zlib.compressobj(9, zlib.DEFLATED, 31), "deflate": lambda: zlib.compressobj(9), "zstd": lambda: zstandard.ZstdCompressor().compressobj()}


def bomb(coding, megabytes):
    """Zeros, coded without being there."""
    compressor, block = COMPRESSORS[coding](), bytes(1 << 20)
    return b"".join(compressor.compress(block) for _ in range(megabytes)) + compressor.flush()


def body_of(text):
    return json.dumps({"text": text}).encode()


def noise(size):
    return os.urandom(size // 2).hex()


class Codings(harness.ServerCase):
    args = ("--io-threads", "1")

    @classmethod
    def setUpClass(cls):
        cls.source = harness.scratch() / "texts.wf"
        cls.source.write_text(SOURCE)
        super().setUpClass()
        cls.url = "http://%s:%d" % cls.server.addresses["http"]

    def post(self, body, headers, path=COPY):
        return self.server.call("POST", path, body, {**JSON, **headers})

    def copies(self, text, coding):
        """Is the text answered, coded as asked for?"""
        code, decode = CODINGS[coding]
        reply = self.post(code(body_of(text)), {"content-encoding": coding, "accept-encoding": coding})
        self.assertEqual(reply.status, 200, reply)
        self.assertEqual((reply.headers.get("content-encoding"), reply.headers["vary"]), (coding, "accept-encoding"))
        self.assertEqual(json.loads(decode(reply.body))["text"], text)
        return reply

    def curl(self, *flags, data=None):
        return subprocess.run(["curl", "-sS", "-w", "\n%{http_version} %{http_code} %{size_download}", *flags], input=data, capture_output=True, timeout=60)

    def test_every_coding_both_ways_and_every_size(self):
        for coding in CODINGS:
            for size in (1200, 40_000, 300_000, 3_000_000):  # on the loop, coded elsewhere, read elsewhere too
                with self.subTest(coding=coding, size=size):
                    reply = self.copies("ab" * (size // 2), coding)
                    self.assertLess(len(reply.body), size // 20)
                    self.copies(noise(size), coding)

    def test_curl_over_both_versions_of_http(self):
        text = "curl " * 5000
        path = harness.scratch() / "body"
        for version in ("--http1.1", "--http2-prior-knowledge"):
            for coding, (code, _) in CODINGS.items():
                path.write_bytes(code(body_of(text)))
                done = self.curl(version, "--compressed", "-H", "content-type: application/json", "-H", f"content-encoding: {coding}", "--data-binary", f"@{path}", self.url + COPY)
                body, facts = done.stdout.rsplit(b"\n", 1)
                self.assertEqual(json.loads(body)["text"], text, done.stderr)
                self.assertEqual(facts.split()[:2], [b"1.1" if "1.1" in version else b"2", b"200"])
                self.assertLess(int(facts.split()[2]), 1000)

    def test_httpx_over_http2_with_chunks(self):
        text = noise(200_000)
        coded = gzip.compress(body_of(text))
        with httpx.Client(http1=False, http2=True, base_url=self.url) as client:
            pieces = (coded[at:at + 1000] for at in range(0, len(coded), 1000))
            reply = client.post(COPY, content=pieces, headers={**JSON, "content-encoding": "gzip"})
            self.assertEqual((reply.http_version, reply.json()["text"]), ("HTTP/2", text))
            self.assertEqual(reply.headers["content-encoding"], "zstd")
            refused = client.post(COPY, content=coded, headers={**JSON, "content-encoding": "br"})
            self.assertEqual((refused.status_code, refused.headers["accept-encoding"]), (415, "zstd, gzip, deflate"))

    def test_chunks_of_a_coded_body(self):
        coded = zlib.compress(body_of("chunked"))
        with self.server.connect() as connection:
            connection.send(b"POST /Texts/Copy HTTP/1.1\r\nhost: t\r\ncontent-type: application/json\r\ncontent-encoding: deflate\r\ntransfer-encoding: chunked\r\n\r\n")
            for byte in coded:
                connection.send(b"1\r\n" + bytes([byte]) + b"\r\n")
            connection.send(b"0\r\n\r\n")
            self.assertEqual(connection.receive().json, {"text": "chunked"})

    def test_triton_client_with_raw_tensors(self):
        line = np.arange(100_000, dtype=np.int32) // 7
        with triton.InferenceServerClient("%s:%d" % self.server.addresses["http"], network_timeout=60) as client:
            for asked in (None, "gzip", "deflate"):
                for answered in (None, "gzip", "deflate"):
                    for values in (line, line[:10]):
                        for raw in (True, False):
                            row = triton.InferInput("line", list(values.shape), "INT32")
                            row.set_data_from_numpy(values, binary_data=raw)
                            wanted = [triton.InferRequestedOutput("line", binary_data=raw)]
                            result = client.infer("Line", [row], outputs=wanted, request_compression_algorithm=asked, response_compression_algorithm=answered)
                            np.testing.assert_array_equal(result.as_numpy("line"), values)
            with self.assertRaisesRegex(InferenceServerException, "without its coding"):
                row = triton.InferInput("line", [20 << 20], "INT32")
                row.set_data_from_numpy(np.zeros(20 << 20, dtype=np.int32))
                client.infer("Line", [row], request_compression_algorithm="gzip")

    def test_questions_are_coded_too(self):
        index = gzip.compress(b'{"ready": true}')
        reply = self.server.call("POST", "/v2/repository/index", index, {"content-encoding": "gzip"})
        self.assertEqual([row["name"] for row in reply.json], ["Short.Copy", "Texts.Copy", "Texts.Count", "Texts.Line"], reply)
        reply = self.server.call("GET", "/v2/models/stats", headers={"accept-encoding": "gzip"})
        self.assertEqual((reply.headers["content-encoding"], len(json.loads(gunzip(reply.body))["model_stats"])), ("gzip", 4))
        whole = self.server.call("GET", "/v2/models/stats", headers={"accept-encoding": "br"})
        self.assertEqual((whole.headers["vary"], "content-encoding" in whole.headers), ("accept-encoding", False))
        metrics = self.server.call("GET", "/metrics", headers={"accept-encoding": "gzip;q=0.5, identity;q=0.1"}, port="admin")
        self.assertIn(b"wf_requests_total", gunzip(metrics.body))
        head = self.server.call("HEAD", "/metrics", headers={"accept-encoding": "gzip"}, port="admin")
        self.assertEqual((head.headers["content-encoding"], head.body), ("gzip", b""))

    def test_what_a_client_accepts_is_answered(self):
        text = "weights " * 1000
        for accepts, coding in (("gzip, zstd", "zstd"), ("gzip;q=1, zstd;q=0.9", "gzip"), ("*", "zstd"), ("*, zstd;q=0", "gzip"), ("br", None), ("", None),
                                ("gzip;q=0", None), ("identity, gzip;q=0.5", None), ("x-gzip", "gzip"), ("GZIP", "gzip"), ("\x80, ;;q, gzip;q=2", "gzip")):
            with self.subTest(accepts=accepts):
                reply = self.post(body_of(text), {"accept-encoding": accepts})
                self.assertEqual(reply.headers.get("content-encoding"), coding)
                body = CODINGS[coding][1](reply.body) if coding else reply.body
                self.assertEqual(json.loads(body)["text"], text)
        with self.server.connect() as connection:
            connection.send(harness.request("POST", COPY, body_of(text), JSON).replace(b"host: test\r\n", b"host: t\r\naccept-encoding: br\r\naccept-encoding: deflate\r\n"))
            self.assertEqual(connection.receive().headers["content-encoding"], "deflate")

    def test_short_answers_and_those_that_gain_nothing_are_sent_as_they_are(self):
        short = self.post(body_of("a" * 900), {"accept-encoding": "gzip"})
        self.assertNotIn("content-encoding", short.headers)
        self.assertNotIn("vary", short.headers)
        unasked = self.post(body_of("a" * 90_000), {})
        self.assertEqual(("content-encoding" in unasked.headers, unasked.headers["vary"]), (False, "accept-encoding"))

    def test_codings_that_are_not_taken(self):
        body = body_of("x")
        for coding in ("br", "compress", "gzip, gzip", "snappy", "gzip, identity, deflate", "g\x80zip"):
            reply = self.post(body, {"content-encoding": coding})
            self.assert_error(reply, 415, 5000, "zstd, gzip or deflate")
            self.assertEqual(reply.headers["accept-encoding"], "zstd, gzip, deflate")
        oip = self.server.call("POST", "/v2/models/Texts.Copy/infer", body, {"content-encoding": "br"})
        self.assertEqual((oip.status, oip.json["code"], oip.headers["accept-encoding"]), (415, 5000, "zstd, gzip, deflate"))
        for coding in ("identity", "IDENTITY", "", "  "):
            self.assertEqual(self.post(body, {"content-encoding": coding}).json, {"text": "x"})
        for coding in ("gzip, identity", "identity,gzip", "identity, GZIP ,, identity"):
            self.assertEqual(self.post(gzip.compress(body), {"content-encoding": coding}).json, {"text": "x"})
        two = harness.request("POST", COPY, gzip.compress(body), JSON).replace(b"host: test\r\n", b"host: t\r\ncontent-encoding: gzip\r\ncontent-encoding: gzip\r\n")
        with self.server.connect() as connection:
            connection.send(two)
            self.assert_error(connection.receive(), 415, 5000, "gzip")

    def test_what_is_not_coded_as_it_says(self):
        body = body_of("cut " * 100)
        for coding, (code, _) in CODINGS.items():
            coded = code(body)
            wrong = [b"", body, coded[:-1], coded[:len(coded) // 2], b"\xff" + coded[1:], coded + b"rest"]
            for bad in wrong:
                self.assert_error(self.post(bad, {"content-encoding": coding}), 400, 5000, "`content-encoding`")
        self.assertEqual(self.post(gzip.compress(body[:100]) + gzip.compress(body[100:]), {"content-encoding": "gzip"}).status, 200)
        window = zstandard.ZstdCompressor(compression_params=zstandard.ZstdCompressionParameters(window_log=25)).compress(body_of("w" * (40 << 20)))
        self.assert_error(self.post(window, {"content-encoding": "zstd"}), 400, 5000, "`content-encoding`")

    def test_a_bomb_is_refused_by_the_size_that_it_grows_to(self):
        for coding, (code, _) in CODINGS.items():
            self.assert_error(self.post(bomb(coding, 65), {"content-encoding": coding}), 413, 5000, "without its coding", "67108864")
            small = code(body_of("s" * 65_000)), code(body_of("s" * 70_000))
            self.assertEqual([self.post(body, {"content-encoding": coding}, "/Short/Copy").status for body in small], [200, 413])
        raw = self.server.call("POST", "/Texts/Count", bomb("gzip", 64), {"content-encoding": "gzip", "content-type": "application/octet-stream"})
        self.assertEqual(raw.json, {"n": 64 << 20})

    @harness.timed
    def test_bombs_do_not_stop_others(self):
        bombs = [bomb("zstd", 1024), bomb("gzip", 256)]
        self.assertLess(len(bombs[0]), 100_000)
        with ThreadPoolExecutor(8) as pool:
            started = [pool.submit(self.post, bombs[i % 2], {"content-encoding": ("zstd", "gzip")[i % 2]}) for i in range(16)]
            worst = 0
            while not all(one.done() for one in started):
                begin = time.monotonic()
                self.assertEqual(self.server.call("GET", "/livez").status, 200)
                worst = max(worst, time.monotonic() - begin)
            self.assertEqual({one.result().status for one in started} - {413, 429}, set())
        self.assertLess(worst, 2)
        self.assertEqual(self.post(body_of("x"), {}).status, 200)

    def test_a_client_that_leaves_while_its_body_is_expanded(self):
        body = bomb("zstd", 60)
        for _ in range(5):
            connection = self.server.connect()
            connection.send(harness.request("POST", "/Texts/Count", body, {"content-encoding": "zstd", "content-type": "application/octet-stream"}))
            time.sleep(0.01)
            connection.reset()
        self.assertEqual(self.server.settled("wf_inflight_requests"), 0)
        self.assertEqual(self.server.settled("wf_abandoned_inflight"), 0)
        self.copies("still " * 1000, "zstd")


class Settings(harness.ServerCase):
    def test_the_length_is_a_setting_that_can_be_read_again(self):
        source = harness.scratch() / "set.wf"
        source.write_text(SOURCE)
        config = harness.scratch() / "coding.yml"
        config.write_text("compress_from: 100B\n")
        self.server = harness.Server.of(source, "--config", config)

        def coding():
            return self.server.call("POST", COPY, body_of("a" * 500), {**JSON, "accept-encoding": "gzip"}).headers.get("content-encoding")
        self.assertEqual(coding(), "gzip")
        config.write_text("compress_from: 0\n")
        self.server.process.send_signal(signal.SIGHUP)
        self.assertTrue(self.server.logs("was read again"))
        self.assertEqual(coding(), None)
        self.assertNotIn("vary", self.server.call("POST", COPY, body_of("a" * 5000), {**JSON, "accept-encoding": "gzip"}).headers)
        self.assertEqual(self.server.stop(), 0)


if __name__ == "__main__":
    harness.main()
