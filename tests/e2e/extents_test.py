#!/usr/bin/env python3
"""Extents of outputs that a model's signature states by symbols: what the file does not prove is compared at each call, and a version of which it is not true is not served."""
import json

import harness
import onnx_file

from onnx_file import node, value_info


def product(x=("N", 3, "W"), k=("K", )):
    """x * k, of which the file cannot say what comes of W and K; it declares W."""
    return onnx_file.model([node("Mul", ["x", "k"], ["y"])], [], [value_info("x", x), value_info("k", k)], [value_info("y", x)])


def products():
    """Two of them, of two widths."""
    return onnx_file.model([node("Mul", ["x", "k"], ["a"]), node("Mul", ["x", "j"], ["b"])], [],
                           [value_info("x", ("N", "W")), value_info("k", ("N", "K")), value_info("j", ("N", "J"))],
                           [value_info("a", ("N", "A")), value_info("b", ("N", "B"))])


def halves():
    return onnx_file.model([node("MaxPool", ["x"], ["y"], kernel_shape=[2], strides=[2])], [], [value_info("x", ("N", 3, "W"))], [value_info("y", ("N", 3, "V"))])


def whole():
    return onnx_file.model([node("Relu", ["x"], ["y"])], [], [value_info("x", ("N", 3, "W"))], [value_info("y", ("N", 3, "W"))])


def every_other():
    """Rounded up, a window at the end that lies in nothing is left out: w/2 + 1 of them as the shapes say, one less where w is even."""
    return onnx_file.model([node("MaxPool", ["x"], ["y"], kernel_shape=[1], strides=[2], ceil_mode=1)], [], [value_info("x", ("N", 3, "W"))], [value_info("y", ("N", 3, "V"))])


def halves_otherwise():
    return onnx_file.model([node("Relu", ["x"], ["positive"]), node("MaxPool", ["positive"], ["y"], kernel_shape=[2], strides=[2])], [],
                           [value_info("x", ("M", 3, "L"))], [value_info("y", ("M", 3, "V"))])


def first_two():
    """Of 4 the half, of which the file does not tell how it depends on the width."""
    return onnx_file.model([node("Slice", ["x", "from", "to", "axes"], ["y"])], [onnx_file.integers("from", [0]), onnx_file.integers("to", [2]), onnx_file.integers("axes", [2])],
                           [value_info("x", ("N", 3, "W"))], [value_info("y", ("N", 3, "V"))])


STATED = """
model Twice(x: f32[batch, 3, w], k: f32[v]) -> f32[batch, 3, 2*w] = onnx("product.onnx");
model Huge(x: f32[batch, 3, w], k: f32[v]) -> f32[batch, 3, 4000000*w] = onnx("product.onnx");
model Same(x: f32[batch, 3, w], k: f32[v]) -> f32[batch, 3, w] = onnx("product.onnx");
model Declared = onnx("declared.onnx");
model Every = onnx("every.onnx");
model Even(x: f32[batch, w], k: f32[batch, v], j: f32[batch, u]) -> (a: f32[batch, 2*n], b: f32[batch, n]) = onnx("products.onnx");
fn total(x: f32[3, n], y: f32[3, n]) -> f32 = sum[i, j](x[i, j] * y[i, j]);
workflow Parameters(x: f32[2*n], y: f32[2*m + 1], z: f32[n + m]) -> (n: i64) {
  return (n: n + m);
}
workflow Ends(x: f32[3, w]) -> (y: f32) {
  node y = Every(x);
  return (y: y[2, w/2]);
}
workflow Last(x: f32[3, w], k: f32[v]) -> (y: f32) {
  node y = Twice(x, k);
  return (y: y[2, 2*w - 1]);
}
workflow Far(x: f32[3, w], k: f32[v]) -> (y: f32) {
  node y = Huge(x, k);
  return (y: y[2, 4000000*w - 1]);
}
workflow Sum(x: f32[3, w], k: f32[v]) -> (y: f32[3, w]) {
  node y = Same(x, k) { batch 8 within 2ms; }
  return (y: y + x);
}
workflow Reason(x: f32[3, w], k: f32[v]) -> (why: string) {
  node y = Same(x, k);
  return (why: str(y[0, 0]));
}
workflow Caught(x: f32[3, w], k: f32[v]) -> (y: f32[3, w], why: string) {
  node y = Same(x, k) else x;
  node why = Reason(x, k) else (why: "{err.code} {err.node}");
  return (y: y, why: why.why);
}
workflow Numbers(x: f32[3, 2], k: f32[v]) -> (y: f32) {
  node y = Twice(x, k);
  return (y: y[2, 3]);
}
workflow Chosen(x: f32[3, w], k: f32[v], c: bool) -> (y: f32) {
  node y: f32[3, 4] = if c { Same(x, k) } else { Declared(x, [k]) };
  return (y: y[2, 3]);
}
workflow Many(xs: list<f32[3, _]>, k: f32[v]) -> (y: list<f32>) {
  node y = for x in xs { total(Same(x, k), x) };
  return (y: y);
}
workflow Pairs(x: f32[w], k: f32[v], j: f32[u]) -> (a: f32, b: f32) {
  node y = Even(x, k, j);
  return (a: y.a[2 * len(y.b) - 1], b: y.b[len(y.b) - 1]);
}
service S { workflow Ends; workflow Parameters; workflow Last; workflow Far; workflow Sum; workflow Caught; workflow Numbers; workflow Chosen; workflow Many; workflow Pairs; model Same; model Even; }
"""


def stated():
    folder = harness.scratch() / "stated"
    if not folder.exists():
        folder.mkdir()
        (folder / "product.onnx").write_bytes(product())
        (folder / "declared.onnx").write_bytes(product((3, "W"), (1, "K")))
        (folder / "every.onnx").write_bytes(every_other())
        (folder / "products.onnx").write_bytes(products())
        (folder / "stated.wf").write_text(STATED)
    return folder / "stated.wf"


def rows(width):
    return [[100 * row + at for at in range(width)] for row in range(3)]


class Stated(harness.ServerCase):
    args = ("--schedule", "pool")

    @classmethod
    def setUpClass(cls):
        cls.source = stated()
        super().setUpClass()

    def test_what_is_checked_is_listed(self):
        said = harness.wfc("check", "--verbose", self.source).stderr
        for line in ("axis 1 of `y` of model `Twice` is `2*w` (`2*w` in its signature)", "axis 1 of `y` of model `Same` is `w` (`w` in its signature)",
                     "axis 1 of `y` of model `Declared` is `w` (`W` in its signature)", "axis 0 of `a` of model `Even` is a multiple of 2 (`2*n` in its signature)",
                     "axis 0 of `b` of model `Even` is `n` (`n` in its signature)"):
            self.assertIn("checked when it runs: " + line, said)

    def test_another_extent_than_the_stated_one(self):
        for path, more in (("Last", {}), ("Far", {}), ("Numbers", {})):
            reply = self.server.post("/S/" + path, {"x": rows(2), "k": [1], **more})
            stated = "8000000 (`4000000*w`" if path == "Far" else "4 (`2*w`"
            self.assert_error(reply, 500, 7004, f"axis 1 of `y` of model `{'Huge' if path == 'Far' else 'Twice'}` is 2, wanted {stated} in its signature)")
            self.assertIn(f"{path}/y", reply.error["path"])
        reply = self.server.post("/S/Last", {"x": rows(1), "k": [1, 2]})
        self.assertEqual((reply.status, reply.json), (200, {"y": 400}), reply)

    def test_what_shapes_say_with_a_rest_is_compared(self):
        self.assertEqual(self.server.post("/S/Ends", {"x": rows(3)}).json, {"y": 202})
        self.assert_error(self.server.post("/S/Ends", {"x": rows(4)}), 500, 7004, "axis 1 of `y` of model `Every` is 2, wanted 3")

    def test_a_parameter_is_told_what_was_written(self):
        ask = lambda x, y, z: self.server.post("/S/Parameters", {"x": [1] * x, "y": [1] * y, "z": [1] * z})
        self.assertEqual(ask(4, 3, 3).json, {"n": 3})
        self.assert_error(ask(3, 3, 3), 400, 5000, "axis 0 of `x` is 3, wanted a multiple of 2 (`2*n`)")
        self.assert_error(ask(4, 2, 3), 400, 5000, "axis 0 of `y` is 2, and no `m` makes `2*m + 1` that")
        self.assert_error(ask(4, 3, 2), 400, 5000, "axis 0 of `z` is 2, wanted 3 (`m + n`)")

    def test_the_stated_one_is_as_good_as_a_proved_one(self):
        self.assertEqual(self.server.post("/S/Sum", {"x": rows(2), "k": [2]}).json, {"y": [[0, 3], [300, 303], [600, 603]]})
        self.assertEqual(self.server.post("/S/Sum", {"x": rows(2), "k": [2, 0]}).json, {"y": [[0, 1], [300, 101], [600, 201]]})
        self.assert_error(self.server.post("/S/Sum", {"x": rows(1), "k": [1, 2, 3]}), 500, 7004, "is 3, wanted 1 (`w` in its signature)")

    def test_rows_of_one_batch_answer_for_themselves(self):
        connections = [self.server.connect() for _ in range(24)]
        bodies = [{"x": rows(1), "k": [2] if at % 3 else [1, 2, 3, 4]} for at in range(len(connections))]
        for connection, body in zip(connections, bodies):
            connection.send(harness.request("POST", "/S/Sum", json.dumps(body).encode()))
        for at, connection in enumerate(connections):
            reply = connection.receive()
            self.assertEqual(reply.status, 200 if at % 3 else 500, reply)
            connection.close()

    def test_a_fallback_sees_it(self):
        reply = self.server.post("/S/Caught", {"x": rows(1), "k": [1, 2]})
        self.assertEqual((reply.status, reply.json["y"]), (200, rows(1)), reply)
        self.assertTrue(reply.json["why"].startswith("7004 "), reply)

    def test_a_written_type_is_held_against_a_choice(self):
        for chosen in (True, False):
            self.assert_error(self.server.post("/S/Chosen", {"x": rows(2), "k": [1], "c": chosen}), 500, 7004, "is 2, wanted 4")
            self.assertEqual(self.server.post("/S/Chosen", {"x": rows(4), "k": [1], "c": chosen}).json, {"y": 203})
        self.assert_error(self.server.post("/S/Chosen", {"x": rows(1), "k": [1, 2, 3, 4], "c": False}), 500, 7004, "of model `Declared` is 4, wanted 1")

    def test_elements_of_a_loop(self):
        self.assertEqual(self.server.post("/S/Many", {"xs": [rows(1), rows(2)], "k": [1]}).json, {"y": [50000, 100603]})
        self.assert_error(self.server.post("/S/Many", {"xs": [rows(2), rows(1)], "k": [1, 2]}), 500, 7004, "is 2, wanted 1")

    def test_a_symbol_that_only_outputs_have(self):
        ask = lambda k, j: self.server.post("/S/Pairs", {"x": [3], "k": [1] * k, "j": [2] * j})
        self.assertEqual(ask(4, 2).json, {"a": 3, "b": 6})
        self.assert_error(ask(3, 1), 500, 7004, "axis 0 of `a` of model `Even` is 3, wanted a multiple of 2 (`2*n` in its signature)")
        self.assert_error(ask(4, 3), 500, 7004, "axis 0 of `b` of model `Even` is 3, wanted 2 (`n` in its signature)")

    def test_published_models(self):
        self.assertEqual(self.server.post("/S/Same", {"x": rows(2), "k": [2]}).json, {"y": [[0, 2], [200, 202], [400, 402]]})
        self.assert_error(self.server.post("/S/Same", {"x": rows(1), "k": [1, 2]}), 500, 7004, "axis 1 of `y` of model `Same` is 2, wanted 1")
        self.assert_error(self.server.post("/S/Even", {"x": [3], "k": [1] * 4, "j": [1]}), 500, 7004, "axis 0 of `b` of model `Even` is 1, wanted 2")
        self.assertEqual(self.server.post("/S/Even", {"x": [3], "k": [1] * 2, "j": [1]}).json, {"a": [3, 3], "b": [3]})


class Versions(harness.unittest.TestCase):
    """Version 1 gives the halves; what is there besides comes after the build."""

    def serve(self, name, signature, later, at_build=True, answer=203):
        folder = harness.scratch() / name
        source = folder / f"{name}.wf"
        put = lambda version, content: ((folder / "half" / str(version)).mkdir(parents=True), (folder / "half" / str(version) / "model.onnx").write_bytes(content))
        folder.mkdir()
        if at_build:
            put(1, halves())
        source.write_text(f"""model Half{signature} = onnx("half");
workflow Go(x: f32[3, w]) -> (y: f32) {{
  node y = Half(x);
  return (y: y[2, w/2 - 1]);
}}
service S {{ workflow Go; }}
""")
        binary = harness.compiled(source)
        if not at_build:
            put(1, halves())
        put(2, later)
        server = harness.Server(binary, "--model-root", folder)
        self.addCleanup(server.kill)
        server.wait_ready()
        self.assertEqual(server.post("/S/Go", {"x": rows(4)}).json, {"y": answer})
        self.assertEqual(server.stop(), 0, server.output())
        return [line for line in server.stderr_path.read_text().splitlines() if "refused" in line]

    def test_one_that_gives_another_extent_is_refused(self):
        written = "(x: f32[batch, 3, w]) -> (y: f32[batch, 3, w/2])"
        for at, (signature, at_build) in enumerate((("", True), (written, True), (written, False))):
            refused = self.serve(f"other{at}", signature, whole(), at_build)
            self.assertEqual(len(refused), 1, refused)
            self.assertIn("half/2/model.onnx", refused[0])
            self.assertIn("which is never", refused[0])

    def test_one_that_gives_the_same_in_another_way_is_served(self):
        self.assertEqual(self.serve("same", "", halves_otherwise()), [])

    def test_one_that_proves_less_is_served_where_calls_check_it(self):
        refused = self.serve("less", "", first_two())
        self.assertEqual(len(refused), 1, refused)
        self.assertIn("which takes axis 2 to be `W/2`, and the nodes do not prove it", refused[0])
        written = "(x: f32[batch, 3, w]) -> (y: f32[batch, 3, w/2])"
        self.assertEqual(self.serve("checked", written, first_two(), at_build=False, answer=201), [])


if __name__ == "__main__":
    harness.main()
