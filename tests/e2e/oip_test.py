#!/usr/bin/env python3
"""The Open Inference Protocol over REST, as its clients use it: health, metadata, single calls, calls of many samples, and mistakes."""
import base64
import json
import urllib.error
import urllib.request

import harness


def tensor(name, datatype, shape, data, **parameters):
    row = {"name": name, "datatype": datatype, "shape": shape, "data": data}
    return {**row, "parameters": parameters} if parameters else row


class OipCase(harness.ServerCase):
    def ask(self, path, value=None, method=None, headers=None):
        """Status and JSON of /v2 + path; `value` is posted."""
        host, port = self.server.addresses["http"]
        data = None if value is None else value if isinstance(value, bytes) else json.dumps(value).encode()
        request = urllib.request.Request(f"http://{host}:{port}/v2{path}", data, {"content-type": "application/json", **(headers or {})}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:
                return reply.status, json.load(reply)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def infer(self, model, *inputs, **more):
        """The outputs by name, of a call that succeeds."""
        status, reply = self.ask(f"/models/{model}/infer", {"inputs": list(inputs), **more})
        self.assertEqual(status, 200, reply)
        self.assertEqual((reply["model_name"], reply["model_version"]), (model, "1"))
        return {output["name"]: output for output in reply["outputs"]}

    def assert_refused(self, answer, status, code, *words):
        self.assertEqual(answer[0], status, answer)
        self.assertEqual(answer[1]["code"], code, answer)
        for word in words:
            self.assertIn(word, answer[1]["error"])
        for member in ("name", "path", "data_id", "log_id"):
            self.assertIn(member, answer[1])


class Hello(OipCase):
    source = harness.EXAMPLES / "hello/hello.wf"

    def test_server_and_health(self):
        status, server = self.ask("")
        self.assertEqual((status, server["name"]), (200, "wf"))
        self.assertEqual(server["extensions"], harness.EXTENSIONS)
        self.assertEqual(self.ask("/health/live"), (200, {"live": True}))
        self.assertEqual(self.ask("/health/ready"), (200, {"ready": True}))

    def test_each_extension_is_answered_and_no_other(self):
        served = {"logging": "/logging", "model_configuration": "/models/Spread/config", "statistics": "/models/Spread/stats", "trace": "/trace/setting"}
        for name, path in served.items():
            self.assertIn(name, harness.EXTENSIONS)
            self.assertEqual(self.ask(path)[0], 200, name)
        self.assertEqual(self.ask("/repository/index", {})[0], 200)
        self.assertEqual(self.ask("/repository/models/Spread/load", {})[0], 200)
        for size in (10, 30_000):
            self.assert_refused(self.ask("/repository/models/Spread/load", {"parameters": {"file:1/m.onnx": "x" * size}}), 501, 3000)
        for name in ("systemsharedmemory", "cudasharedmemory"):
            self.assertEqual(self.ask(f"/{name}/status")[0], 501)
        sequence = {"inputs": [tensor("xs", "FP32", [1], [1])], "parameters": {"sequence_id": 1}}
        self.assert_refused(self.ask("/models/Spread/infer", sequence), 501, 3000)

    def test_metadata_of_every_name_of_a_model(self):
        for model in ("Hello.Spread", "Spread", "Hello.Spread/versions/1"):
            status, metadata = self.ask(f"/models/{model}")
            self.assertEqual(status, 200, metadata)
            self.assertEqual(metadata["name"], model.split("/")[0])
            self.assertEqual(metadata["versions"], ["1"])
            self.assertEqual(metadata["inputs"], [{"name": "xs", "datatype": "FP32", "shape": [-1, -1]}])
            self.assertEqual(metadata["outputs"], [{"name": "mean", "datatype": "FP32", "shape": [-1]}, {"name": "spread", "datatype": "FP32", "shape": [-1, -1]}])
        self.assertEqual(self.ask("/models/Hello")[1]["inputs"], [{"name": "name", "datatype": "BYTES", "shape": [-1, 1]}])
        self.assertEqual(self.ask("/models/Hello%2eGreet")[1]["name"], "Hello.Greet")
        self.assertEqual(self.ask("/models/Hello.Greet/ready"), (200, {"name": "Hello.Greet", "ready": True}))
        self.assertEqual(self.ask("/models/Greet/versions/1/ready")[0], 200)

    def test_strings_and_defaults(self):
        self.assertEqual(self.infer("Hello", tensor("name", "BYTES", [1], ["Zoë"]))["text"]["data"], ["hello, Zoë"])
        self.assertEqual(self.infer("Hello")["text"]["data"], ["hello, world"])
        many = self.infer("Hello", tensor("name", "BYTES", [3, 1], [["a"], ["b"], ["c"]]))["text"]
        self.assertEqual((many["shape"], many["data"]), ([3], ["hello, a", "hello, b", "hello, c"]))

    def test_as_many_samples_as_a_call_takes(self):
        rows = [[i, i + 1, i + 5] for i in range(1024)]
        outputs = self.infer("Spread", tensor("xs", "FP32", [1024, 3], rows))
        self.assertEqual(outputs["mean"]["data"], [i + 2 for i in range(1024)])
        self.assertEqual((outputs["spread"]["shape"], outputs["spread"]["data"]), ([1024, 3], [-2, -1, 3] * 1024))
        self.assert_refused(self.ask("/models/Spread/infer", {"inputs": [tensor("xs", "FP32", [1025, 1], [1] * 1025)]}), 400, 5000, "1025 samples", "1 to 1024")

    def test_asked_outputs_and_id(self):
        status, reply = self.ask("/models/Spread/infer", {"id": "call-7", "outputs": [{"name": "mean", "parameters": {"binary_data": False}}], "inputs": [tensor("xs", "FP32", [2], [1, 3])]})
        self.assertEqual((status, reply["id"]), (200, "call-7"))
        self.assertEqual([output["name"] for output in reply["outputs"]], ["mean"])
        status, reply = self.ask("/models/Spread/infer", {"id": "call-8", "inputs": [tensor("xs", "FP32", [0], [])]})
        self.assertEqual((status, reply["code"], reply["log_id"]), (400, 100001, "call-8"))

    def test_outputs_come_as_asked(self):
        asked = [{"name": "spread"}, {"name": "mean"}]
        self.assertEqual(list(self.infer("Spread", tensor("xs", "FP32", [2], [1, 3]), outputs=asked)), ["spread", "mean"])

    def test_a_result_that_json_cannot_say_names_its_sample_and_its_workflow(self):
        rows = [[1, 2, 3], [3e38, 3e38, 3e38], [1, 2, 3], [1, 2, 3]]
        answer = self.ask("/models/Spread/infer", {"inputs": [tensor("xs", "FP32", [4, 3], rows)]})
        self.assert_refused(answer, 500, 9000)
        self.assertTrue(answer[1]["error"].startswith("output `mean` of sample 1: "), answer)
        self.assertEqual(answer[1]["path"], "Spread")

    def test_a_failed_sample_is_named(self):
        self.assert_refused(self.ask("/models/Spread/infer", {"inputs": [tensor("xs", "FP32", [2, 0], [])]}), 400, 100001, "sample 0: no numbers were given")

    def test_wrong_shapes_and_types(self):
        def refused(row, *words):
            self.assert_refused(self.ask("/models/Spread/infer", {"inputs": [row]}), 400, 5000, *words)

        refused(tensor("xs", "FP32", [2, 2, 2], [0] * 8), "`xs`", "3 axes", "f32[")
        refused(tensor("xs", "FP32", [4], [1, 2, 3]), "`xs`", "4 elements", "found 3")
        refused(tensor("xs", "FP32", [2], [1, 2, 3]), "`xs`", "2 elements")
        refused(tensor("xs", "INT64", [1], [1]), "`xs`", "FP32", "INT64")
        refused(tensor("xs", "FP32", [1], ["a"]), "`xs`")
        refused(tensor("xss", "FP32", [1], [1]), "`xss`", "did you mean `xs`")
        refused(tensor("xs", "FP32", [10**15], [1]), "`xs`")
        self.assert_refused(self.ask("/models/Spread/infer", {"inputs": []}), 400, 5000, "`xs` is missing")
        self.assert_refused(self.ask("/models/Spread/infer", b"{"), 400, 5000, "byte 1")
        self.assert_refused(self.ask("/models/Spread/infer", b'{"inputs":' + b"[" * 100_000), 400, 5000)

    def test_unknown_paths_models_and_versions(self):
        self.assert_refused(self.ask("/models/Hello.Great"), 404, 3002, "did you mean `Hello.Greet`")
        for path in ("", "/ready"):
            self.assert_refused(self.ask(f"/models/Hello/versions/2{path}"), 404, 3002, "no version `2`", "it has 1")
        self.assert_refused(self.ask("/models/Hello/versions/2/infer", {"inputs": []}), 404, 3002, "it has 1")
        self.assertGreater(self.ask("/models/Hello.Great")[1]["data_id"], 0)
        self.assert_refused(self.ask("/models/Hello/generate", {}), 404, 3002)
        self.assert_refused(self.ask("/models/Hello/infer"), 405, 5000)
        self.assert_refused(self.ask("/health/live", {}), 405, 5000)

    def test_what_is_not_built_is_no_failure_of_the_server(self):
        self.assert_refused(self.ask("/models/Hello/infer", {"parameters": {"sequence_id": 7}, "inputs": []}), 501, 3000)
        rows = {"inputs": [tensor("xs", "FP32", [2], [3e38, 3e38])]}
        self.assert_refused(self.ask("/models/Spread/infer", rows, headers={"x-request-id": "after"}), 500, 9000)
        self.assertTrue(self.server.logs("a request failed", '"after"'), self.server.output())
        self.assertFalse(self.server.logs("a request failed", '"code":3000', seconds=0.2), self.server.output())

    def test_a_string_as_base64(self):
        name = {"datatype": "BYTES", "shape": [2], "name": "name", "parameters": {"content_type": "base64"}}
        texts = [base64.b64encode("Zoë".encode()).decode(), ""]
        self.assertEqual(self.infer("Hello", {**name, "data": texts})["text"]["data"], ["hello, Zoë", "hello, "])
        for data, word in ((["?", ""], "element 0 of input `name` (sample 0) is no base64"), ([texts[0], "/w=="], "element 1 of input `name` (sample 1) is a string, and its base64 holds no UTF-8")):
            self.assert_refused(self.ask("/models/Hello/infer", {"inputs": [{**name, "data": data}]}), 400, 5000, word)

    def test_calls_are_counted_by_protocol(self):
        def count():
            return sum(value for name, value in self.server.metrics().items() if name.startswith("wf_requests_total") and 'protocol="oip"' in name)

        before = count()
        self.infer("Hello")
        self.assertEqual(count(), before + 1)


ABSENT = """
type Point { x: i64; label: string; }
workflow Echo(tally: map<i64>?, point: Point?, points: list<Point?>?, scores: map<list<f32>>?, count: i64?, text: string?) -> (
  tally: map<i64>?, point: Point?, points: list<Point?>?, scores: map<list<f32>>?, count: i64?, text: string?
) {
  return (tally: tally, point: point, points: points, scores: scores, count: count, text: text);
}
service Maybes { workflow Echo; }
"""


def absent():
    file = harness.scratch() / "absent.wf"
    file.write_text(ABSENT)
    return file


class Absent(OipCase):
    source = absent()
    TEXTS = {"tally": ('{"a":1,"b":-2}', "{}"), "point": ('{"x":1,"label":"p"}',), "points": ('[{"x":1,"label":""},null]', "[]"), "scores": ('{"a":[0.5],"b":[]}',)}

    def test_metadata_says_what_infer_takes(self):
        inputs = self.ask("/models/Maybes")[1]["inputs"]
        self.assertEqual({row["name"]: row["datatype"] for row in inputs}, {**{name: "BYTES" for name in self.TEXTS}, "count": "INT64", "text": "BYTES"})
        self.assertEqual([row["shape"] for row in inputs], [[-1, 1]] * 6)
        self.assertEqual([row["optional"] for row in self.ask("/models/Maybes/config")[1]["input"]], [True] * 6)
        self.assertEqual({row["datatype"] for row in self.ask("/models/Maybes")[1]["outputs"]}, {"BYTES"})

    def test_what_is_left_out_is_absent(self):
        self.assertEqual({row["data"][0] for row in self.infer("Maybes").values()}, {"null"})

    def test_values_come_back_and_null_is_none(self):
        for name, texts in self.TEXTS.items():
            for text in (*texts, "null"):
                for shape in ([], [1], [1, 1]):
                    outputs = self.infer("Maybes", tensor(name, "BYTES", shape, [text]))
                    self.assertEqual((outputs.pop(name)["data"], {row["data"][0] for row in outputs.values()}), ([text], {"null"}))
            some = [*texts, "null", texts[0]]
            self.assertEqual(self.infer("Maybes", tensor(name, "BYTES", [len(some)], some))[name]["data"], some)
        outputs = self.infer("Maybes", tensor("count", "INT64", [2], [3, 4]), tensor("text", "BYTES", [2], ["null", ""]))
        self.assertEqual((outputs["count"]["data"], outputs["text"]["data"]), (["3", "4"], ['"null"', '""']))

    def test_null_is_none_of_a_sample(self):
        outputs = self.infer("Maybes", tensor("count", "INT64", [3], [3, None, 4]), tensor("text", "BYTES", [3, 1], [["a"], [None], [""]]))
        self.assertEqual((outputs["count"]["data"], outputs["text"]["data"]), (["3", "null", "4"], ['"a"', "null", '""']))
        self.assertEqual(self.infer("Maybes", tensor("count", "INT64", [], [None]))["count"]["data"], ["null"])
        self.assertEqual(self.infer("Maybes", tensor("text", "BYTES", [2], [None, "YQ=="], content_type="base64"))["text"]["data"], ["null", '"a"'])

    def test_raw_and_in_base64(self):
        text = self.TEXTS["tally"][0].encode()
        outputs = self.infer("Maybes", tensor("tally", "BYTES", [1], [base64.b64encode(text).decode()], content_type="base64"))
        self.assertEqual(outputs["tally"]["data"], [text.decode()])
        for content in (text, b"null"):
            raw = len(content).to_bytes(4, "little") + content
            head = json.dumps({"inputs": [{"name": "tally", "datatype": "BYTES", "shape": [1, 1], "parameters": {"binary_data_size": len(raw)}}]}).encode()
            status, reply = self.ask("/models/Maybes/infer", head + raw, headers={"inference-header-content-length": str(len(head))})
            self.assertEqual((status, reply["outputs"][0]["data"]), (200, [content.decode()]))

    def test_what_cannot_be_carried_is_named(self):
        for row, words in ((tensor("tally", "BYTES", [1], ["[1]"]), "`tally[0]`: expected an object, found an array"), (tensor("tally", "BYTES", [1], ['{"a":null}']), "`tally[0].a`: expected a number, found null"),
                           (tensor("tally", "BYTES", [1], [""]), "element 0 of input `tally` is empty, and no JSON of map<i64>?"), (tensor("tally", "INT64", [1], [1]), "input `tally` is of datatype `BYTES`, found `INT64`"),
                           (tensor("tally", "BYTES", [2, 2], ["{}"] * 4), "input `tally` has 2 axes, expected 0 (map<i64>), or one more"), (tensor("points", "BYTES", [2], ["[]", None]), "`points`: expected a string, found null")):
            self.assert_refused(self.ask("/models/Maybes/infer", {"inputs": [row]}), 400, 5000, words)


class Digits(OipCase):
    source = harness.EXAMPLES / "digits/digits.wf"
    args = (*harness.patient(), "--schedule=pool")  # a fast machine runs rows of this model on the loop

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        picture = (harness.EXAMPLES / "digits/testdata/seven.png").read_bytes()
        cls.seven = base64.b64encode(picture).decode()

    def picture(self, count):
        return tensor("picture", "BYTES", [count], [self.seven] * count, content_type="base64")

    def test_metadata(self):
        metadata = self.ask("/models/DigitService")[1]
        self.assertEqual(metadata["inputs"], [{"name": "picture", "datatype": "BYTES", "shape": [-1, 1]}, {"name": "top", "datatype": "INT64", "shape": [-1, 1]}])
        self.assertEqual(metadata["outputs"], [{"name": "labels", "datatype": "BYTES", "shape": [-1, -1]}, {"name": "scores", "datatype": "FP32", "shape": [-1, -1]}])

    def test_a_picture_as_in_plain_json(self):
        outputs = self.infer("DigitService", self.picture(1))
        plain = self.server.post("/DigitService/Classify", {"picture": {"b64": self.seven}}).json
        self.assertEqual((outputs["labels"]["shape"], outputs["labels"]["data"]), ([1, 3], plain["labels"]))
        self.assertEqual(outputs["scores"]["data"], plain["scores"])

    @harness.timed
    def test_samples_share_batches(self):
        self.server.tried_rows()
        batches, rows = (self.server.metric_sum(f"wf_batch_size_{what}") for what in ("count", "sum"))
        outputs = self.infer("Classify", self.picture(64), tensor("top", "INT64", [64, 1], [1] * 64))
        self.assertEqual((outputs["labels"]["shape"], outputs["labels"]["data"]), ([64, 1], ["7"] * 64))
        rows = self.server.metric_sum("wf_batch_size_sum") - rows
        self.assertEqual(rows, 64)
        self.assertLess(self.server.metric_sum("wf_batch_size_count") - batches, 64)

    def test_samples_of_another_shape_cannot_be_stacked(self):
        inputs = [self.picture(2), tensor("top", "INT64", [2], [1, 2])]
        self.assert_refused(self.ask("/models/Classify/infer", {"inputs": inputs}), 500, 9000, "output `labels` of sample 1")

    def test_a_sample_that_is_no_picture_is_named(self):
        row = self.picture(3)
        row["data"][1] = base64.b64encode(b"text").decode()
        self.assert_refused(self.ask("/models/Classify/infer", {"inputs": [row]}), 400, 100001, "sample 1", "not a PNG, JPEG, WebP or BMP")
        self.assert_refused(self.ask("/models/Classify/infer", {"inputs": [tensor("picture", "BYTES", [1], ["?"], content_type="base64")]}), 400, 5000, "base64")


if __name__ == "__main__":
    harness.main()
