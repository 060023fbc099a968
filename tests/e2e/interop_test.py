#!/usr/bin/env python3
"""gRPC's interoperability cases against the runtime's own layer (interop/server.cc): asked by grpcio with what the server says of itself by
reflection, and by hand where it matters what is on the wire."""
import gzip
import queue
import struct

import harness
from grpc_cases import Client, Reflected

import grpc

SERVICE = "grpc.testing.TestService"
LARGE_REQUEST, LARGE_ANSWER = 271_828, 314_159
ASKED, ANSWERED = (27182, 8, 1828, 45904), (31415, 9, 2653, 58979)
ODD_MESSAGE = "\t\ntest with whitespace\r\nand Unicode BMP \u263a and non-BMP \U0001f608\t\n"
ECHOED, ECHOED_LAST = ("x-grpc-test-echo-initial", "test_initial_metadata_value"), ("x-grpc-test-echo-trailing-bin", b"\xab\xab\xab")


class Interop(harness.ServerCase):
    @classmethod
    def setUpClass(cls):
        cls.server = harness.Server(harness.BUILD / "bin/wf_interop_server")
        cls.server.wait_ready()
        cls.address = "%s:%d" % cls.server.addresses["http"]
        cls.channel = grpc.insecure_channel(cls.address)
        cls.stub = Reflected(cls.channel, SERVICE)

    @classmethod
    def tearDownClass(cls):
        cls.channel.close()
        super().tearDownClass()

    # ---- what is asked ----
    def large(self, **more):
        return self.stub.message("SimpleRequest", response_size=LARGE_ANSWER, payload={"body": bytes(LARGE_REQUEST)}, **more)

    def input(self, size, **more):
        return self.stub.message("StreamingInputCallRequest", payload={"body": bytes(size)}, **more)

    def output(self, *sizes, payload=0, **more):
        wanted = [{"size": size} if isinstance(size, int) else {"size": size[0], "compressed": {"value": size[1]}} for size in sizes]
        return self.stub.message("StreamingOutputCallRequest", response_parameters=wanted, payload={"body": bytes(payload)}, **more)

    def assert_large(self, answer):
        self.assertEqual(answer.payload.body, bytes(LARGE_ANSWER))

    def assert_fails(self, status, call, message=None):
        with self.assertRaises(grpc.RpcError) as caught:
            call()
        self.assertEqual(caught.exception.code(), status, caught.exception)
        if message is not None:
            self.assertEqual(caught.exception.details(), message)

    def ping_pong(self, count=len(ASKED), **more):
        """Each message leaves when the one before is answered."""
        asks = queue.Queue()
        call = self.stub.FullDuplexCall(iter(asks.get, None), timeout=30, **more)
        for asked, answered in list(zip(ASKED, ANSWERED))[:count]:
            asks.put(self.output(answered, payload=asked))
            self.assertEqual(len(next(call).payload.body), answered)
        return call, asks

    # ---- by hand ----
    def begin(self, client, method, body=None, more=(), end=True):
        head = [("te", "trailers"), ("content-type", "application/grpc"), *more]
        return client.begin(f"/{SERVICE}/{method}", body, headers=head, end=end)

    def by_hand(self, method, body, more=()):
        with Client(self.server) as client:
            return client.reply(self.begin(client, method, body, more))

    def framed(self, message, coded=False):
        data = message.SerializeToString()
        data = gzip.compress(data) if coded else data
        return struct.pack(">BI", coded, len(data)) + data

    def messages(self, body):
        """[(coded, bytes without the coding)]"""
        found = []
        while body:
            coded, size = struct.unpack_from(">BI", body)
            found.append((bool(coded), gzip.decompress(body[5:5 + size]) if coded else body[5:5 + size]))
            body = body[5 + size:]
        return found

    # ---- the cases ----
    def test_empty_unary(self):
        self.assertEqual(self.stub.EmptyCall(self.stub.message("Empty")), self.stub.message("Empty"))

    def test_large_unary(self):
        self.assert_large(self.stub.UnaryCall(self.large()))

    def test_client_compressed_unary(self):
        says, denies = self.large(expect_compressed={"value": True}), self.large(expect_compressed={"value": False})
        self.assert_fails(grpc.StatusCode.INVALID_ARGUMENT, lambda: self.stub.UnaryCall(says))
        self.assert_large(self.stub.UnaryCall(says, compression=grpc.Compression.Gzip))
        self.assert_large(self.stub.UnaryCall(says, compression=grpc.Compression.Deflate))
        self.assert_large(self.stub.UnaryCall(denies))

    def test_server_compressed_unary(self):
        for wanted in (True, False):
            request = self.large(response_compressed={"value": wanted})
            self.assert_large(self.stub.UnaryCall(request))
            for accepts in ("identity,gzip", "identity"):
                reply = self.by_hand("UnaryCall", self.framed(request), [("grpc-accept-encoding", accepts)])
                coded = wanted and "gzip" in accepts
                (message,) = self.messages(reply.body)
                self.assertEqual((message[0], reply.headers.get("grpc-encoding")), (coded, "gzip" if coded else None))
                self.assert_large(self.stub.message("SimpleResponse").FromString(message[1]))

    def test_client_streaming(self):
        answer = self.stub.StreamingInputCall(self.input(size) for size in ASKED)
        self.assertEqual(answer.aggregated_payload_size, sum(ASKED))
        self.assertEqual(self.stub.StreamingInputCall(iter([])).aggregated_payload_size, 0)

    def test_client_compressed_streaming(self):
        first, second = self.input(27182, expect_compressed={"value": True}), self.input(45904, expect_compressed={"value": False})
        self.assert_fails(grpc.StatusCode.INVALID_ARGUMENT, lambda: self.stub.StreamingInputCall(iter([first])))
        self.assertEqual(self.stub.StreamingInputCall(iter([first] * 3), compression=grpc.Compression.Gzip).aggregated_payload_size, 3 * 27182)
        reply = self.by_hand("StreamingInputCall", self.framed(first, coded=True) + self.framed(second), [("grpc-encoding", "gzip")])
        (message,) = self.messages(reply.body)
        self.assertEqual((self.stub.message("StreamingInputCallResponse").FromString(message[1]).aggregated_payload_size, reply.headers["grpc-status"]), (73086, "0"))

    def test_server_streaming(self):
        answers = list(self.stub.StreamingOutputCall(self.output(*ANSWERED)))
        self.assertEqual([answer.payload.body for answer in answers], [bytes(size) for size in ANSWERED])
        self.assertEqual(list(self.stub.StreamingOutputCall(self.output())), [])

    def test_server_compressed_streaming(self):
        wanted = ((31415, True), (92653, False))
        answers = list(self.stub.StreamingOutputCall(self.output(*wanted)))
        self.assertEqual([len(answer.payload.body) for answer in answers], [size for size, _ in wanted])
        reply = self.by_hand("StreamingOutputCall", self.framed(self.output(*wanted)), [("grpc-accept-encoding", "gzip")])
        self.assertEqual([coded for coded, _ in self.messages(reply.body)], [True, False])
        self.assertEqual(reply.headers["grpc-encoding"], "gzip")

    def test_ping_pong(self):
        call, asks = self.ping_pong()
        asks.put(None)
        self.assertEqual((list(call), call.code()), ([], grpc.StatusCode.OK))

    def test_messages_that_are_answered_with_none_and_with_many(self):
        call = self.stub.FullDuplexCall(iter([self.output(), self.output(10, 20, 30), self.output(), self.output(40)]), timeout=30)
        self.assertEqual([len(answer.payload.body) for answer in call], [10, 20, 30, 40])

    def test_empty_stream(self):
        call = self.stub.FullDuplexCall(iter([]))
        self.assertEqual((list(call), call.code()), ([], grpc.StatusCode.OK))

    def test_custom_metadata(self):
        def assert_echoed(call):
            self.assertIn(ECHOED, list(call.initial_metadata()))
            self.assertIn(ECHOED_LAST, list(call.trailing_metadata()))
            self.assertNotIn(ECHOED, list(call.trailing_metadata()))

        sent = (ECHOED, ECHOED_LAST)
        answer, call = self.stub.UnaryCall.with_call(self.large(), metadata=sent)
        self.assert_large(answer)
        assert_echoed(call)
        call, asks = self.ping_pong(1, metadata=sent)
        asks.put(None)
        self.assertEqual(list(call), [])
        assert_echoed(call)

    def test_status_code_and_message(self):
        for message in ("test status message", ODD_MESSAGE):  # special_status_message
            status = {"code": 2, "message": message}
            unary = self.stub.message("SimpleRequest", response_status=status)
            self.assert_fails(grpc.StatusCode.UNKNOWN, lambda unary=unary: self.stub.UnaryCall(unary), message)
            streamed = self.output(response_status=status)
            self.assert_fails(grpc.StatusCode.UNKNOWN, lambda streamed=streamed: list(self.stub.FullDuplexCall(iter([streamed]))), message)
            late = [self.output(7), streamed]
            call = self.stub.FullDuplexCall(iter(late))
            self.assertEqual(len(next(call).payload.body), 7)
            self.assert_fails(grpc.StatusCode.UNKNOWN, lambda call=call: next(call), message)

    def test_unimplemented(self):
        empty = self.stub.message("Empty")
        self.assert_fails(grpc.StatusCode.UNIMPLEMENTED, lambda: self.stub.UnimplementedCall(empty))
        self.assert_fails(grpc.StatusCode.UNIMPLEMENTED, lambda: Reflected(self.channel, "grpc.testing.UnimplementedService").UnimplementedCall(empty))

    def test_cancel_after_begin(self):
        waits = queue.Queue()
        call = self.stub.StreamingInputCall.future(iter(waits.get, None))
        call.cancel()
        self.assertEqual(call.code(), grpc.StatusCode.CANCELLED)
        waits.put(None)

    def test_cancel_after_first_response(self):
        for _ in range(150):  # more than one connection has places for
            call, asks = self.ping_pong(1)
            call.cancel()
            self.assert_fails(grpc.StatusCode.CANCELLED, lambda call=call: next(call))
            asks.put(None)
        self.assert_large(self.stub.UnaryCall(self.large()))

    def test_timeout_on_sleeping_server(self):
        asks = queue.Queue()
        asks.put(self.output(payload=27182))
        self.assert_fails(grpc.StatusCode.DEADLINE_EXCEEDED, lambda: list(self.stub.FullDuplexCall(iter(asks.get, None), timeout=0.001)))
        asks.put(None)
        with Client(self.server) as client:  # one that does not look at the time itself
            stream = self.begin(client, "FullDuplexCall", self.framed(self.output(9)), [("grpc-timeout", "100m")], end=False)
            self.assertEqual(client.reply(stream).headers["grpc-status"], "4")

    def test_1000_large_unary_at_once(self):
        own = [("grpc.use_local_subchannel_pool", 1)]  # a connection for each hundred
        channels = [grpc.insecure_channel(self.address, own) for _ in range(10)]
        calls = [self.stub.on(channel, "UnaryCall") for channel in channels]
        request = self.large()
        pending = [calls[i % 10].future(request, timeout=120) for i in range(1000)]
        for answer in pending:
            self.assert_large(answer.result())
        for channel in channels:
            channel.close()

    # ---- what a client does to its streams and connections ----
    def assert_answers(self, client):
        reply = client.reply(self.begin(client, "UnaryCall", self.framed(self.large())))
        self.assertEqual((reply.headers["grpc-status"], len(self.messages(reply.body))), ("0", 1))

    def test_resets_after_the_head_within_the_data_and_after_it(self):
        body = self.framed(self.large())
        with Client(self.server) as client:
            for part, end in ((None, False), (body[:3], False), (body[:50_000], False), (body, False), (body, True)):
                for _ in range(30):
                    stream = self.begin(client, "UnaryCall", end=False)
                    if part:
                        client.send(stream, part, end)
                    if stream in client.h2.streams and not client.h2.streams[stream].closed:
                        client.h2.reset_stream(stream)
                    client.flush()
                self.assert_answers(client)

    def test_padded_data(self):
        body = self.framed(self.large())
        with Client(self.server) as client:
            for pad in (None, 0, 1, 255):
                stream, left = self.begin(client, "UnaryCall", end=False), body
                while left:
                    room = min(client.h2.local_flow_control_window(stream), client.h2.max_outbound_frame_size) - (pad or 0) - 1
                    if room <= 0:
                        client.flush()
                        client.step()
                        continue
                    client.h2.send_data(stream, left[:room], pad_length=pad)
                    left = left[room:]
                client.send(stream, b"")
                self.assertEqual(client.reply(stream).headers["grpc-status"], "0", pad)

    def test_pings_between_messages_are_answered(self):
        body = self.framed(self.large())
        with Client(self.server) as client:
            stream = self.begin(client, "UnaryCall", end=False)
            for at in range(0, len(body), 20_000):
                client.h2.ping(at.to_bytes(8, "big"))
                client.send(stream, body[at:at + 20_000], end=False)
            client.send(stream, b"")
            self.assertEqual(client.reply(stream).headers["grpc-status"], "0")
            self.assertEqual(client.pongs, [at.to_bytes(8, "big") for at in range(0, len(body), 20_000)])

    def test_more_calls_than_a_connection_takes_wait_for_their_turn(self):
        waits = [queue.Queue() for _ in range(150)]
        calls = [self.stub.FullDuplexCall(iter(wait.get, None), timeout=60) for wait in waits]
        for wait in waits:
            wait.put(self.output(5))
            wait.put(None)
        for call in calls:
            self.assertEqual([len(answer.payload.body) for answer in call], [5])

    def test_a_call_ends_after_its_client_said_goaway(self):
        with Client(self.server) as client:
            stream = self.begin(client, "FullDuplexCall", self.framed(self.output(5)), end=False)
            client.socket.sendall(client.raw(7, 0, 0, struct.pack(">II", 0, 0)))
            client.send(stream, self.framed(self.output(6)))
            reply = client.reply(stream)
            self.assertEqual((len(self.messages(reply.body)), reply.headers["grpc-status"]), (2, "0"))
            client.until_closed()
            self.assertTrue(client.closed)


if __name__ == "__main__":
    harness.main()
