#!/usr/bin/env python3
"""The pages example as its users see it: what is found and read over 200 pages and the stored ones, rows of many requests in one run of a model, its fallback and its errors."""
import json
import subprocess
import sys

import harness

harness.in_environment()
PAGES = harness.EXAMPLES / "pages"
sys.path.insert(0, str(PAGES))
import draw  # noqa: E402
import numpy as np  # noqa: E402
from client import compare, totals  # noqa: E402
from library_test import png  # noqa: E402

LISTED = json.loads((PAGES / "testdata/pages.json").read_text())
LEAST_FOUND, LEAST_PRECISE, LEAST_DIGITS, LEAST_LINES = 0.99, 0.99, 0.97, 0.88


def squares(lines):
    return [(box["top"], box["left"], box["side"]) for line in lines for box in line["boxes"]]


def white(height, width):
    return png(width, 0, [[255] * width] * height)


class Pages(harness.ServerCase):
    source = PAGES / "pages.wf"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.pages = [(PAGES / "testdata" / one["file"]).read_bytes() for one in LISTED]

    def read(self, page, query=""):
        reply = self.server.call("POST", f"/Pages/Read{query}", page, {"content-type": "image/png"})
        self.assertEqual(reply.status, 200, reply)
        return reply.json["lines"]

    def accuracy(self, pages, listed):
        """What was counted over these pages, of which enough is right."""
        counts = totals(compare(self.read(page), said) for page, said in zip(pages, listed, strict=True))
        print("pages: " + ", ".join(f"{count} {name}" for name, count in counts.items()))
        self.assertGreaterEqual(counts["digits found"] / counts["digits"], LEAST_FOUND)
        self.assertGreaterEqual(counts["digits found"] / counts["boxes"], LEAST_PRECISE)
        self.assertGreaterEqual(counts["digits right"] / counts["digits"], LEAST_DIGITS)
        self.assertGreaterEqual(counts["lines right"] / counts["lines"], LEAST_LINES)
        return counts

    def test_what_is_found_and_read_over_200_pages(self):
        drawn = draw.held_out_pages()
        counts = self.accuracy([draw.png(page) for page, _ in drawn], [said for _, said in drawn])
        self.assertEqual((counts["pages"], counts["digits"], counts["lines"]), (200, 2618, 727))

    def test_what_is_found_and_read_over_the_stored_pages(self):
        counts = self.accuracy(self.pages, LISTED)
        self.assertEqual((counts["pages"], counts["digits"], counts["lines"]), (24, 360, 96))

    def test_lines_come_from_the_top_and_boxes_from_the_left(self):
        for page in self.pages[:6]:
            lines = self.read(page)
            self.assertEqual([line["boxes"][0]["top"] for line in lines], sorted(line["boxes"][0]["top"] for line in lines))
            for line in lines:
                lefts = [box["left"] for box in line["boxes"]]
                self.assertEqual(lefts, sorted(lefts))
                self.assertEqual(len(line["text"]), len(lefts))

    def test_text_is_the_lines(self):
        for page in self.pages[:4]:
            reply = self.server.call("POST", "/Pages/Text", page, {"content-type": "image/png"})
            self.assertEqual(reply.json["text"].split("\n"), [line["text"] for line in self.read(page)])

    def test_a_box_that_cannot_be_read_is_a_question_mark(self):
        for page in self.pages:
            for line in self.read(page):
                self.assertEqual("?" in line["text"], line["score"] == 0)
        plain, strict = self.read(self.pages[0]), self.read(self.pages[0], "?sure=1.01")
        self.assertEqual(squares(strict), squares(plain))
        self.assertEqual([line["text"] for line in strict], ["?" * len(line["text"]) for line in plain])

    def test_a_blank_page_has_no_lines_and_no_text(self):
        for page in ((PAGES / "testdata/blank.png").read_bytes(), white(16, 16), white(300, 200)):
            self.assertEqual(self.read(page), [])
            self.assert_error(self.server.call("POST", "/Pages/Text", page), 400, 100003, "nothing to read")
        self.assertEqual(self.read(self.pages[0], "?found=1.01"), [])

    def test_what_is_no_page(self):
        for body, words in ((b"GIF89a", "not a PNG, JPEG, WebP or BMP image"), (self.pages[0][:200], "the PNG image is damaged")):
            self.assert_error(self.server.call("POST", "/Pages/Read", body), 400, 100001, words)
        for height, width in ((1, 1), (15, 400), (400, 15)):
            self.assert_error(self.server.call("POST", "/Pages/Read", white(height, width)), 400, 100002, "16 pixels")
        reply = self.server.call("POST", "/Pages/Text", b"no page")
        self.assertEqual(reply.error["path"], "Text/read/Read/pixels")

    def test_a_page_with_more_on_it_than_is_read(self):
        scans, _ = draw.held_out()

        def page_of(across, down):
            page, _ = draw.draw_page(np.random.default_rng(1), [[scans[(7 * row + i) % 360] for i in range(across)] for row in range(down)])
            return draw.png(page)

        self.assertEqual(sum(len(line["boxes"]) for line in self.read(page_of(15, 16))), 240)
        self.assert_error(self.server.call("POST", "/Pages/Read", page_of(18, 16)), 400, 5000, "256")

    def test_the_client(self):
        done = subprocess.run([sys.executable, PAGES / "client.py", PAGES / "testdata", "http://%s:%d" % self.server.addresses["http"]], capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("  360 digits found", done.stdout)


class SharedRuns(harness.ServerCase):
    source = PAGES / "pages.wf"
    args = ("--schedule=pool",)

    def large_runs(self):
        """Runs of the recogniser with more than 16 rows."""
        metrics = self.server.metrics()
        return metrics['wf_batch_size_count{model="Digits",version="1"}'] - metrics['wf_batch_size_bucket{model="Digits",version="1",le="16"}']

    def test_boxes_of_several_requests_share_runs(self):
        page, boxes = (PAGES / "testdata" / LISTED[0]["file"]).read_bytes(), len(LISTED[0]["boxes"])
        self.assertLess(boxes, 16)  # a larger run holds boxes of two pages
        alone = self.server.call("POST", "/Pages/Text", page).json
        rounds = 0
        while self.large_runs() == 0 and rounds < 50:
            rounds += 1
            connections = [self.server.connect() for _ in range(32)]
            for connection in connections:
                connection.send(harness.request("POST", "/Pages/Text", page))
            for connection in connections:
                self.assertEqual(connection.receive().json, alone)
                connection.close()
        self.assertGreater(self.large_runs(), 0)
        self.assertEqual(self.server.metrics()['wf_batch_size_sum{model="Digits",version="1"}'], (32 * rounds + 1) * boxes)


if __name__ == "__main__":
    harness.main()
