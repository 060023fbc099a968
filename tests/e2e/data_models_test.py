#!/usr/bin/env python3
"""Models whose inputs decide what they do, and how long: nobody else waits for them, they end when nobody waits, and take what a request may have."""
import json
import time
from pathlib import Path

import harness
import onnx_file
from onnx_file import BOOL, INT64, graph, model, node, value_info

SOURCE = """
model Numbers = onnx("numbers.onnx");
model Nested = onnx("nested.onnx");
model Doubled = onnx("doubled.onnx");
model Places = onnx("places.onnx");

workflow Count(n: i64) -> (count: i64) { node y = Numbers(0, n, 1) { timeout 500ms; } return (count: len(y)); }
workflow Turn(n: i64) -> (steps: i64) { node y = Nested(n) { timeout 500ms; } return (steps: y); }
workflow Double(n: i64, v: f32[2]) -> (length: i64) { node y = Doubled(n, v); return (length: len(y)); }
workflow Find(x: f32[h, w]) -> (places: i64[_, 2]) { node y = Places(x); return (places: y); }
workflow Ping() -> (y: i64) { return (y: 1); }
service Data { workflow Count; workflow Turn; workflow Double; workflow Find; workflow Ping; }
"""
SOON = 3  # seconds
STEPS = 256  # of a turn, so that as many turns as a run may have take longer than its time on any machine


def loop(count, carried_in, carried_out, body):
    return node("Loop", [count, "", carried_in], [carried_out], "loop", body=body)


def body(nodes, carried_in, carried_out, element, shape):
    heads = [value_info("i" + carried_in, (), INT64), value_info("c" + carried_in, (), BOOL), value_info(carried_in, shape, element)]
    same = node("Identity", ["c" + carried_in], ["d" + carried_in])
    return graph([*nodes, same], [], heads, [value_info("d" + carried_in, (), BOOL), value_info(carried_out, shape, element)])


def nested():
    """i64 n -> how many steps the inner of two loops of n turns takes."""
    steps = [node("Add", [f"s{step}" if step else "s", "one"], [f"s{step + 1}"]) for step in range(STEPS)]
    inner = body(steps, "s", f"s{STEPS}", INT64, ())
    outer = body([loop("n", "a", "b", inner)], "a", "b", INT64, ())
    start = [node("Sub", ["n", "n"], ["zero"]), node("Cast", ["true"], ["one"], to=INT64), node("Equal", ["n", "n"], ["true"])]
    return model([start[0], start[2], start[1], loop("n", "zero", "y", outer)], [], [value_info("n", (), INT64)], [value_info("y", (), INT64)])


def doubled():
    """v, as long as it is after n turns that put it behind itself."""
    turns = body([node("Concat", ["s", "s"], ["t"], axis=0)], "s", "t", onnx_file.FLOAT, ("k",))
    return model([loop("n", "v", "y", turns)], [], [value_info("n", (), INT64), value_info("v", ("m",))], [value_info("y", ("l",))])


def source():
    folder = harness.scratch()
    numbers = model([node("Range", ["from", "to", "by"], ["y"], "count")], [],
                    [value_info(name, (), INT64) for name in ("from", "to", "by")], [value_info("y", ("n",), INT64)])
    places = model([node("NonZero", ["x"], ["z"], "find"), node("Transpose", ["z"], ["y"])], [], [value_info("x", ("h", "w"))],
                   [value_info("y", ("k", 2), INT64)])
    for name, data in (("numbers", numbers), ("nested", nested()), ("doubled", doubled()), ("places", places)):
        (folder / f"{name}.onnx").write_bytes(data)
    path = folder / "data.wf"
    path.write_text(SOURCE)
    return path


class DataModels(harness.ServerCase):
    source = source()

    def ask(self, connection, workflow, **body):
        connection.send(harness.request("POST", f"/Data/{workflow}", json.dumps(body).encode()))

    def call(self, workflow, **body):
        with self.server.connect() as connection:
            self.ask(connection, workflow, **body)
            return connection.receive()

    def served_meanwhile(self, workflow, **body):
        """A call that takes too long; another one is answered while it runs."""
        began = time.monotonic()
        with self.server.connect() as connection:
            self.ask(connection, workflow, **body)
            time.sleep(0.1)
            self.assertEqual(self.call("Ping").json, {"y": 1})
            self.assertLess(time.monotonic() - began, SOON)
            reply = connection.receive()
        self.assertEqual(reply.status, 504, reply)
        self.assertLess(time.monotonic() - began, SOON)

    def test_small_calls_are_answered(self):
        for _ in range(5):
            self.assertEqual(self.call("Count", n=80).json, {"count": 80})
            self.assertEqual(self.call("Turn", n=5).json, {"steps": 25 * STEPS})
            self.assertEqual(self.call("Double", n=3, v=[1, 2]).json, {"length": 16})

    def test_an_axis_that_counts_what_is_found_is_not_taken_for_samples(self):
        self.assertEqual(self.call("Find", x=[[0, 2, 0], [3, 0, 4]]).json, {"places": [[0, 1], [1, 0], [1, 2]]})
        self.assertEqual(self.call("Find", x=[[0, 0, 0]]).json, {"places": []})

    def test_a_result_larger_than_a_request_may_have_is_refused_before_it_is_computed(self):
        for n in (2**28, 2**31, 2**33, 2**62):
            began = time.monotonic()
            self.assertEqual(self.call("Count", n=n).status, 429, n)
            self.assertLess(time.monotonic() - began, SOON, n)
        self.assertEqual(self.call("Count", n=80).json, {"count": 80})

    def test_loops_end_when_nobody_waits_for_them(self):
        for n in (10**6, 2**62):
            self.served_meanwhile("Turn", n=n)
            self.assertEqual(self.call("Turn", n=5).json, {"steps": 25 * STEPS})

    def test_a_value_that_grows_takes_what_a_request_may_have_and_gives_it_back(self):
        for _ in range(3):
            self.assertEqual(self.call("Double", n=60, v=[1, 2]).status, 429)
        self.assertEqual(self.call("Double", n=3, v=[1, 2]).json, {"length": 16})
        status = Path(f"/proc/{self.server.process.pid}/status").read_text()
        peak = int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) * 1024
        self.assertLess(peak, 1 << 30)


if __name__ == "__main__":
    harness.main()
