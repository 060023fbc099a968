#!/usr/bin/env python3
"""Control flow as served: loops with a called workflow inside, early returns, fallbacks per element, paths of failures."""
import base64

import harness
from digits_test import DIGITS, held_out


def b64(data):
    return {"b64": base64.b64encode(data).decode()}


class Sheets(harness.ServerCase):
    source = DIGITS / "sheets.wf"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.pictures = [picture for picture, _ in held_out()[:40]]
        with cls.server.connect() as connection:
            cls.alone = []
            for picture in cls.pictures:
                reply = connection.call("POST", "/Sheets/Recognise", picture)
                cls.alone.append(reply.json["digit"])

    def read(self, pictures, **more):
        return self.server.post("/Sheets/Read", {"pictures": [b64(one) for one in pictures], **more})

    def test_a_sheet_gives_what_its_pictures_give_alone_in_their_order(self):
        for strict in (False, True):
            reply = self.read(self.pictures, strict=strict)
            self.assertEqual(reply.status, 200, reply)
            self.assertEqual(reply.json["digits"], self.alone)
        kinds = {2: "prime", 3: "prime", 5: "prime", 7: "prime"}
        self.assertEqual(reply.json["kinds"], [kinds.get(digit, f"just {digit}") for digit in self.alone])

    def test_an_early_return_of_a_called_workflow_is_its_own(self):
        reply = self.read(self.pictures[:3], least=1.5)
        self.assertEqual(reply.json, {"digits": [-1, -1, -1], "kinds": ["unreadable"] * 3})

    def test_an_element_that_fails_takes_its_own_fallback(self):
        reply = self.read([self.pictures[0], b"no picture", self.pictures[1]])
        self.assertEqual(reply.json["digits"], [self.alone[0], -1, self.alone[1]])

    def test_without_a_fallback_the_lowest_element_fails_the_request_and_is_named(self):
        sheet = self.pictures[:5] + [b"no", self.pictures[5], b"picture"]
        for _ in range(5):
            reply = self.read(sheet, strict=True)
            self.assert_error(reply, 400, 100001, "not a PNG, JPEG, WebP or BMP image")
            self.assertEqual(reply.error["path"], "Read/every[5]/Recognise/pixels")
        self.assertTrue(any('node="Read/every/Recognise/logits"' in name for name in self.server.metrics()))

    def test_limit_and_require(self):
        self.assert_error(self.read(self.pictures[:1] * 65), 400, 5000, "65 elements, and `limit` is 64")
        self.assert_error(self.read([]), 400, 100002, "no pictures were sent")


if __name__ == "__main__":
    harness.main()
