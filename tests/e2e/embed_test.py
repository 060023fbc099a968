#!/usr/bin/env python3
"""The embed example as its users see it: vectors are those of PyPI's `tokenizers`, ONNX Runtime and numpy, texts of different lengths share runs, and what is no text."""
import subprocess
import threading
import time
import unittest

import harness

if __name__ == "__main__":
    harness.in_environment(harness.peers_of_examples)

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

EMBED = harness.EXAMPLES / "embed"
LONGEST, WIDTH = 128, 384
CLOSE = 1e-4  # of numbers whose squares sum to 1
ODD = ["x", "x" * 101, "[MASK] [SEP]", "\u00e9t\u00e9 \u00c9T\u00c9", "\u4f60\u597d, world\u3002", "\U0001f600\U0001f468\u200d\U0001f469", "a\u0300" * 50, "\x00\x01a\x7fb\ufffdc\u200bd\ufeff", "1234567890 3.14"]


def corpus():
    """Lines of the project's pages, of 1 to some hundred words."""
    lines = [line.strip() for page in sorted((harness.ROOT / "docs").glob("*.md")) for line in page.read_text().splitlines()]
    return ODD + [line for line in lines if any(letter.isalnum() for letter in line)][::29][:200]


class Reference:
    def __init__(self):
        self.tokenizer = Tokenizer.from_file(str(EMBED / "tokenizer.json"))
        self.tokenizer.enable_truncation(LONGEST)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(EMBED / "models/encoder/1/model.onnx", options, providers=["CPUExecutionProvider"])

    def ids(self, text):
        return self.tokenizer.encode(text).ids

    def vector(self, text):
        ids = np.array([self.ids(text)])
        hidden = self.session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)})[0][0]
        mean = hidden.mean(axis=0)
        return mean / np.linalg.norm(mean)


class Embed(harness.ServerCase):
    source = EMBED / "embed.wf"
    args = ("--schedule=pool", "--default-timeout", "120s")  # an encoder of six layers, whose larger runs are measured beside the requests

    @classmethod
    def setUpClass(cls):
        harness.made("embed")
        cls.reference, cls.lines = Reference(), corpus()
        super().setUpClass()

    def embed(self, texts):
        reply = self.server.post("/Embeddings/Embed", {"texts": texts})
        self.assertEqual(reply.status, 200, reply)
        return np.array(reply.json["vectors"], np.float32), reply.json["tokens"]

    def runs(self):
        metrics = self.server.metrics()
        return np.array([metrics[f'wf_batch_size_{what}{{model="Encoder",version="1"}}'] for what in ("count", "sum")])

    def assert_near(self, found, wanted):
        self.assertEqual(found.shape, wanted.shape)
        self.assertLess(np.abs(found - wanted).max(), CLOSE)

    def test_vectors_are_those_of_the_reference(self):
        wanted = np.stack([self.reference.vector(line) for line in self.lines])
        found, tokens = self.embed(self.lines)
        self.assert_near(found, wanted)
        self.assertEqual(tokens, sum(len(self.reference.ids(line)) for line in self.lines))
        self.assertGreater(max(len(self.reference.ids(line)) for line in self.lines), 64)
        self.assertTrue(np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5))

    def test_texts_of_many_requests_get_their_own_vectors(self):
        lines, found = self.lines[:64], {}
        wanted, _ = self.embed(lines)

        def ask(at):
            found[at], _ = self.embed(lines[at:at + 4])

        threads = [threading.Thread(target=ask, args=(at,)) for at in range(0, len(lines), 4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assert_near(np.concatenate([found[at] for at in sorted(found)]), wanted)

    def test_texts_of_different_lengths_share_runs(self):
        texts = [" ".join(["file"] * words) for words in range(1, 13)]
        lengths = {len(self.reference.ids(text)) for text in texts}
        self.assertEqual((len(lengths), max(lengths)), (12, 14))  # one bucket
        until = time.monotonic() + 120  # by then the server has measured what larger runs take, and takes them
        while time.monotonic() < until:
            before = self.runs()
            self.embed(texts)
            runs, rows = self.runs() - before
            self.assertEqual(rows, 12)
            if runs < 6:
                return
            time.sleep(0.2)
        self.fail(f"{runs} runs for 12 rows")

    def test_what_is_too_long_is_cut(self):
        long = "file " * 1000
        vectors, tokens = self.embed([long, long + "and more", "x" * 2**20])
        self.assertEqual(tokens, 2 * LONGEST + 3)
        self.assert_near(vectors, np.stack([self.reference.vector(long)] * 2 + [self.reference.vector("x" * 200)]))

    def test_a_megabyte_takes_no_time_to_speak_of(self):
        for text in ("x" * 2**20, "\u0301\u0323" * 2**17 + "a", "a " * 2**19):
            began = time.monotonic()
            self.embed([text])
            self.assertLess(time.monotonic() - began, 10, text[:2])

    def test_the_nearest_are_those_of_numpy(self):
        texts, query = self.lines[:40], self.lines[50]
        scores = np.stack([self.reference.vector(text) for text in texts]) @ self.reference.vector(query)
        order = np.argsort(-scores)
        for top in (1, 3, 40, 1000):
            reply = self.server.post("/Embeddings/Nearest", {"query": query, "texts": texts, "top": top})
            self.assertEqual(reply.status, 200, reply)
            found = reply.json["found"]
            self.assertEqual(len(found), min(top, 40))
            self.assertTrue(np.allclose([one["score"] for one in found], scores[order][:top], atol=1e-4))
        self.assertEqual(found[0]["text"], texts[order[0]])

    def test_what_has_no_words(self):
        self.assert_error(self.server.post("/Embeddings/Embed", {"texts": []}), 400, 100001, "no texts")
        for empty in ("", " \n\t", "\u3000", "\u200b\ufeff"):
            reply = self.server.post("/Embeddings/Embed", {"texts": ["one", "two", empty]})
            self.assert_error(reply, 400, 100002, "no words")
            self.assertEqual(reply.error["path"], "Embed/each[2]/One")
        reply = self.server.post("/Embeddings/Nearest", {"query": "", "texts": ["one"]})
        self.assert_error(reply, 400, 100002)
        self.assertEqual(reply.error["path"], "Nearest/asked/One")

    def test_what_is_no_text(self):
        path = "/Embeddings/Embed"
        self.assert_error(self.server.post(path, {"texts": ["a"] * 257}), 400, 5000, "limit")
        for body, word in ((b'{"texts": ["a\xff"]}', "texts[0]"), (b'{"texts": ["\\ud800"]}', "texts[0]"), (b'{"texts": [1]}', "texts[0]"), (b'{"texts": "a"}', "texts"),
                           (b'{"text": ["a"]}', "texts"), (b'{"texts": ["a"', "")):
            self.assert_error(self.server.call("POST", path, body, {"content-type": "application/json"}), 400, 5000, word)
        self.assert_error(self.server.post("/Embeddings/Nearest", {"query": "a", "texts": ["a"], "top": 0}), 400, 5000, "top is 0")

    def test_the_client(self):
        texts = harness.scratch() / "texts.txt"
        texts.write_text("the disk is full\n\n--\nthe file cannot be opened\nout of memory\n" * 100)
        address = "http://%s:%d" % self.server.addresses["http"]
        done = subprocess.run([EMBED / "nearest", "a file could not be opened", texts, address], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([line.split(maxsplit=1)[1] for line in done.stdout.splitlines()], ["the file cannot be opened"] * 3)


if __name__ == "__main__":
    unittest.main()
