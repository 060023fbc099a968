#!/usr/bin/env python3
"""Messages of gRPC that are nothing but tiny fields cost their senders' time, not that of others."""
import multiprocessing
import time

import harness
from grpc_cases import SOURCE, GrpcCase

import grpc
from tritonclient.grpc import service_pb2 as pb

FIELDS_BYTES = 60_000_000  # within what a service takes
AT_ONCE = 3
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


class ManyFields(GrpcCase):
    source = SOURCE
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


if __name__ == "__main__":
    harness.main()
