#!/usr/bin/env python3
"""A request that is bound to fail is answered at once: nothing waits for what stands before the failure, and that is stopped. Of what is decided at once
the first is told."""
import time

import harness

# `grind` takes a minute, far more than a test may.
SOURCE = """
error Broken = 100001 "broken";
error Later = 100002 "later" as not_found;

fn grind(n: i64) -> f64 = sum[i < n](exp(-f64(i)) * cos(f64(i)));

fn broken(n: i64) -> f64 {
  require n < 0 else fail Broken("of {n}");
  0.0
}

workflow Return(n: i64) -> (slow: f64, bad: f64) {
  node slow = grind(n);
  node bad = broken(n);
  return (slow: slow, bad: bad);
}

workflow Computed(n: i64) -> (sum: f64) {
  node slow = grind(n);
  node bad = broken(n);
  return (sum: slow + bad);
}

workflow Chain(n: i64) -> (sum: f64) {
  node slow = grind(n);
  node bad = broken(n);
  node both = slow + bad;
  return (sum: both + 1.0);
}

workflow Condition(n: i64) -> (y: i64) {
  node slow = grind(n);
  node bad = broken(n);
  require slow + bad > 0.0;
  return (y: n);
}

workflow Arm(n: i64) -> (sum: f64) {
  node slow = grind(n);
  node bad = broken(n);
  if n > 0 { return (sum: slow + bad); }
  return (sum: 0.0);
}

workflow Annotated(n: i64) -> (bad: f64) {
  node slow = grind(n);
  node bad = broken(n);
  annotate("slow", "{slow}");
  return (bad: bad);
}

// What a fallback is told does not depend on timing: this one waits.
workflow Told(n: i64) -> (code: i32) {
  node slow = grind(n);
  node bad = broken(n);
  node both = slow + bad;
  node code = if both > 0.0 { i32(1) } else { i32(2) } else err.code;
  return (code: code);
}

workflow Slow(n: i64) -> (y: i64) {
  node slow = grind(n);
  if slow > 0.0 { fail Broken; }
  fail Later;
}

workflow Chosen(n: i64) -> (y: i64) {
  if n == 0 { fail Timeout; }
  if n == 1 { fail Refused; }
  if n < 9 {
    if n == 2 { fail Broken; }
    node seen = broken(n);
    require seen > 0.0 else fail Later;
  }
  require n < 0 else fail Later("{n}");
  return (y: n);
}

service Outcome {
  workflow Return;
  workflow Computed;
  workflow Chain;
  workflow Condition;
  workflow Arm;
  workflow Annotated;
  workflow Told;
  workflow Slow;
  workflow Chosen;
}
"""
FOREVER = 2_000_000_000


def source():
    path = harness.scratch() / "outcome.wf"
    path.write_text(SOURCE)
    return path


class Outcome(harness.ServerCase):
    source = source()
    args = ("--compute-threads", "2")

    def test_a_failure_that_ends_the_request_waits_for_nothing(self):
        for workflow in ("Return", "Computed", "Chain", "Condition", "Arm", "Annotated"):
            with self.subTest(workflow):
                began = time.monotonic()
                reply = self.server.post(f"/Outcome/{workflow}", {"n": FOREVER})
                self.assertLess(time.monotonic() - began, 5)
                self.assertEqual(reply.status, 400, reply)
                self.assertEqual(reply.json["error"]["code"], 100001)
                self.assertEqual(reply.json["error"]["path"], f"{workflow}/bad")
        self.assertEqual(self.server.settled("wf_abandoned_inflight"), 0)

    def test_of_what_is_decided_at_once_the_first_in_the_text_is_told(self):
        for n, code in ((0, 6000), (1, 3010), (2, 100001), (3, 100001), (9, 100002)):
            with self.subTest(n):
                self.assertEqual(self.server.post("/Outcome/Chosen", {"n": n}).json["error"]["code"], code)

    def test_a_condition_that_takes_long_is_not_waited_for_by_what_follows(self):
        began = time.monotonic()
        reply = self.server.post("/Outcome/Slow", {"n": FOREVER})
        self.assertLess(time.monotonic() - began, 5)
        self.assertEqual(reply.json["error"]["code"], 100002)

    def test_what_a_fallback_is_told_waits_for_what_stands_before(self):
        reply = self.server.post("/Outcome/Told", {"n": 1000})
        self.assertEqual(reply.json, {"code": 100001})


if __name__ == "__main__":
    harness.main()
