#!/usr/bin/env python3
"""Triton's own Python clients, all four: asynchronous calls, streams, limits of time, cancellation, coding and TLS."""
import asyncio
import concurrent.futures
import contextlib
import queue
import time

import harness
import onnx_file
from tls_cases import Authority

import grpc
import numpy as np
import tritonclient.grpc
import tritonclient.grpc.aio
import tritonclient.http
import tritonclient.http.aio
from tritonclient.grpc import service_pb2, service_pb2_grpc
from tritonclient.utils import InferenceServerException

PROGRAM = """
model Wide = onnx("wide.onnx");

error NoWords = 100008 "there are none" as invalid_argument;

workflow Line(line: i32[n]) -> (line: i32[n]) {
  return (line: line);
}

workflow Words(words: list<string>) -> (words: list<string>) {
  require len(words) > 0 else fail NoWords("no words");
  return (words: words);
}

workflow Endless(seed: i64) -> (y: f64) {
  node y = sum[k < seed](f64(k) * 0.5);
  return (y: y);
}

workflow Wait(seed: i64) -> (first: f32) {
  let x = [i < 64] => f32(i * seed % 17) / 17.0;
  node y = Wide(x: x) { batch 32 within 10s; }
  return (first: y[0]);
}

service Calls {
  workflow Line;
  workflow Words;
  workflow Wait;
  workflow Endless;
}
"""
CODINGS = (None, "gzip", "deflate")


def source():
    path = harness.scratch() / "calls.wf"
    (harness.scratch() / "wide.onnx").write_bytes(onnx_file.perceptron(64, 2048))
    path.write_text(PROGRAM)
    return path


SOURCE = source()
LINE = np.arange(100_000, dtype=np.int32) // 7
WORDS = np.array(["Zoë".encode(), b"", b"long " * 1000], dtype=object)


def tensor(package, name, values, datatype):
    row = package.InferInput(name, list(values.shape), datatype)
    row.set_data_from_numpy(values)
    return row


def line(package, values=LINE):
    return "Line", [tensor(package, "line", values, "INT32")]


def request_of_line(count):
    request = service_pb2.ModelInferRequest(model_name="Line", raw_input_contents=[LINE[:count].tobytes()])
    request.inputs.add(name="line", datatype="INT32", shape=[count])
    return request


def words(package, values=WORDS):
    return "Words", [tensor(package, "words", values, "BYTES")]


def wait(package):
    """A call whose row waits 10 s for others."""
    return "Wait", [tensor(package, "seed", np.array([3], dtype=np.int64), "INT64")]


def endless(package):
    """A call that no limit lets end."""
    return "Endless", [tensor(package, "seed", np.array([2**62], dtype=np.int64), "INT64")]


class Clients(harness.ServerCase):
    def url(self):
        return "localhost:%d" % self.server.addresses["http"][1]

    @contextlib.contextmanager
    def client(self, package, **more):
        client = package.InferenceServerClient(self.url(), **more)
        try:
            yield client
        finally:
            client.close()

    def assert_line(self, result, values=LINE):
        np.testing.assert_array_equal(result.as_numpy("line"), values)

    def assert_words(self, result):
        np.testing.assert_array_equal(result.as_numpy("words"), WORDS)

    def assert_under_way(self, count=1):
        self.assertEqual(self.server.settled("wf_inflight_requests", count), count)

    def assert_given_up(self):
        """Nothing is under way, long before the waiting row would have left."""
        self.assertEqual(self.server.settled("wf_inflight_requests", seconds=5), 0)


class Asynchronous(Clients):
    source = SOURCE

    def test_http_of_greenlets(self):
        http = tritonclient.http
        with self.client(http, concurrency=8) as client:
            pending = [client.async_infer(*line(http, LINE + i)) for i in range(40)]
            for i, call in enumerate(pending):
                self.assert_line(call.get_result(), LINE + i)
            with self.assertRaisesRegex(InferenceServerException, "no words"):
                client.async_infer(*words(http, WORDS[:0])).get_result()

    async def ask_what_there_is(self, client):
        self.assertTrue(await client.is_server_live() and await client.is_server_ready() and await client.is_model_ready("Line"))
        with self.assertRaisesRegex(InferenceServerException, "no model"):
            await client.get_model_metadata("Nothing")

    async def successes(self, client):
        (row,) = (await client.get_inference_statistics("Line"))["model_stats"]
        return row["inference_stats"]["success"]["count"]

    async def ask_many(self, client, package):
        results = await asyncio.gather(*(client.infer(*line(package, LINE + i)) for i in range(40)))
        for i, result in enumerate(results):
            self.assert_line(result, LINE + i)
        self.assert_words(await client.infer(*words(package)))
        with self.assertRaisesRegex(InferenceServerException, "no words"):
            await client.infer(*words(package, WORDS[:0]))

    def test_http_aio(self):
        package = tritonclient.http.aio

        async def run():
            async with package.InferenceServerClient(self.url()) as client:
                await self.ask_what_there_is(client)
                self.assertEqual((await client.get_server_metadata())["name"], "wf")
                self.assertEqual((await client.get_model_metadata("Line"))["name"], "Line")
                self.assertEqual((await client.get_model_config("Line"))["max_batch_size"], 1024)
                self.assertEqual((await client.get_model_repository_index())[0]["state"], "READY")
                before = await self.successes(client)
                await self.ask_many(client, package)
                self.assertEqual(await self.successes(client), before + 40)
                for asked in CODINGS:
                    for answered in CODINGS:
                        self.assert_words(await client.infer(*words(package), request_compression_algorithm=asked, response_compression_algorithm=answered))
        asyncio.run(run())

    def test_grpc_aio(self):
        package = tritonclient.grpc.aio

        async def run():
            async with package.InferenceServerClient(self.url()) as client:
                await self.ask_what_there_is(client)
                self.assertEqual((await client.get_server_metadata()).name, "wf")
                self.assertEqual((await client.get_model_metadata("Line")).name, "Line")
                self.assertEqual((await client.get_model_config("Line")).config.max_batch_size, 1024)
                self.assertEqual((await client.get_model_repository_index()).models[0].state, "READY")
                await self.ask_many(client, package)
                for coding in CODINGS:
                    self.assert_words(await client.infer(*words(package), compression_algorithm=coding))
        asyncio.run(run())

    def test_a_stream_of_grpc_aio(self):
        package = tritonclient.grpc.aio

        async def asks():
            for i in range(100):
                name, inputs = line(package, LINE[:50] + i) if i != 40 else words(package, WORDS[:0])
                yield {"model_name": name, "inputs": inputs, "request_id": str(i)}

        async def run(coding):
            async with package.InferenceServerClient(self.url()) as client:
                seen = {}
                async for result, error in client.stream_infer(asks(), compression_algorithm=coding):
                    name = result.get_response().id if result is not None else None
                    seen[name] = error or result.as_numpy("line")
            self.assertEqual(len(seen), 100)
            (failure,) = [value for value in seen.values() if isinstance(value, InferenceServerException)]
            self.assertIn("no words", str(failure))
            for i in range(100):
                if i != 40:
                    np.testing.assert_array_equal(seen[str(i)], LINE[:50] + i)

        for coding in CODINGS:
            asyncio.run(run(coding))

    def test_pings_keep_a_connection(self):
        grpc = tritonclient.grpc
        often = grpc.KeepAliveOptions(keepalive_time_ms=20, keepalive_timeout_ms=5000, keepalive_permit_without_calls=True, http2_max_pings_without_data=0)
        with self.client(grpc, keepalive_options=often) as client:
            for _ in range(50):
                self.assert_line(client.infer(*line(grpc)))


class Statistics(Clients):
    """Of a published model an execution is a run, which several calls may share."""
    ROWS = 48

    @classmethod
    def setUpClass(cls):
        cls.source = harness.scratch() / "published.wf"
        (harness.scratch() / "shared.onnx").write_bytes(onnx_file.perceptron(512, 2048))
        cls.source.write_text('model Shared = onnx("shared.onnx") { batch 32 within 5ms; queue 256; }\nservice Models { model Shared; }\n')
        cls.args = ("--schedule=pool", "--compute-threads=1")
        super().setUpClass()
        cls.server.tried_rows()

    def runs(self):
        """Rows and runs of the server's own metrics."""
        metrics = self.server.metrics()
        return [sum(value for name, value in metrics.items() if name.startswith("wf_batch_size" + part + "{")) for part in ("_sum", "_count")]

    def assert_counted(self, statistics, calls):
        rows, runs = self.runs()
        self.assertEqual(int(statistics["inference_count"]), rows)
        self.assertEqual(int(statistics["execution_count"]), runs)
        self.assertLess(runs, rows)
        self.assertEqual(int(statistics["inference_stats"]["success"]["count"]), calls)
        sizes = statistics["batch_stats"]
        self.assertEqual(sum(int(size["batch_size"]) * int(size["compute_infer"]["count"]) for size in sizes), rows)
        self.assertEqual(sum(int(size["compute_infer"]["count"]) for size in sizes), runs)
        self.assertGreater(max(int(size["batch_size"]) for size in sizes), 1)
        self.assertTrue(all(int(size["compute_infer"]["ns"]) > 0 for size in sizes), sizes)
        # Each call has waited for its whole run, which is counted once.
        self.assertLess(sum(int(size["compute_infer"]["ns"]) for size in sizes), int(statistics["inference_stats"]["compute_infer"]["ns"]))
        self.assertEqual(int(statistics["inference_stats"]["cache_hit"].get("count", 0)), 0)

    def test_runs_are_counted_whoever_shares_them(self):
        http, grpc = tritonclient.http, tritonclient.grpc
        x = np.linspace(0, 1, 512, dtype=np.float32).reshape(1, 512)
        with self.client(http, concurrency=self.ROWS) as client:
            for call in [client.async_infer("Shared", [tensor(http, "x", x, "FP32")]) for _ in range(self.ROWS)]:
                call.get_result()
        told = queue.Queue()
        with self.client(grpc) as client:
            for _ in range(self.ROWS):
                client.async_infer("Shared", [tensor(grpc, "x", x, "FP32")], callback=lambda result, error: told.put(error))
            self.assertEqual([told.get(timeout=20) for _ in range(self.ROWS)], [None] * self.ROWS)
            client.infer("Shared", [tensor(grpc, "x", np.repeat(x, 20, axis=0), "FP32")])  # its rows share runs, too
            calls = 2 * self.ROWS + 1
            with self.client(http) as other:
                (statistics,) = other.get_inference_statistics("Shared")["model_stats"]
            self.assert_counted(statistics, calls)
            (statistics,) = client.get_inference_statistics("Shared", as_json=True)["model_stats"]
            self.assert_counted(statistics, calls)


class TimesAndCancels(Clients):
    """Calls that wait 10 s for their batch, or never end: whoever gives them up ends their work."""
    source = SOURCE
    args = ("--schedule=pool",)

    def late(self):
        return self.assertRaisesRegex(InferenceServerException, "(?i)deadline")

    def test_grpc_has_a_limit(self):
        grpc = tritonclient.grpc
        with self.client(grpc) as client:
            with self.late():
                client.infer(*endless(grpc), client_timeout=0.2)
            self.assert_given_up()
            with self.late():
                client.infer(*endless(grpc), timeout=200_000)  # microseconds, a parameter that the server looks at
            self.assert_given_up()
            told = queue.Queue()
            client.async_infer(*endless(grpc), callback=lambda result, error: told.put(error), client_timeout=0.2)
            self.assertRegex(str(told.get(timeout=20)), "(?i)deadline")
            self.assert_given_up()

    def test_http_has_a_limit(self):
        http = tritonclient.http
        with self.client(http, network_timeout=0.3) as client:
            with self.assertRaises(TimeoutError):
                client.infer(*wait(http))
            self.assert_given_up()
        with self.client(http) as client:
            with self.late():
                client.infer(*endless(http), timeout=200_000)
            self.assert_given_up()

    def test_a_call_of_grpc_is_cancelled(self):
        grpc = tritonclient.grpc
        with self.client(grpc) as client:
            told = queue.Queue()
            call = client.async_infer(*wait(grpc), callback=lambda result, error: told.put(error))
            self.assert_under_way()
            call.cancel()
            self.assertRegex(str(told.get(timeout=20)), "(?i)cancel")
            self.assert_given_up()

    def test_a_stream_of_grpc_is_cancelled_or_late(self):
        grpc = tritonclient.grpc
        told = queue.Queue()
        with self.client(grpc) as client:
            client.start_stream(lambda result, error: told.put(error))
            for _ in range(5):
                client.async_stream_infer(*endless(grpc))
            self.assert_under_way(5)
            client.stop_stream(cancel_requests=True)
            self.assertRegex(str(told.get(timeout=20)), "(?i)cancel")
            self.assert_given_up()
            client.start_stream(lambda result, error: told.put(error), stream_timeout=0.3)
            client.async_stream_infer(*endless(grpc))
            self.assertRegex(str(told.get(timeout=20)), "(?i)deadline|time")
            self.assert_given_up()
            client.stop_stream()

    def test_grpc_aio_is_cancelled_or_late(self):
        package = tritonclient.grpc.aio

        async def asks():
            yield dict(zip(("model_name", "inputs"), wait(package)))
            await asyncio.sleep(60)

        async def run():
            async with package.InferenceServerClient(self.url()) as client:
                with self.late():
                    await client.infer(*endless(package), client_timeout=0.2)
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(client.infer(*wait(package)), 0.2)
                await asyncio.to_thread(self.assert_given_up)
                stream = client.stream_infer(asks())
                first = asyncio.ensure_future(anext(stream))
                await asyncio.to_thread(self.assert_under_way)
                self.assertTrue(stream.cancel())
                with self.assertRaises(asyncio.CancelledError):
                    await first
                await asyncio.to_thread(self.assert_given_up)
        asyncio.run(run())

    def test_http_aio_is_cancelled_or_late(self):
        package = tritonclient.http.aio

        async def run():
            async with package.InferenceServerClient(self.url(), conn_timeout=0.3) as client:
                with self.assertRaises(asyncio.TimeoutError):
                    await client.infer(*wait(package))
                await asyncio.to_thread(self.assert_given_up)
            async with package.InferenceServerClient(self.url()) as client:
                call = asyncio.ensure_future(client.infer(*wait(package)))
                await asyncio.to_thread(self.assert_under_way)
                call.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await call
                await asyncio.to_thread(self.assert_given_up)
        asyncio.run(run())


class Neighbours(Clients):
    """One channel, many calls: C-core resets those that are given up before it has written their heads, and its other calls go on."""
    source = SOURCE
    args = ("--limits-control-frames=1000000",)
    seconds = 6

    def lost_beside(self, give_up):
        """Of three threads that call one after the other, while two more give calls up: how many of their calls ended, and what the others died of."""
        with grpc.insecure_channel(self.url()) as channel, concurrent.futures.ThreadPoolExecutor(5) as threads:
            stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
            end = time.monotonic() + self.seconds
            short, steady = request_of_line(100), request_of_line(20_000)

            def call():
                ended, lost = 0, []
                while time.monotonic() < end:
                    try:
                        stub.ModelInfer(steady, timeout=30)
                        ended += 1
                    except grpc.RpcError as error:
                        lost.append(error.details())
                return ended, lost

            def disturb():
                while time.monotonic() < end:
                    give_up(stub, short)
            others = [threads.submit(disturb) for _ in range(2)]
            steadies = [threads.submit(call).result for _ in range(3)]
            ended, lost = zip(*(result() for result in steadies))
            for other in others:
                other.result()
            return sum(ended), sum(lost, [])

    def test_cancelled_calls_cost_no_others(self):
        def give_up(stub, request):
            calls = [stub.ModelInfer.future(request, timeout=30) for _ in range(20)]
            for call in calls[::2]:
                call.cancel()
            for call in calls[1::2]:
                call.result()
        ended, lost = self.lost_beside(give_up)
        self.assertEqual(lost, [])
        self.assertGreater(ended, 50)

    def test_late_calls_cost_no_others(self):
        def give_up(stub, request):
            for call in [stub.ModelInfer.future(request, timeout=0.002) for _ in range(20)]:
                if call.exception() is not None:
                    self.assertEqual(call.code(), grpc.StatusCode.DEADLINE_EXCEEDED, call.details())
        ended, lost = self.lost_beside(give_up)
        self.assertEqual(lost, [])
        self.assertGreater(ended, 50)


class Tls(Clients):
    """The server lets in who shows a certificate of its authority."""
    @classmethod
    def setUpClass(cls):
        cls.authority = Authority("of-triton")
        cls.authority.sign("server")
        cls.authority.sign("client")
        cls.server = harness.Server.of(SOURCE, *cls.authority.flags(), "--tls-client-ca", cls.authority.path)
        certificate, key = map(str, cls.authority.files("client"))
        cls.grpc_files = {"ssl": True, "root_certificates": str(cls.authority.path), "private_key": key, "certificate_chain": certificate}
        cls.http_files = {"ssl": True, "ssl_options": {"ca_certs": str(cls.authority.path), "keyfile": key, "certfile": certificate}}

    def test_grpc(self):
        grpc = tritonclient.grpc
        with self.client(grpc, **self.grpc_files) as client:
            for coding in CODINGS:
                self.assert_words(client.infer(*words(grpc), compression_algorithm=coding))
            told = queue.Queue()
            client.start_stream(lambda result, error: told.put(error or result))
            for i in range(20):
                client.async_stream_infer(*line(grpc, LINE[:9] + i), request_id=str(i))
            for _ in range(20):
                result = told.get(timeout=20)
                self.assert_line(result, LINE[:9] + int(result.get_response().id))
            client.stop_stream()

    def test_http(self):
        http = tritonclient.http
        with self.client(http, **self.http_files) as client:
            for coding in CODINGS:
                self.assert_words(client.infer(*words(http), request_compression_algorithm=coding, response_compression_algorithm=coding))

    def test_aio(self):
        async def run():
            async with tritonclient.grpc.aio.InferenceServerClient(self.url(), **self.grpc_files) as client:
                await self.ask(client, tritonclient.grpc.aio)
            context = self.authority.client(show=self.authority.files("client"))
            async with tritonclient.http.aio.InferenceServerClient(self.url(), ssl=True, ssl_context=context) as client:
                await self.ask(client, tritonclient.http.aio)
        asyncio.run(run())

    async def ask(self, client, package):
        for result in await asyncio.gather(*(client.infer(*line(package)) for _ in range(20))):
            self.assert_line(result)

    def test_who_shows_nothing_is_not_let_in(self):
        grpc, http = tritonclient.grpc, tritonclient.http
        with self.client(grpc, ssl=True, root_certificates=str(self.authority.path)) as client:
            with self.assertRaisesRegex(InferenceServerException, "UNAVAILABLE"):
                client.infer(*line(grpc), client_timeout=20)
        with self.client(http, ssl=True, ssl_options={"ca_certs": str(self.authority.path)}) as client:
            with self.assertRaises(OSError):
                client.infer(*line(http))


if __name__ == "__main__":
    harness.main()
