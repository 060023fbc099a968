#!/usr/bin/env python3
"""Rows of different calls share a run only of models that compute each row apart: others get every call its own run, and say so."""
import json
import struct

import harness
import onnx_file

CLIENTS, ROUNDS, WIDTH = 40, 10, 6
FEATURES = 64

SOURCE = """
model Behind = onnx("behind.onnx");
model Padded = onnx("padded.onnx");
model Next = onnx("next.onnx");
model Turned = onnx("turned.onnx");
model Written(x: f32[batch, 6]) -> (y: f32[batch, 6]) = onnx("behind.onnx");
model Branching = onnx("branching.onnx");
model Believed(x: f32[batch, 6]) -> (y: f32[batch, 6]) = onnx("branching.onnx");
model Allowed(x: f32[batch, 6]) -> (y: f32[batch, 6]) = onnx("behind.onnx") { mixing allowed; }
model Sound = onnx("sound.onnx");

workflow FromBehind(x: f32[n, 6]) -> (y: f32[n, 6]) { node y = Behind(x); return (y: y); }
workflow FromPadded(x: f32[n, 6]) -> (y: f32[n, 6]) { node y = Padded(x); return (y: y); }
workflow FromNext(x: f32[6]) -> (y: f32[6]) { node y = Next(x) { batch 32 within 5ms; } return (y: y); }
workflow FromTurned(x: f32[6]) -> (y: f32[6]) { node y = Turned(x) { batch 32 within 5ms; } return (y: y); }
workflow FromWritten(x: f32[6]) -> (y: f32[6]) { node y = Written(x) { batch 32 within 5ms; } return (y: y); }
workflow FromBranching(x: f32[n, 6]) -> (y: f32[n, 6]) { node y = Branching(x); return (y: y); }
workflow FromBelieved(x: f32[6]) -> (y: f32[6]) { node y = Believed(x) { batch 32 within 5ms; } return (y: y); }
workflow FromAllowed(x: f32[6]) -> (y: f32[6]) { node y = Allowed(x) { batch 32 within 5ms; } return (y: y); }
workflow FromSound(x: f32[64]) -> (y: f32[64]) { node y = Sound(x) { batch 32 within 5ms; } return (y: y); }

service S { workflow FromBehind; workflow FromPadded; workflow FromNext; workflow FromTurned; workflow FromWritten; workflow FromBranching; workflow FromBelieved; workflow FromAllowed; workflow FromSound; }
"""
TRIED = ("Next", "Turned")  # which only a trial shows
CERTAIN = ("Written", "Believed")
MIXED = TRIED + CERTAIN
LIMIT = CLIENTS - 2  # that one client's numbers are above, and no made-up ones


def rows_model(nodes, initializers):
    return onnx_file.model(nodes, initializers, [onnx_file.value_info("x", ("N", WIDTH))], [onnx_file.value_info("y", ("N", WIDTH))])


def without_the_last():
    return [onnx_file.integers("from", [0]), onnx_file.integers("to", [-1]), onnx_file.integers("axis", [0])]


def branching():
    """The numbers as they are, or below 0 when one of all of them is above the limit."""
    def branch(op):
        return onnx_file.graph([onnx_file.node(op, ["x"], ["b"])], [], [], [onnx_file.value_info("b", ("N", WIDTH))])
    node = onnx_file.node
    return rows_model([node("ReduceMax", ["x"], ["most"], "most", keepdims=0), node("Greater", ["most", "limit"], ["is_above"]),
                       node("If", ["is_above"], ["y"], then_branch=branch("Neg"), else_branch=branch("Identity"))],
                      [onnx_file.initializer("limit", (), struct.pack("<f", LIMIT))])


def source():
    node, folder = onnx_file.node, harness.scratch()
    cut = node("Slice", ["longer", "from", "to", "axis"], ["y"], "cut")
    token = onnx_file.initializer("token", (1, WIDTH), onnx_file.weights(WIDTH, 1))
    behind = rows_model([node("Concat", ["token", "x"], ["longer"], "behind", axis=0), cut], [token, *without_the_last()])
    padded = rows_model([node("Pad", ["x", "one"], ["longer"], "pad"), cut], [onnx_file.integers("one", [1, 0, 0, 0]), *without_the_last()])
    following = rows_model([node("Shape", ["x"], ["extents"], start=0, end=1), *(node("Squeeze", [name, "axis"], [f"{name}_s"]) for name in ("extents", "axis", "one")),
                            node("Range", ["axis_s", "extents_s", "one_s"], ["places"]), node("Add", ["places", "one_s"], ["behind"]),
                            node("Mod", ["behind", "extents_s"], ["at"]), node("Gather", ["x", "at"], ["y"], "pick")],
                           [onnx_file.integers("axis", [0]), onnx_file.integers("one", [1])])
    turned = rows_model([node("Transpose", ["x"], ["t"], "turn", perm=[1, 0]), node("Reshape", ["t", "rows"], ["y"], "back")],
                        [onnx_file.integers("rows", [-1, WIDTH])])
    for name, data in (("behind", behind), ("padded", padded), ("next", following), ("turned", turned), ("branching", branching()), ("sound", onnx_file.perceptron(FEATURES, 128))):
        (folder / f"{name}.onnx").write_bytes(data)
    path = folder / "apart.wf"
    path.write_text(SOURCE)
    return path


def row(client, width):
    return [client + place / 16 for place in range(width)]


class Apart(harness.ServerCase):
    source = source()
    args = ("--schedule=pool",)

    def sent(self, model):
        width = FEATURES if model == "Sound" else WIDTH
        return [harness.request("POST", f"/S/From{model}", json.dumps({"x": row(client, width)}).encode()) for client in range(CLIENTS)]

    def answers(self, model, rounds):
        """Of all clients at once, by client."""
        requests, answers = self.sent(model), [[] for _ in range(CLIENTS)]
        connections = [self.server.connect() for _ in requests]
        for _ in range(rounds):
            for connection, data in zip(connections, requests):
                connection.send(data)
            for connection, got in zip(connections, answers):
                reply = connection.receive()
                self.assertEqual(reply.status, 200, reply)
                got.append(reply.json["y"])
        for connection in connections:
            connection.close()
        return answers

    def alone(self, model):
        with self.server.connect() as connection:
            answers = []
            for data in self.sent(model):
                connection.send(data)
                answers.append(connection.receive().json["y"])
        return answers

    def test_rows_that_depend_on_one_another_run_alone(self):
        for model in MIXED:
            crowd = self.answers(model, ROUNDS)  # the first as soon as the server listens
            for client, (got, expected) in enumerate(zip(crowd, self.alone(model), strict=True)):
                self.assertEqual(got, [expected] * ROUNDS, (model, client))
            rows, runs = self.batched(model)
            self.assertGreaterEqual(rows, CLIENTS * ROUNDS)
            self.assertEqual(rows, runs, model)
            self.assertTrue(self.server.logs("rows of a model depend on one another", f'"model":"{model}"', '"version":', "output `y` has" if model in TRIED else "the signature says `batch`, but node", "`batch 1`"), model)
        page = self.server.call("GET", "/debug/schedule", port="admin").body.decode()
        self.assertEqual(page.count("rows depend on one another"), len(MIXED), page)

    def test_no_made_up_number_need_show_what_a_node_does(self):
        for client, got in enumerate(self.answers("Believed", ROUNDS)):
            is_above = max(row(client, WIDTH)) > LIMIT
            self.assertEqual(got, [[-value if is_above else value for value in row(client, WIDTH)]] * ROUNDS, client)

    def test_a_call_is_one_run_of_what_is_certain_to_compute_across_rows(self):
        for count in (1, 2, 5):
            for last in (0.0, LIMIT + 1):
                samples = [row(client, WIDTH) for client in range(count - 1)] + [[last] * WIDTH]
                for model, token in (("Behind", onnx_file.weights(WIDTH, 1)), ("Padded", bytes(4 * WIDTH))):
                    first, *others = self.said(model, samples)
                    self.assertEqual(struct.pack(f"<{WIDTH}f", *first), token, model)
                    self.assertEqual(others, samples[:-1], (model, count))
                sign = -1 if last > LIMIT else 1
                self.assertEqual(self.said("Branching", samples), [[sign * value for value in each] for each in samples], count)

    def said(self, model, samples):
        reply = self.server.post(f"/S/From{model}", {"x": samples})
        self.assertEqual(reply.status, 200, reply)
        return reply.json["y"]

    def test_samples_of_one_call_run_alone(self):
        samples = [row(client, WIDTH) for client in range(8)]
        for model in MIXED:
            body = {"inputs": [{"name": "x", "shape": [8, WIDTH], "datatype": "FP32", "data": samples}]}
            reply = self.server.post(f"/v2/models/From{model}/infer", body)
            self.assertEqual(reply.status, 200, reply)
            expected = [value for answer in self.alone(model)[:8] for value in answer]
            self.assertEqual(reply.json["outputs"][0]["data"], expected, model)

    def test_rows_whose_mixing_is_allowed_share_runs(self):
        self.answers("Allowed", ROUNDS)
        rows, runs = self.batched("Allowed")
        self.assertEqual(rows, CLIENTS * ROUNDS)
        self.assertLess(runs, rows)
        self.assertFalse(self.server.logs("rows of a model", '"model":"Allowed"', seconds=0.1))

    def batched(self, model):
        """Rows and runs so far."""
        metrics = self.server.metrics()
        return [sum(value for name, value in metrics.items() if name.startswith(f"wf_batch_size_{part}{{") and f'model="{model}"' in name) for part in ("sum", "count")]

    @harness.timed
    def test_rows_of_a_sound_model_share_runs(self):
        self.server.tried_rows()
        alone = self.alone("Sound")
        rows, runs = self.batched("Sound")
        for got, expected in zip(self.answers("Sound", ROUNDS), alone, strict=True):
            for answer in got:
                for a, b in zip(answer, expected, strict=True):
                    self.assertAlmostEqual(a, b, places=4)
        rows, runs = (after - before for after, before in zip(self.batched("Sound"), (rows, runs), strict=True))
        print(f"apart: {rows:.0f} rows in {runs:.0f} runs")
        self.assertEqual(rows, CLIENTS * ROUNDS)
        self.assertGreater(rows / runs, 1.5)
        self.assertFalse(self.server.logs("rows of a model", '"model":"Sound"', seconds=0.1))


if __name__ == "__main__":
    harness.main()
