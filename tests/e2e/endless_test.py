#!/usr/bin/env python3
"""A client says how often a loop runs, and says it so that the loop never ends: others are answered meanwhile, and the work stops when the client goes."""
import json
import time

import harness

SOURCE = """
import std.text;

type Grid { rows: i64; columns: i64; }

workflow Count(n: i64) -> (y: i64) { node y = sum[k < n](k); return (y: y); }
workflow Nest(n: i64, m: i64) -> (y: f64) { node y = sum[i < n](sum[k < m](f64(k - i) * 0.5)); return (y: y); }
workflow Triangle(n: i64) -> (y: f64) { node y = sum[i < n](sum[k < i](f64(k - i) * 0.5)); return (y: y); }
workflow Cells(grid: Grid) -> (y: f64) { node y = sum[i < grid.rows](sum[k < grid.columns](f64(k - i) * 0.5)); return (y: y); }
workflow Said(x: i64[n]) -> (y: f64) { node y = sum[i < x[0]](f64(i) * 0.5); return (y: y); }

workflow Between(a: i64, b: u64) -> (y: f64) { node y = sum[k < 2 * i64(b) - a](f64(k + a)); return (y: y); }
workflow Inner(x: f32[m], n: i64) -> (y: f64[m]) { node y = [i < m] => sum[k < n](f64(k) * f64(x[i])); return (y: y); }
workflow Least(x: f32[m], n: i64) -> (y: f64[m]) { node y = [i < m] => min[k < n](cos(f64(k)) * f64(x[i])); return (y: y); }
fn rest(s: string, m: i64) -> f64 { let words = text.split(s, " "); sum[k < m - len(words)](f64(k) * 0.5) }
fn times(s: string, m: i64) -> f64 { let words = text.split(s, " "); sum[k < m * len(words)](f64(k) * 0.5) }
fn less(n: i64) -> i64 = n - 1;
workflow Rest(s: string, m: i64) -> (y: f64) { node y = rest(s, m); return (y: y); }
workflow Times(s: string, m: i64) -> (y: f64) { node y = times(s, m); return (y: y); }
workflow Wraps(n: i64) -> (y: f64) { node y = sum[k < less(n)](f64(k) * 0.5); return (y: y); }
workflow Corner(x: f32[n], a: i64) -> (y: f64) { node y = sum[i < n](sum[k < (a - i) * (a - i) * (a - i)](f64(k) * 0.5)); return (y: y); }
workflow Meta() -> (y: f64) { let n = meta("x-n", 10); node y = sum[k < n](f64(k)); return (y: y); }
workflow Listed(xs: list<i64>, n: i64?) -> (y: f64) { node y = sum[k < xs[0] + (n ?? 5)](f64(k)); return (y: y); }

workflow Row(x: f32[m], z: f32[l]) -> (y: f32[1, m]) { node y: f32[1, m] = [i, j] => min[k](abs(x[j] - z[k])); return (y: y); }
workflow Deep(x: f32[n], w: f32[m], z: f32[l]) -> (y: f32) { node y = sum[i < n](sum[j < m](sum[k < l](x[i] * w[j] * z[k]))); return (y: y); }
workflow Whole(x: i64[n]) -> (y: i64) { node y = sum[h < 1](sum[i < n](max[j < n](sum[k < n](x[i] * x[j] + x[k] % 7)))); return (y: y); }
workflow Folds(x: f32[n]) -> (y: f32[1, 1, n]) { node y: f32[1, 1, n] = [a, b, i] => fold acc = x[i] for v in x { acc * 0.5 + v }; return (y: y); }
workflow Columns(x: f32[n]) -> (y: f32[1, n]) { node y: f32[1, n] = [a, i] => sum[k < n](x[i] * f32(k % 3)); return (y: y); }

fn steps(n: i64) -> f64 = sum[k < n](f64(k) * 0.5);
workflow If(n: i64) -> (y: f64) { if steps(n) < 0.0 { return (y: 1.0); } return (y: 2.0); }
workflow ElseIf(n: i64) -> (y: f64) { if n < 0 { return (y: 1.0); } else if steps(n) < 0.0 { return (y: 2.0); } return (y: 3.0); }
workflow Arms(n: i64) -> (y: f64) { node y = for x in [n] { if steps(x) < 0.0 { (for z in [x] { f64(z) })[0] } else { 1.0 } }; return (y: y[0]); }

workflow Pooled(n: f64) -> (y: f64) { node y = sum[k < i64(n)](f64(k) * 0.5); return (y: y); }

service Endless {
  workflow Count; workflow Nest; workflow Triangle; workflow Cells; workflow Said;
  workflow Between; workflow Inner; workflow Least; workflow Meta;
  workflow Rest; workflow Times; workflow Wraps; workflow Corner; workflow Listed;
  workflow Row; workflow Deep; workflow Whole; workflow Folds; workflow Columns; workflow Pooled;
  workflow If; workflow ElseIf; workflow Arms;
}
"""
MOST = 2**63 - 1
FEW, MANY = [1, 2], [1] * 500_000
# Each first with what ends: a loop of the server takes a task that it has seen to be short.
CALLS = {
    "Count": ({"n": 10}, {"n": MOST}),
    "Nest": ({"n": 10, "m": 10}, {"n": 10**6, "m": 10**9}),
    "Triangle": ({"n": 10}, {"n": 10**8}),
    "Cells": ({"grid": {"rows": 10, "columns": 10}}, {"grid": {"rows": MOST, "columns": MOST}}),
    "Between": ({"a": 0, "b": 10}, {"a": -5, "b": 10**18}),
    "Inner": ({"x": [1, 2], "n": 10}, {"x": [1, 2], "n": MOST}),
    "Least": ({"x": [1, 2], "n": 10}, {"x": [1, 2], "n": MOST}),
    "Rest": ({"s": "a b", "m": 10}, {"s": "a b", "m": MOST}),
    "Times": ({"s": "a b", "m": 10}, {"s": "a b", "m": 10**18}),
    "Wraps": ({"n": 10}, {"n": -MOST - 1}),
    "Corner": ({"x": [0] * 4, "a": 4}, {"x": [0] * 3000, "a": 3000}),
    "Listed": ({"xs": [1]}, {"xs": [10**18]}),
    "Meta": ({}, {}),
    "Row": ({"x": FEW, "z": FEW}, {"x": MANY, "z": MANY}),
    "Deep": ({"x": FEW, "w": FEW, "z": FEW}, {"x": [1], "w": MANY, "z": MANY}),
    "Whole": ({"x": FEW}, {"x": MANY}),
    "Folds": ({"x": FEW}, {"x": MANY}),
    "Columns": ({"x": FEW}, {"x": MANY}),
    "If": ({"n": 10}, {"n": MOST}),
    "ElseIf": ({"n": 10}, {"n": MOST}),
    "Arms": ({"n": 10}, {"n": MOST}),
    "Said": ({"x": [10]}, {"x": [10**17]}),
}
SOON = 5  # seconds; a loop that computes answers nobody


def source():
    path = harness.scratch() / "endless.wf"
    path.write_text(SOURCE)
    return path


class Endless(harness.ServerCase):
    source = source()
    args = ("--io-threads", "1", "--compute-threads", "1")

    def test_others_are_answered_and_the_work_stops_with_its_client(self):
        for name, (short, endless) in CALLS.items():
            with self.subTest(name):
                for _ in range(20):
                    self.assertEqual(self.server.post(f"/Endless/{name}", short).status, 200)
                body = json.dumps(endless).encode()
                with self.server.connect() as connection:
                    connection.send(b"POST /Endless/%s HTTP/1.1\r\nhost: x\r\nx-n: 1000000000000000\r\ncontent-length: %d\r\n\r\n%s" % (name.encode(), len(body), body))
                    self.server.settled("wf_inflight_requests", 1)
                    began = time.monotonic()
                    with self.server.connect(timeout=SOON) as other:
                        self.assertEqual(other.call("GET", "/livez").status, 200)
                    self.assertLess(time.monotonic() - began, SOON)
                with self.server.connect(timeout=SOON) as other:  # the one thread of the pool is free again
                    self.assertEqual(other.call("POST", "/Endless/Pooled", json.dumps({"n": 10}).encode()).status, 200)


class Late(harness.ServerCase):
    source = source()
    args = (*Endless.args, "--default-timeout", "500ms")

    def test_the_work_stops_when_its_time_is_over(self):
        for name in ("Nest", "Least", "Row", "Deep", "Whole", "Folds", "Columns", "If", "ElseIf", "Arms"):
            with self.subTest(name):
                self.assertEqual(self.server.post(f"/Endless/{name}", CALLS[name][1]).status, 504)
                self.assertEqual(self.server.post("/Endless/Pooled", {"n": 10}).status, 200)  # on the one thread of the pool


class OnTheLoop(Endless):
    """The same where every task is estimated to be short: a loop gives up what it still runs after a tenth of a second."""
    args = (*Endless.args, "--schedule", "inline")


if __name__ == "__main__":
    harness.main()
