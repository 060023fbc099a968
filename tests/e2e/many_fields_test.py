#!/usr/bin/env python3
"""Calls of the Open Inference Protocol that take long to read or to answer cost their senders' time, not that of others."""
import gzip
import json
import multiprocessing
import time

import harness
from grpc_cases import SOURCE, GrpcCase

import grpc
from tritonclient.grpc import service_pb2 as pb

FIELDS_BYTES = 10_000_000 if harness.IS_SANITIZED else 60_000_000  # within what a service takes; where walking them is slow, its time says nothing
AT_ONCE = 3
LITTLE_WAIT = 2.0 if harness.IS_SANITIZED else 0.3
MOST_WAIT = 1.0  # seconds; one such message took as long where it was walked on the loop, and they come together
NAME = pb.ModelInferRequest(model_name="Line").SerializeToString()
UNKNOWN = b"\xa0\x06\x00"


def held(number, data):
    """A field of bytes."""
    length, bytes_of_it = len(data), bytearray()
    while length > 127:
        bytes_of_it.append(length & 127 | 128)
        length >>= 7
    return bytes([number << 3 | 2, *bytes_of_it, length]) + data


def filled(field):
    return field * (FIELDS_BYTES // len(field))


def line(contents, extent):
    head = pb.ModelInferRequest.InferInputTensor(name="line", datatype="INT32", shape=[extent]).SerializeToString()
    return held(5, head + held(5, contents))


CASES = {
    "unknown": NAME + filled(UNKNOWN),
    "parameters": NAME + filled(b"\x22\x00"),
    "raw tensors": NAME + filled(b"\x3a\x00"),
    "outputs": NAME + filled(b"\x32\x00"),
    "values of one parameter": NAME + held(4, held(1, b"p") + held(2, filled(b"\x10\x01"))),
    "in contents": NAME + line(filled(UNKNOWN), 1),
    "elements": NAME + line(filled(b"\x10\x01"), 1),
}


def probe(address, asked, told):
    """For each name that is asked, the longest that an answer has taken since the last one."""
    worst = 0.0
    with harness.Connection(address) as connection:
        while True:
            began = time.perf_counter()
            assert connection.call("POST", "/Echoes/Note", b'{"n": 5}', {"content-type": "application/json"}).status == 200
            worst = max(worst, time.perf_counter() - began)
            if asked.poll():
                asked.recv()
                told.send(worst)
                worst = 0.0


class Probed(GrpcCase):
    """Others call what has one loop, and measure how long they wait."""
    args = ("--io-threads", "1")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.method = cls.channel.unary_unary("/inference.GRPCInferenceService/ModelInfer")

    def setUp(self):
        asked, self.ask = multiprocessing.Pipe(duplex=False)
        self.told, told = multiprocessing.Pipe(duplex=False)
        self.prober = multiprocessing.get_context("spawn").Process(target=probe, args=(self.server.addresses["http"], asked, told), daemon=True)
        self.prober.start()
        self.worst_wait()

    def tearDown(self):
        self.prober.kill()
        self.prober.join()

    def worst_wait(self):
        self.ask.send(None)
        self.assertTrue(self.told.poll(60), "the probe is not answered")
        return self.told.recv()


class ManyFields(Probed):
    source = SOURCE

    def refusal_of(self, call):
        with self.assertRaises(grpc.RpcError) as caught:
            call.result()
        return caught.exception

    def hold(self, compression):
        for name, message in CASES.items():
            with self.subTest(name):
                calls = [self.method.future(message, timeout=120, compression=compression) for _ in range(AT_ONCE)]
                for call in calls:
                    error = self.refusal_of(call)
                    self.assertEqual((error.code(), dict(error.trailing_metadata())["wf-code"]), (grpc.StatusCode.INVALID_ARGUMENT, "5000"), error)
                self.assertLess(self.worst_wait(), MOST_WAIT)

    def test_plain(self):
        self.hold(None)

    def test_coded(self):
        self.hold(grpc.Compression.Gzip)

    def test_a_stream_tells_and_goes_on(self):
        asked = pb.ModelInferRequest(model_name="Line", id="after", raw_input_contents=[bytes(8)])
        asked.inputs.add(name="line", datatype="INT32", shape=[2])
        method = self.channel.stream_stream("/inference.GRPCInferenceService/ModelStreamInfer")
        answers = [pb.ModelStreamInferResponse.FromString(answer) for answer in method(iter([held(3, b"many") + CASES["unknown"], asked.SerializeToString()]), timeout=120)]
        told = {answer.infer_response.id: answer.error_message for answer in answers}
        self.assertEqual(told["after"], "")
        self.assertIn("more than 65536 fields", told["many"])
        behind = NAME + UNKNOWN * 60_000 + held(3, b"behind") + held(5, b"")
        answer, = [pb.ModelStreamInferResponse.FromString(answer) for answer in method(iter([behind]), timeout=120)]
        self.assertEqual((answer.infer_response.id, "input" in answer.error_message), ("behind", True), answer)
        self.assertLess(self.worst_wait(), MOST_WAIT)

    def test_so_many_fields_are_taken(self):
        line_of = pb.ModelInferRequest(model_name="Line", raw_input_contents=[bytes(8)])
        line_of.inputs.add(name="line", datatype="INT32", shape=[2])
        for fields in (1000, 60_000):
            answer = pb.ModelInferResponse.FromString(self.method(UNKNOWN * fields + line_of.SerializeToString(), timeout=60))
            self.assertEqual(answer.raw_output_contents[0], bytes(8))
        many = 100_000  # elements, each a field by itself: Google's own reader takes them, too
        answer = pb.ModelInferResponse.FromString(self.method(NAME + line(b"\x10\x07" * many, many), timeout=60))
        self.assertEqual(answer.raw_output_contents[0], (7).to_bytes(4, "little") * many)


PARTS = """
type Item { a: i64; b: f64; }
workflow Note(n: i64) -> (n: i64) { return (n: n); }
workflow Records(x: list<Item>) -> (n: i64) { return (n: len(x)); }
workflow Map(x: map<f64>) -> (n: i64) { return (n: len(x)); }
workflow Nested(x: list<list<i64>>) -> (n: i64) { return (n: len(x)); }
workflow Strings(x: list<string>) -> (n: i64) { return (n: len(x)); }
workflow Floats(x: f32[k]) -> (n: i64) { return (n: k); }
workflow Quote(x: string) -> (n: i64) { annotate("text", x); return (n: len(x)); }
service Echoes { workflow Note; workflow Records; workflow Map; workflow Nested; workflow Strings; workflow Floats; workflow Quote; }
"""
JUST_BELOW = 4_190_000  # bytes of 4 MiB: where raw tensors were read on the loop, whatever they held
MANY_AT_ONCE = 16  # some 4 KB each when they are coded; a raw one took 20 ms of the loop (`Strings`) to 130 ms (`Map`)


def element(data):
    return len(data).to_bytes(4, "little") + data


def listed(part, count):
    return element(b"[" + b",".join([part] * count) + b"]")


# Workflow: what it is called with, the raw data, how many parts that is.
WORST = {
    "Records": ("BYTES", listed(b'{"a":1,"b":2.5}', JUST_BELOW // 16), JUST_BELOW // 16),
    "Map": ("BYTES", element(b"{" + b",".join(b'"%06x":1' % i for i in range(JUST_BELOW // 11)) + b"}"), JUST_BELOW // 11),
    "Nested": ("BYTES", listed(b"[]", JUST_BELOW // 3), JUST_BELOW // 3),
    "Strings": ("BYTES", bytes(JUST_BELOW // 4 * 4), JUST_BELOW // 4),
    "Floats": ("FP32", bytes(JUST_BELOW // 4 * 4), JUST_BELOW // 4),
}


class LongTexts(Probed):
    @classmethod
    def setUpClass(cls):
        cls.source = harness.scratch() / "parts.wf"
        cls.source.write_text(PARTS)
        super().setUpClass()

    def request(self, workflow, datatype, data, typed=False):
        asked = pb.ModelInferRequest(model_name=workflow)
        given = asked.inputs.add(name="x", datatype=datatype, shape=[1])
        if workflow in ("Strings", "Floats"):
            given.shape[0] = len(data) // 4
        if typed:
            given.contents.bytes_contents.append(data[4:])
        else:
            asked.raw_input_contents.append(data)
        return asked.SerializeToString()

    @harness.timed
    def assert_served(self, message, count):
        calls = [self.method.future(message, timeout=120, compression=grpc.Compression.Gzip) for _ in range(MANY_AT_ONCE)]
        for call in calls:
            self.assertEqual(int.from_bytes(pb.ModelInferResponse.FromString(call.result()).raw_output_contents[0], "little"), count)
        self.assertLess(self.worst_wait(), LITTLE_WAIT)

    def test_raw_data_of_the_worst_size(self):
        for workflow, (datatype, data, count) in WORST.items():
            with self.subTest(workflow):
                self.assert_served(self.request(workflow, datatype, data), count)

    def test_typed_data_of_the_worst_size(self):
        for workflow in ("Records", "Map", "Nested"):
            datatype, data, count = WORST[workflow]
            with self.subTest(workflow):
                self.assert_served(self.request(workflow, datatype, data, typed=True), count)

    @harness.timed
    def test_parameters_are_short(self):
        text = "a" * FIELDS_BYTES
        message = self.request("Quote", "BYTES", element(b"x")) + held(4, held(1, b"p") + held(2, held(3, text.encode())))
        calls = [self.method.future(message, timeout=120, compression=grpc.Compression.Gzip) for _ in range(AT_ONCE)]
        for call in calls:
            with self.assertRaisesRegex(grpc.RpcError, "parameters of more than 65536 bytes"):
                call.result()
        body = {"inputs": [{"name": "x", "datatype": "BYTES", "shape": [1], "data": ["x"]}], "parameters": {"p": text}}
        reply = self.server.call("POST", "/v2/models/Quote/infer", json.dumps(body).encode())
        self.assertEqual((reply.status, "parameters of more than 65536 bytes" in reply.json["error"]), (400, True), reply.json)
        self.assertLess(self.worst_wait(), LITTLE_WAIT)

    @harness.timed
    def test_annotations_are_long(self):
        text = "a" * FIELDS_BYTES
        message = self.request("Quote", "BYTES", element(text.encode()))
        body = json.dumps({"inputs": [{"name": "x", "datatype": "BYTES", "shape": [1], "data": [text]}]}).encode()
        coded = {"content-encoding": "gzip", "accept-encoding": "gzip"}
        for _ in range(AT_ONCE):
            answer = pb.ModelInferResponse.FromString(self.method(message, timeout=120, compression=grpc.Compression.Gzip))
            self.assertEqual(len(answer.parameters["text"].string_param), FIELDS_BYTES)
            reply = self.server.call("POST", "/v2/models/Quote/infer", gzip.compress(body, 1), coded)
            self.assertEqual(len(json.loads(gzip.decompress(reply.body))["parameters"]["text"]), FIELDS_BYTES)
        self.assertLess(self.worst_wait(), LITTLE_WAIT)


if __name__ == "__main__":
    harness.main()
