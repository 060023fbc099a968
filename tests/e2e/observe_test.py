#!/usr/bin/env python3
"""Metrics and logs: every request is counted and told once, refused and abandoned ones too."""
import json
import re
import time

import harness

GREET = "/Hello/Greet"


def requests_of(metrics):
    """{(service, workflow, protocol, code): count} of the requests that were counted."""
    found = {}
    for name, value in metrics.items():
        labels = re.fullmatch(r'wf_requests_total{service="(.*)",workflow="(.*)",protocol="(.*)",code="(.*)"}', name)
        if labels and value:
            found[labels.groups()] = int(value)
    return found


def lines_of(server, message):
    """The lines of the log with this message."""
    lines = [json.loads(line) for line in server.stderr_path.read_text().splitlines() if line.startswith("{")]
    return [line for line in lines if line["message"] == message]


class Refused(harness.ServerCase):
    source = harness.EXAMPLES / "hello/hello.wf"
    args = ("--log-access=true", "--limits-connections=8", "--io-threads=1")

    def lines(self, message="request"):
        return lines_of(self.server, message)

    def wait_for(self, seen, what):
        until = time.monotonic() + 10
        while not seen() and time.monotonic() < until:
            time.sleep(0.05)
        self.assertTrue(seen(), what)

    def assert_told(self, send, status, code, service="Hello", workflow="Greet", protocol="plain"):
        """`send` makes one request, which is counted once under these labels, and logged once."""
        self.wait_for(lambda: len(self.lines()) == sum(requests_of(self.server.metrics()).values()), "counted and not told")
        before, told = requests_of(self.server.metrics()), len(self.lines())
        send()
        key = (service, workflow, protocol, str(code))
        self.wait_for(lambda: requests_of(self.server.metrics()).get(key, 0) == before.get(key, 0) + 1, (key, before))
        after = requests_of(self.server.metrics())
        self.assertEqual(sum(after.values()), sum(before.values()) + 1, (before, after))
        self.wait_for(lambda: len(self.lines()) == told + 1, "no line")
        line = self.lines()[-1]
        self.assertEqual((line["status"], line["code"]), (status, code), line)
        self.assertGreater(line["data_id"], 0, line)
        return line

    def call(self, method, path, body=b"", headers=None):
        return lambda: self.server.call(method, path, body, headers)

    def send(self, data):
        def run():
            with self.server.connect() as connection:
                connection.send(data)
                connection.receive()
        return run

    def test_what_is_refused_at_the_head(self):
        nobody = {"service": "-", "workflow": "-"}
        line = self.assert_told(self.call("POST", "/nothing/here", b"{}", {"x-request-id": "r-1"}), 404, 3002, **nobody)
        self.assertEqual((line["method"], line["target"], line["log_id"]), ("POST", "/nothing/here", "r-1"))
        self.assertEqual(self.assert_told(self.call("POST", GREET + "//", b"{}"), 404, 3002, **nobody)["target"], GREET + "//")
        self.assert_told(self.call("GET", GREET), 405, 5000, **nobody)
        self.assert_told(self.send(b"POST /Hello/Greet HTTP/1.1\r\nhost: t\r\ncontent-length: 100000000\r\n\r\n"), 413, 5000)
        self.assert_told(self.send(b"POST /Hello/Greet HTTP/1.1\r\nhost: t\r\ntransfer-encoding: chunked\r\n\r\nfffffff\r\n"), 413, 5000)
        self.assert_told(self.call("POST", GREET, b"{}", {"content-encoding": "br"}), 415, 5000)
        self.assert_told(self.send(b"GET /" + b"a" * 10_000 + b" HTTP/1.1\r\n"), 414, 5000, **nobody)
        self.assert_told(self.send(b"GET / HTTP/1.1\r\nx: " + b"a" * 40_000), 431, 5000, **nobody)
        self.assert_told(self.send(b"POST / HTTP/1.1\r\nhost: t\r\ntransfer-encoding: gzip\r\n\r\n"), 501, 3000, **nobody)
        self.assert_told(self.send(b"GET / HTTP/3.0\r\nhost: t\r\n\r\n"), 505, 3000, **nobody)
        self.assert_told(self.send(b"GARBAGE\r\n\r\n"), 400, 5000, **nobody)
        self.assert_told(self.call("POST", "/v2/models/None/infer", b"{}"), 404, 3002, **nobody, protocol="oip")
        self.assert_told(self.call("GET", "/v2/models/Hello/infer"), 405, 5000, **nobody, protocol="oip")
        line = self.assert_told(self.call("POST", "/" + "a" * 4000, b"", {"x-request-id": "b" * 4000}), 404, 3002, **nobody)
        self.assertEqual((len(line["target"]), line["log_id"]), (512, ""))

    def test_what_arrives_too_late(self):
        def drip():
            with self.server.connect() as connection:
                connection.send(b"POST /Hello/Greet HTTP/1.1\r\nhost: t\r\ncontent-length: 100\r\n\r\n{")
                connection.receive()

        self.assert_told(drip, 408, 6000)

    def test_a_client_that_leaves(self):
        def leave():
            connection = self.server.connect()
            connection.send(b"POST /Hello/Greet HTTP/1.1\r\nhost: t\r\ncontent-length: 100\r\n\r\n{")
            time.sleep(0.1)
            connection.reset()

        self.assert_told(leave, 499, 3011)

    def test_a_connection_too_many(self):
        self.wait_for(lambda: self.server.metrics()["wf_connections"] == 0, "connections of other tests")
        name = 'wf_refused_total{reason="connections"}'
        before, told = self.server.metrics()[name], len(self.lines("a connection was refused"))
        held = [self.server.connect() for _ in range(8)]
        self.wait_for(lambda: self.server.metrics()["wf_connections"] == 8, "not open")
        with self.server.connect() as refused:
            self.assertTrue(refused.closed_within(5))
        for connection in held:
            self.assertEqual(connection.call("POST", GREET, b"{}").status, 200)
            connection.close()
        self.assertEqual(self.server.metrics()[name], before + 1)
        self.wait_for(lambda: len(self.lines("a connection was refused")) == told + 1, "no line")

    def test_answered_ones_are_told_too(self):
        self.assert_told(self.call("POST", GREET, b"{}"), 200, 0)
        self.assert_told(self.call("POST", GREET, b"{"), 400, 5000)
        self.assert_told(self.call("POST", "/v2/models/Hello/infer", b'{"inputs": []}'), 200, 0, protocol="oip")


class Nodes(harness.ServerCase):
    source = harness.EXAMPLES / "digits/digits.wf"
    args = ("--log-level=debug", *harness.patient())

    def test_what_a_fallback_hides_is_in_the_log(self):
        reply = self.server.call("POST", "/DigitService/Classify", b"\x89PNG\r\n\x1a\n and no more", {"x-request-id": "hidden", "traceparent": f"00-{'a' * 32}-{'b' * 16}-01"})
        self.assertEqual(json.loads(reply.body)["error"]["message"], "the body is not a PNG, JPEG, WebP or BMP image")
        until = time.monotonic() + 10
        while not (found := lines_of(self.server, "a fallback failed in place of a failure")) and time.monotonic() < until:
            time.sleep(0.05)
        [line] = found
        self.assertEqual((line["level"], line["path"], line["code"], line["answered_code"], line["log_id"]),
                         ("debug", "Classify/pixels", 7000, 100001, "hidden"))
        self.assertIn("the PNG image is damaged", line["reason"])
        self.assertEqual(f"00-{line['trace_id']}-{line['span_id']}-01", reply.headers["traceparent"])

    def test_a_node_is_observed_once_per_execution_under_its_workflow(self):
        picture = (harness.EXAMPLES / "digits/testdata/seven.png").read_bytes()
        for _ in range(20):
            self.assertEqual(self.server.call("POST", "/DigitService/Classify", picture).status, 200)
        counts = {name: value for name, value in self.server.metrics().items() if name.startswith("wf_node_compute_seconds_count")}
        labels = [re.fullmatch(r'.*{workflow="(.*)",node="(.*)"}', name).groups() for name in counts]
        self.assertEqual(labels, [("Classify", "Classify/pixels"), ("Classify", "Classify/logits"), ("Classify", "Classify/best")])
        self.assertEqual(counts['wf_node_compute_seconds_count{workflow="Classify",node="Classify/logits"}'], 20)


class Undecided(harness.ServerCase):
    source = harness.scratch() / "undecided.wf"
    args = ("--log-level=debug",)

    @classmethod
    def setUpClass(cls):
        cls.source.write_text("""workflow W(x: i64) -> (y: i64) {
  node aside = 10 / x;
  annotate("aside", str(aside));
  node tried = 20 / x else 7;
  return (y: x + tried);
}

workflow Both(x: i64) -> (y: i64) {
  node a = 1 / x;
  node b = 2 / x;
  return (y: a + b);
}

workflow Three(x: i64) -> (a: i64, b: i64, c: i64) {
  node shared = 1 / x;
  node a = shared else 0;
  node b = shared else 1;
  node c = shared + 1 else 2;
  return (a: a, b: b, c: c);
}

workflow Late(x: i64) -> (y: i64) {
  node aside = sum[i < 1000000000 * x](f64(i)) { timeout 5ms; }
  annotate("aside", str(aside));
  return (y: x);
}

service S {
  workflow W;
  workflow Both;
  workflow Three;
  workflow Late;
}
""")
        super().setUpClass()

    def told(self, log_id, count):
        until = time.monotonic() + 10
        while True:
            found = [line for line in lines_of(self.server, "a failure that the request was decided without") if line["log_id"] == log_id]
            if len(found) >= count or time.monotonic() > until:
                return found
            time.sleep(0.05)

    def test_what_the_answer_did_not_need_is_in_the_log(self):
        reply = self.server.call("POST", "/S/W", b'{"x": 0}', {"x-request-id": "aside"})
        self.assertEqual((reply.status, json.loads(reply.body)), (200, {"y": 7}))
        self.assertNotIn("wf-aside", reply.headers)
        [line] = self.told("aside", 1)
        self.assertEqual((line["level"], line["path"], line["code"], line["answered_code"]), ("warning", "W/aside", 7002, 0))

    def test_timeouts_are_for_those_who_look_for_them(self):
        self.assertEqual(self.server.call("POST", "/S/Late", b'{"x": 9}', {"x-request-id": "late"}).status, 200)
        [line] = self.told("late", 1)
        self.assertEqual((line["level"], line["path"], line["code"] // 1000), ("debug", "Late/aside", 6))
        self.assertGreaterEqual(self.server.metrics()[f'wf_hidden_failures_total{{code="{line["code"]}"}}'], 1)

    def test_what_a_fallback_gave_a_value_for_is_counted_beside_what_was_not_needed(self):
        name = 'wf_hidden_failures_total{code="7002"}'
        before = self.server.metrics().get(name, 0)
        self.assertEqual(self.server.call("POST", "/S/W", b'{"x": 0}').json, {"y": 7})
        self.assertEqual(self.server.metrics()[name], before + 2)

    def test_a_failure_that_several_nodes_catch_is_counted_once(self):
        name = 'wf_hidden_failures_total{code="7002"}'
        before = self.server.metrics().get(name, 0)
        for times in (1, 2):
            self.assertEqual(self.server.call("POST", "/S/Three", b'{"x": 0}').json, {"a": 0, "b": 1, "c": 2})
            self.assertEqual(self.server.metrics()[name], before + times)

    def test_the_failures_behind_the_first_are_in_the_log(self):
        reply = self.server.call("POST", "/S/Both", b'{"x": 0}', {"x-request-id": "both"})
        self.assertEqual(json.loads(reply.body)["error"]["path"], "Both/a")
        for line in self.told("both", 0):
            self.assertEqual((line["path"], line["answered_code"]), ("Both/b", 7002))

    def test_without_a_failure_nothing_is_told(self):
        self.assertEqual(self.server.call("POST", "/S/W", b'{"x": 2}', {"x-request-id": "none"}).status, 200)
        self.assertEqual(self.server.call("POST", "/S/W", b'{"x": 0}', {"x-request-id": "behind"}).status, 200)
        self.assertEqual((len(self.told("behind", 1)), len(self.told("none", 0))), (1, 0))


class Sampled(harness.ServerCase):
    source = harness.EXAMPLES / "hello/hello.wf"
    args = ("--log-access=true", "--log-access-sample=0.2")

    def test_a_part_of_the_access_log_is_written_and_what_is_traced_always(self):
        parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        with self.server.connect() as connection:
            for _ in range(2000):
                self.assertEqual(connection.call("POST", GREET, b"{}").status, 200)
            for _ in range(20):
                connection.call("POST", GREET, b"{}", {"traceparent": parent})
            connection.call("POST", GREET, b"{}", {"x-request-id": "last", "traceparent": parent})
        self.assertTrue(self.server.logs('"log_id":"last"'))
        lines = lines_of(self.server, "request")
        self.assertEqual(sum(line["trace_id"] != "" for line in lines), 21)
        self.assertLess(abs(len(lines) - 21 - 400), 120)  # 7 standard deviations


class Busy(harness.ServerCase):
    source = harness.EXAMPLES / "hello/hello.wf"
    args = ("--log-access=true", "--io-threads=2")

    def test_a_burst_of_requests_is_logged_or_counted_as_dropped_and_most_of_it_is_logged(self):
        rounds, each = 20, 1000  # pipelined: tens of thousands a second arrive at the log
        burst = harness.request("POST", GREET, b"{}") * each
        with self.server.connect(timeout=60) as one, self.server.connect(timeout=60) as two:
            for _ in range(rounds):
                for connection in (one, two):
                    connection.send(burst)
                for connection in (one, two):
                    for _ in range(each):
                        self.assertEqual(connection.receive().status, 200)
        sent = 2 * rounds * each
        dropped = int(self.server.metrics()["wf_log_lines_dropped_total"])
        until = time.monotonic() + 10
        lines = 0
        while lines + dropped < sent and time.monotonic() < until:
            time.sleep(0.2)
            lines = sum('"message":"request"' in line for line in self.server.stderr_path.read_text().splitlines())
        self.assertEqual(lines + dropped, sent)
        self.assertLess(dropped, sent // 10)


if __name__ == "__main__":
    harness.main()
