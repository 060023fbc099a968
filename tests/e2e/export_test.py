#!/usr/bin/env python3
"""wfc export: OpenAPI documents, tried with PyPI's openapi-spec-validator and held against what servers really take and answer; .proto files, tried with protoc."""
import base64
import copy
import json
import shutil
import subprocess
import unittest

import harness

if __name__ == "__main__":
    harness.in_environment()

import jsonschema  # noqa: E402
import openapi_spec_validator  # noqa: E402

PROGRAM = """
/// Where something is.
type Point {
  x: f32;
  y: f32?;
}

type Box {
  corner: Point;
  tags: list<string>;
  note: string?;
}

error Empty = 100001 "nothing \\"given\\"" as not_found;
error Busy = 100002 "no slot" as unavailable;

/// Gives back what it takes.
/// All kinds of values.
workflow All(
  flag: bool, small: i8, big: u64, ratio: f32, wide: f64, text: string, raw: bytes, grid: f32[2, n], row: u8[n], box: Box, boxes: list<Box>,
  by_name: map<Point>, maybe: i64?, many: list<list<i64?>>, pair: (a: i64, b: string), size: i64 = 3, names: list<string> = ["a"],
) -> (
  flag: bool, small: i8, big: u64, ratio: f32, wide: f64, text: string, raw: bytes, grid: f32[2, n], row: u8[n], box: Box, boxes: list<Box>,
  by_name: map<Point>, maybe: i64?, many: list<list<i64?>>, pair: (a: i64, b: string), size: i64, names: list<string>,
) {
  require len(row) > 0 else fail Empty;
  annotate("Rows", n);
  return (
    flag: flag, small: small, big: big, ratio: ratio, wide: wide, text: text, raw: raw, grid: grid, row: row, box: box, boxes: boxes,
    by_name: by_name, maybe: maybe, many: many, pair: pair, size: size, names: names,
  );
}

/// Counts.
workflow Count(page: bytes, times: i64 = 1, word: string = "x", only: list<i64>?) -> (n: i64, word: string, level: i64) {
  let level = meta("Level", 2);
  require level < 9 else fail Busy;
  return (n: len(page) * times, word: word, level: level);
}

workflow Nothing() -> (ok: bool) {
  return (ok: true);
}

workflow Root(x: f64, names: list<string> = [], at: f32[_]?) -> (y: f64) {
  require x > 1.0 else fail Empty;
  return (y: sqrt(x) + f64(len(names)));
}

test "roots" {
  expect Root(x: 0.0) fails Empty;
  expect Root(x: 4.0, names: ["a", "b"]).y == 4.0;
}

/// Everything.
service Everything {
  workflow All;
  workflow Count as "count-it";
  workflow Nothing;
  workflow Root;
  body 1MiB;
}
"""

HOSTILE = """
type ClassifyRequest { b1: i64; b_1: i64; camelCase: i64; camel_case: map<i64>; }
type AEntry { x: i64; }
type string_ { double: i64; message: i64; }
type message { a: map<AEntry>; AEntry: i64; a_entry: AEntry; }
type S { x: list<list<message>>; }

workflow Classify(r: ClassifyRequest, s: list<string_>) -> (r: ClassifyRequest) { return (r: r); }
workflow classify(option: message, reserved: message?, to: S) -> (option: message) { return (option: option); }
workflow ClassifyReply(a as "x.y": i64, b as "x-y": i64, c as "x_y": i64, d as "1": i64 = 2) -> (r as "R": i64, s as "r": i64) { return (r: a, s: b + c + d); }
workflow Same() -> (ok: bool) { return (ok: true); }

service Service {
  workflow Classify;
  workflow classify;
  workflow ClassifyReply;
  workflow Same as "w_1";
  workflow Same as "w-1";
  workflow Same as "w.1";
  workflow Same as "W_1_2";
  workflow Same as "Service";
}
"""

BOX = {"corner": {"x": 1, "y": None}, "tags": ["a"], "note": "n"}
GOOD = {"flag": True, "small": -128, "big": 18446744073709551615, "ratio": 0.1, "wide": 1e300, "text": "\u00e9", "raw": {"b64": "AAE="}, "grid": [[1, 2], [3, 4]],
        "row": [0, 255], "box": BOX, "boxes": [], "by_name": {"k": {"x": 2}}, "maybe": None, "many": [[1, None], []], "pair": {"a": 1, "b": ""}}


def changed(**members):
    """The good request with members replaced; `...` takes one out."""
    body = {**copy.deepcopy(GOOD), **members}
    return {name: value for name, value in body.items() if value is not ...}


BODIES = [
    GOOD, changed(maybe=...), changed(maybe=5), changed(size=7), changed(names=[]), changed(box={**BOX, "note": None}), changed(box={"corner": {"x": 1}, "tags": []}),
    # refused
    {}, [], changed(flag=...), changed(extra=1), changed(flag=1), changed(flag=None), changed(small=128), changed(small=1.5), changed(big=-1), changed(ratio="1"),
    changed(ratio=1e39), changed(text=5), changed(raw="AAE="), changed(raw={"b64": 1}), changed(raw={"b64": "", "more": 1}), changed(raw={}), changed(grid=[[1, 2]]),
    changed(grid=[1, 2]), changed(grid=[[1, "2"], [3, 4]]), changed(row=[256, 0]), changed(box={**BOX, "more": 1}), changed(box={"tags": []}), changed(box=None),
    changed(boxes=[None]), changed(by_name=[]), changed(by_name={"k": {"y": 1}}), changed(maybe="x"), changed(many=[None]), changed(pair={"a": 1}),
    changed(pair=[1, ""]), changed(size=None), changed(names=None), changed(names="a"),
]


class Exported(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = harness.scratch() / "export"
        cls.folder.mkdir(exist_ok=True)
        cls.source = cls.folder / "everything.wf"
        cls.source.write_text(PROGRAM, encoding="utf-8")
        cls.server = harness.Server.of(cls.source)
        cls.document = json.loads(harness.wfc("export", "--format=openapi", cls.source).stdout)

    @classmethod
    def tearDownClass(cls):
        assert cls.server.stop() == 0, cls.server.output()

    def validator(self, schema):
        return jsonschema.Draft202012Validator({**schema, "components": self.document["components"]})

    def operation(self, call):
        return self.document["paths"][f"/Everything/{call}"]["post"]

    def request_schema(self, call):
        return self.operation(call)["requestBody"]["content"]["application/json"]["schema"]

    def assert_described(self, call, reply):
        """The status is one of the operation's, the body fits its schema."""
        responses = self.operation(call)["responses"]
        self.assertIn(str(reply.status), responses)
        self.validator(responses[str(reply.status)]["content"]["application/json"]["schema"]).validate(reply.json)
        if reply.status != 200:
            self.assertIn(reply.error["name"], responses[str(reply.status)]["content"]["application/json"]["examples"])

    def test_the_document_is_valid(self):
        openapi_spec_validator.validate(self.document, cls=openapi_spec_validator.OpenAPIV31SpecValidator)
        for example in ("hello/hello.wf", "fallback/fallback.wf", "digits/digits.wf", "digits/sheets.wf"):
            document = json.loads(harness.wfc("export", "--format=openapi", harness.EXAMPLES / example).stdout)
            openapi_spec_validator.validate(document, cls=openapi_spec_validator.OpenAPIV31SpecValidator)

    def test_a_server_exports_what_its_source_does(self):
        proto, other = (harness.wfc("export", "--format=proto", one).stdout for one in (self.source, harness.compiled(self.source)))
        self.assertEqual(proto, other)
        described = json.loads(harness.wfc("export", "--format=openapi", harness.compiled(self.source)).stdout)
        for document in (described, mine := copy.deepcopy(self.document)):  # a server holds nothing of tests, which the source's examples come from
            del document["paths"]["/Everything/Root"]["post"]["requestBody"]["content"]["application/json"]["example"]
        self.assertEqual(described, mine)

    def test_the_examples_work(self):
        for path, item in self.document["paths"].items():
            call = path.rsplit("/", 1)[1]
            example = item["post"]["requestBody"]["content"]["application/json"]["example"]
            self.validator(self.request_schema(call)).validate(example)
            reply = self.server.post(path, example)
            self.assertEqual(reply.status, 200, reply)
            self.assert_described(call, reply)
        roots = self.operation("Root")["requestBody"]["content"]["application/json"]["example"]
        self.assertEqual(roots, {"x": 4, "names": ["a", "b"], "at": None})  # as a test calls it, not the one that fails

    def test_the_server_takes_what_the_schema_takes(self):
        validator = self.validator(self.request_schema("All"))
        taken = 0
        for body in BODIES:
            with self.subTest(body=body):
                reply = self.server.post("/Everything/All", body)
                self.assertEqual(reply.status == 200, validator.is_valid(body), reply)
                self.assert_described("All", reply)
                taken += reply.status == 200
        self.assertEqual(taken, 7)

    def test_defaults_are_those_of_the_server(self):
        answer = self.server.post("/Everything/All", GOOD).json
        properties = self.request_schema("All")["properties"]
        self.assertEqual((answer["size"], answer["names"]), (properties["size"]["default"], properties["names"]["default"]))

    def test_raw_bodies_queries_and_headers(self):
        parameters = {parameter["name"]: parameter for parameter in self.operation("count-it")["parameters"]}
        self.assertEqual({name: parameter["in"] for name, parameter in parameters.items()},
                         {"x-request-id": "header", "Level": "header", "times": "query", "word": "query", "only": "query"})
        self.assertIn("application/octet-stream", self.operation("count-it")["requestBody"]["content"])
        self.assertIn("application/octet-stream", self.operation("All")["requestBody"]["content"])  # beside other required parameters
        self.assertNotIn("application/octet-stream", self.operation("Nothing")["requestBody"]["content"])
        raw = {"content-type": "application/octet-stream"}
        reply = self.server.call("POST", "/Everything/count-it?times=2&word=%22&only=[1]", b"abc", {**raw, "level": "4"})
        self.assert_described("count-it", reply)
        self.assertEqual(reply.json, {"n": 6, "word": '"', "level": 4})
        plain = self.server.call("POST", "/Everything/count-it", b"abc", raw).json
        self.assertEqual(plain, {"n": 3, "word": parameters["word"]["schema"]["default"], "level": parameters["Level"]["schema"]["default"]})
        as_json = self.server.post("/Everything/count-it", {"page": {"b64": base64.b64encode(b"abc").decode()}})
        self.assertEqual(as_json.json, plain)

    def test_annotations_are_headers(self):
        reply = self.server.post("/Everything/All", GOOD)
        self.assertEqual(list(self.operation("All")["responses"]["200"]["headers"]), ["wf-rows"])
        self.assertEqual(reply.headers["wf-rows"], "2")

    def test_refusals_are_described(self):
        empty = self.server.post("/Everything/All", changed(grid=[[], []], row=[]))
        self.assertEqual((empty.status, empty.error["code"]), (404, 100001))
        busy = self.server.call("POST", "/Everything/count-it", b"{}", {"content-type": "text/plain", "level": "9"})
        self.assertEqual((busy.status, busy.error["name"]), (503, "Busy"))
        large = self.server.call("POST", "/Everything/Nothing", b" " * (2 << 20))
        coded = self.server.call("POST", "/Everything/Nothing", b"{}", {"content-encoding": "br"})
        self.assertEqual((large.status, coded.status), (413, 415))
        for call, reply in (("All", empty), ("count-it", busy), ("Nothing", large), ("Nothing", coded)):
            self.assert_described(call, reply)
        for name, example in self.operation("All")["responses"]["404"]["content"]["application/json"]["examples"].items():
            self.assertEqual((name, example["value"]["error"]["message"]), ("Empty", empty.error["message"]))

    def test_the_examples_of_the_project_answer_as_exported(self):
        digits = harness.EXAMPLES / "digits"
        self.document = json.loads(harness.wfc("export", "--format=openapi", digits / "digits.wf").stdout)
        operation = self.document["paths"]["/DigitService/Classify"]["post"]
        server = harness.Server.of(digits / "digits.wf")
        seven = (digits / "testdata/seven.png").read_bytes()
        example = operation["requestBody"]["content"]["application/json"]["example"]  # a test's
        self.assertEqual(base64.b64decode(example["picture"]["b64"]), seven)
        for status, reply in ((200, server.call("POST", "/DigitService/Classify?top=1", seven, {"content-type": "image/png"})),
                              (200, server.post("/DigitService/Classify", example)),
                              (400, server.post("/DigitService/Classify", {"picture": {"b64": ""}}))):
            self.assertEqual(reply.status, status, reply)
            schema = operation["responses"][str(status)]["content"]["application/json"]["schema"]
            self.validator(schema).validate(reply.json)
        self.assertEqual(reply.error["name"], "NotAnImage")
        self.assertEqual(server.stop(), 0)

    def test_proto_files_compile(self):
        hostile = self.folder / "hostile.wf"
        hostile.write_text(HOSTILE, encoding="utf-8")
        sources = [self.source, hostile, *(harness.EXAMPLES / example for example in ("hello/hello.wf", "fallback/fallback.wf", "digits/digits.wf", "digits/sheets.wf"))]
        protoc = shutil.which("protoc")
        self.assertIsNotNone(protoc, "protoc is missing")
        for number, source in enumerate(sources):
            text = harness.wfc("export", "--format=proto", source).stdout
            file = self.folder / f"p{number}.proto"
            file.write_text(text, encoding="utf-8")
            done = subprocess.run([protoc, f"--proto_path={self.folder}", f"--descriptor_set_out={self.folder}/out", file], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""), text)

    def test_json_reaches_the_fields_of_the_proto_file(self):
        """The wire names are the JSON names: protoc encodes a message written with them."""
        file = self.folder / "names.proto"
        file.write_text(harness.wfc("export", "--format=proto", self.source).stdout, encoding="utf-8")
        text = 'times: 5 word: "w" page: "abc"'
        done = subprocess.run(["protoc", f"--proto_path={self.folder}", "--encode=everything_service.Count_itRequest", file], input=text.encode(), capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"abc", done.stdout)


if __name__ == "__main__":
    harness.main()
