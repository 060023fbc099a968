#!/usr/bin/env python3
"""The fraud example as its users see it: accuracy over every claim of the held-out wines, scikit-learn's probabilities, which model is asked, and bad measurements."""
import json
import subprocess

import harness

FRAUD = harness.EXAMPLES / "fraud"
KNOWN = json.loads((FRAUD / "testdata/held_out.json").read_text())
GRAPES = ["Barolo", "Grignolino", "Barbera"]
CLAIMS = [(one["wine"], label, label == one["grape"]) for one in KNOWN for label in GRAPES]
LEAST_ACCURACY = 0.97


class Fraud(harness.ServerCase):
    source = FRAUD / "fraud.wf"

    def check(self, wine, label, **more):
        reply = self.server.post("/Fraud/Check", {"wine": wine, "label": label, **more})
        self.assertEqual(reply.status, 200, reply)
        return reply.json["verdict"]

    def deliver(self, bottles):
        return self.server.post("/Fraud/Delivery", {"bottles": bottles})

    def runs(self, node):
        return self.server.metrics()[f'wf_node_compute_seconds_count{{workflow="Check",node="Check/{node}"}}']

    def test_accuracy_over_every_claim(self):
        self.assertEqual(len(CLAIMS), 180)
        verdicts = [self.check(wine, label) for wine, label, _ in CLAIMS]
        right = sum(verdict["genuine"] == genuine for verdict, (*_, genuine) in zip(verdicts, CLAIMS))
        cheap = sum(verdict["by"] == "cheap" for verdict in verdicts)
        print(f"fraud: right about {right} of {len(CLAIMS)} claims, {cheap} of them decided by the cheap model")
        self.assertGreaterEqual(right / len(CLAIMS), LEAST_ACCURACY)
        self.assertTrue(60 <= cheap <= 150, cheap)
        for verdict in verdicts:
            if verdict["by"] == "cheap":
                self.assertTrue(verdict["probability"] >= 0.95 or verdict["probability"] <= 0.05, verdict)

    def test_probabilities_are_those_of_scikit_learn(self):
        for one in KNOWN:
            for column, label in enumerate(GRAPES):
                for by, sure in (("cheap", 0.5), ("exact", 1.01)):
                    verdict = self.check(one["wine"], label, sure=sure)
                    self.assertEqual(verdict["by"], by)
                    self.assertAlmostEqual(verdict["probability"], one[by][column], delta=1e-5)

    def test_the_forest_runs_for_what_the_cheap_model_is_not_sure_of_alone(self):
        cheap, exact = self.runs("guess"), self.runs("exact")
        verdicts = [self.check(wine, label) for wine, label, _ in CLAIMS]
        self.assertEqual(self.runs("guess") - cheap, len(CLAIMS))
        self.assertEqual(self.runs("exact") - exact, sum(verdict["by"] == "exact" for verdict in verdicts))

    def test_a_delivery_is_its_bottles(self):
        delivered = self.deliver([{"wine": wine, "label": label} for wine, label, _ in CLAIMS]).json
        for verdict, (wine, label, _) in zip(delivered["verdicts"], CLAIMS, strict=True):
            alone = self.check(wine, label)
            self.assertEqual((verdict["genuine"], verdict["by"]), (alone["genuine"], alone["by"]))
            self.assertAlmostEqual(verdict["probability"], alone["probability"], delta=1e-6)
        self.assertEqual(delivered["frauds"], [i for i, verdict in enumerate(delivered["verdicts"]) if not verdict["genuine"]])
        self.assertEqual(self.deliver([]).json, {"verdicts": [], "frauds": []})

    def test_the_largest_delivery(self):
        bottle = {"wine": KNOWN[1]["wine"], "label": "Barolo"}
        self.assertEqual(len(self.deliver([bottle] * 1024).json["verdicts"]), 1024)
        self.assert_error(self.deliver([bottle] * 1025), 400, 5000, "1024")

    def test_one_bad_bottle_fails_its_delivery_and_is_named(self):
        good, bad = ({"wine": KNOWN[0]["wine"], "label": label} for label in ("Barolo", "Merlot"))
        reply = self.deliver([good, good, bad])
        self.assert_error(reply, 400, 100001, "no grape")
        self.assertIn("verdicts[2]", reply.error["path"])

    def test_measurements_that_are_none(self):
        wine = KNOWN[0]["wine"]
        for value in (0, -1, 10000, 1e38):
            self.assert_error(self.server.post("/Fraud/Check", {"wine": {**wine, "hue": value}, "label": "Barolo"}), 400, 100002, "above 0")
        for value in ("much", None, [1], 1e39, True):
            self.assert_error(self.server.post("/Fraud/Check", {"wine": {**wine, "hue": value}, "label": "Barolo"}), 400, 5000, "hue")
        without = {name: value for name, value in wine.items() if name != "proline"}
        self.assert_error(self.server.post("/Fraud/Check", {"wine": without, "label": "Barolo"}), 400, 5000, "proline")
        self.assert_error(self.server.post("/Fraud/Check", {"wine": {**wine, "prolin": 1}, "label": "Barolo"}), 400, 5000, "prolin")
        self.assert_error(self.server.call("POST", "/Fraud/Check", b'{"wine": {"alcohol": NaN'), 400, 5000)

    def test_labels_and_thresholds_that_are_none(self):
        wine = KNOWN[0]["wine"]
        for label in ("", "barolo", "Merlot", "Barolo\0"):
            self.assert_error(self.server.post("/Fraud/Check", {"wine": wine, "label": label}), 400, 100001)
        self.assert_error(self.server.post("/Fraud/Check", {"wine": wine, "label": "Barolo", "sure": 0.4}), 400, 5000, "sure is 0.4")

    def test_the_client(self):
        done = subprocess.run([FRAUD / "client.py", "http://%s:%d" % self.server.addresses["http"]], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("of 180", done.stdout)


class SharedRuns(harness.ServerCase):
    source = FRAUD / "fraud.wf"
    args = ("--schedule=pool",)

    def test_rows_of_a_delivery_share_runs(self):
        self.server.tried_rows()
        self.assertEqual(self.server.post("/Fraud/Delivery", {"bottles": [{"wine": wine, "label": label} for wine, label, _ in CLAIMS]}).status, 200)
        metrics = self.server.metrics()
        rows, runs = (metrics[f'wf_batch_size_{what}{{model="Cheap",version="1"}}'] for what in ("sum", "count"))
        self.assertEqual(rows, len(CLAIMS))
        self.assertLess(runs, rows)


if __name__ == "__main__":
    harness.main()
