#!/usr/bin/env python3
"""Spans of requests reach a collector by OTLP over HTTP, and one that does not take them slows nobody."""
import http.server
import json
import re
import signal
import threading
import time

import harness

if __name__ == "__main__":
    harness.in_environment()

import inside_test  # noqa: E402
import numpy as np  # noqa: E402
import tritonclient.grpc as triton  # noqa: E402
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest  # noqa: E402
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status  # noqa: E402

SOURCE = """
error Unlucky = 100007 "an unlucky number" as internal;
model Wide = onnx("wide.onnx");

fn long(n: i64) -> f64 = sum[i < 1000000](f64(i * n % 7));

workflow Score(seed: i64) -> (first: f32, total: f64) {
  node x = [i < 512] => f32(i * seed % 17) / 17.0;
  node y = Wide(x: x) { batch 32 within 2ms; }
  node first = y[0];
  node total = long(seed);
  return (first: first, total: total);
}

workflow twice(n: i64) -> (m: i64) { node m = n * 2; return (m: m); }

workflow Each(ns: list<i64>) -> (sums: list<i64>) {
  node sums = for n in ns { twice(n: n).m };
  return (sums: sums);
}

workflow Check(n: i64) -> (n: i64) {
  node checked = 100 / n;
  require n != 13 else fail Unlucky;
  return (n: checked);
}
service Traced { workflow Score; workflow Check; workflow Each; }
"""
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


def source():
    inside_test.source()  # the model
    path = harness.scratch() / "traced.wf"
    path.write_text(SOURCE)
    return path


class Collector:
    """Keeps the spans that are sent to it. `status`: what it answers; `seconds`: after how long; `retry_after`: with what, where not None."""
    def __init__(self):
        self.status, self.seconds, self.retry_after, self.requests, self.times = 200, 0, None, [], []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body, status = self.rfile.read(int(self.headers["content-length"])), outer.status  # what is noted is what is answered
                outer.times.append(time.monotonic())
                outer.requests.append((self.path, self.headers["content-type"], ExportTraceServiceRequest.FromString(body), status))
                time.sleep(outer.seconds)
                try:
                    self.send_response(status)
                    if outer.retry_after is not None:
                        self.send_header("Retry-After", outer.retry_after)
                    self.end_headers()
                except BrokenPipeError:
                    pass

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def spans(self):
        return [span for _, _, message, status in list(self.requests) if status == 200
                for resource in message.resource_spans for scope in resource.scope_spans for span in scope.spans]

    def wait(self, count, seconds=20):
        until = time.monotonic() + seconds
        while len(self.spans()) < count and time.monotonic() < until:
            time.sleep(0.05)
        return self.spans()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def attributes(span):
    return {each.key: each.value.string_value or each.value.int_value for each in span.attributes}


class Traced(harness.ServerCase):
    def start(self, *args, collector=None, **more):
        self.collector = Collector() if collector is None else collector
        self.addCleanup(self.collector.close)
        server = harness.Server.of(PROGRAM, "--trace-otlp", self.collector.url, *args, **more)
        self.addCleanup(lambda: self.assertEqual(server.stop(), 0, server.output()))
        return server

    def post(self, server, path, value, **headers):
        return server.call("POST", path, json.dumps(value).encode(), {"content-type": "application/json", **headers})


class Spans(Traced):
    def test_a_request_is_a_span_with_one_for_each_node_under_the_clients(self):
        server = self.start("--trace-sample=0", "--schedule=pool")  # a model that the loop runs has no batch
        before = time.time_ns()
        reply = self.post(server, "/Traced/Score", {"seed": 3}, traceparent=f"00-{TRACE}-{SPAN}-01", tracestate="rojo=00f067, congo=t61")
        after = time.time_ns()
        spans = self.collector.wait(5)
        for path, kind, message, _ in self.collector.requests:  # one, or two where it looked in between
            self.assertEqual((path, kind), ("/v1/traces", "application/x-protobuf"))
            [resource] = message.resource_spans
            self.assertEqual({each.key: each.value.string_value for each in resource.resource.attributes}, {"service.name": "Traced"})
            self.assertEqual([scope.scope.name for scope in resource.scope_spans], ["wf"])
        self.assertEqual({span.trace_id.hex() for span in spans}, {TRACE})
        self.assertEqual(len({span.span_id for span in spans}), 5)
        self.assertEqual({span.trace_state for span in spans}, {"rojo=00f067,congo=t61"})
        [root] = [span for span in spans if span.kind == Span.SPAN_KIND_SERVER]
        self.assertEqual((root.name, root.parent_span_id.hex(), root.status.code), ("Traced/Score", SPAN, Status.STATUS_CODE_UNSET))
        self.assertEqual(reply.headers["traceparent"], f"00-{TRACE}-{root.span_id.hex()}-01")
        self.assertEqual({name: value for name, value in attributes(root).items() if name != "wf.data_id"},
                         {"wf.protocol": "plain", "wf.service": "Traced", "wf.workflow": "Score", "http.response.status_code": 200})
        self.assertGreater(attributes(root)["wf.data_id"], 0)
        self.assertLessEqual(before, root.start_time_unix_nano)
        self.assertLessEqual(root.end_time_unix_nano, after)
        nodes = {span.name: span for span in spans if span is not root}
        self.assertEqual(set(nodes), {"Score/x", "Score/y", "Score/first", "Score/total"})
        for span in nodes.values():
            self.assertEqual((span.parent_span_id, span.kind, span.flags & 0x301), (root.span_id, Span.SPAN_KIND_INTERNAL, 0x101))
            self.assertLessEqual(root.start_time_unix_nano, span.start_time_unix_nano)
            self.assertLess(span.start_time_unix_nano, span.end_time_unix_nano)
            self.assertLessEqual(span.end_time_unix_nano, root.end_time_unix_nano)
        self.assertEqual(attributes(nodes["Score/y"])["wf.batch.rows"], 1)
        self.assertLessEqual(nodes["Score/x"].end_time_unix_nano, nodes["Score/y"].start_time_unix_nano)

    def test_rows_of_a_batch_tell_how_many_shared_it_and_how_long_they_waited(self):
        server = self.start("--trace-sample=1", "--schedule=pool")
        inside_test.load(server, "/Traced/Score", [{"seed": n} for n in range(64)], 32)
        spans = self.collector.wait(64 * 5)
        self.assertEqual(len({span.trace_id for span in spans}), 64)
        rows = [span for span in spans if span.name == "Score/y"]
        self.assertEqual(len(rows), 64)
        self.assertGreater(max(attributes(span)["wf.batch.rows"] for span in rows), 1)
        for span in rows:
            self.assertLessEqual(attributes(span)["wf.batch.wait_us"] * 1000, span.end_time_unix_nano - span.start_time_unix_nano)
        self.assertEqual(server.settled('wf_spans_total', 320), 320)
        self.assertEqual(server.metrics()['wf_spans_total{result="exported"}'], 320)

    def test_what_fails_says_so_and_elements_have_their_place(self):
        server = self.start("--trace-sample=1", "--trace-service=shop")
        self.assertEqual(self.post(server, "/Traced/Check", {"n": 0}).error["path"], "Check/checked")
        self.assertEqual(self.post(server, "/Traced/Check", {"n": 13}).status, 500)
        self.assertEqual(self.post(server, "/Traced/Each", {"ns": [1, 2, 3]}).json, {"sums": [2, 4, 6]})
        self.assertEqual(self.post(server, "/Traced/None", {}).status, 404)
        spans = self.collector.wait(13)
        roots = [span for span in spans if span.kind == Span.SPAN_KIND_SERVER]
        root_of = {span.trace_id: span.span_id for span in roots}
        self.assertEqual([span.parent_span_id for span in spans if span not in roots], [root_of[span.trace_id] for span in spans if span not in roots])
        self.assertEqual(sorted((span.name, attributes(span)["http.response.status_code"], span.status.code) for span in roots),
                         [("Traced/Check", 500, Status.STATUS_CODE_ERROR)] * 2 + [("Traced/Each", 200, 0), ("request", 404, 0)])
        self.assertEqual({span.parent_span_id for span in roots}, {b""})
        [broken] = [span for span in spans if span.name == "Check/checked" and span.status.code == Status.STATUS_CODE_ERROR]
        self.assertEqual(attributes(broken)["wf.code"], 7002)
        elements = sorted(attributes(span).get("wf.element", 0) for span in spans if span.name.endswith("/m"))
        self.assertEqual(elements, [0, 1, 2], [(span.name, attributes(span)) for span in spans])
        self.assertEqual(self.collector.requests[0][2].resource_spans[0].resource.attributes[0].value.string_value, "shop")

    def test_clients_decide_for_their_traces_and_the_setting_for_others(self):
        server = self.start("--trace-sample=0.25", "--io-threads=1")
        for _ in range(5):
            kept = self.post(server, "/Traced/Check", {"n": 1}, traceparent=f"00-{TRACE}-{SPAN}-01")
            left = self.post(server, "/Traced/Check", {"n": 1}, traceparent=f"00-{TRACE}-{SPAN}-00")
            self.assertRegex(kept.headers["traceparent"], f"00-{TRACE}-[0-9a-f]{{16}}-01")
            self.assertRegex(left.headers["traceparent"], f"00-{TRACE}-[0-9a-f]{{16}}-00")
        begun = 0
        with server.connect() as connection:
            for _ in range(2000):
                begun += "traceparent" in connection.call("POST", "/Traced/Check", b'{"n": 1}', {"content-type": "application/json"}).headers
        self.assertLess(abs(begun - 500), 150)  # 7 standard deviations
        spans = [span for span in self.collector.wait((begun + 5) * 2) if span.kind == Span.SPAN_KIND_SERVER]
        self.assertEqual(sum(span.trace_id.hex() == TRACE for span in spans), 5)
        self.assertEqual(len(spans), begun + 5)

    def test_over_grpc_each_message_of_a_stream_is_a_request(self):
        server = self.start("--trace-sample=0")
        client = triton.InferenceServerClient("%s:%d" % server.addresses["http"])
        replies = []
        client.start_stream(lambda result, error: replies.append(error), headers={"traceparent": f"00-{TRACE}-{SPAN}-01"})
        for n in (1, 2, 4):
            value = triton.InferInput("n", [1], "INT64")
            value.set_data_from_numpy(np.array([n], dtype=np.int64))
            client.async_stream_infer("Traced.Check", [value])
        client.stop_stream()
        client.close()
        self.assertEqual(replies, [None] * 3)
        spans = self.collector.wait(6)
        roots = {span.span_id: span for span in spans if span.kind == Span.SPAN_KIND_SERVER}
        self.assertEqual([(span.name, span.trace_id.hex(), span.parent_span_id.hex(), attributes(span)["wf.protocol"]) for span in roots.values()],
                         [("Traced/Check", TRACE, SPAN, "grpc")] * 3)
        self.assertEqual({span.parent_span_id for span in spans if span.span_id not in roots}, set(roots))

    def test_what_is_left_is_sent_when_the_server_stops(self):
        collector = Collector()
        server = harness.Server.of(PROGRAM, "--trace-otlp", collector.url, "--trace-sample=1")
        self.post(server, "/Traced/Check", {"n": 1})
        self.assertEqual(server.stop(), 0)
        self.assertEqual(sorted(span.name for span in collector.spans()), ["Check/checked", "Traced/Check"])
        collector.close()


class Trouble(Traced):
    def seconds_for(self, server, count=300):
        begun = time.monotonic()
        with server.connect() as connection:
            for _ in range(count):
                self.assertEqual(connection.call("POST", "/Traced/Check", b'{"n": 1}', {"content-type": "application/json"}).status, 200)
        return time.monotonic() - begun

    @harness.timed
    def test_one_that_is_away_slow_or_silent_slows_nobody_and_the_loss_is_counted(self):
        quick = harness.Server.of(PROGRAM)
        usual = min(self.seconds_for(quick) for _ in range(3))
        self.assertNotIn("wf_spans_total", str(quick.metrics()))
        self.assertEqual(quick.stop(), 0)
        collector = Collector()
        collector.seconds = 30
        server = self.start("--trace-sample=1", collector=collector)
        for _ in range(3):
            took = min(self.seconds_for(server) for _ in range(3))
            self.assertLess(took, 5 * usual + 5)  # far from what the collector takes
        self.assertEqual(server.metrics()['wf_spans_total{result="exported"}'], 0)
        collector.close()

    def test_what_it_refuses_is_lost_at_once_and_what_it_is_too_busy_for_comes_again(self):
        collector = Collector()
        server = self.start("--trace-sample=1", collector=collector)
        collector.status = 400
        self.post(server, "/Traced/Check", {"n": 1})
        self.assertEqual(server.settled('wf_spans_total{result="failed"}', 2), 2)
        refused = len(collector.requests)
        time.sleep(1.5)
        self.assertEqual(len(collector.requests), refused, "what is refused comes again")
        self.assertTrue(server.logs("spans are lost", '"status":400'))
        collector.status = 503
        self.post(server, "/Traced/Check", {"n": 2})
        until = time.monotonic() + 10
        while len(collector.requests) == refused and time.monotonic() < until:
            time.sleep(0.02)
        collector.status = 200
        self.assertEqual(len(collector.wait(2)), 2)
        self.assertEqual(server.settled('wf_spans_total{result="exported"}', 2), 2)
        metrics = server.metrics()
        self.assertEqual(metrics['wf_span_exports_total{result="error"}'] + metrics['wf_span_exports_total{result="ok"}'], len(collector.requests))
        self.assertGreater(metrics['wf_span_exports_total{result="error"}'], refused)
        self.assertEqual(metrics['wf_spans_total{result="failed"}'], 2)

    def test_it_says_when_to_come_again(self):
        for status, said, least, most in ((503, "4", 4, 8), (429, "0", 0, 0.9), (503, "soon", 1, 3)):  # else after 1 s
            with self.subTest(status=status, retry_after=said):
                collector = Collector()
                collector.status, collector.retry_after = status, said
                server = self.start("--trace-sample=1", collector=collector)
                self.post(server, "/Traced/Check", {"n": 1})
                until = time.monotonic() + 20
                while len(collector.times) < 2 and time.monotonic() < until:
                    time.sleep(0.01)
                collector.status = 200
                waited = collector.times[1] - collector.times[0]
                self.assertGreaterEqual(waited, least - 0.1)
                self.assertLess(waited, most)

    def test_nobody_listens(self):
        collector = Collector()
        collector.close()
        server = harness.Server.of(PROGRAM, "--trace-otlp", collector.url, "--trace-sample=1")
        self.post(server, "/Traced/Check", {"n": 1})
        until = time.monotonic() + 10
        while server.metrics()['wf_span_exports_total{result="error"}'] == 0 and time.monotonic() < until:
            time.sleep(0.05)
        self.assertGreater(server.metrics()['wf_span_exports_total{result="error"}'], 0)
        begun = time.monotonic()
        self.assertEqual(server.stop(), 0)
        self.assertLess(time.monotonic() - begun, 10)

    def test_what_a_drain_loses_is_told(self):
        for stops in (1, 2):  # the second one ends it at once
            with self.subTest(stops):
                collector = Collector()
                collector.seconds = 30
                server = harness.Server.of(PROGRAM, "--trace-otlp", collector.url, "--trace-sample=1")
                self.post(server, "/Traced/Check", {"n": 1})
                for _ in range(stops):
                    server.process.send_signal(signal.SIGTERM)
                    time.sleep(0.3)  # one that follows at once is the same
                server.process.wait(10)
                self.assertTrue(server.logs("spans are lost", "before the server stops", '"count":2', seconds=1), server.output())
                collector.close()

    def test_what_is_lost_in_one_batch_after_another_is_told_in_all(self):
        collector = Collector()
        collector.status = 400
        server = harness.Server.of(PROGRAM, "--trace-otlp", collector.url, "--trace-sample=1")
        burst = harness.request("POST", "/Traced/Check", b'{"n": 1}', {"content-type": "application/json"}) * 100
        with server.connect() as connection:
            for _ in range(10):
                connection.send(burst)
                for _ in range(100):
                    self.assertEqual(connection.receive().status, 200)
        self.assertEqual(server.stop(), 0)
        lost = [json.loads(line) for line in server.stderr_path.read_text().splitlines() if "spans are lost" in line]
        self.assertEqual(sum(line["count"] for line in lost), 2000, server.output())
        self.assertLessEqual(len(lost), 3, lost)
        collector.close()

    def test_what_finds_no_room_is_counted(self):
        collector = Collector()
        collector.seconds = 60
        server = self.start("--trace-sample=1", "--io-threads=1", collector=collector)
        burst = harness.request("POST", "/Traced/Check", b'{"n": 1}', {"content-type": "application/json"}) * 500
        sent = 0
        with server.connect() as connection:
            while sent < 12_000:
                connection.send(burst)
                for _ in range(500):
                    self.assertEqual(connection.receive().status, 200)
                sent += 500
        self.assertGreater(server.metrics()['wf_spans_total{result="dropped"}'], 2 * sent - 8192 - 3 * 2048)

    def test_a_name_is_looked_up_and_tried_at_each_of_its_addresses(self):
        collector = Collector()  # on 127.0.0.1 alone, which `localhost` may stand behind ::1 for
        collector.url = collector.url.replace("127.0.0.1", "localhost")
        server = self.start("--trace-sample=1", collector=collector)
        self.post(server, "/Traced/Check", {"n": 1})
        self.assertEqual(len(collector.wait(2)), 2)
        lost = harness.Server.of(PROGRAM, "--trace-otlp", "http://nowhere.invalid/x", "--trace-sample=1")
        self.post(lost, "/Traced/Check", {"n": 1})
        self.assertEqual(lost.stop(), 0)

    def test_what_is_no_collector_is_no_setting(self):
        for wrong in ("https://a", "localhost:4318", "http://", "http://a:0", "http://a:x", "http://[::1", "http://a b"):
            done = harness.subprocess.run([harness.compiled(PROGRAM), "--trace-otlp", wrong, "--check-config"], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2, wrong)
            self.assertTrue(re.search("trace-otlp: expected a collector", done.stderr), done.stderr)


if __name__ == "__main__":
    PROGRAM = source()
    harness.main()
