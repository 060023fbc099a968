#!/usr/bin/env python3
"""The rank example as its users see it: candidates are those of numpy, scores those of ONNX Runtime, what is late is answered by likeness, and what is no taste."""
import json
import subprocess
import unittest
from concurrent.futures import ThreadPoolExecutor

import harness

if __name__ == "__main__":
    harness.in_environment(harness.peers_of_examples)

import numpy as np
import onnxruntime
import xxhash

RANK = harness.EXAMPLES / "rank"
REQUEST = json.loads((RANK / "testdata/visitor.json").read_text())
WORDS = ("country", "language", "device", "season", "segment", "campaign")
CANDIDATES, BUCKETS = 100, 10_000
CLOSE = 1e-5
PATH = "/Ranking/Recommend"


class Reference:
    def __init__(self):
        self.items, self.kinds, self.measures = (np.load(RANK / f"{name}.npy") for name in ("items", "kinds", "measures"))
        self.session = onnxruntime.InferenceSession(RANK / "models/wide_deep/1/model.onnx", providers=["CPUExecutionProvider"])

    def likenesses(self, taste):
        taste = np.array(taste, np.float32)
        return self.items @ (taste / np.linalg.norm(taste))

    def scores(self, request, items):
        """Of these items for a visitor, by the network."""
        words = [request["visitor"][name] for name in WORDS]
        likeness = self.likenesses(request["taste"])
        dense = np.stack([np.concatenate([request["habits"], [likeness[item]], np.log1p(self.measures[item])]) for item in items]).astype(np.float32)
        return self.session.run(None, {"dense": dense, "sparse": np.stack([self.sparse(words, item) for item in items])})[0][:, 0]

    def sparse(self, words, item):
        own = [xxhash.xxh64(word.encode()).intdigest() % BUCKETS for word in words]
        both = [xxhash.xxh64(str(self.kinds[item, j // 6]).encode(), xxhash.xxh64(words[j % 6].encode()).intdigest()).intdigest() % BUCKETS for j in range(10)]
        return np.array([*own, *self.kinds[item], *both])


def request_of(seed, **more):
    dice = np.random.default_rng(seed)
    return {**REQUEST, "taste": [float(x) for x in dice.standard_normal(64, np.float32)], "habits": [float(x) for x in dice.random(8, np.float32)], **more}


class Ranking(harness.ServerCase):
    source = RANK / "rank.wf"

    @classmethod
    def setUpClass(cls):
        harness.made("rank")
        cls.reference = Reference()
        super().setUpClass()

    def recommend(self, request):
        reply = self.server.post(PATH, request)
        self.assertEqual(reply.status, 200, reply)
        return reply.json

    def recommend_at_once(self, requests):
        with ThreadPoolExecutor(len(requests)) as pool:
            return list(pool.map(self.recommend, requests))

    def assert_by_likeness(self, request, found):
        """The nearest of all, nearest first; of two that are as near to a millionth either may be first."""
        wanted = np.sort(self.reference.likenesses(request["taste"]))[::-1][:len(found)]
        likenesses = np.array([one["likeness"] for one in found])
        self.assertTrue(np.allclose(np.sort(likenesses)[::-1], wanted, atol=CLOSE))
        self.assertTrue(np.allclose(likenesses, self.reference.likenesses(request["taste"])[[one["item"] for one in found]], atol=CLOSE))
        self.assertEqual(len({one["item"] for one in found}), len(found))

    def assert_by_network(self, request, found):
        scores = [one["score"] for one in found]
        self.assertEqual(scores, sorted(scores, reverse=True))
        self.assertTrue(np.allclose(scores, self.reference.scores(request, [one["item"] for one in found]), atol=CLOSE))


class InTime(Ranking):
    @classmethod
    def setUpClass(cls):
        patient = harness.scratch() / "patient.yml"
        patient.write_text("nodes: {Recommend/wanted: {timeout: 20s}}\n")  # whatever else the machine does
        cls.args = ("--config", patient)
        super().setUpClass()

    def test_candidates_are_numpys_and_scores_are_onnx_runtimes(self):
        for seed in range(10):
            request = request_of(seed, count=CANDIDATES)
            answer = self.recommend(request)
            self.assertEqual((answer["by"], len(answer["found"])), ("network", CANDIDATES))
            self.assert_by_likeness(request, answer["found"])
            self.assert_by_network(request, answer["found"])
            first = self.recommend({**request, "count": 7})["found"]
            self.assertEqual([each["item"] for each in first], [each["item"] for each in answer["found"][:7]])
            for one, other in zip(first, answer["found"]):  # runs of other numbers of rows sum in another order
                self.assertAlmostEqual(one["score"], other["score"], delta=1e-5)

    def test_candidates_of_many_requests_share_runs(self):
        requests = [request_of(seed, count=CANDIDATES) for seed in range(24)]
        before = self.server.metric_sum("wf_batch_size_count"), self.server.metric_sum("wf_batch_size_sum")
        for request, answer in zip(requests, self.recommend_at_once(requests), strict=True):
            self.assert_by_likeness(request, answer["found"])
            self.assert_by_network(request, answer["found"])
        runs, rows = self.server.metric_sum("wf_batch_size_count") - before[0], self.server.metric_sum("wf_batch_size_sum") - before[1]
        self.assertEqual(rows, len(requests) * CANDIDATES)
        self.assertLess(runs, rows)

    def test_the_length_of_a_taste_does_not_matter(self):
        request = request_of(1)
        found = [one["item"] for one in self.recommend(request)["found"]]
        for times in (1e-9, 1000.0):
            self.assertEqual([one["item"] for one in self.recommend({**request, "taste": [x * times for x in request["taste"]]})["found"]], found)

    def test_words_that_nobody_has_seen(self):
        for word in ("", "\u00e9\u4f60\U0001f600", "x" * 100_000):
            request = request_of(2, visitor={name: word for name in WORDS})
            self.assert_by_network(request, self.recommend(request)["found"])

    def test_what_is_no_taste(self):
        for taste in ([0.0] * 64, [1e30] * 64, [1e-30] * 64):
            self.assert_error(self.server.post(PATH, {**REQUEST, "taste": taste}), 400, 100001, "no direction")
        for count in (0, -1, 101):
            self.assert_error(self.server.post(PATH, {**REQUEST, "count": count}), 400, 5000, f"count is {count}, wanted 1..100")
        for name, value, word in (("taste", [1.0] * 63, "taste"), ("taste", "x", "taste"), ("taste", [None] * 64, "taste"), ("habits", [1.0] * 9, "habits"),
                                  ("visitor", {"country": "de"}, "visitor"), ("visitor", {**REQUEST["visitor"], "device": 1}, "device")):
            self.assert_error(self.server.post(PATH, {**REQUEST, name: value}), 400, 5000, word)
        nan = json.dumps({**REQUEST, "taste": [float("nan")] * 64}).encode()
        self.assert_error(self.server.call("POST", PATH, nan, {"content-type": "application/json"}), 400, 5000)

    def test_the_client(self):
        address = "http://%s:%d" % self.server.addresses["http"]
        done = subprocess.run([RANK / "like", "77", "100", address], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual((lines[0], len(lines)), ("by network", 101))
        self.assertEqual([line for line in lines if line.endswith("likeness 1.000")][0].split()[:2], ["item", "77"])


class Late(Ranking):
    @classmethod
    def setUpClass(cls):
        hasty = harness.scratch() / "hasty.yml"
        hasty.write_text("nodes: {Recommend/wanted: {timeout: 1ms}}\n")
        cls.args = ("--config", hasty)
        super().setUpClass()

    def test_what_is_late_is_answered_by_likeness(self):
        late = 0
        requests = [request_of(seed, count=20) for seed in range(32)]  # more rows than a millisecond is enough for
        for request, answer in zip(requests, self.recommend_at_once(requests), strict=True):
            if answer["by"] == "network":
                self.assert_by_network(request, answer["found"])
                continue
            late += 1
            self.assertEqual(answer["by"], "likeness, for the node's timeout has passed")
            self.assert_by_likeness(request, answer["found"])
            self.assertEqual([one["score"] for one in answer["found"]], [one["likeness"] for one in answer["found"]])
        print(f"rank: {late} of {len(requests)} requests answered by likeness")
        self.assertGreater(late, 0)
        self.assertEqual(self.server.settled("wf_abandoned_inflight"), 0)


if __name__ == "__main__":
    unittest.main()
