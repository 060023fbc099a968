"""What the tests of gRPC share: its real clients, a program to call, and calls by hand."""
import struct

import harness
import onnx_file

harness.in_environment()

import grpc  # noqa: E402
import tritonclient.grpc as triton  # noqa: E402
from google.protobuf.descriptor_pool import DescriptorPool  # noqa: E402
from google.protobuf.message_factory import GetMessageClass  # noqa: E402
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase  # noqa: E402
from http2_client import Client  # noqa: E402
from tritonclient.grpc import service_pb2 as pb, service_pb2_grpc  # noqa: E402
from tritonclient.utils import np_to_triton_dtype  # noqa: E402

PROGRAM = """
model Wide = onnx("wide.onnx");

error Unlucky = 100007 "an unlucky number" as failed_precondition;

workflow Echo(xs: f32[h, w], flags: bool[n], words: list<string>, scale: f64 = 2.0, count: u8 = 3)
    -> (xs: f32[h, w], flags: bool[n], words: list<string>, scale: f64, count: u8) {
  return (xs: xs, flags: flags, words: words, scale: scale, count: count);
}

workflow Line(line: i32[n]) -> (line: i32[n]) {
  return (line: line);
}

workflow Short(line: i32[n]) -> (line: i32[n]) {
  return (line: line);
}

workflow Note(n: i64) -> (n: i64) {
  require n != 13 else fail Unlucky("n is 13 — naïve");
  require n != 14 else fail Unlucky(meta("why", ""));
  annotate("seen", meta("colour", "none"));
  return (n: n);
}

workflow Wait(seed: i64) -> (first: f32) {
  let x = [i < 64] => f32(i * seed % 17) / 17.0;
  node y = Wide(x: x) { batch 32 within 10s; }
  return (first: y[0]);
}

workflow Endless(seed: i64) -> (y: f64) {
  node y = sum[k < seed](f64(k) * 0.5);
  return (y: y);
}

service Slow {
  inflight 2;
  workflow Wait;
  workflow Endless;
}

service Echoes {
  workflow Echo;
  workflow Line;
  workflow Note;
}

service Small {
  body 1KiB;
  workflow Short;
}
"""


def tensor(name, values, datatype=None):
    row = triton.InferInput(name, list(values.shape), datatype or np_to_triton_dtype(values.dtype))
    row.set_data_from_numpy(values)
    return row


def note_request(n):
    request = pb.ModelInferRequest(model_name="Note")
    request.inputs.add(name="n", datatype="INT64", shape=[1]).contents.int64_contents.append(n)
    return request


def seeded(name, seed):
    request = pb.ModelInferRequest(model_name=name)
    request.inputs.add(name="seed", datatype="INT64", shape=[1]).contents.int64_contents.append(seed)
    return request


def wait_request():
    """A call whose row waits for others, and runs in time for its deadline."""
    return seeded("Wait", 3)


def endless_request():
    """A call that no deadline lets end."""
    return seeded("Endless", 2**62)


class Reflected:
    """A service's methods, called with nothing but what the server tells of them by reflection."""
    def __init__(self, channel, service):
        self.pool = DescriptorPool(ProtoReflectionDescriptorDatabase(channel))
        self.service = self.pool.FindServiceByName(service)
        for method in self.service.methods:
            setattr(self, method.name, self.on(channel, method.name))

    def on(self, channel, name):
        """The method on another connection."""
        method = self.service.FindMethodByName(name)
        kind = "_".join("stream" if streams else "unary" for streams in (method.client_streaming, method.server_streaming))
        call, answer = GetMessageClass(method.input_type), GetMessageClass(method.output_type)
        return getattr(channel, kind)(f"/{self.service.full_name}/{name}", call.SerializeToString, answer.FromString)

    def message(self, name, /, **members):
        return GetMessageClass(self.pool.FindMessageTypeByName(f"{self.service.file.package}.{name}"))(**members)


class GrpcCase(harness.ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.address = "%s:%d" % cls.server.addresses["http"]
        cls.client = triton.InferenceServerClient(cls.address)
        cls.channel = grpc.insecure_channel(cls.address, [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)])
        cls.stub = service_pb2_grpc.GRPCInferenceServiceStub(cls.channel)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.channel.close()
        super().tearDownClass()

    def raw(self, method, message=b"", **more):
        """Bytes of the answer to bytes."""
        return self.channel.unary_unary(f"/inference.GRPCInferenceService/{method}")(message, timeout=more.pop("timeout", 30), **more)

    def assert_fails(self, status, call, *words, code=None):
        """The call ends with this status, its text holds the words, and its trailers the framework's code."""
        with self.assertRaises(grpc.RpcError) as caught:
            call()
        error = caught.exception
        self.assertEqual(error.code(), status, error)
        for word in words:
            self.assertIn(word, error.details())
        trailers = dict(error.trailing_metadata())
        if code is not None:
            self.assertEqual(trailers["wf-code"], str(code), error)
        return trailers

    def framed(self, message, flag=0):
        return struct.pack(">BI", flag, len(message)) + message

    def call_by_hand(self, method, body, more=(), content_type="application/grpc"):
        """All fields of the answer to a body as it is."""
        with Client(self.server) as client:
            head = [("te", "trailers"), ("content-type", content_type), *more]
            return client.reply(client.begin(f"/inference.GRPCInferenceService/{method}", body, headers=head)).headers


def source():
    path = harness.scratch() / "echoes.wf"
    (harness.scratch() / "wide.onnx").write_bytes(onnx_file.perceptron(64, 2048))
    path.write_text(PROGRAM)
    return path


SOURCE = source()
