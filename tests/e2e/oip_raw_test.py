#!/usr/bin/env python3
"""Raw tensors and the other extensions of the Open Inference Protocol over REST: with Triton's own client, and by hand where no client would go."""
import json
import struct
import time

import harness

if __name__ == "__main__":
    harness.in_environment()

import numpy as np  # noqa: E402
import tritonclient.http as triton  # noqa: E402
from tritonclient.utils import InferenceServerException, np_to_triton_dtype  # noqa: E402

PROGRAM = """
workflow Echo(xs: f32[h, w], flags: bool[n], words: list<string>, scale: f64 = 2.0, count: u8 = 3)
    -> (xs: f32[h, w], flags: bool[n], words: list<string>, scale: f64, count: u8) {
  return (xs: xs, flags: flags, words: words, scale: scale, count: count);
}

workflow Halves(half: f16[n], brain: bf16[n]) -> (half: f16[n], brain: bf16[n]) {
  return (half: half, brain: brain);
}

workflow Line(line: i32[n]) -> (line: i32[n]) {
  return (line: line);
}

workflow Four(four: f32[4]) -> (four: f32[4]) {
  return (four: four);
}

workflow Pairs(pairs: f32[n, 2]) -> (pairs: f32[n, 2]) {
  return (pairs: pairs);
}

workflow Note(n: i64) -> (n: i64) {
  annotate("seen", meta("colour", "none"));
  return (n: n);
}

service Echoes {
  workflow Echo;
  workflow Halves;
  workflow Line;
  workflow Four;
  workflow Pairs;
  workflow Note;
}
"""


def tensor(name, values, datatype=None, binary=True):
    row = triton.InferInput(name, list(values.shape), datatype or np_to_triton_dtype(values.dtype))
    row.set_data_from_numpy(values, binary_data=binary)
    return row


class Raw(harness.ServerCase):
    @classmethod
    def setUpClass(cls):
        cls.source = harness.scratch() / "echoes.wf"
        cls.source.write_text(PROGRAM)
        super().setUpClass()
        cls.client = triton.InferenceServerClient("%s:%d" % cls.server.addresses["http"], network_timeout=60)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        super().tearDownClass()

    def values(self, *samples):
        """Parameters of Echo for so many samples, or for one without the axis."""
        count = int(np.prod(samples, dtype=int))
        xs = np.arange(6 * count, dtype=np.float32).reshape(*samples, 2, 3) - np.float32(0.5)
        flags = np.resize(np.array([True, False, True]), (*samples, 3))
        words = np.resize(np.array(["Zoë".encode(), b""], dtype=object), (*samples, 2))
        return {"xs": xs, "flags": flags, "words": words}

    def assert_echo(self, values, binary_in, binary_out):
        inputs = [tensor(name, value, binary=binary_in) for name, value in values.items()]
        outputs = [triton.InferRequestedOutput(name, binary_data=binary_out) for name in values]
        result = self.client.infer("Echoes.Echo", inputs, outputs=outputs)
        for name, value in values.items():
            np.testing.assert_array_equal(result.as_numpy(name), value if binary_out or name != "words" else np.vectorize(bytes.decode)(value))
            self.assertEqual("data" in result.get_output(name), not binary_out)

    def test_tensors_go_both_ways_raw_and_as_json(self):
        for samples in ((), (1,), (5,)):
            for binary_in in (True, False):
                for binary_out in (True, False):
                    with self.subTest(samples=samples, binary_in=binary_in, binary_out=binary_out):
                        self.assert_echo(self.values(*samples), binary_in, binary_out)

    def test_without_outputs_all_come_raw(self):
        values = self.values()
        result = self.client.infer("Echo", [tensor(name, value) for name, value in values.items()])
        np.testing.assert_array_equal(result.as_numpy("xs"), values["xs"])
        self.assertEqual((result.as_numpy("scale"), result.as_numpy("count")), (2.0, 3))
        self.assertEqual(result.as_numpy("count").dtype, np.uint8)

    def test_numbers_that_json_cannot_say(self):
        values = {**self.values(), "xs": np.array([[np.nan, np.inf, -np.inf]], dtype=np.float32)}
        self.assert_echo(values, True, True)

    def test_halves(self):
        half = np.array([1, -0.5, np.inf], dtype=np.float16)
        brain = np.array([1.5, -2, 0.0078125], dtype=np.float32)
        result = self.client.infer("Halves", [tensor("half", half), tensor("brain", brain, "BF16")])
        np.testing.assert_array_equal(result.as_numpy("half"), half)
        np.testing.assert_array_equal(result.as_numpy("brain"), brain)

    def test_a_large_tensor(self):
        line = np.arange(3_000_000, dtype=np.int32)
        np.testing.assert_array_equal(self.client.infer("Line", [tensor("line", line)]).as_numpy("line"), line)
        rows = line.reshape(1000, 3000)
        np.testing.assert_array_equal(self.client.infer("Line", [tensor("line", rows)]).as_numpy("line"), rows)

    def test_classes(self):
        line = np.array([[3, 9, 7], [-1, -2, -3]], dtype=np.int32)
        for binary in (True, False):
            asked = [triton.InferRequestedOutput("line", binary_data=binary, class_count=2)]
            found = self.client.infer("Line", [tensor("line", line)], outputs=asked).as_numpy("line")
            self.assertEqual([[str(x, "utf-8") if binary else x for x in row] for row in found], [["9:1", "7:2"], ["-1:0", "-2:1"]])

    def test_id_parameters_and_annotations(self):
        n = tensor("n", np.array(7, dtype=np.int64).reshape(1))
        reply = self.client.infer("Note", [n], request_id="call-9", parameters={"colour": "red"}).get_response()
        self.assertEqual((reply["id"], reply["parameters"]), ("call-9", {"seen": "red"}))

    def test_the_client_sees_errors(self):
        with self.assertRaisesRegex(InferenceServerException, "unknown input `lime`; did you mean `line`"):
            self.client.infer("Line", [tensor("lime", np.zeros(1, dtype=np.int32))])
        with self.assertRaisesRegex(InferenceServerException, "sequences are not built"):
            self.client.infer("Line", [tensor("line", np.zeros(1, dtype=np.int32))], sequence_id=3, sequence_start=True)
        with self.assertRaisesRegex(InferenceServerException, "shared memory"):
            row = triton.InferInput("line", [1], "INT32")
            row.set_shared_memory("region", 4)
            self.client.infer("Line", [row])

    def test_what_the_server_says_of_itself(self):
        client = self.client
        self.assertTrue(client.is_server_live() and client.is_server_ready() and client.is_model_ready("Line", "1"))
        self.assertEqual(client.get_server_metadata()["extensions"], harness.EXTENSIONS)
        self.assertEqual(client.get_model_metadata("Line")["inputs"], [{"name": "line", "datatype": "INT32", "shape": [-1, -1]}])
        config = client.get_model_config("Halves", "1")
        self.assertEqual((config["name"], config["max_batch_size"]), ("Halves", 1024))
        self.assertEqual(config["input"], [{"name": "half", "data_type": "TYPE_FP16", "dims": [-1]}, {"name": "brain", "data_type": "TYPE_BF16", "dims": [-1]}])
        self.assertEqual(client.get_model_config("Note")["input"], [{"name": "n", "data_type": "TYPE_INT64", "dims": [1], "reshape": {"shape": []}}])
        self.assertIs(client.get_model_config("Echo")["input"][4]["optional"], True)
        with self.assertRaisesRegex(InferenceServerException, "no version `2`; it has 1"):
            client.get_model_config("Line", "2")

    def test_statistics(self):
        def counts():
            (row,) = self.client.get_inference_statistics("Echoes.Line")["model_stats"]
            return row

        before = counts()
        self.client.infer("Line", [tensor("line", np.zeros((3, 2), dtype=np.int32))])
        self.assertEqual(self.post(struct.pack("<i", 1), 0).status, 200)
        self.assertEqual(self.post(b"x", 0).status, 400)
        after = counts()
        self.assertEqual((after["name"], after["version"]), ("Echoes.Line", "1"))
        self.assertEqual(after["inference_count"] - before["inference_count"], 4)
        self.assertEqual(after["execution_count"] - before["execution_count"], 2)
        self.assertAlmostEqual(after["last_inference"] / 1000, time.time(), delta=60)
        for name, count in (("success", 2), ("fail", 1), ("queue", 2), ("compute_infer", 2)):
            grown = {key: after["inference_stats"][name][key] - before["inference_stats"][name][key] for key in ("count", "ns")}
            self.assertEqual(grown["count"], count, name)
            self.assertEqual(grown["ns"] > 0, name in ("success", "fail"), name)  # nothing waits there, and no node runs
        rows = self.client.get_inference_statistics()["model_stats"]
        self.assertEqual([row["name"] for row in rows], ["Echoes.Echo", "Echoes.Four", "Echoes.Halves", "Echoes.Line", "Echoes.Note", "Echoes.Pairs"])

    def test_the_repository(self):
        index = self.client.get_model_repository_index()
        self.assertEqual([(row["name"], row["version"], row["state"]) for row in index], [(f"Echoes.{name}", "1", "READY") for name in ("Echo", "Four", "Halves", "Line", "Note", "Pairs")])
        self.client.load_model("Line")
        with self.assertRaisesRegex(InferenceServerException, "load takes no parameters"):
            self.client.load_model("Line", config="{}")
        with self.assertRaisesRegex(InferenceServerException, "stay loaded"):
            self.client.unload_model("Line")
        with self.assertRaisesRegex(InferenceServerException, "no model is called `Lime`; did you mean `Line`"):
            self.client.load_model("Lime")
        self.assertEqual(self.server.call("POST", "/v2/repository/models/Line/unload").json["code"], 3000)
        self.assertEqual(self.server.call("POST", "/v2/repository/index", b'{"ready": true}').status, 200)
        self.assertEqual(self.server.call("POST", "/v2/repository/index", b'{"ready": 1}').json["code"], 5000)
        self.assertEqual(self.server.call("GET", "/v2/repository/index").status, 405)
        self.assertEqual(self.server.call("POST", "/v2/repository/index", b" " * 100_000).status, 413)

    def test_settings_stay_as_they_are(self):
        client = self.client
        log = {"log_file": "", "log_info": True, "log_warning": True, "log_error": True, "log_verbose_level": 0, "log_format": "json"}
        self.assertEqual(client.get_log_settings(), log)
        self.assertEqual(client.update_log_settings({"log_info": True, "log_verbose_level": 0}), log)
        with self.assertRaisesRegex(InferenceServerException, "clients change no settings"):
            client.update_log_settings({"log_file": "/tmp/x"})
        with self.assertRaisesRegex(InferenceServerException, "`log_info` is true or false"):
            client.update_log_settings({"log_info": "yes"})
        trace = {"trace_level": ["OFF"], "trace_rate": "1000", "trace_count": "-1", "log_frequency": "0", "trace_mode": "triton"}
        for model in (None, "Line"):
            self.assertEqual(client.get_trace_settings(model), trace)
            self.assertEqual(client.update_trace_settings(model, {"trace_level": "OFF", "trace_rate": "1000"}), trace)
            self.assertEqual(client.update_trace_settings(model, {"trace_level": None, "trace_rate": None}), trace)
            with self.assertRaisesRegex(InferenceServerException, "there is no setting `trace_lvl`"):
                client.update_trace_settings(model, {"trace_lvl": "OFF"})
            with self.assertRaisesRegex(InferenceServerException, "clients change no settings"):
                client.update_trace_settings(model, {"trace_level": ["TIMESTAMPS"]})
        with self.assertRaisesRegex(InferenceServerException, "no model is called `Lime`"):
            client.get_trace_settings("Lime")

    def test_shared_memory_is_not_built(self):
        with self.assertRaisesRegex(InferenceServerException, "shared memory is not built"):
            self.client.get_system_shared_memory_status()
        with self.assertRaisesRegex(InferenceServerException, "shared memory is not built"):
            self.client.register_system_shared_memory("r", "/k", 64)
        self.assertEqual(self.server.call("GET", "/v2/cudasharedmemory/status").status, 501)

    def post(self, body, *json_bytes, model="Line"):
        """By hand: the header as often as it is given."""
        head = f"POST /v2/models/{model}/infer HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n" + "".join(f"Inference-Header-Content-Length: {value}\r\n" for value in json_bytes)
        with self.server.connect() as connection:
            connection.send(head.encode() + b"\r\n" + body)
            return connection.receive()

    def test_a_raw_body(self):
        reply = self.post(struct.pack("<3i", 1, -2, 3), 0)
        size = int(reply.headers["inference-header-content-length"])
        self.assertEqual((reply.status, reply.headers["content-type"]), (200, "application/octet-stream"))
        self.assertEqual(json.loads(reply.body[:size])["outputs"], [{"name": "line", "datatype": "INT32", "shape": [3], "parameters": {"binary_data_size": 12}}])
        self.assertEqual(reply.body[size:], struct.pack("<3i", 1, -2, 3))

    def test_a_raw_body_of_another_length_than_its_type(self):
        for model, size, expected in (("Line", 13, "13 bytes as a raw body, expected a multiple of 4 (i32[n])"), ("Four", 15, "15 bytes as a raw body, expected 16 (f32[4])"),
                                      ("Four", 0, "0 bytes as a raw body, expected 16 (f32[4])"), ("Pairs", 12, "12 bytes as a raw body, expected a multiple of 8 (f32[n, 2])"),
                                      ("Note", 1, "1 byte as a raw body, expected 8 (i64)")):
            with self.subTest(model=model, size=size):
                reply = self.post(bytes(size), 0, model=model)
                self.assertEqual((reply.status, reply.json["code"]), (400, 5000))
                self.assertTrue(reply.json["error"].startswith("input `") and reply.json["error"].endswith("` has " + expected), reply.json)
        self.assertEqual([self.post(bytes(size), 0, model=model).status for model, size in (("Four", 16), ("Pairs", 0), ("Pairs", 24), ("Note", 8))], [200] * 4)

    def test_headers_that_lie(self):
        text = json.dumps({"inputs": [{"name": "line", "datatype": "INT32", "shape": [1], "parameters": {"binary_data_size": 4}}]}).encode()
        body = text + struct.pack("<i", 5)
        self.assertEqual(self.post(body, len(text)).json["outputs"][0]["data"], [5])
        for value in (-1, "", "x", "1x", "+5", "0x10", 2**63, 2**64 + len(text), "1.0", f"{len(text)}, {len(text)}"):
            with self.subTest(value=value):
                reply = self.post(body, value)
                self.assertEqual((reply.status, reply.json["code"]), (400, 5000))
                self.assertIn("one whole number of bytes", reply.json["error"])
        self.assertEqual(self.post(body, len(text), len(text)).status, 400)
        for value in (len(body) + 1, 2**63 - 1):
            self.assertIn(f"is {value}, but the body has {len(body)} bytes", self.post(body, value).json["error"])
        self.assertEqual(self.post(body).status, 400)
        for value in range(1, len(body)):
            if value != len(text):
                reply = self.post(body, value)
                self.assertEqual(reply.status, 400, value)
                self.assertIn(f"the JSON does not end at byte {value}, as `inference-header-content-length` says", reply.json["error"])


if __name__ == "__main__":
    harness.main()
