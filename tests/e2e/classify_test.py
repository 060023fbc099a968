#!/usr/bin/env python3
"""The classify example as its users see it: probabilities near those of Pillow and ONNX Runtime in f32, every kind of picture, exits before the network, and what is no picture."""
import io
import subprocess
import unittest
import zlib

import harness

if __name__ == "__main__":
    harness.in_environment(harness.peers_of_examples)

import numpy as np
import onnxruntime
from PIL import Image

CLASSIFY = harness.EXAMPLES / "classify"
TESTDATA = CLASSIFY / "testdata"
MEAN, DEVIATION = np.array([0.485, 0.456, 0.406], np.float32), np.array([0.229, 0.224, 0.225], np.float32)
NEAR, FAR = 0.05, 0.25  # of logarithms of probabilities, over all classes on average and at most: bf16 has 8 bits of a number, over fifty layers


class Reference:
    def __init__(self):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(CLASSIFY / "models/mobilenet/1/model.onnx", options, providers=["CPUExecutionProvider"])

    def logs(self, encoded):
        """The logarithms of the probabilities, in f32."""
        picture = Image.open(io.BytesIO(encoded))
        picture.draft("RGB", (448, 448))
        picture = picture.convert("RGB")
        side = 7 * min(picture.size) // 8
        left, top = (picture.width - side) // 2, (picture.height - side) // 2
        square = picture.crop((left, top, left + side, top + side)).resize((224, 224), Image.Resampling.BILINEAR)
        x = ((np.asarray(square, np.float32) / 255 - MEAN) / DEVIATION).transpose(2, 0, 1)[None]
        scores = self.session.run(None, {"x": x})[0][0].astype(np.float64)
        return scores - scores.max() - np.log(np.exp(scores - scores.max()).sum())


def encoded(picture, kind="JPEG", **options):
    file = io.BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()


def logs_of(classes):
    by_number = {one["number"]: one["probability"] for one in classes}
    return np.log([by_number[number] for number in range(1000)])


class Classify(harness.ServerCase):
    source = CLASSIFY / "classify.wf"
    path = "/Pictures/Classify"

    @classmethod
    def setUpClass(cls):
        harness.made("classify")
        cls.reference = Reference()
        cls.hills, cls.more, cls.blank = ((TESTDATA / f"{name}.jpg").read_bytes() for name in ("hills", "more_hills", "blank"))
        super().setUpClass()

    def classify(self, picture, top=5):
        reply = self.server.call("POST", f"{self.path}?top={top}", picture)
        self.assertEqual(reply.status, 200, reply)
        return reply.json

    def all_logs(self, picture):
        return logs_of(self.classify(picture, 1000)["classes"])

    def assert_note(self, picture, note):
        self.assertEqual(self.classify(picture), {"classes": [], "note": note})

    def test_probabilities_are_near_those_of_f32(self):
        for picture in (self.hills, self.more):
            off = np.abs(self.all_logs(picture) - self.reference.logs(picture))
            print(f"classify: logarithms of probabilities off by {off.mean():.4f}, at most {off.max():.4f}")
            self.assertLess(off.max(), FAR)
            self.assertLess(off.mean(), NEAR)
            wanted, found = np.argsort(-self.reference.logs(picture))[:5], [one["number"] for one in self.classify(picture)["classes"]]
            self.assertEqual(found[0], wanted[0])
            self.assertGreaterEqual(len(set(found) & set(wanted)), 4)

    def test_the_best_come_first(self):
        classes = self.classify(self.hills, 1000)["classes"]
        shares = [one["probability"] for one in classes]
        self.assertEqual(shares, sorted(shares, reverse=True))
        self.assertAlmostEqual(sum(shares), 1, places=4)
        self.assertEqual(len(self.classify(self.hills)["classes"]), 5)
        for top in (0, 1001, -1):
            self.assert_error(self.server.call("POST", f"{self.path}?top={top}", self.hills), 400, 5000, f"top is {top}, wanted 1..1000")

    def test_every_kind_of_picture(self):
        picture = Image.open(io.BytesIO(self.hills))
        large = picture.resize((2560, 1920))
        for kind, body in (("PNG", encoded(picture, "PNG")), ("WebP", encoded(picture, "WEBP", quality=90)), ("BMP", encoded(picture, "BMP")), ("grey", encoded(picture.convert("L"))),
                           ("palette", encoded(picture.quantize(64), "PNG")), ("large", encoded(large, quality=90)), ("high", encoded(picture.resize((200, 900)))),
                           ("progressive", encoded(picture, progressive=True))):
            with self.subTest(kind=kind):
                off = np.abs(self.all_logs(body) - self.reference.logs(body))
                self.assertLess(off.mean(), NEAR)
        for body in (encoded(picture.convert("CMYK")), encoded(Image.fromarray((np.asarray(picture.convert("L")).astype(np.uint16) * 257)), "PNG")):
            self.assertEqual(len(self.classify(body)["classes"]), 5)

    def test_a_picture_that_lies_on_its_side_is_turned_upright(self):
        picture, exif = Image.open(io.BytesIO(self.hills)), Image.Exif()
        exif[274] = 6  # the top is at the right
        turned = encoded(picture.transpose(Image.Transpose.ROTATE_90), "PNG", exif=exif)
        self.assertLess(np.abs(self.all_logs(turned) - self.all_logs(encoded(picture, "PNG"))).max(), 1e-5)

    def test_blank_and_tiny_pictures_do_not_reach_the_network(self):
        rows = self.server.metric_sum("wf_batch_size_sum")
        self.assert_note(self.blank, "blank")
        for colour in ("white", "black", (12, 200, 99)):
            self.assert_note(encoded(Image.new("RGB", (300, 300), colour), "PNG"), "blank")
        self.assert_note((TESTDATA / "tiny.png").read_bytes(), "tiny")
        for size in ((1, 1), (31, 500), (500, 31)):
            self.assert_note(encoded(Image.new("RGB", size), "PNG"), "tiny")
        self.assertEqual(self.server.metric_sum("wf_batch_size_sum"), rows)
        least = np.random.default_rng(5).integers(0, 256, (32, 32, 3), np.uint8)
        self.assertEqual(len(self.classify(encoded(Image.fromarray(least), "PNG"))["classes"]), 5)

    def test_what_is_no_picture(self):
        for body in (b"", b"hello", b"GIF89a", self.hills[:20], self.hills[:len(self.hills) // 2], b"\xff\xd8\xff" + b"\0" * 1000):
            self.assert_error(self.server.call("POST", self.path, body), 400, 100001, "no JPEG, PNG, WebP or BMP")

    def test_a_png_that_claims_to_be_huge_is_refused(self):
        header = b"IHDR" + (100_000).to_bytes(4, "big") * 2 + b"\x08\x02\0\0\0"
        bomb = b"\x89PNG\r\n\x1a\n\0\0\0\x0d" + header + zlib.crc32(header).to_bytes(4, "big") + b"\0\0\0\x10IDAT0123456789abcdef1234"
        self.assert_error(self.server.call("POST", self.path, bomb), 429, 100002, "100000 x 100000 pixels; at most 67108864 are decoded")

    def test_a_jpeg_that_claims_to_be_huge_is_refused(self):
        at = max(self.hills.find(frame) for frame in (b"\xff\xc0", b"\xff\xc2")) + 5
        bomb = self.hills[:at] + (16_000).to_bytes(2, "big") * 2 + self.hills[at + 4:]
        self.assert_error(self.server.call("POST", self.path, bomb), 429, 100002, "16000 x 16000 pixels; at most 33554432 are decoded")

    def test_the_client(self):
        address = "http://%s:%d" % self.server.addresses["http"]
        done = subprocess.run([CLASSIFY / "classify", TESTDATA / "hills.jpg", "3", address], capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count('"number"'), 3)


if __name__ == "__main__":
    unittest.main()
