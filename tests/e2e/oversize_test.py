#!/usr/bin/env python3
"""What is larger than it may be, or says that it is: refused with the reason, which tells nothing of the server's insides, and memory stays as it was."""
import json
from pathlib import Path

import harness
from http1_cases import LEAKS

GREET, SPREAD, INFER = "/Hello/Greet", "/Hello/Spread", "/v2/models/Hello.Spread/infer"
MIB = 1 << 20


def infer(shape, data=(1,), datatype="FP32", **more):
    return json.dumps({"inputs": [{"name": "xs", "datatype": datatype, "shape": shape, "data": list(data)}], **more}).encode()


def binary(shape, size, data=b""):
    """A body whose tensors stand raw behind it, and its headers."""
    text = json.dumps({"inputs": [{"name": "xs", "datatype": "FP32", "shape": shape, "parameters": {"binary_data_size": size}}]}).encode()
    return text + data, {"inference-header-content-length": str(len(text)), "content-type": "application/octet-stream"}


class Oversize(harness.ServerCase):
    source = harness.EXAMPLES / "hello/hello.wf"

    def setUp(self):
        self.assertEqual(self.server.post(GREET, {}).status, 200)
        self.before = self.resident()

    def tearDown(self):
        self.assertEqual(self.server.post(GREET, {"name": "Ada"}).json, {"text": "hello, Ada"})
        self.assertEqual(self.server.settled("wf_inflight_requests"), 0)
        if not harness.IS_SANITIZED:
            self.assertLess(self.resident() - self.before, 64 * MIB)

    def resident(self):
        return int(next(line for line in Path(f"/proc/{self.server.process.pid}/status").read_text().splitlines() if line.startswith("VmRSS")).split()[1]) * 1024

    def refused(self, path, body, headers=None, statuses=(400,)):
        reply = self.server.call("POST", path, body, headers)
        self.assertIn(reply.status, statuses, reply)
        self.assertLess(len(reply.body), 4096, reply)
        self.assertIsNone(LEAKS.search(reply.body), reply)
        return reply

    def test_shapes_whose_product_overflows(self):
        for shape in ([2**32, 2**32], [2**62, 4], [2**63 - 1, 2], [2**63], [2**64], [2**31, 2**31, 4], [1, 2**62], [1024, 2**54], [1024, 2**53 + 1]):
            with self.subTest(shape=shape):
                self.refused(INFER, infer(shape))
                self.refused(INFER, infer(shape, []))
                self.refused(INFER, *binary(shape, 4, b"\0\0\0\0"))

    def test_shapes_that_are_none(self):
        for shape in ([-1], [1, -1], [1.5], ["1"], [None], [[1]], [1e3], [True], 1, "1", None, {}, [1] * 1000, [1] * 100_000):
            with self.subTest(shape=str(shape)[:20]):
                self.refused(INFER, infer(shape))

    def test_tensors_that_claim_more_than_there_is(self):
        for shape in ([1, 10**8], [1024, 10**6], [1, 2**31], [1, 2**40]):
            self.refused(INFER, infer(shape))
            self.refused(INFER, *binary(shape, 4 * shape[0] * shape[1], b"\0" * 64))
        for size in (2**31, 2**32 + 4, 2**61, 2**62, 2**63 - 1, -4, 3):
            self.refused(INFER, *binary([1, 1], size, b"\0\0\0\0"))

    def test_numbers_of_things(self):
        many = 100_000
        names = [f"out{i}" for i in range(many)]
        for outputs in ([{"name": "mean"}] * many, [{"name": name} for name in names]):
            self.refused(INFER, infer([1, 1], outputs=outputs))
        one = {"name": "xs", "datatype": "FP32", "shape": [1], "data": [1]}
        for inputs in ([one] * many, [{**one, "name": name} for name in names]):
            self.refused(INFER, json.dumps({"inputs": inputs}).encode())
        self.refused(INFER, infer([1, 1], parameters={name: {"a": 1} for name in names}), statuses=(200, 400))
        self.refused(INFER, json.dumps({name: 1 for name in names}).encode())
        self.refused(GREET, json.dumps({name: 1 for name in names}).encode())
        self.refused(SPREAD, json.dumps({"xs": [1], **{name: 1 for name in names}}).encode())

    def test_long_names_numbers_and_strings(self):
        long = "x" * (2 * MIB)
        self.refused(GREET, json.dumps({long: 1}).encode())
        self.refused(INFER, json.dumps({"inputs": [{"name": long, "datatype": "FP32", "shape": [1], "data": [1]}]}).encode())
        self.refused(INFER, infer([1], datatype=long))
        self.refused(SPREAD, b'{"xs": [' + b"1" * (2 * MIB) + b"]}")
        self.refused(SPREAD, b'{"xs": [1e' + b"9" * (2 * MIB) + b"]}")
        self.refused(SPREAD, b'{"xs": [0.' + b"0" * (2 * MIB) + b"x]}")
        self.refused(SPREAD, b'{"xs": "' + b"\\u0041" * MIB + b'"}')
        self.refused(SPREAD, b" " * (2 * MIB))

    def test_bodies(self):
        for length in (64 * MIB + 1, 2**31, 2**32 + 2, 2**63 - 1, 2**63, 2**64):
            with self.server.connect() as connection:
                connection.send(f"POST {GREET} HTTP/1.1\r\nhost: t\r\ncontent-length: {length}\r\n\r\n".encode())
                reply = connection.receive()
                self.assertIn(reply.status, (400, 413), reply)
                self.assertIsNone(LEAKS.search(reply.body), reply)
                self.assertTrue(connection.closed_within(5))
        with self.server.connect() as connection:  # in chunks that are each short enough
            connection.send(f"POST {GREET} HTTP/1.1\r\nhost: t\r\ntransfer-encoding: chunked\r\n\r\n".encode())
            try:
                for _ in range(65):
                    connection.send(b"100000\r\n" + b" " * MIB + b"\r\n")
            except OSError:
                pass  # it has said why, and closed
            self.assertEqual(connection.receive().status, 413)

    def test_depth(self):
        for opening in (b"[", b'{"a":', b'{"inputs":[', b'[{"a":'):
            for path in (GREET, SPREAD, INFER):
                self.refused(path, opening * 200_000)
                self.refused(path, b'{"parameters": ' + opening * 200_000)
                self.refused(path, b'{"inputs": [{"name": "xs", "datatype": "FP32", "shape": [1], "data": ' + opening * 200_000)


EXPANDING = """
workflow Words(words: list<string>) -> (n: i64) { return (n: len(words)); }
workflow Sum(xs: f64[n]) -> (sum: f64) { return (sum: sum[i](xs[i])); }
service Grow { workflow Words; workflow Sum; }
"""


class Expanding(harness.ServerCase):
    """Bodies that are within their limit, and more than what there is for them once they are read."""
    args = ("--limits-memory-bytes=64MiB",)
    COUNT = 6_000_000  # times 16 bytes, or 8

    @classmethod
    def setUpClass(cls):
        cls.source = harness.scratch() / "grow.wf"
        cls.source.write_text(EXPANDING)
        super().setUpClass()

    resident = Oversize.resident

    def test_elements_that_are_larger_than_their_text(self):
        count, words, zeros = self.COUNT, b'"",', b"0,"
        infer = {"words": ("Words", "BYTES"), "xs": ("Sum", "FP64")}
        bodies = [("/Grow/Words", b'{"words": [' + words * count + b'""]}', None), ("/Grow/Sum", b'{"xs": [' + zeros * 2 * count + b"0]}", None)]
        for name, (workflow, datatype) in infer.items():
            path, text = f"/v2/models/Grow.{workflow}/infer", (words if name == "words" else zeros * 2) * count
            bodies.append((path, b'{"inputs": [{"name": "%s", "datatype": "%s", "shape": [%d], "data": [' % (name.encode(), datatype.encode(), (1 if name == "words" else 2) * count) + text[:-1] + b"]}]}", None))
        head = json.dumps({"inputs": [{"name": "words", "datatype": "BYTES", "shape": [count], "parameters": {"binary_data_size": 4 * count}}]}).encode()
        bodies.append(("/v2/models/Grow.Words/infer", head + bytes(4 * count), {"inference-header-content-length": str(len(head))}))
        self.assertEqual(self.server.post("/Grow/Words", {"words": ["a"] * 1000}).json, {"n": 1000})
        before, most = self.resident(), 0
        for path, body, headers in bodies:
            with self.subTest(path=path, bytes=len(body)):
                self.assertLess(len(body), 64 * MIB)
                reply = self.server.call("POST", path, body, headers)
                self.assertIn(reply.status, (413, 429, 503), reply)
                self.assertLess(len(reply.body), 4096)
                self.assertIsNone(LEAKS.search(reply.body), reply)
                most = max(most, self.resident())
        self.assertEqual(self.server.post("/Grow/Words", {"words": ["a"] * 1000}).json, {"n": 1000})
        self.assertEqual(self.server.settled("wf_inflight_requests"), 0)
        if not harness.IS_SANITIZED:
            self.assertLess(most - before, (64 + 32) * MIB)


if __name__ == "__main__":
    harness.main()
