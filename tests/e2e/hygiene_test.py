#!/usr/bin/env python3
"""Nothing that a server answers tells of its insides: no file, no address, no name of its sources or libraries, whatever it is sent. The corpora of the fuzz targets, and what is wrong with pictures, tensors and
programs, over every protocol; http1_cases_test.py, http2_cases_test.py and oversize_test.py look at theirs in the same way."""
import json
import re
import struct
from urllib.parse import unquote_to_bytes

import harness

if __name__ == "__main__":
    harness.in_environment()

from http1_cases import LEAKS  # noqa: E402
from http2_client import Client  # noqa: E402

PROGRAM = """
import std.image;
import std.tensor;
model Digits = onnx("models/digits");
fn to_unit(px: u8[h, w]) -> f32[1, h, w] = [c, y, x] => f32(px[y, x]) / 255;
workflow See(picture: bytes) -> (label: string) {
  node pixels = image.decode_gray(picture);
  node logits = Digits(to_unit(image.resize(pixels, 28, 28))) { batch 8; }
  node best = tensor.top_k(logits, 1);
  return (label: str(best.indices[0]));
}
workflow Take(xs: f32[h, w], words: list<string> = [], at: i64 = 0) -> (word: string, part: i64, x: f32) {
  return (word: words[at], part: 10 / at, x: xs[at, at]);
}
service Hygiene { workflow See; workflow Take; }
"""
CORPORA = harness.ROOT / "tests/fuzz"
SEE, TAKE = "/Hygiene/See", "/Hygiene/Take"
INFER = "/v2/models/{}/infer"
GRPC = "/inference.GRPCInferenceService/"
GRPC_HEAD = [("content-type", "application/grpc"), ("te", "trailers")]
METHODS = ("ModelInfer", "ModelStreamInfer", "ModelMetadata", "ModelConfig", "ModelReady", "ModelStatistics", "RepositoryModelLoad", "TraceSetting", "LogSettings", "Nothing")


def corpus(name):
    return [path.read_bytes() for path in sorted((CORPORA / name / "corpus").iterdir())]


def source():
    folder = harness.scratch() / "hygiene"
    folder.mkdir(exist_ok=True)
    (folder / "models").symlink_to(harness.EXAMPLES / "digits/models")
    (folder / "hygiene.wf").write_text(PROGRAM)
    return folder / "hygiene.wf"


class Hygiene(harness.ServerCase):
    @classmethod
    def setUpClass(cls):
        cls.source = source()
        super().setUpClass()
        cls.secrets = [str(path).encode() for path in (harness.scratch(), harness.ROOT, harness.BUILD)] + [b"/tmp/", b"/usr/", b".onnx"]

    def setUp(self):
        self.errors = 0

    def test_the_server_holds_no_path_of_the_machine_that_built_it(self):
        if harness.BUILD.name != "release":
            self.skipTest("sanitizers and what debuggers read name the sources where they lie")
        held = harness.compiled(self.source).read_bytes()
        self.assertFalse(str(harness.ROOT).encode() in held)
        self.assertEqual(sorted(set(re.findall(rb"(?<![\w./-])/[\w.+/-]+/(?:runtime|compiler|tests)/[\w./-]+\.(?:cc|h)\b", held))), [])
        self.assertTrue(b"runtime/bus/arena.cc" in held)  # a failed check says where it stands, from the root of the sources on

    def look(self, said, of, sent=b""):
        """What the client has said itself may come back."""
        leaks = [leak.group() for leak in LEAKS.finditer(said)] + [secret for secret in self.secrets if secret in said]
        self.assertEqual([leak for leak in leaks if leak not in sent], [], (of, sent[:100], said))

    def post(self, path, body, headers=None):
        reply = self.server.call("POST", path, body, headers)
        self.errors += reply.status >= 400
        self.look(repr(reply.headers).encode() + reply.body, path, body)
        return reply

    def call(self, client, method, body):
        reply = client.reply(client.begin(method if "/" in method else GRPC + method, body, headers=GRPC_HEAD))
        self.errors += reply.headers["grpc-status"] != "0"
        self.look(repr(reply.headers).encode() + unquote_to_bytes(reply.headers.get("grpc-message", "")), method, body)
        if "Reflection" not in method:  # which tells names of services, as it should
            self.look(reply.body, method, body)
        return reply

    def test_pictures(self):
        for body in corpus("image") + [b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", bytes(1000)]:
            for part in (body, body[:len(body) // 2], body[:-1] + b"\0"):
                self.post(SEE, part, {"content-type": "application/octet-stream"})
        self.assertGreater(self.errors, 20)

    def test_bodies_of_json(self):
        for body in corpus("json") + corpus("oip"):
            for text in (body, body[1:]):
                for path in (TAKE, SEE, INFER.format("Hygiene.Take"), INFER.format("Hygiene.See"), INFER.format("nothing"), "/v1/models/x:predict"):
                    self.post(path, text)
                self.post(INFER.format("Hygiene.Take"), text, {"inference-header-content-length": str(len(text) // 2)})
        self.assertGreater(self.errors, 200)

    def test_what_fails_when_it_runs(self):
        paths = set()
        for value in ({"xs": [[1]], "words": ["a"], "at": 0}, {"xs": [[1]], "words": ["a"], "at": 5}, {"xs": [[1]], "words": [], "at": -1}, {"xs": [], "words": ["a", "b"], "at": 1},
                      {"xs": [[1, 2], [3]], "words": ["a"]}, {"xs": [[1]], "at": 2**63}):
            reply = self.post(TAKE, json.dumps(value).encode())
            self.assertGreaterEqual(reply.status, 400)
            paths.add(reply.error["path"])
        self.assertGreater(len(paths), 1, "a path names the node, as it should")
        for shape in ([1, 1], [0, 0], [2**40, 2**40], [-1, 1], [1] * 20):
            for datatype in ("FP32", "BYTES", "FP64", "std::string", "../../etc/passwd"):
                self.post(INFER.format("Hygiene.Take"), json.dumps({"inputs": [{"name": "xs", "datatype": datatype, "shape": shape, "data": [1]}]}).encode())

    def test_calls_of_grpc(self):
        bodies = [body[2:] for body in corpus("grpc")] + [struct.pack(">BI", 0, len(body) - 1) + body[1:] for body in corpus("protobuf") if body]
        names = [name for name in ("Hygiene.Take", "Hygiene.See", "Hygiene.None")]
        bodies += [struct.pack(">BI", 0, len(name) + 2) + bytes([10, len(name)]) + name.encode() for name in names]
        with Client(self.server) as client:
            for body in bodies:
                for method in METHODS:
                    self.call(client, method, body)
                for service in ("v1", "v1alpha"):
                    self.call(client, f"/grpc.reflection.{service}.ServerReflection/ServerReflectionInfo", body)
                self.call(client, "/grpc.health.v1.Health/Check", body)
        self.assertGreater(self.errors, 300)

    def test_names_and_pages(self):
        for path in ("/", "/v2", "/v2/models/Digits", "/v2/models/Digits/versions/99", "/v2/models/Digits/config", "/v2/repository/models/Digits/load", "/v2/models/..%2f..%2fetc/infer",
                     "/v2/systemsharedmemory/status", "/v2/models/Digits/stats", "/%2e%2e/%2e%2e/etc/passwd", "/Hygiene", "/metrics", "/debug/trace", "/v2/logging", "/v2/trace/setting"):
            self.look(repr(self.server.call("GET", path).headers).encode() + self.server.call("GET", path).body, path)
            self.post(path, b"{}")
        self.look(self.server.call("GET", "/v2/models/Digits").body, "metadata")


if __name__ == "__main__":
    harness.main()
