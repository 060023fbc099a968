#!/usr/bin/env python3
"""W3C Trace Context: a request keeps the trace of its client, in its answer and in the log, whatever it comes by."""
import json
import re

import harness

if __name__ == "__main__":
    harness.in_environment()

import grpc  # noqa: E402
import httpx  # noqa: E402

SOURCE = """
error Unlucky = 100007 "an unlucky number" as internal;
workflow Check(n: i64) -> (n: i64) { require n != 13 else fail Unlucky; return (n: n); }
service Checks { workflow Check; }
"""
CHECK = "/Checks/Check"
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"


class Traces(harness.ServerCase):
    @classmethod
    def setUpClass(cls):
        path = harness.scratch() / "checks.wf"
        path.write_text(SOURCE)
        cls.server = harness.Server.of(path, "--log-access")

    def check(self, n=1, **headers):
        return self.server.call("POST", CHECK, json.dumps({"n": n}).encode(), {"content-type": "application/json", **headers})

    def span_of(self, parent):
        """The id that the server gave its part of the trace."""
        found = re.fullmatch(f"00-{TRACE}-([0-9a-f]{{16}})-01", parent)
        self.assertIsNotNone(found, parent)
        self.assertNotIn(found[1], (SPAN, "0" * 16))
        return found[1]

    def lines(self, span):
        self.assertTrue(self.server.logs(span))
        lines = [json.loads(line) for line in self.server.stderr_path.read_text().splitlines() if line.startswith("{")]
        return {line["message"]: line for line in lines if line.get("span_id") == span}

    def test_answers_and_the_log_name_the_trace(self):
        spans = {self.span_of(self.check(traceparent=PARENT).headers["traceparent"]) for _ in range(5)}
        self.assertEqual(len(spans), 5)
        for span in spans:
            self.assertEqual(self.lines(span)["request"]["trace_id"], TRACE)

    def test_failures_and_refusals_too(self):
        span = self.span_of(self.check(13, traceparent=PARENT).headers["traceparent"])
        self.assertEqual({message: line["trace_id"] for message, line in self.lines(span).items()}, {"request": TRACE, "a request failed": TRACE})
        for reply in (self.server.call("GET", CHECK, headers={"traceparent": PARENT}), self.server.call("GET", "/none", headers={"traceparent": PARENT}),
                      self.server.call("GET", "/livez", headers={"traceparent": PARENT})):
            self.span_of(reply.headers["traceparent"])

    def test_over_http2_and_grpc(self):
        url = "%s:%d" % self.server.addresses["http"]
        with httpx.Client(http1=False, http2=True) as client:
            reply = client.post(f"http://{url}{CHECK}", json={"n": 1}, headers={"traceparent": PARENT})
            self.assertEqual(self.lines(self.span_of(reply.headers["traceparent"]))["request"]["trace_id"], TRACE)
        with grpc.insecure_channel(url) as channel:
            _, call = channel.unary_unary("/inference.GRPCInferenceService/ServerLive").with_call(b"", timeout=30, metadata=(("traceparent", PARENT),))
            self.span_of(dict(call.initial_metadata())["traceparent"])

    def test_calls_that_stream(self):
        with grpc.insecure_channel("%s:%d" % self.server.addresses["http"]) as channel:
            watch = channel.unary_stream("/grpc.health.v1.Health/Watch")(b"", timeout=30, metadata=(("traceparent", PARENT),))
            self.assertEqual(next(watch), b"\x08\x01")
            self.span_of(dict(watch.initial_metadata())["traceparent"])
            watch.cancel()
            infer = channel.stream_stream("/inference.GRPCInferenceService/ModelStreamInfer")
            self.assertEqual(list(nothing := infer(iter([]), timeout=30, metadata=(("traceparent", PARENT),))), [])
            self.span_of(dict([*nothing.initial_metadata(), *nothing.trailing_metadata()])["traceparent"])  # one head is all there is

    def test_what_is_broken_is_no_trace(self):
        for broken in ("", "00", PARENT + "-", PARENT.upper(), PARENT.replace(TRACE, "0" * 32), "ff" + PARENT[2:]):
            reply = self.check(traceparent=broken)
            self.assertEqual((reply.status, "traceparent" in reply.headers), (200, False), broken)
        self.assertNotIn("traceparent", self.check().headers)


if __name__ == "__main__":
    harness.main()
