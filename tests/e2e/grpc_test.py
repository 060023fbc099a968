#!/usr/bin/env python3
"""gRPC as its real clients speak it: Triton's own, grpcio's stubs and bytes by hand, against the port that HTTP has."""
import gzip
import signal
import socket
import struct
import threading
import time
import unittest

import harness
from grpc_cases import SOURCE, GrpcCase, endless_request, note_request, tensor, wait_request

import grpc
import numpy as np
import tritonclient.grpc as triton
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from tritonclient.grpc import service_pb2 as pb
from tritonclient.utils import InferenceServerException


class Echoes(GrpcCase):
    source = SOURCE

    def note(self, n, **more):
        return self.stub.ModelInfer(note_request(n), timeout=30, **more)

    def values(self, *samples):
        count = int(np.prod(samples, dtype=int))
        xs = np.arange(6 * count, dtype=np.float32).reshape(*samples, 2, 3) - np.float32(0.5)
        flags = np.resize(np.array([True, False, True]), (*samples, 3))
        words = np.resize(np.array(["Zoë".encode(), b""], dtype=object), (*samples, 2))
        return {"xs": xs, "flags": flags, "words": words}

    def test_what_the_server_says_of_itself(self):
        client = self.client
        self.assertTrue(client.is_server_live() and client.is_server_ready() and client.is_model_ready("Line", "1"))
        metadata = client.get_server_metadata()
        self.assertEqual((metadata.name, list(metadata.extensions)), ("wf", harness.EXTENSIONS))
        line = client.get_model_metadata("Echoes.Line")
        self.assertEqual((line.name, list(line.versions), line.platform), ("Echoes.Line", ["1"], "wf"))
        self.assertEqual([(row.name, row.datatype, list(row.shape)) for row in line.inputs], [("line", "INT32", [-1, -1])])
        config = client.get_model_config("Line").config
        self.assertEqual((config.max_batch_size, [list(row.dims) for row in config.input]), (1024, [[-1]]))
        index = client.get_model_repository_index()
        self.assertEqual([(row.name, row.version, row.state) for row in index.models][:2], [("Echoes.Echo", "1", "READY"), ("Echoes.Line", "1", "READY")])
        self.assertEqual(client.get_log_settings().settings["log_info"].bool_param, True)
        client.load_model("Line")
        for size in (10, 100_000):
            with self.assertRaisesRegex(InferenceServerException, "UNIMPLEMENTED.*load takes no parameters"):
                client.load_model("Line", config="{}", files={"file:1/model.onnx": b"x" * size})
        with self.assertRaisesRegex(InferenceServerException, "UNIMPLEMENTED.*stay loaded"):
            client.unload_model("Line")
        with self.assertRaisesRegex(InferenceServerException, "UNIMPLEMENTED.*shared memory"):
            client.register_system_shared_memory("a", "/a", 4)

    def test_a_client_that_waits_for_a_model_asks_until_it_is_there(self):
        client = self.client
        self.assertEqual([client.is_model_ready(*which) for which in (("Line",), ("Line", "1"), ("Echoes.Line", "1"), ("Lime",), ("Line", "2"), ("Line", "x"), ("",))],
                         [True, True, True, False, False, False, False])
        with self.assertRaisesRegex(InferenceServerException, "NOT_FOUND.*no model is called `Lime`"):
            client.get_model_metadata("Lime")

    def test_settings_stay_as_they_are(self):
        client = self.client
        trace = {"trace_level": ["OFF"], "trace_rate": ["1000"], "trace_count": ["-1"], "log_frequency": ["0"], "trace_mode": ["triton"]}

        def values(reply):
            return {name: list(setting.value) for name, setting in reply.settings.items()}

        for model in (None, "Line"):
            self.assertEqual(values(client.get_trace_settings(model)), trace)
            self.assertEqual(values(client.update_trace_settings(model, {"trace_level": ["OFF"], "trace_rate": "1000", "trace_count": None})), trace)
            for settings, words in (({"trace_level": ["TIMESTAMPS"]}, "UNIMPLEMENTED.*stays `OFF`"), ({"trace_level": ["OFF", "TENSORS"]}, "UNIMPLEMENTED.*stays `OFF`"),
                                    ({"trace_lvl": None}, "INVALID_ARGUMENT.*no setting `trace_lvl`")):
                with self.assertRaisesRegex(InferenceServerException, words):
                    client.update_trace_settings(model, settings)
        with self.assertRaisesRegex(InferenceServerException, "NOT_FOUND"):
            client.get_trace_settings("Lime")
        for settings, words in (({"log_verbose_level": 3}, "UNIMPLEMENTED.*stays `0`"), ({"log_inof": True}, "INVALID_ARGUMENT.*no setting")):
            with self.assertRaisesRegex(InferenceServerException, words):
                client.update_log_settings(settings)

    def test_tensors_go_both_ways(self):
        for samples in ((), (1,), (5,)):
            with self.subTest(samples=samples):
                values = self.values(*samples)
                result = self.client.infer("Echo", [tensor(name, value) for name, value in values.items()])
                for name, value in values.items():
                    np.testing.assert_array_equal(result.as_numpy(name), value)
                self.assertEqual(result.as_numpy("count").dtype, np.uint8)

    def test_typed_contents(self):
        request = pb.ModelInferRequest(model_name="Echoes.Echo", id="call-4")
        request.inputs.add(name="xs", datatype="FP32", shape=[1, 2]).contents.fp32_contents.extend([1.5, -2])
        request.inputs.add(name="flags", datatype="BOOL", shape=[2]).contents.bool_contents.extend([True, False])
        request.inputs.add(name="words", datatype="BYTES", shape=[1]).contents.bytes_contents.append("Zoë".encode())
        request.parameters["binary_data_output"].bool_param = False
        reply = self.stub.ModelInfer(request)
        outputs = {row.name: row for row in reply.outputs}
        self.assertEqual((reply.model_name, reply.model_version, reply.id), ("Echoes.Echo", "1", "call-4"))
        self.assertEqual((list(outputs["xs"].contents.fp32_contents), list(outputs["xs"].shape)), ([1.5, -2], [1, 2]))
        self.assertEqual(list(outputs["words"].contents.bytes_contents), ["Zoë".encode()])
        self.assertEqual(list(outputs["scale"].contents.fp64_contents), [2.0])
        self.assertFalse(reply.raw_output_contents)

    def test_id_parameters_headers_and_annotations(self):
        n = tensor("n", np.array([7], dtype=np.int64))
        reply = self.client.infer("Note", [n], request_id="call-9", parameters={"colour": "red"}).get_response()
        self.assertEqual((reply.id, reply.parameters["seen"].string_param), ("call-9", "red"))
        reply = self.client.infer("Note", [n], headers={"colour": "blue"}).get_response()
        self.assertEqual(reply.parameters["seen"].string_param, "blue")

    def test_large_messages(self):
        line = np.arange(3_000_000, dtype=np.int32)
        np.testing.assert_array_equal(self.client.infer("Line", [tensor("line", line)]).as_numpy("line"), line)

    def test_a_failure_tells_all_about_itself(self):
        trailers = self.assert_fails(grpc.StatusCode.FAILED_PRECONDITION, lambda: self.note(13, metadata=[("x-request-id", "r-5")]), "n is 13 — naïve", code=100007)
        self.assertEqual((trailers["wf-name"], trailers["wf-log-id"]), ("Unlucky", "r-5"))
        self.assertGreater(int(trailers["wf-data-id"]), 0)
        with self.assertRaises(grpc.RpcError) as caught:
            self.note(13)
        status = rpc_status.from_call(caught.exception)
        self.assertEqual((status.code, status.message), (9, "sample 0: n is 13 — naïve"))
        info = error_details_pb2.ErrorInfo()
        self.assertTrue(status.details[0].Unpack(info))
        self.assertEqual((info.reason, info.domain, info.metadata["code"]), ("Unlucky", "wf", "100007"))

    def test_a_call_that_does_not_begin_is_told_by_its_id(self):
        for request, status in ((pb.ModelInferRequest(model_name="Lime", id="call-3"), grpc.StatusCode.NOT_FOUND),
                                (pb.ModelInferRequest(model_name="Short", id="call-3", raw_input_contents=[bytes(2000)]), grpc.StatusCode.RESOURCE_EXHAUSTED)):
            self.assertEqual(self.assert_fails(status, lambda: self.stub.ModelInfer(request))["wf-log-id"], "call-3")
            self.assertEqual([reply.infer_response.parameters["log_id"].string_param for reply in self.stub.ModelStreamInfer(iter([request]))], ["call-3"])
            trailers = self.assert_fails(status, lambda: self.stub.ModelInfer(request, metadata=[("x-request-id", "r-6")]))
            self.assertEqual(trailers["wf-log-id"], "r-6")

    def test_a_failure_whose_text_is_empty_says_what_is_declared(self):
        declared = "an unlucky number"
        self.assert_fails(grpc.StatusCode.FAILED_PRECONDITION, lambda: self.note(14), "sample 0: " + declared, code=100007)
        self.assertEqual([reply.error_message for reply in self.stub.ModelStreamInfer(iter([note_request(14)]))], ["sample 0: " + declared])
        asked = {"inputs": [{"name": "n", "datatype": "INT64", "shape": [1], "data": [14]}]}
        self.assertEqual(self.server.post("/v2/models/Note/infer", asked).json["error"], "sample 0: " + declared)
        self.assertEqual(self.server.post("/Echoes/Note", {"n": 14}).json["error"]["message"], declared)

    def test_metadata_that_is_too_large_is_told_as_grpc_tells(self):
        for metadata, told in (([(f"k{i}", "v") for i in range(200)], "too many headers"), ([("k", "v" * 40_000)], "the headers are too large")):
            self.assert_fails(grpc.StatusCode.RESOURCE_EXHAUSTED, lambda: self.note(1, metadata=metadata), told, code=5000)

    def test_wrong_calls(self):
        wrong = grpc.StatusCode.INVALID_ARGUMENT

        def line(datatype, shape, raw, name="line"):
            request = pb.ModelInferRequest(model_name="Line", raw_input_contents=[raw])
            request.inputs.add(name=name, datatype=datatype, shape=shape)
            return lambda: self.stub.ModelInfer(request)

        self.assert_fails(wrong, line("FP32", [1], bytes(4)), "INT32", code=5000)
        self.assert_fails(wrong, line("INT32", [2], bytes(4)), "`line`", code=5000)
        self.assert_fails(wrong, line("INT32", [1, 1, 1], bytes(4)), "3 axes", code=5000)
        self.assert_fails(wrong, line("INT32", [1], bytes(4), "lime"), "did you mean `line`", code=5000)
        self.assertFalse(self.stub.ModelReady(pb.ModelReadyRequest(name="Lime")).ready)
        self.assert_fails(grpc.StatusCode.NOT_FOUND, lambda: self.stub.ModelInfer(pb.ModelInferRequest()), "no model", code=3002)
        self.assert_fails(grpc.StatusCode.NOT_FOUND, lambda: self.stub.ModelMetadata(pb.ModelMetadataRequest(name="Line", version="2")), "no version `2`; it has 1", code=3002)
        for method in ("ModelInfer", "ModelReady", "RepositoryIndex"):
            self.assert_fails(wrong, lambda method=method: self.raw(method, b"\xff\xff\xff"), code=5000)
        self.assert_fails(grpc.StatusCode.UNIMPLEMENTED, lambda: self.raw("ModelInfect"), "no method `ModelInfect`", code=3000)
        self.assert_fails(grpc.StatusCode.UNIMPLEMENTED, lambda: self.channel.unary_unary("/a.B/C")(b""), "`/a.B/C`", code=3000)
        self.assertEqual(self.note(1).model_name, "Note")

    def test_a_message_over_the_limit(self):
        full = grpc.StatusCode.RESOURCE_EXHAUSTED
        request = pb.ModelInferRequest(model_name="Short", raw_input_contents=[bytes(2000)])
        request.inputs.add(name="line", datatype="INT32", shape=[500])
        self.assert_fails(full, lambda: self.stub.ModelInfer(request), "1024 bytes", code=5000)
        self.assert_fails(full, lambda: self.raw("ModelInfer", bytes((64 << 20) + 1)), "67108864 bytes", code=5000)
        self.assert_fails(full, lambda: self.raw("ModelReady", bytes(20_000)), "16384 bytes", code=5000)

    def test_compression(self):
        line = np.zeros(300_000, dtype=np.int32)
        for algorithm in ("gzip", "deflate"):
            result = self.client.infer("Line", [tensor("line", line)], compression_algorithm=algorithm)
            np.testing.assert_array_equal(result.as_numpy("line"), line)
            words = self.client.infer("Line", [tensor("line", line[:10])], compression_algorithm=algorithm)
            self.assertEqual(len(words.as_numpy("line")), 10)
        request = pb.ModelInferRequest(model_name="Line", raw_input_contents=[bytes(80 << 20)])
        self.assert_fails(grpc.StatusCode.RESOURCE_EXHAUSTED, lambda: self.stub.ModelInfer(request, compression=grpc.Compression.Gzip), "without its coding", code=5000)

    def test_bodies_that_are_no_calls(self):
        def status(body, more=()):
            answer = self.call_by_hand("ModelReady", body, more)
            self.assertEqual((answer[":status"], answer["content-type"]), ("200", "application/grpc"))
            return answer["grpc-status"]

        message = pb.ModelReadyRequest(name="Line").SerializeToString()
        self.assertEqual(status(self.framed(message)), "0")
        self.assertEqual(status(b""), "12")
        self.assertEqual(status(self.framed(message) * 2), "12")
        for cut in range(1, 5 + len(message)):
            self.assertEqual(status(self.framed(message)[:cut]), "3")
        self.assertEqual(status(self.framed(message, flag=2)), "3")
        self.assertEqual(status(self.framed(message, flag=1)), "3")
        self.assertEqual(status(self.framed(message, flag=1), [("grpc-encoding", "gzip")]), "3")
        self.assertEqual(status(self.framed(gzip.compress(message), flag=1), [("grpc-encoding", "gzip")]), "0")
        self.assertEqual(status(self.framed(gzip.compress(message)[:-3], flag=1), [("grpc-encoding", "gzip")]), "3")
        self.assertEqual(status(self.framed(message), [("grpc-encoding", "snappy")]), "12")
        self.assertEqual(status(self.framed(message, flag=1), [("grpc-encoding", "zstd")]), "12")
        self.assertEqual(self.call_by_hand("ModelReady", self.framed(message), [("grpc-encoding", "zstd")])["grpc-accept-encoding"], "identity,gzip,deflate")
        self.assertEqual(self.call_by_hand("ModelReady", self.framed(message))["grpc-accept-encoding"], "identity,gzip,deflate")
        self.assertEqual(status(struct.pack(">BI", 0, 0xFFFFFFFF) + message), "8")

    def test_what_is_not_grpc_is_told_by_http(self):
        for content_type in ("application/json", "application/grpc-web+proto", "application/grpc+json", "application/grpcx"):
            answer = self.call_by_hand("ServerLive", self.framed(b""), content_type=content_type)
            self.assertEqual((answer[":status"], answer["content-type"]), ("415", "application/json"))
            self.assertNotIn("grpc-status", answer)
        reply = self.server.call("POST", "/inference.GRPCInferenceService/ServerLive", self.framed(b""), {"content-type": "application/grpc"})
        self.assertEqual(reply.status, 415)
        self.assertEqual(self.call_by_hand("ServerLive", self.framed(b""), content_type="application/grpc+proto")["grpc-status"], "0")

    def test_calls_are_counted(self):
        def counted(code):
            return sum(value for name, value in self.server.metrics().items() if name.startswith("wf_requests_total") and 'protocol="grpc"' in name and f'code="{code}"' in name and 'workflow="Note"' in name)

        before = [counted(code) for code in (0, 100007)]
        self.note(1)
        self.assert_fails(grpc.StatusCode.FAILED_PRECONDITION, lambda: self.note(13))
        self.assertEqual([counted(code) for code in (0, 100007)], [count + 1 for count in before])
        success = self.client.get_inference_statistics("Echoes.Note").model_stats[0].inference_stats.success
        self.assertGreater(success.count, 0)
        self.assertGreater(success.ns, 0)

    def test_many_calls_at_once(self):
        done, pending, arrived = [], [], threading.Semaphore(0)

        def answered(result, error):
            done.append(error if error else int(result.as_numpy("n")[0]))
            arrived.release()

        for n in range(500):
            pending.append(self.client.async_infer("Note", [tensor("n", np.array([100 + n], dtype=np.int64))], callback=answered))
        for _ in range(500):
            self.assertTrue(arrived.acquire(timeout=30))
        self.assertEqual(sorted(done), list(range(100, 600)))


class Waiting(GrpcCase):
    source = SOURCE
    args = ("--schedule=pool",)

    def test_deadlines(self):
        started = time.monotonic()
        self.assert_fails(grpc.StatusCode.DEADLINE_EXCEEDED, lambda: self.stub.ModelInfer(endless_request(), timeout=0.3))
        self.assertEqual(self.call_by_hand("ModelInfer", self.framed(endless_request().SerializeToString()), [("grpc-timeout", "200m")])["wf-code"], "6000")
        self.assertLess(time.monotonic() - started, 10)
        self.assertEqual(self.server.settled("wf_inflight_requests"), 0)
        calls = [self.call_by_hand("ModelReady", self.framed(pb.ModelReadyRequest(name="Wait").SerializeToString()), [("grpc-timeout", text)]) for text in ("1n", "1H", "99999999S", "x", "-1S", "")]
        self.assertEqual([call["grpc-status"] for call in calls], ["4", "0", "0", "3", "3", "3"])

    def test_a_cancelled_call_is_given_up(self):
        def cancelled():
            return sum(value for name, value in self.server.metrics().items() if name.startswith("wf_requests_total") and 'code="3011"' in name)

        before = cancelled()
        call = self.stub.ModelInfer.future(wait_request(), timeout=60)
        self.assertEqual(self.server.settled("wf_inflight_requests", 1), 1)
        call.cancel()
        self.assertEqual(self.server.settled("wf_inflight_requests"), 0)
        self.assertEqual(cancelled(), before + 1)

    def test_load_is_refused_with_when_to_come_again(self):
        calls = [self.stub.ModelInfer.future(endless_request(), timeout=60) for _ in range(2)]
        self.assertEqual(self.server.settled("wf_inflight_requests", 2), 2)
        trailers = self.assert_fails(grpc.StatusCode.RESOURCE_EXHAUSTED, lambda: self.stub.ModelInfer(endless_request()), "in flight", code=3010)
        self.assertEqual(trailers["grpc-retry-pushback-ms"], "1000")
        for call in calls:
            call.cancel()
        self.assertEqual(self.server.settled("wf_inflight_requests"), 0)


class Cancelling(GrpcCase):
    """One channel that cancels more than `limits.control_frames` lets a connection: it goes on with others, and loses no other call."""
    LIMIT = 200
    args = (f"--limits-control-frames={LIMIT}", "--schedule=pool")

    @classmethod
    def setUpClass(cls):
        cls.source = harness.scratch() / "cancelling.wf"
        cls.source.write_text("workflow Spin(n: i64) -> (y: f64) { node y = sum[k < n](f64(k) * 0.5); return (y: y); }\nservice Spins { workflow Spin; }\n")
        super().setUpClass()

    def cancelled(self):
        """Calls of which the server knows that their client gave them up: a busy client cancels some before it has sent them."""
        return sum(value for name, value in self.server.metrics().items() if name.startswith("wf_requests_total") and 'code="3011"' in name)

    def test_no_other_call_is_lost(self):
        def request(n):
            asked = pb.ModelInferRequest(model_name="Spin")
            asked.inputs.add(name="n", datatype="INT64", shape=[1]).contents.int64_contents.append(n)
            return asked

        steady, over, lost = 0, threading.Event(), []

        def call():
            nonlocal steady
            while not over.is_set():
                try:
                    self.stub.ModelInfer(request(3_000_000), timeout=30)
                    steady += 1
                except grpc.RpcError as error:
                    lost.append(error)

        caller = threading.Thread(target=call)
        caller.start()
        until = time.monotonic() + 120
        while (self.cancelled() < 3 * self.LIMIT or steady <= 10) and not lost and time.monotonic() < until:
            for _ in range(10):
                calls = [self.stub.ModelInfer.future(request(2**62), timeout=30) for _ in range(8)]
                time.sleep(0.005)
                for cancelled in calls:
                    cancelled.cancel()
        over.set()
        caller.join()
        self.assertEqual(lost, [])
        self.assertGreater(steady, 10)
        self.assertGreaterEqual(self.cancelled(), 3 * self.LIMIT, "fewer were cancelled than end a connection")
        self.assertEqual(self.server.settled("wf_inflight_requests"), 0)
        self.assertEqual(self.server.metric_sum("wf_broken_connections_total"), 0)


class Digits(GrpcCase):
    source = harness.EXAMPLES / "digits/digits.wf"
    args = harness.patient()

    def test_pictures(self):
        seven = (harness.EXAMPLES / "digits/testdata/seven.png").read_bytes()
        plain = self.server.call("POST", "/DigitService/Classify", seven, {"content-type": "image/png"}).json
        result = self.client.infer("DigitService", [tensor("picture", np.array([seven], dtype=object))])
        self.assertEqual([label.decode() for label in result.as_numpy("labels").ravel()], plain["labels"])
        np.testing.assert_allclose(result.as_numpy("scores").ravel(), plain["scores"], rtol=1e-6)
        many = self.client.infer("DigitService", [tensor("picture", np.array([seven] * 64, dtype=object)), tensor("top", np.ones((64, 1), dtype=np.int64))])
        self.assertEqual({label.decode() for label in many.as_numpy("labels").ravel()}, {"7"})

    def test_a_picture_that_is_none(self):
        trailers = self.assert_fails(grpc.StatusCode.INVALID_ARGUMENT, lambda: self.stub.ModelInfer(self.words([b"text"])), "not a PNG, JPEG, WebP or BMP", code=100001)
        self.assertEqual(trailers["wf-path"], "Classify/pixels")

    def words(self, pictures):
        request = pb.ModelInferRequest(model_name="DigitService")
        request.inputs.add(name="picture", datatype="BYTES", shape=[len(pictures)]).contents.bytes_contents.extend(pictures)
        return request


class PortOfItsOwn(unittest.TestCase):
    """Clients of Triton look for HTTP and gRPC at two ports."""
    def started(self):
        """A server with a port of its own for gRPC, which has to be named: one that was free a moment ago, and that another program may have by now."""
        for left in (2, 1, 0):
            with socket.create_server(("127.0.0.1", 0)) as free:
                port = free.getsockname()[1]
            try:
                return harness.Server.of(harness.ROOT / "examples/hello/hello.wf", "--grpc-port", str(port)), port
            except AssertionError as error:
                if left == 0 or "in use by another process" not in str(error):
                    raise

    def test_both_ports_speak_both(self):
        server, port = self.started()
        self.addCleanup(server.stop)
        self.assertEqual(server.addresses["grpc"], ("127.0.0.1", port))
        self.assertNotEqual(server.addresses["http"][1], port)
        for name in ("http", "grpc"):
            host, at = server.addresses[name]
            self.assertTrue(triton.InferenceServerClient(f"{host}:{at}").is_server_ready())
            self.assertEqual(server.call("POST", "/Hello/Greet", b"{}", port=name).status, 200)
        server.process.send_signal(signal.SIGTERM)
        self.assertEqual(server.process.wait(30), 0)
        for name in ("http", "grpc"):
            self.assertRaises(ConnectionRefusedError, socket.create_connection, server.addresses[name])


if __name__ == "__main__":
    harness.main()
