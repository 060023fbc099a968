"""Axis 0 of a file that says by its names, or by what its nodes give, that it counts no samples: valid inputs are run."""
import json
import tempfile
import unittest
from pathlib import Path

import harness
import onnx_file
from harness import wfc
from onnx_file import BOOL, INT64, graph, integers, node, value_info

ROWS, OTHER = 8, 7


def rows(count):
    return [[place + column for column in range(4)] for place in range(count)]


def towers(nodes, of_d="nd", outputs=("qe", "de")):
    of = {"qe": "nq", "de": of_d, "y": "k"}
    return onnx_file.model(nodes, [], [value_info("q", ("nq", 4)), value_info("d", (of_d, 4))],
                           [value_info(name, (of[name], 4 if name != "y" else 8)) for name in outputs])


def apart(of_d="nd"):
    return towers([node("Relu", ["q"], ["qe"]), node("Neg", ["d"], ["de"])], of_d)


def joined():
    return towers([node("Concat", ["q", "d"], ["y"], "join", axis=1)], outputs=("y",))


def padded():
    """As many rows more as the largest number of `l` says."""
    return onnx_file.model([node("ReduceMax", ["l"], ["most"], keepdims=1), node("Concat", ["none", "none", "most", "none"], ["pads"], axis=0),
                            node("Pad", ["x", "pads"], ["y"])],
                           [integers("none", [0])], [value_info("x", ("n", 4)), value_info("l", ("n",), INT64)], [value_info("y", ("m", 4))])


def branching():
    """Twice the rows where the first flag is set."""
    def branch(op, inputs, **given):
        return graph([node(op, inputs, ["b"], **given)], [], [], [value_info("b", ("m", 4))])
    return onnx_file.model([node("Gather", ["flags", "first"], ["flag"]),
                            node("If", ["flag"], ["y"], then_branch=branch("Concat", ["x", "x"], axis=0), else_branch=branch("Neg", ["x"]))],
                           [integers("first", [0])], [value_info("x", ("n", 4)), value_info("flags", ("n",), BOOL)], [value_info("y", ("m", 4))])


class Lengths(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_of(self, model, check=True, **inputs):
        (self.folder / "m.onnx").write_bytes(model)
        given = []
        for name, value in inputs.items():
            (self.folder / f"{name}.json").write_text(json.dumps(value))
            given.append(f"{name}={self.folder / name}.json")
        return wfc("model", "run", self.folder / "m.onnx", *given, check=check)

    def is_batched(self, model):
        (self.folder / "m.onnx").write_bytes(model)
        return json.loads(wfc("model", "inspect", "--format=json", self.folder / "m.onnx").stdout)["batched"]

    def test_inputs_of_two_lengths_are_run(self):
        said = json.loads(self.run_of(apart(), q=rows(ROWS), d=rows(OTHER)).stdout)
        self.assertEqual(said["qe"], rows(ROWS))
        self.assertEqual(said["de"], [[-value for value in row] for row in rows(OTHER)])

    def test_inputs_of_one_name_or_that_are_joined_are_of_samples(self):
        self.assertFalse(self.is_batched(apart()))
        for model in (apart("nq"), joined()):
            self.assertTrue(self.is_batched(model))
            self.assertIn(f"axis 0 is {OTHER}, wanted {ROWS}", self.run_of(model, check=False, q=rows(ROWS), d=rows(OTHER)).stderr)

    def test_as_many_rows_as_data_says_are_given(self):
        said = json.loads(self.run_of(padded(), x=rows(ROWS), l=[3, *[0] * (ROWS - 1)]).stdout)
        self.assertEqual(said["y"], [*rows(ROWS), *[[0] * 4] * 3])

    def test_branches_of_two_lengths_are_run(self):
        for flag, expected in ((True, rows(ROWS) * 2), (False, [[-value for value in row] for row in rows(ROWS)])):
            said = json.loads(self.run_of(branching(), x=rows(ROWS), flags=[flag] * ROWS).stdout)
            self.assertEqual(said["y"], expected)

    def test_no_rows_are_run(self):
        (self.folder / "m.onnx").write_bytes(onnx_file.scaled(4, 2.0))
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4)}".ljust(117) + b"\n"
        (self.folder / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
        self.assertEqual(json.loads(wfc("model", "run", self.folder / "m.onnx", self.folder / "x.npy").stdout), {"y": []})
        done = wfc("model", "run", "--random=1", "--dim=n=0", self.folder / "m.onnx", check=False)
        self.assertIn("give inputs of 0 rows", done.stderr)

    def test_inspect_says_which_node_computes_across_rows(self):
        model = onnx_file.model([node("ReduceMax", ["x"], ["most"], "most", keepdims=0), node("Add", ["x", "most"], ["y"])], [],
                                [value_info("x", ("n", 4))], [value_info("y", ("n", 4))])
        self.assertFalse(self.is_batched(model))
        said = wfc("model", "inspect", self.folder / "m.onnx").stdout
        self.assertIn("samples: axis 0 counts no samples: node `most` (ReduceMax) computes across it\n", said)

    def test_a_server_gives_what_they_compute(self):
        (self.folder / "towers.onnx").write_bytes(apart())
        program = self.folder / "t.wf"
        program.write_text('model Towers = onnx("towers.onnx");\nservice S { model Towers; }\n')
        server = harness.Server.of(program)
        self.addCleanup(server.stop)
        inputs = [{"name": name, "shape": [count, 4], "datatype": "FP32", "data": rows(count)} for name, count in (("q", ROWS), ("d", OTHER))]
        reply = server.post("/v2/models/Towers/infer", {"inputs": inputs})
        self.assertEqual(reply.status, 200, reply)
        self.assertEqual({output["name"]: output["shape"] for output in reply.json["outputs"]}, {"qe": [ROWS, 4], "de": [OTHER, 4]})


if __name__ == "__main__":
    harness.main()
