#!/usr/bin/env python3
"""Models published without a workflow, and the versions of a model: which are loaded, which are asked for, what a damaged one does."""
import json
import shutil
import subprocess
import urllib.error
import urllib.request

import harness
import onnx_file

WIDTH = 3


def program(name, policy, more=""):
    """A published model and a workflow that calls it, each version multiplying by its own number."""
    folder = harness.scratch() / name
    folder.mkdir()
    put(folder, 1)
    source = folder / f"{name}.wf"
    source.write_text(f"""model Scale = onnx("scale") {{ {policy} }}
workflow Call(x: f32[{WIDTH}]) -> (y: f32[{WIDTH}]) {{
  node y = Scale(x);
  return (y: y);
}}
service S {{ model Scale; workflow Call; {more} }}
""")
    return source


def put(folder, version, content=None):
    target = folder / "scale" / str(version)
    target.mkdir(parents=True, exist_ok=True)
    (target / "model.onnx").write_bytes(onnx_file.scaled(WIDTH, version) if content is None else content)


class VersionCase(harness.unittest.TestCase):
    name, policy, versions, empty = "plain", "", (1, ), ()

    @classmethod
    def setUpClass(cls):
        cls.source = program(cls.name, cls.policy)
        for version in cls.versions:
            put(cls.source.parent, version)
        for folder in cls.empty:
            (cls.source.parent / "scale" / folder).mkdir()
        cls.server = harness.Server.of(cls.source)

    @classmethod
    def tearDownClass(cls):
        status = cls.server.stop()
        if status != 0:
            raise AssertionError(f"the server ended with status {status}\n{cls.server.output()}")

    def ask(self, path, value=None):
        host, port = self.server.addresses["http"]
        request = urllib.request.Request(f"http://{host}:{port}/v2/models/{path}", None if value is None else json.dumps(value).encode())
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:
                return reply.status, json.load(reply)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def infer(self, path, rows=((1, 2, 3), )):
        """Version and data of the answer."""
        shape = [len(rows), WIDTH]
        status, reply = self.ask(f"{path}/infer", {"inputs": [{"name": "x", "datatype": "FP32", "shape": shape, "data": rows}]})
        self.assertEqual(status, 200, reply)
        self.assertEqual(reply["outputs"][0]["shape"], shape)
        return reply["model_version"], reply["outputs"][0]["data"]

    def served(self):
        return {int(name.split('version="')[1].split('"')[0]) for name in self.server.metrics() if name.startswith("wf_model_info{")}


class Published(VersionCase):
    name = "published"

    def test_metadata(self):
        for name in ("Scale", "S.Scale", "S"):
            status, metadata = self.ask(name)
            self.assertEqual(status, 200, metadata)
            self.assertEqual((metadata["name"], metadata["versions"]), (name, ["1"]))
            self.assertEqual(metadata["inputs"], [{"name": "x", "datatype": "FP32", "shape": [-1, WIDTH]}])
            self.assertEqual(metadata["outputs"], [{"name": "y", "datatype": "FP32", "shape": [-1, WIDTH]}])
        self.assertEqual(self.ask("Scale/ready"), (200, {"name": "Scale", "ready": True}))

    def test_one_sample_and_many(self):
        self.assertEqual(self.infer("Scale"), ("1", [1, 2, 3]))
        rows = [[i, i + 1, i + 2] for i in range(100)]
        self.assertEqual(self.infer("Scale", rows)[1], [value for row in rows for value in row])

    def test_plain_json(self):
        self.assertEqual(self.server.post("/S/Scale", {"x": [1, 2, 3]}).json, {"y": [1, 2, 3]})
        reply = self.server.post("/S/Scale", {"x": [1, 2]})
        self.assertEqual((reply.status, reply.error["code"]), (400, 5000), reply)
        self.assertEqual(self.server.post("/S/Scale", {}).status, 400)

    def test_a_workflow_beside_it(self):
        self.assertEqual(self.server.post("/S/Call", {"x": [1, 2, 3]}).json, {"y": [1, 2, 3]})
        self.assertEqual(self.ask("Call/versions/2/infer", {"inputs": []})[0], 404)


class ManySamples(harness.unittest.TestCase):
    def test_those_that_meet_a_full_queue_wait_for_the_others(self):
        source = program("many", "")
        config = source.with_suffix(".yml")
        config.write_text("nodes: {Call/y: {queue: 4}}\n")
        server = harness.Server.of(source, "--schedule", "pool", "--config", config)
        self.addCleanup(server.kill)
        rows = [[i, i + 1, i + 2] for i in range(1024)]
        reply = server.post("/v2/models/Call/infer", {"inputs": [{"name": "x", "datatype": "FP32", "shape": [len(rows), WIDTH], "data": rows}]})
        self.assertEqual(reply.status, 200, reply)
        self.assertEqual(reply.json["outputs"][0]["data"], [value for row in rows for value in row])
        self.assertEqual(server.stop(), 0, server.output())


class Latest(VersionCase):
    name, policy, versions, empty = "latest", "versions latest 2;", (1, 2, 10), ("11", "9" * 20)

    def test_the_highest_numbers_are_loaded(self):
        self.assertEqual(self.served(), {2, 10})
        self.assertEqual(self.ask("Scale")[1]["versions"], ["2", "10"])
        for folder in self.empty:
            self.assertTrue(self.server.logs('"warning"', f"scale/{folder}`", "no file model.onnx"), self.server.output())

    def test_a_version_may_be_asked_for(self):
        self.assertEqual(self.infer("Scale"), ("10", [10, 20, 30]))
        self.assertEqual(self.infer("Scale/versions/10"), ("10", [10, 20, 30]))
        self.assertEqual(self.infer("Scale/versions/2"), ("2", [2, 4, 6]))
        rows = [[i, 0, 1] for i in range(50)]
        self.assertEqual(self.infer("Scale/versions/2", rows)[1], [2 * value for row in rows for value in row])
        self.assertEqual(self.ask("Scale/versions/2/ready")[0], 200)

    def test_one_that_is_not_loaded(self):
        for path in ("Scale/versions/1", "Scale/versions/1/ready", "Scale/versions/02", "Scale/versions/x"):
            status, reply = self.ask(path)
            self.assertEqual((status, reply["code"]), (404, 3002), path)
            self.assertIn("2 10", reply["error"])
        self.assertEqual(self.ask("Scale/versions/1/infer", {"inputs": []})[0], 404)

    def test_a_workflow_takes_the_newest(self):
        self.assertEqual(self.server.post("/S/Call", {"x": [1, 2, 3]}).json, {"y": [10, 20, 30]})
        self.assertEqual(self.infer("Call")[0], "1")
        self.assertEqual(self.ask("Call")[1]["versions"], ["1"])

    def test_statistics_tell_the_versions_apart(self):
        def counts(path="Scale/stats"):
            return {row["version"]: row["inference_count"] for row in self.ask(path)[1]["model_stats"]}

        before = counts()
        self.assertEqual(set(before), {"2", "10"})
        for path in ("Scale", "Scale", "Scale/versions/10", "Scale/versions/2"):
            self.infer(path)
        self.assertEqual(counts(), {"2": before["2"] + 1, "10": before["10"] + 3})
        self.assertEqual(counts("Scale/versions/2/stats"), {"2": before["2"] + 1})

    def test_metrics_tell_the_versions_apart(self):
        self.infer("Scale/versions/2")
        self.infer("Scale/versions/10")
        text = self.server.call("GET", "/metrics", port="admin").body.decode()
        series = [line.rsplit(" ", 1)[0] for line in text.splitlines() if not line.startswith("#")]
        self.assertEqual(len(series), len(set(series)))


class All(VersionCase):
    name, policy, versions = "all", "versions all;", (1, 2, 3)

    def test_all_are_loaded(self):
        self.assertEqual(self.served(), {1, 2, 3})
        self.assertEqual([self.infer(f"Scale/versions/{version}")[1][0] for version in (1, 2, 3)], [1, 2, 3])


class Specific(VersionCase):
    name, policy, versions = "specific", "versions specific 1 3 5000000000;", (1, 2, 3, 4)

    def test_those_named_are_loaded_and_a_missing_one_is_told(self):
        self.assertEqual(self.served(), {1, 3})
        self.assertEqual(self.infer("Scale"), ("3", [3, 6, 9]))
        self.assertTrue(self.server.logs('"warning"', "missing", '"version":5000000000'), self.server.output())


class Damaged(harness.unittest.TestCase):
    def start(self, name, versions, policy=""):
        """Versions 2 and up are written after the build, which sees version 1."""
        source = program(name, policy)
        binary = harness.compiled(source)
        shutil.rmtree(source.parent / "scale")
        for version, content in versions.items():
            put(source.parent, version, content)
        return binary, source.parent

    def bad_files(self):
        good = onnx_file.scaled(WIDTH, 1)
        nodes = [onnx_file.node("ReduceMax", ["x"], ["most"], axes=[1], keepdims=0), onnx_file.node("Cast", ["most"], ["any"], to=onnx_file.BOOL),
                 onnx_file.node("Compress", ["x", "any"], ["y"], "pick", axis=0)]
        ports = [onnx_file.value_info(name, (extent, WIDTH)) for name, extent in (("x", "n"), ("y", "k"))]
        return {
            "cut": (good[:len(good) // 2], "model.onnx"),
            "empty": (b"", "model.onnx"),
            "other_rows": (onnx_file.model(nodes, [], ports[:1], ports[1:], opset=13), "counts what node `pick` (Compress) finds in the data"),
            "other_signature": (onnx_file.scaled(WIDTH + 1, 1), "not the model that was compiled in"),
            "unknown_operator": (onnx_file.scaled(WIDTH, 1, operator="Frobnicate"), "step0"),
        }

    def test_an_older_good_one_serves_and_the_bad_one_is_told(self):
        for name, (content, word) in self.bad_files().items():
            binary, folder = self.start(f"older_{name}", {1: None, 2: content})
            server = harness.Server(binary, "--model-root", folder)
            self.addCleanup(server.kill)
            server.wait_ready()
            self.assertEqual(server.post("/S/Call", {"x": [1, 2, 3]}).json, {"y": [1, 2, 3]})
            self.assertEqual(server.stop(), 0, server.output())
            lines = [line for line in server.stderr_path.read_text().splitlines() if "refused" in line]
            self.assertEqual(len(lines), 1, server.output())
            self.assertIn("scale/2/model.onnx", lines[0])
            self.assertIn(word, lines[0])

    def test_without_a_good_one_it_does_not_start(self):
        for name, (content, word) in self.bad_files().items():
            binary, folder = self.start(f"none_{name}", {2: content, 3: content})
            for flags in ([], ["--check-config"]):
                done = subprocess.run([binary, "--http-port", "0", "--admin-port", "0", "--model-root", folder, *flags], capture_output=True, text=True,
                                      timeout=30, check=False)
                self.assertEqual((done.returncode, done.stdout), (1, ""), done)
                self.assertIn("none of its 2 versions can be served", done.stderr)
                self.assertIn("scale/3/model.onnx", done.stderr)
                self.assertIn(word, done.stderr)


class SharedDimension(harness.unittest.TestCase):
    def test_inputs_that_disagree_are_the_callers_mistake(self):
        folder = harness.scratch() / "pair"
        folder.mkdir()
        (folder / "pair.onnx").write_bytes(onnx_file.scaled("w", 1, operator="Add", inputs=("a", "b")))
        (folder / "pair.wf").write_text('model Pair = onnx("pair.onnx");\nservice S { model Pair; }\n')
        server = harness.Server.of(folder / "pair.wf")
        self.addCleanup(server.kill)
        self.assertEqual(server.post("/S/Pair", {"a": [1, 2], "b": [3, 4]}).json, {"y": [5, 7]})
        reply = server.post("/S/Pair", {"a": [1, 2], "b": [3, 4, 5]})
        self.assertEqual((reply.status, reply.error["code"]), (400, 5000), reply)


if __name__ == "__main__":
    harness.main()
