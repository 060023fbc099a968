#!/usr/bin/env python3
"""Models that take and give strings: calls have them as strings and lists, rows of several calls share runs, and what does not fit fails alone."""
import json
import struct
import threading
import unittest

import harness
import onnx_file
from harness import wfc
from onnx_file import STRING, node, value_info

CLIENTS, ROUNDS = 24, 12
SEXES, TOWNS = ("female", "male"), ("C", "Q", "S")

SOURCE = """
model Survival = onnx("survival.onnx");
model Pick(x: f32[batch, 2], words: list<string>) -> (label: string) = onnx("pick.onnx");
model Numbers(x: f32[batch, 2]) -> (best: i64[batch]) = onnx("labels.onnx");
model Echo = onnx("echo.onnx");

type Person {
  age: f32;
  sex: string;
  town: string;
}

workflow Predict(age: f32[1], sex: list<string>, town: list<string>) -> (label: string, p: f32[2]) {
  node said = Survival(age, sex, town) { batch 32 within 5ms; }
  return (label: said.label, p: said.p);
}

workflow All(people: list<Person>) -> (labels: list<string>) {
  node labels = for person in people {
    Survival([person.age], [person.sex], [person.town]).label
  };
  return (labels: labels);
}

workflow Picked(x: f32[2], words: list<string>) -> (word: string) {
  node word = Pick(x, words) { batch 32 within 5ms; }
  return (word: word);
}

workflow Careful(sex: list<string>) -> (label: string) {
  node said = Survival([1.0], sex, ["S"]).label else err.message;
  return (label: said);
}

workflow Best(x: f32[2]) -> (best: i64) {
  node best = Numbers(x);
  return (best: best);
}

service S {
  workflow Predict;
  workflow All;
  workflow Picked;
  workflow Careful;
  workflow Best;
  model Echo;
  model Survival as "survival";
}
"""


def floats(name, shape, *values):
    return onnx_file.initializer(name, shape, struct.pack(f"<{len(values)}f", *values))


def survival():
    """As skl2onnx writes a pipeline: columns of strings joined, taken apart by their encoders, which know no other categories, and a label that is a string."""
    nodes = [node("Concat", ["sex", "town"], ["words"], axis=1)]
    initializers = [onnx_file.integers("flat", [-1, 0]), onnx_file.text("classes", "lost", "saved"),
                    floats("w", (6, 2), 0, 0.01, 0, 3, 0, -3, 1, 0, 0, 2, 0, 0.5)]
    for column, (name, categories) in enumerate((("sex", SEXES), ("town", TOWNS))):
        initializers += [onnx_file.integers(f"column_{name}", [column]), onnx_file.integers(f"shape_{name}", [-1, len(categories)])]
        nodes += [node("ArrayFeatureExtractor", ["words", f"column_{name}"], [f"{name}_words"], domain="ai.onnx.ml"),
                  node("OneHotEncoder", [f"{name}_words"], [f"{name}_hot"], f"encode_{name}", domain="ai.onnx.ml", cats_strings=categories, zeros=0),
                  node("Reshape", [f"{name}_hot", f"shape_{name}"], [f"{name}_flat"])]
    nodes += [node("Concat", ["age", "sex_flat", "town_flat"], ["features"], axis=1), node("MatMul", ["features", "w"], ["scores"]),
              node("Softmax", ["scores"], ["p"], axis=1), node("ArgMax", ["p"], ["class"], axis=1, keepdims=0),
              node("Gather", ["classes", "class"], ["label"])]
    return onnx_file.model(nodes, initializers, [value_info("age", ("n", 1)), value_info("sex", ("n", 1), STRING), value_info("town", ("n", 1), STRING)],
                           [value_info("label", ("n",), STRING), value_info("p", ("n", 2))])


def pick():
    """The word of those that a call brings that its numbers choose: f32[n, 2], string[k] -> string[n]."""
    return onnx_file.model([node("ArgMax", ["x"], ["at"], axis=1, keepdims=0), node("Gather", ["words", "at"], ["label"])], [],
                           [value_info("x", ("n", 2)), value_info("words", ("k",), STRING)], [value_info("label", ("n",), STRING)])


def labels():
    return onnx_file.model([node("ArgMax", ["x"], ["best"], axis=1, keepdims=0), node("Gather", ["words", "best"], ["label"])],
                           [onnx_file.text("words", "left", "right")], [value_info("x", ("n", 2))],
                           [value_info("label", ("n",), STRING), value_info("best", ("n",), onnx_file.INT64)])


def echo():
    """Lists of three, a word of each row, and what no call can have."""
    return onnx_file.model([node("Identity", ["s"], ["same"]), node("Unsqueeze", ["s", "axis"], ["deep"])], [onnx_file.integers("axis", [1])],
                           [value_info("s", ("n", 3), STRING)],
                           [value_info("same", ("n", 3), STRING), value_info("deep", ("n", 1, 3), STRING)])


def source():
    folder = harness.scratch()
    for name, data in (("survival", survival()), ("pick", pick()), ("labels", labels()), ("echo", echo())):
        (folder / f"{name}.onnx").write_bytes(data)
    path = folder / "texts.wf"
    path.write_text(SOURCE)
    return path


def expected(age, sex, town):
    weights = {"female": 3, "male": -3, "C": -1, "Q": 2, "S": 0.5}
    return "saved" if 0.01 * age + weights[sex] + weights[town] > 0 else "lost"


class Texts(harness.ServerCase):
    source = source()
    args = ("--schedule=pool",)

    def ask(self, workflow, status=200, **values):
        reply = self.server.post(f"/S/{workflow}", values)
        self.assertEqual(reply.status, status, reply)
        return reply.json if status == 200 else reply.error

    def together(self, client):
        """Calls of several clients at a time."""
        wrong = []

        def run(at):
            try:
                client(at)
            except AssertionError as failure:
                wrong.append(failure)

        threads = [threading.Thread(target=run, args=(at,)) for at in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if wrong:
            raise wrong[0]

    def rows_of(self, model):
        counts = self.server.metrics()
        return [sum(value for name, value in counts.items() if name.startswith(f"wf_batch_size_{end}") and f'model="{model}"' in name) for end in ("sum", "count")]

    def test_a_label_is_a_string(self):
        said = self.ask("Predict", age=[30], sex=["female"], town=["C"])
        self.assertEqual(said["label"], "saved")
        self.assertAlmostEqual(sum(said["p"]), 1, places=5)
        self.assertEqual(self.ask("Predict", age=[30], sex=["male"], town=["S"])["label"], "lost")

    def test_rows_of_several_calls_share_runs(self):
        def client(at):
            for round_ in range(ROUNDS):
                age, sex, town = 10 * at, SEXES[(at + round_) % 2], TOWNS[(at + round_) % 3]
                self.assertEqual(self.ask("Predict", age=[age], sex=[sex], town=[town])["label"], expected(age, sex, town))

        self.together(client)
        rows, runs = self.rows_of("Survival")
        self.assertGreaterEqual(rows, CLIENTS * ROUNDS)
        self.assertLess(runs, rows)

    def test_what_an_encoder_does_not_know_fails_alone(self):
        def client(at):
            for _ in range(ROUNDS):
                if at % 6 == 0:
                    failure = self.ask("Predict", 500, age=[1], sex=["neither"], town=["S"])
                    self.assertEqual(failure["code"], 9000, failure)
                    self.assertIn("encode_sex", failure["message"])
                else:
                    self.assertEqual(self.ask("Predict", age=[at], sex=["female"], town=["S"])["label"], "saved")

        self.together(client)

    def test_a_list_of_another_length_is_told(self):
        failure = self.ask("Predict", 400, age=[1], sex=["male", "female"], town=["S"])
        self.assertEqual(failure["code"], 5000)
        self.assertIn("port `sex`: a list of 2 strings, wanted 1", failure["message"])
        self.assertIn("a list of 0 strings, wanted 1", self.ask("Careful", sex=[])["label"])

    def test_elements_of_a_for(self):
        people = [{"age": 10 * at, "sex": SEXES[at % 2], "town": TOWNS[at % 3]} for at in range(50)]
        self.assertEqual(self.ask("All", people=people)["labels"], [expected(**person) for person in people])

    def test_an_input_that_rows_share_is_the_same_for_all_of_a_run(self):
        def client(at):
            words = [f"first of {at % 3}", f"second of {at % 3}"]
            for round_ in range(ROUNDS):
                self.assertEqual(self.ask("Picked", x=[round_ % 2, 0.5], words=words)["word"], words[1 - round_ % 2])

        self.together(client)
        rows, runs = self.rows_of("Pick")
        self.assertLess(runs, rows)

    def test_long_strings_and_none(self):
        many = ["", "ü" * 100_000, "\U0001f600"]
        self.assertEqual(self.ask("Picked", x=[0, 1], words=many[:2])["word"], many[1])
        self.assertEqual(self.ask("Echo", s=many), {"same": many})

    def test_the_open_inference_protocol_has_bytes(self):
        inputs = {one["name"]: one["datatype"] for one in self.server.call("GET", "/v2/models/survival").json["inputs"]}
        self.assertEqual(inputs, {"age": "FP32", "sex": "BYTES", "town": "BYTES"})
        body = {"inputs": [{"name": "age", "datatype": "FP32", "shape": [2, 1], "data": [10, 20]},
                           {"name": "sex", "datatype": "BYTES", "shape": [2, 1], "data": ["female", "male"]},
                           {"name": "town", "datatype": "BYTES", "shape": [2, 1], "data": ["S", "Q"]}]}
        reply = self.server.post("/v2/models/survival/infer", body)
        self.assertEqual(reply.status, 200, reply)
        outputs = {one["name"]: one for one in reply.json["outputs"]}
        self.assertEqual((outputs["label"]["datatype"], outputs["label"]["data"]), ("BYTES", ["saved", "lost"]))
        self.assertEqual(outputs["p"]["shape"], [2, 2])

    def test_a_written_signature_need_not_name_labels(self):
        self.assertEqual(self.ask("Best", x=[0, 1])["best"], 1)

    def test_the_server_says_what_no_call_has(self):
        self.assertTrue(self.server.logs("an output of strings is left out", '"model":"Echo"', '"output":"deep"'))


class Told(unittest.TestCase):
    def setUp(self):
        self.folder = source().parent

    def test_inspect_says_what_no_call_has(self):
        said = json.loads(wfc("model", "inspect", "--format=json", self.folder / "echo.onnx").stdout)
        self.assertEqual(said["notes"], ["programs do not have output `deep`, which is of strings with 2 axes a call"])
        self.assertNotIn("notes", json.loads(wfc("model", "inspect", "--format=json", self.folder / "survival.onnx").stdout))

    def test_check_says_what_is_left_out(self):
        done = wfc("check", self.folder / "texts.wf")
        self.assertIn("WF6012", done.stdout + done.stderr)
        self.assertIn("output `deep` of model `Echo` is left out", done.stdout + done.stderr)

    def test_an_input_that_no_call_can_give_is_refused(self):
        path = self.folder / "deep.onnx"
        path.write_bytes(onnx_file.model([node("Identity", ["s"], ["t"])], [], [value_info("s", ("n", 2, 3), STRING)], [value_info("t", ("n", 2, 3), STRING)]))
        done = wfc("model", "serve", path, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("strings, of which a call can", done.stderr)


if __name__ == "__main__":
    harness.main()
