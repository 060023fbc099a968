#!/usr/bin/env python3
"""What answers hold and what failures name: models of single numbers, results without a text, metadata in both directions."""
import json
import time

import harness
import onnx_file

SOURCE = """package answers;
import std.tensor;
model One = onnx("one.onnx");
model Two = onnx("two.onnx");
model Each = onnx("each.onnx");
fn fill(n: i64, i: i64) -> f32[n] = [k] => f32(k + i);
workflow Single(x: f32) -> (y: f32) {
  node y = One(x);
  return (y: y + 1.0);
}
workflow Both(x: f32) -> (p: f32, q: f32) {
  node both = Two(x);
  return (p: both.p, q: both.q);
}
workflow Samples(xs: list<f32>) -> (ys: list<f32>) {
  node ys = for x in xs { Each(x) };
  return (ys: ys);
}
workflow Inverse(x: f32[n]) -> (n: i64, y: f32[n]) {
  return (n: n, y: [i] => 1.0 / x[i]);
}
workflow Mean(a: i64) -> (q: list<f32>) {
  return (q: [1.0, 0.0 / f32(a)]);
}
workflow Count() -> (n: i64) {
  return (n: meta("x-b", 5));
}
workflow Name() -> (who: string) {
  return (who: meta("who", "nobody"));
}
workflow Note(text: string) -> (ok: bool) {
  annotate("note", text);
  return (ok: true);
}
error Told = 100001 "told";
workflow Tell(text: string) -> (ok: bool) {
  require len(text) == 0 else fail Told(text);
  return (ok: true);
}
workflow Reshaped(x: f32[n], a: i64, b: i64) -> (y: f32[_, _]) {
  return (y: tensor.reshape(x, a, b));
}
workflow Same(x: f64, xs: f32[h, w]) -> (x: f64, xs: f32[h, w], opposite: f64, text: string) {
  return (x: x, xs: xs, opposite: -x, text: "{x}");
}
workflow Large(n: i64) -> (y: f32) {
  node parts = for i in [0, 1, 2, 3, 4, 5, 6, 7] { fill(n, i) };
  return (y: parts[7][0]);
}
fn thirds(n: i64) -> f32[n] = [k] => f32(1.0 / 3.0);
workflow Thirds(n: i64) -> (y: f32[_]) {
  return (y: thirds(n));
}
workflow Sized(data: bytes, least: i64, note: string, factor: i64 = 2) -> (ok: bool, note: string) {
  return (ok: len(data) * factor >= least, note: note);
}
service Test {
  workflow Single;
  workflow Both;
  workflow Samples;
  workflow Inverse;
  workflow Mean;
  workflow Count;
  workflow Name;
  workflow Note;
  workflow Tell;
  workflow Reshaped;
  workflow Same;
  workflow Sized;
  workflow Large;
  workflow Thirds;
  model One;
}
"""


def relu(shape):
    return onnx_file.model([onnx_file.node("Relu", ["x"], ["y"])], [], [onnx_file.value_info("x", shape)], [onnx_file.value_info("y", shape)])


def two():
    nodes = [onnx_file.node("Relu", ["x"], ["p"]), onnx_file.node("Sigmoid", ["x"], ["q"])]
    return onnx_file.model(nodes, [], [onnx_file.value_info("x", ())], [onnx_file.value_info("p", ()), onnx_file.value_info("q", ())])


def source():
    folder = harness.scratch() / "answers"
    if not folder.exists():
        folder.mkdir()
        for name, content in (("one", relu(())), ("two", two()), ("each", relu(("N",)))):
            (folder / f"{name}.onnx").write_bytes(content)
        (folder / "answers.wf").write_text(SOURCE)
    return folder / "answers.wf"


class Answers(harness.ServerCase):
    @classmethod
    def setUpClass(cls):
        cls.source = source()
        super().setUpClass()

    def ask(self, workflow, values, headers=None):
        return self.server.call("POST", f"/Test/{workflow}", json.dumps(values).encode(), headers or {})

    def test_models_of_single_numbers(self):
        for x, y in ((2.5, 3.5), (-4, 1)):
            self.assertEqual(self.ask("Single", {"x": x}).json, {"y": y})
        self.assertEqual(self.ask("Both", {"x": 0}).json, {"p": 0, "q": 0.5})
        self.assertEqual(self.ask("One", {"x": -1}).json, {"y": 0})

    def test_a_model_of_one_number_for_each_sample(self):
        xs = [i - 20.5 for i in range(40)]
        self.assertEqual(self.ask("Samples", {"xs": xs}).json, {"ys": [max(x, 0) for x in xs]})

    def test_a_result_without_a_text_is_named(self):
        reply = self.ask("Inverse", {"x": [1, 0]})
        self.assert_error(reply, 500, 9000, "result `y`: ", "f32", "NaN or infinite")
        self.assertEqual(reply.error["path"], "Inverse")
        until = time.monotonic() + 5
        while "result `y`: " not in self.server.output() and time.monotonic() < until:
            time.sleep(0.01)
        line = next(line for line in self.server.output().splitlines() if "result `y`: " in line)
        self.assertEqual(json.loads(line)["path"], "Inverse")
        asked = {"inputs": [{"name": "a", "datatype": "INT64", "shape": [1], "data": [0]}]}
        reply = self.server.call("POST", "/v2/models/Mean/infer", json.dumps(asked).encode(), {})
        self.assertEqual((reply.status, reply.json["code"], reply.json["path"]), (500, 9000, "Mean"), reply)

    def test_metadata_that_is_no_number_is_named(self):
        self.assertEqual(self.ask("Count", {}, {"x-b": "7"}).json, {"n": 7})
        self.assert_error(self.ask("Count", {}, {"x-b": "zz"}), 400, 5000, "metadata `x-b` is not a value of type i64")

    def test_metadata_that_is_no_text_is_refused(self):
        self.assertEqual(self.ask("Name", {}, {"who": "me"}).json, {"who": "me"})
        self.assertEqual(self.ask("Name", {}).json, {"who": "nobody"})
        self.assert_error(self.ask("Name", {}, {"who": "\xe9t\xe9"}), 400, 5000, "UTF-8")

    def test_a_long_message_is_told_as_far_in_every_protocol(self):
        for text in ("x" * 1000, "x" * 100_000):
            told = text[:65_536]
            self.assertEqual(self.ask("Tell", {"text": text}).error["message"], told)
            for shape, begin in (([], ""), ([1], "sample 0: ")):
                call = {"inputs": [{"name": "text", "datatype": "BYTES", "shape": shape, "data": [text]}]}
                self.assertEqual(self.server.post("/v2/models/Test.Tell/infer", call).json["error"], begin + told)

    def test_annotations_hold_all_characters(self):
        for text, header in (("plain", "plain"), ("two\nlines", "two%0Alines"), ("50%", "50%25")):
            self.assertEqual(self.ask("Note", {"text": text}).headers.get("wf-note"), header)
        self.assertEqual(self.ask("Note", {"text": "é" * 100_000}).headers.get("wf-note"), "é".encode().decode("latin-1") * 2048, "no more than clients take")

    def test_a_raw_body_stands_beside_required_parameters_of_other_types(self):
        def post(query, body=b"12345", kind="application/octet-stream"):
            return self.server.call("POST", "/Test/Sized" + query, body, {"content-type": kind})
        self.assertEqual(post("?least=10&note=n").json, {"ok": True, "note": "n"})
        self.assertEqual(post("?note=n&least=10&factor=1").json, {"ok": False, "note": "n"})
        self.assert_error(post("?least=10"), 400, 5000, "`note` is missing", "in the query")
        self.assert_error(post("?least=10&note=n&data=x"), 400, 5000, "`data`")
        self.assert_error(post("?least=x&note=n"), 400, 5000, "`least`")
        whole = json.dumps({"data": {"b64": "AAAA"}, "least": 7, "note": "json"}).encode()
        self.assertEqual(post("", whole, "application/json").json, {"ok": False, "note": "json"})

    def test_zeros_keep_their_sign(self):
        for sent in ("-0.0", "-0", "-0e5"):
            body = self.server.call("POST", "/Test/Same", b'{"x": %s, "xs": [[0, %s]]}' % (sent.encode(), sent.encode())).body
            self.assertEqual(body, b'{"x":-0.0,"xs":[[0,-0.0]],"opposite":0,"text":"-0.0"}')
        self.assertEqual(self.ask("Same", {"x": 0, "xs": [[2]]}).body, b'{"x":0,"xs":[[2]],"opposite":-0.0,"text":"0"}')

    def test_a_type_is_told_as_it_is_written(self):
        for xs, words in (([[1], [[2]]], "`xs[1][0]`: expected a number, found an array: more than the 2 axes of f32[h, w]"),
                          ([[1], [2, 3]], "`xs`: expected 1 element on axis 1 of f32[h, w], found 2"), ([1], "an array (axis 1 of f32[h, w])")):
            self.assert_error(self.ask("Same", {"x": 1, "xs": xs}), 400, 5000, words)

    def test_an_answer_longer_than_any_says_so(self):
        self.assert_error(self.ask("Thirds", {"n": 30_000_000}), 429, 3012, "the reply is larger than the 256 MiB that a reply may be")
        self.assertEqual(self.ask("Thirds", {"n": 1}).json, {"y": [0.33333334]})

    def test_an_endless_answer_fails_at_once(self):
        began = time.monotonic()
        self.assert_error(self.ask("Reshaped", {"x": [], "a": 2**62, "b": 0}), 500, 7004, "an extent longer than any memory in the shape")
        self.assertLess(time.monotonic() - began, 2)
        self.assertEqual(self.ask("Reshaped", {"x": [], "a": 2, "b": 0}).json, {"y": [[], []]})


class Pooled(harness.ServerCase):
    """Elements of a fan-out that take memory side by side."""
    args = ("--schedule=pool", "--compute-threads=4")

    @classmethod
    def setUpClass(cls):
        cls.source = source()
        super().setUpClass()

    def test_the_element_that_finds_no_memory_is_named_whoever_took_the_rest(self):
        for n in (10_000_000, 12_345_678, 33_000_000, 50_000_000, 66_000_000):
            reply = self.server.post("/Test/Large", {"n": n})
            self.assert_error(reply, 429, 3012, "the request needs more memory than it may have (`limits.request_bytes`, `limits.memory_bytes`)")
            self.assertRegex(reply.error["path"], r"^Large/parts\[[0-7]\]$", n)
        self.assertEqual(self.server.post("/Test/Large", {"n": 1000}).json, {"y": 7})


if __name__ == "__main__":
    harness.main()
