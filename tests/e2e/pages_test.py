#!/usr/bin/env python3
"""The pages example as its users see it: what is found and read over all pages, rows of many requests in one run of a model, its fallback and its errors."""
import json

import harness
from library_test import png

PAGES = harness.EXAMPLES / "pages"
LISTED = json.loads((PAGES / "testdata/pages.json").read_text())
LEAST_FOUND, LEAST_PRECISE, LEAST_LINES, LEAST_DIGITS = 0.99, 0.99, 0.88, 0.97


def overlap(one, other):
    """Intersection over union of two squares (top, left, side)."""
    down, across = (max(min(one[axis] + one[2], other[axis] + other[2]) - max(one[axis], other[axis]), 0) for axis in (0, 1))
    return down * across / (one[2]**2 + other[2]**2 - down * across)


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

    def test_what_is_found_and_read_over_all_pages(self):
        boxes = found = drawn = digits = right_digits = lines = right_lines = 0
        for page, wanted in zip(self.pages, LISTED, strict=True):
            read = self.read(page)
            there, true = squares(read), [tuple(box) for box in wanted["boxes"]]
            boxes, drawn = boxes + len(there), drawn + len(true)
            found += sum(any(overlap(one, other) >= 0.5 for other in there) for one in true)
            texts = [line["text"] for line in read]
            digits, lines = digits + len(true), lines + len(wanted["lines"])
            if [len(text) for text in texts] == [len(text) for text in wanted["lines"]]:
                right_digits += sum(a == b for a, b in zip("".join(texts), "".join(wanted["lines"])))
                right_lines += sum(a == b for a, b in zip(texts, wanted["lines"]))
        self.assertEqual((len(LISTED), drawn, lines), (24, 360, 96))
        print(f"pages: {found} of {drawn} digits found, {boxes - found} boxes too many; {right_digits} digits and {right_lines} of {lines} lines right")
        self.assertGreaterEqual(found / drawn, LEAST_FOUND)
        self.assertGreaterEqual(found / boxes, LEAST_PRECISE)
        self.assertGreaterEqual(right_digits / digits, LEAST_DIGITS)
        self.assertGreaterEqual(right_lines / lines, LEAST_LINES)

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
        for body in (b"GIF89a", self.pages[0][:200]):
            self.assert_error(self.server.call("POST", "/Pages/Read", body), 400, 100001, "not a PNG or JPEG image")
        for height, width in ((1, 1), (15, 400), (400, 15)):
            self.assert_error(self.server.call("POST", "/Pages/Read", white(height, width)), 400, 100002, "16 pixels")
        reply = self.server.call("POST", "/Pages/Text", b"no page")
        self.assertEqual(reply.error["path"], "Text/read/Read/pixels")


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
