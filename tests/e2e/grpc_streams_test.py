#!/usr/bin/env python3
"""Calls of gRPC that stream: ModelStreamInfer, health and reflection, with their real clients and by hand."""
import signal
import struct
import threading
import time
import unittest

import harness
from grpc_cases import SOURCE, Client, GrpcCase, Reflected, endless_request, note_request, tensor, wait_request

import grpc
import numpy as np
import tritonclient.grpc as triton
from google.protobuf import json_format
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
from tritonclient.grpc import model_config_pb2, service_pb2 as pb, service_pb2_grpc


class Streams(GrpcCase):
    """ModelStreamInfer: each message is a call of its own."""
    source = SOURCE

    def stream(self, requests, **more):
        return self.stub.ModelStreamInfer(iter(requests), timeout=more.pop("timeout", 60), **more)

    def note(self, n, call_id=""):
        request = note_request(n)
        request.id = call_id
        return request

    def numbers(self, replies):
        return sorted(int.from_bytes(reply.infer_response.raw_output_contents[0], "little") for reply in replies)

    def test_every_message_is_answered(self):
        replies = list(self.stream(self.note(100 + n, f"call-{n}") for n in range(1000)))
        self.assertEqual(self.numbers(replies), list(range(100, 1100)))
        self.assertEqual({reply.infer_response.id for reply in replies}, {f"call-{n}" for n in range(1000)})
        self.assertFalse(any(reply.error_message for reply in replies))
        self.assertEqual(list(self.stream([])), [])

    def test_messages_larger_than_a_window_of_the_stream(self):
        request = pb.ModelInferRequest(model_name="Line", raw_input_contents=[bytes(range(256)) * 12_000])
        request.inputs.add(name="line", datatype="INT32", shape=[256 * 3000])
        replies = list(self.stream([request] * 8))
        self.assertEqual([reply.infer_response.raw_output_contents[0] for reply in replies], [request.raw_input_contents[0]] * 8)

    def test_a_failure_is_a_message_and_the_call_goes_on(self):
        bad = self.note(2, "call-2")
        bad.model_name = "Nite"
        long = pb.ModelInferRequest(model_name="Short", id="call-4", raw_input_contents=[bytes(2000)])
        replies = {reply.infer_response.id: reply for reply in self.stream([self.note(1, "call-1"), bad, self.note(13, "call-3"), long, self.note(5, "call-5")])}
        self.assertEqual(sorted(replies), [f"call-{n}" for n in range(1, 6)])
        self.assertEqual([replies[f"call-{n}"].error_message for n in (1, 5)], ["", ""])
        self.assertIn("did you mean `Note`", replies["call-2"].error_message)
        self.assertIn("n is 13", replies["call-3"].error_message)
        self.assertIn("1024 bytes", replies["call-4"].error_message)
        parameters = replies["call-3"].infer_response.parameters
        self.assertEqual((parameters["code"].int64_param, parameters["name"].string_param), (100007, "Unlucky"))
        self.assertGreater(parameters["data_id"].int64_param, 0)

    def test_what_is_no_message_ends_the_call(self):
        with Client(self.server) as client:
            head = [("te", "trailers"), ("content-type", "application/grpc")]
            path = "/inference.GRPCInferenceService/ModelStreamInfer"
            good = self.framed(self.note(1).SerializeToString())
            for body, status in ((good * 3, "0"), (good + good[:-1], "3"), (good + b"\2\0\0\0\0", "3"), (good + struct.pack(">BI", 0, 0xFFFFFFFF), "8")):
                reply = client.reply(client.begin(path, body, headers=head))
                self.assertEqual(reply.headers["grpc-status"], status, body)
            self.assertEqual(client.reply(client.begin("/grpc.health.v1.Health/Watch", b"", headers=head)).headers["grpc-status"], "12")
            self.assertEqual(client.reply(client.begin("/grpc.health.v1.Health/Watch", self.framed(b"") * 2, headers=head)).headers["grpc-status"], "12")
        self.assertEqual(self.server.settled("wf_inflight_requests"), 0)

    def test_the_longest_deadline_is_one(self):
        with Client(self.server) as client:
            head = [("te", "trailers"), ("content-type", "application/grpc"), ("grpc-timeout", "99999999H")]
            reply = client.reply(client.begin("/inference.GRPCInferenceService/ModelStreamInfer", self.framed(self.note(1).SerializeToString()) * 3, headers=head))
        self.assertEqual(reply.headers["grpc-status"], "0")
        self.assertNotIn(b"deadline", reply.body)

    def test_a_watch_ends_with_its_deadline(self):
        with Client(self.server) as client:
            head = [("te", "trailers"), ("content-type", "application/grpc"), ("grpc-timeout", "200m")]
            took = []
            for _ in range(5):
                started = time.monotonic()
                late = client.reply(client.begin("/grpc.health.v1.Health/Watch", self.framed(b""), headers=head))
                took.append(time.monotonic() - started)
                self.assertEqual((late.headers["grpc-status"], late.headers["grpc-message"]), ("4", "the call's deadline has passed"))
            self.assertGreater(min(took), 0.19)
            self.assertLess(min(took), 0.5)

    def test_calls_that_say_nothing_end_with_their_deadlines(self):
        with Client(self.server) as client:
            head = [("te", "trailers"), ("content-type", "application/grpc"), ("grpc-timeout", "200m")]
            for method in ("ModelStreamInfer", "ModelInfer"):
                took = []
                for _ in range(5):
                    started = time.monotonic()
                    late = client.reply(client.begin(f"/inference.GRPCInferenceService/{method}", headers=head, end=False))
                    took.append(time.monotonic() - started)
                    self.assertEqual(late.headers["grpc-status"], "4")
                self.assertGreater(min(took), 0.19)
                self.assertLess(min(took), 0.5)

    def test_tritons_stream(self):
        client = triton.InferenceServerClient(self.address)
        results, arrived = [], threading.Semaphore(0)

        def answered(result, error):
            results.append(error or int(result.as_numpy("n")[0]))
            arrived.release()

        client.start_stream(answered)
        for n in range(50):
            client.async_stream_infer("Note", [tensor("n", np.array([100 + n], dtype=np.int64))], request_id=str(n))
        client.async_stream_infer("Note", [tensor("n", np.array([13], dtype=np.int64))])
        for _ in range(51):
            self.assertTrue(arrived.acquire(timeout=30))
        client.stop_stream()
        client.close()
        numbers = [result for result in results if isinstance(result, int)]
        self.assertEqual(sorted(numbers), list(range(100, 150)))
        (error,) = [result for result in results if not isinstance(result, int)]
        self.assertIn("n is 13", str(error))

    def test_the_mark_of_a_last_answer(self):
        for asks in (True, False):
            request = self.note(1)
            if asks:
                request.parameters["triton_enable_empty_final_response"].bool_param = True
            (reply,) = self.stream([request])
            self.assertTrue(reply.infer_response.parameters["triton_final_response"].bool_param)

    def test_compressed(self):
        request = pb.ModelInferRequest(model_name="Line", raw_input_contents=[bytes(400_000)])
        request.inputs.add(name="line", datatype="INT32", shape=[100_000])
        replies = list(self.stream([request, self.note(1), request], compression=grpc.Compression.Gzip))
        self.assertEqual(sorted(len(reply.infer_response.raw_output_contents[0]) for reply in replies), [8, 400_000, 400_000])

    def test_one_that_reads_nothing_is_held_back(self):
        """A client that sends and does not read: the server stops to take its messages, and goes on when it reads."""
        request = pb.ModelInferRequest(model_name="Line", raw_input_contents=[bytes(40_000)])
        request.inputs.add(name="line", datatype="INT32", shape=[10_000])
        body = self.framed(request.SerializeToString())
        with Client(self.server) as client:
            stream = client.begin("/inference.GRPCInferenceService/ModelStreamInfer", headers=[("te", "trailers"), ("content-type", "application/grpc")], end=False)
            count, sent, left = 200, 0, body * 200
            while sent < len(left):
                room = min(client.h2.local_flow_control_window(stream), client.h2.max_outbound_frame_size, len(left) - sent)
                if room == 0:
                    break
                client.h2.send_data(stream, left[sent:sent + room])
                sent += room
                client.flush()
            self.assertLess(sent, len(left))
            client.send(stream, left[sent:])
            reply = client.reply(stream)
            self.assertEqual(reply.headers["grpc-status"], "0")
            self.assertGreater(len(reply.body), count * 40_000)


class WaitingStreams(GrpcCase):
    source = SOURCE
    args = ("--schedule=pool",)

    def test_a_cancelled_call_gives_up_its_messages(self):
        call = self.stub.ModelStreamInfer(iter([endless_request()] * 2), timeout=60)
        self.assertEqual(self.server.settled("wf_inflight_requests", 2), 2)
        call.cancel()
        self.assertEqual(self.server.settled("wf_inflight_requests"), 0)

    def test_a_deadline_is_of_every_message(self):
        with Client(self.server) as client:
            head = [("te", "trailers"), ("content-type", "application/grpc"), ("grpc-timeout", "300m")]
            answer = client.reply(client.begin("/inference.GRPCInferenceService/ModelStreamInfer", self.framed(endless_request().SerializeToString()), headers=head))
        reply = pb.ModelStreamInferResponse.FromString(answer.body[5:])
        self.assertEqual(reply.infer_response.parameters["code"].int64_param, 6000)
        self.assertEqual((answer.headers["grpc-status"], answer.headers["grpc-message"]), ("4", "the call's deadline has passed"))


class Health(unittest.TestCase):
    def setUp(self):
        self.server = harness.Server.of(SOURCE)
        self.addCleanup(self.server.kill)
        self.channel = grpc.insecure_channel("%s:%d" % self.server.addresses["http"])
        self.addCleanup(self.channel.close)
        self.stub = health_pb2_grpc.HealthStub(self.channel)

    def test_check(self):
        for service in ("", "inference.GRPCInferenceService", "grpc.health.v1.Health"):
            self.assertEqual(self.stub.Check(health_pb2.HealthCheckRequest(service=service)).status, health_pb2.HealthCheckResponse.SERVING)
        with self.assertRaises(grpc.RpcError) as caught:
            self.stub.Check(health_pb2.HealthCheckRequest(service="a.B"))
        self.assertEqual(caught.exception.code(), grpc.StatusCode.NOT_FOUND)

    def test_watch_until_the_server_drains(self):
        calls = service_pb2_grpc.GRPCInferenceServiceStub(self.channel)
        idle = calls.ModelStreamInfer(iter(lambda: time.sleep(3600), 0), timeout=60)
        watch = self.stub.Watch(health_pb2.HealthCheckRequest(), timeout=60)
        unknown = self.stub.Watch(health_pb2.HealthCheckRequest(service="a.B"), timeout=60)
        self.assertEqual(next(watch).status, health_pb2.HealthCheckResponse.SERVING)
        self.assertEqual(next(unknown).status, health_pb2.HealthCheckResponse.SERVICE_UNKNOWN)
        started = time.monotonic()
        self.server.process.send_signal(signal.SIGTERM)
        self.assertEqual(next(watch).status, health_pb2.HealthCheckResponse.NOT_SERVING)
        for call in (watch, unknown, idle):
            with self.assertRaises(grpc.RpcError) as caught:
                next(call)
            self.assertEqual(caught.exception.code(), grpc.StatusCode.UNAVAILABLE)
        self.assertEqual(self.server.process.wait(20), 0, self.server.output())
        self.assertLess(time.monotonic() - started, 10)

    def test_a_drain_answers_what_is_under_way(self):
        self.server.kill()
        self.server = harness.Server.of(SOURCE, "--schedule=pool")
        self.addCleanup(self.server.kill)
        with grpc.insecure_channel("%s:%d" % self.server.addresses["http"]) as channel:
            stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
            more = threading.Event()

            def requests():
                yield wait_request()
                more.wait(60)

            stream = stub.ModelStreamInfer(requests(), timeout=60)
            single = stub.ModelInfer.future(wait_request(), timeout=60)
            self.assertEqual(self.server.settled("wf_inflight_requests", 2), 2)
            self.server.process.send_signal(signal.SIGTERM)
            self.assertEqual(single.result().model_name, "Wait")
            self.assertFalse(next(stream).error_message)
            self.assertEqual(self.server.process.wait(20), 0, self.server.output())
            more.set()


class Reflection(GrpcCase):
    source = SOURCE

    def test_clients_find_everything(self):
        services = ["grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection", "inference.GRPCInferenceService"]
        self.assertEqual(sorted(ProtoReflectionDescriptorDatabase(self.channel).get_services()), services)
        for service in services:
            self.assertTrue(Reflected(self.channel, service).service.methods)
        inference = Reflected(self.channel, "inference.GRPCInferenceService")
        self.assertTrue(inference.ModelReady(inference.message("ModelReadyRequest", name="Line")).ready)
        with self.assertRaises(KeyError):
            inference.message("Nothing")

    def test_calls_of_nothing_but_reflection_and_json(self):
        """As grpcurl does."""
        inference = Reflected(self.channel, "inference.GRPCInferenceService")
        call = json_format.Parse('''{"model_name": "Line", "id": "call-1", "parameters": {"binary_data_output": {"bool_param": false}},
                                    "inputs": [{"name": "line", "datatype": "INT32", "shape": [3], "contents": {"int_contents": [1, -2, 3]}}]}''', inference.message("ModelInferRequest"))
        reply = json_format.MessageToDict(inference.ModelInfer(call, timeout=30), preserving_proto_field_name=True)
        self.assertEqual((reply["id"], reply["outputs"]), ("call-1", [{"name": "line", "datatype": "INT32", "shape": ["3"], "contents": {"int_contents": [1, -2, 3]}}]))
        streamed = [json_format.MessageToDict(part) for part in inference.ModelStreamInfer(iter([call, call]), timeout=30)]
        self.assertEqual([part["inferResponse"]["id"] for part in streamed], ["call-1", "call-1"])
        health = Reflected(self.channel, "grpc.health.v1.Health")
        watch = health.Watch(health.message("HealthCheckRequest"), timeout=30)
        self.assertEqual(json_format.MessageToDict(next(watch)), {"status": "SERVING"})
        watch.cancel()

    def test_the_messages_are_those_of_tritons_clients(self):
        def fields(message):
            return {(field.name, field.number, field.type, field.label, field.message_type.name if field.message_type else None) for field in message.fields}

        def compare(ours, theirs):
            self.assertLessEqual(fields(ours), fields(theirs), ours.full_name)
            for inner in ours.nested_types:
                compare(inner, theirs.nested_types_by_name[inner.name])

        file = Reflected(self.channel, "inference.GRPCInferenceService").service.file
        theirs = {**model_config_pb2.DESCRIPTOR.message_types_by_name, **pb.DESCRIPTOR.message_types_by_name}
        self.assertGreater(len(file.message_types_by_name), 20)
        for name, message in file.message_types_by_name.items():
            compare(message, theirs[name])
        methods = pb.DESCRIPTOR.services_by_name["GRPCInferenceService"].methods_by_name
        for own in file.services_by_name["GRPCInferenceService"].methods:
            method = methods[own.name]
            self.assertEqual((own.input_type.name, own.output_type.name), (method.input_type.name, method.output_type.name))

    def test_both_versions_answer_alike(self):
        asked = [reflection_pb2.ServerReflectionRequest(**{member: value}) for member, value in (
            ("list_services", ""), ("file_by_filename", "grpc/health/v1/health.proto"), ("file_by_filename", "a.proto"), ("file_containing_symbol", "inference.ModelInferRequest.InferInputTensor.name"),
            ("file_containing_symbol", "inference.GRPCInferenceService.ModelInfer"), ("file_containing_symbol", "inference.GRPCInferenceService.Model"), ("file_containing_symbol", "inference"),
            ("file_containing_symbol", "grpc.health.v1.HealthCheckResponse.SERVING"), ("all_extension_numbers_of_type", "inference.ModelInferRequest"),
            ("file_containing_extension", {"containing_type": "inference.ModelInferRequest", "extension_number": 7}))]
        answers = []
        for version in ("v1", "v1alpha"):
            call = self.channel.stream_stream(f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo", reflection_pb2.ServerReflectionRequest.SerializeToString, reflection_pb2.ServerReflectionResponse.FromString)
            answers.append(list(call(iter(asked), timeout=30)))
            self.assertEqual([answer.original_request for answer in answers[-1]], asked)
        self.assertEqual(answers[0], answers[1])
        kinds = [answer.WhichOneof("message_response") for answer in answers[0]]
        found, missing = "file_descriptor_response", "error_response"
        self.assertEqual(kinds, ["list_services_response", found, missing, found, found, missing, missing, found, "all_extension_numbers_response", missing])

    def test_what_asks_for_nothing_ends_the_call(self):
        call = self.channel.stream_stream("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo")
        self.assert_fails(grpc.StatusCode.INVALID_ARGUMENT, lambda: list(call(iter([b""]), timeout=30)), code=5000)


if __name__ == "__main__":
    harness.main()
