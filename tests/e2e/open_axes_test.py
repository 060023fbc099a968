#!/usr/bin/env python3
"""An empty array of plain JSON says nothing of the axes within it: the other parameters say what they are, in whichever order they stand."""
import math

import harness

SOURCE = """package open;
const HERE: i64[0, 3] = [i, j] => i + j;
workflow Rows(table: f32[n, w], weights: f32[w]) -> (table: f32[n, w], n: i64, w: i64) {
  return (table: table, n: n, w: w);
}
workflow Behind(weights: f32[w + 1], table: f32[n, w]) -> (w: i64, sums: f32[w]) {
  return (w: w, sums: [j] => sum[i](table[i, j]));
}
workflow Cube(cube: i64[n, w, h], row: i64[w], more: i64[h - 1]) -> (n: i64, w: i64, h: i64) {
  return (n: n, w: w, h: h);
}
workflow Alone(a: i64[n, w - 1], b: i64[m, w], c: i64[k, v + 2]) -> (w: i64, v: i64) {
  return (w: w, v: v);
}
workflow Wide(table: f32[n, k], k: i32) -> (k: i64, sums: f32[_]) {
  return (k: i64(k), sums: [j < i64(k)] => sum[i](table[i, j]));
}
workflow Large(h: u64, table: f32[n, h]) -> (h: u64, n: i64) {
  return (h: h, n: n);
}
workflow Inside(pair: (table: f32[n, w], on: bool), weights: f32[w]) -> (w: i64) {
  return (w: w);
}
workflow Given(table: i64[n, w] = HERE, weights: i64[w]) -> (w: i64) {
  return (w: w);
}
workflow Twice(a: f32[n, 2*h - 1]) -> (h: i64) {
  return (h: h);
}
workflow Thrice(a: f32[n, 3*h - 2, k - 4]) -> (h: i64, k: i64) {
  return (h: h, k: k);
}
workflow Falling(a: f32[n, 5 - m]) -> (m: i64, sums: f32[5 - m]) {
  return (m: m, sums: [j] => sum[i](a[i, j]));
}
workflow Both(a: f32[n, 5 - 2*m], b: f32[k, m], c: f32[k, 9 - 3*m]) -> (m: i64) {
  return (m: m);
}
workflow After(a: f32[n, h], b: f32[m, h] = [], c: f32[2, m, h] = [[], []]) -> (m: i64, h: i64) {
  return (m: m, h: h);
}
workflow Before(pair: (here: i64[n, w], more: f32[k, w, v]) = (here: HERE, more: []), wide: f32[m, w], deep: f32[v]) -> (w: i64, v: i64) {
  return (w: w, v: v);
}
workflow Raw(data: bytes, table: f32[n, w], weights: f32[w]) -> (w: i64, bytes: i64) {
  return (w: w, bytes: len(data));
}
service S {
  workflow Rows;
  workflow Behind;
  workflow Cube;
  workflow Alone;
  workflow Wide;
  workflow Large;
  workflow Inside;
  workflow Given;
  workflow Twice;
  workflow Thrice;
  workflow Falling;
  workflow Both;
  workflow After;
  workflow Before;
  workflow Raw;
}
service T {
  workflow Rows as "again";
}
"""


class OpenAxes(harness.ServerCase):
    @classmethod
    def setUpClass(cls):
        cls.source = harness.scratch() / "open.wf"
        cls.source.write_text(SOURCE)
        super().setUpClass()

    def ask(self, workflow, **values):
        return self.server.post(f"/S/{workflow}", values)

    def test_other_parameters_say_it(self):
        answer = self.ask("Rows", table=[], weights=[1, 2]).json
        self.assertEqual(answer, {"table": [], "n": 0, "w": 2})
        self.assertEqual(self.ask("Rows", table=answer["table"], weights=[]).json, {"table": [], "n": 0, "w": 0})
        self.assertEqual(self.server.post("/T/again", {"table": [], "weights": [1, 2]}).json, answer)
        self.assertEqual(self.ask("Behind", weights=[1, 2, 3], table=[]).json, {"w": 2, "sums": [0, 0]})
        self.assertEqual(self.ask("Inside", pair={"table": [], "on": True}, weights=[1, 2]).json, {"w": 2})

    def test_as_far_as_arrays_are_given_they_say_it(self):
        for cube, row, n in (([], [1, 2], 0), ([[], []], [], 2)):
            self.assertEqual(self.ask("Cube", cube=cube, row=row, more=[5]).json, {"n": n, "w": len(row), "h": 2})
        self.assert_error(self.ask("Cube", cube=[[[], []]], row=[1, 2], more=[5]), 400, 5000, "axis 0 of `more` is 1")
        self.assert_error(self.ask("Cube", cube=[[], []], row=[1], more=[]), 400, 5000, "`row`")
        self.assert_error(self.ask("Rows", table=[[], []], weights=[1]), 400, 5000, "axis 0 of `weights` is 1, wanted 0 (`w`)")

    def test_what_nothing_says_is_as_small_as_can_be(self):
        self.assertEqual(self.ask("Alone", a=[], b=[], c=[]).json, {"w": 1, "v": 0})
        self.assertEqual(self.ask("Alone", a=[], b=[[1, 2, 3]], c=[]).json, {"w": 3, "v": 0})

    def test_an_extent_that_can_be_0_only_elsewhere(self):
        self.assertEqual(self.ask("Twice", a=[]).json, {"h": 1})
        self.assertEqual(self.ask("Thrice", a=[]).json, {"h": 1, "k": 4})
        self.assertEqual(self.ask("Falling", a=[]).json, {"m": 5, "sums": []})
        self.assertEqual(self.ask("Both", a=[], b=[], c=[]).json, {"m": 2}, "the first of them is the smallest")
        self.assertEqual(self.ask("Both", a=[[1, 2, 3]], b=[], c=[]).json, {"m": 1})

    def test_integers_say_it(self):
        self.assertEqual(self.ask("Wide", table=[], k=3).json, {"k": 3, "sums": [0, 0, 0]})
        self.assert_error(self.ask("Wide", table=[], k=-1), 400, 5000, "`table`")
        self.assert_error(self.ask("Wide", table=[], k=2_000_000_000), 400, 5000, "`table` is empty, and the other extents of its shape are too large")

    def test_a_default_says_all_of_its_axes(self):
        self.assertEqual(self.ask("Given", weights=[1, 2, 3]).json, {"w": 3})
        self.assert_error(self.ask("Given", weights=[1, 2]), 400, 5000, "axis 0 of `weights` is 2, wanted 3 (`w`)")
        self.assertEqual(self.ask("Given", table=[], weights=[1, 2]).json, {"w": 2})

    def test_an_integer_beyond_all_extents_is_told_as_it_is(self):
        message = f"axis 1 of `table` is %s, wanted {2**64 - 1} (`h`)"
        self.assert_error(self.ask("Large", h=2**64 - 1, table=[]), 400, 5000, message % 0)
        self.assert_error(self.ask("Large", h=2**64 - 1, table=[[1]]), 400, 5000, message % 1)

    def test_an_empty_default_says_none(self):
        self.assertEqual(self.ask("After", a=[[1, 2]]).json, {"m": 0, "h": 2})
        self.assertEqual(self.ask("After", a=[[1, 2]], b=[], c=[[], []]).json, {"m": 0, "h": 2})
        self.assertEqual(self.ask("After", a=[], b=[[1, 2, 3]], c=[[[1, 2, 3]], [[4, 5, 6]]]).json, {"m": 1, "h": 3})
        self.assertEqual(self.ask("Before", wide=[[1, 2, 3]], deep=[1]).json, {"w": 3, "v": 1})
        self.assert_error(self.ask("Before", wide=[[1, 2]], deep=[1]), 400, 5000, "axis 1 of `wide` is 2, wanted 3 (`w`)")
        self.assertEqual(self.ask("Before", pair={"here": [], "more": []}, wide=[[1, 2]], deep=[1]).json, {"w": 2, "v": 1})

    def test_an_empty_default_beside_shapes_that_are_stated(self):
        def infer(model, **shapes):
            inputs = [{"name": name, "datatype": "FP32", "shape": shape, "data": [0.0] * math.prod(shape)} for name, shape in shapes.items()]
            answer = self.server.post(f"/v2/models/S.{model}/infer", {"inputs": inputs})
            return {output["name"]: output["data"] for output in answer.json["outputs"]} if answer.status == 200 else answer.json["error"]

        self.assertEqual(infer("After", a=[1, 2]), {"m": [0], "h": [2]})
        self.assertEqual(infer("After", a=[3, 1, 2]), {"m": [0] * 3, "h": [2] * 3}, "each of several samples")
        self.assertEqual(infer("After", a=[0, 2], b=[0, 2]), {"m": [0], "h": [2]})
        self.assertIn("axis 1 of `b` is 3, wanted 2 (`h`)", infer("After", a=[0, 2], b=[0, 3]))

    def test_in_a_query(self):
        answer = self.server.call("POST", "/S/Raw?table=%5B%5D&weights=[1,2]", b"12345", {"content-type": "application/octet-stream"})
        self.assertEqual(answer.json, {"w": 2, "bytes": 5})


if __name__ == "__main__":
    harness.main()
