#!/usr/bin/env python3
"""Every function of stdlib/*.wf, served and held to the definition worked out here: edges, empty tensors, NaN, sizes up and down."""
import base64
import json
import math
import random
import re
import shutil
import struct
import unittest
import zlib
from fractions import Fraction

import harness

SOURCE = harness.ROOT / "tests/lang/nodes/library.wf"
LIBRARY = sorted((harness.ROOT / "stdlib").glob("*.wf"))
DECLARED = r"(?:fn|extern node) "
# Of the functions that the checker knows, by their module: name and text.
MEMBERS = {}
for name, module, text in re.findall(r'^MEMBER\(\w+, "(\w+)", "std\.(\w+)", (.*?)\)$', (harness.ROOT / "compiler/sema/builtins.def").read_text(), re.M | re.S):
    MEMBERS.setdefault(module, []).append((name, text.replace('\\"', '"')))
NAN = 3e38  # with_nan() of the program makes a NaN of it


def single(x):
    """The f32 nearest to x."""
    return struct.unpack("<f", struct.pack("<f", x))[0]


def in_order(xs):
    """Indices by value, largest first; equal values by index, NaN last."""
    return sorted(range(len(xs)), key=lambda i: (xs[i] == NAN, 0 if xs[i] == NAN else -xs[i], i))


def softmax(xs):
    weights = [math.exp(x - max(xs)) for x in xs]
    return [weight / sum(weights) for weight in weights]


def places(inputs, outputs):
    """(before, after, share) of each output pixel, exactly: half-pixel centres, clamped at the edges."""
    for i in range(outputs):
        centre = min(max((i + Fraction(1, 2)) * Fraction(inputs, outputs) - Fraction(1, 2), Fraction(0)), Fraction(inputs - 1))
        before = math.floor(centre)
        yield before, min(before + 1, inputs - 1), centre - before


def resized(px, height, width):
    """The exact value of each output pixel before it is rounded."""
    columns = list(places(len(px[0]), width))
    for top, bottom, down in places(len(px), height):
        yield [(px[top][left] * (1 - right_share) + px[top][right] * right_share) * (1 - down) +
               (px[bottom][left] * (1 - right_share) + px[bottom][right] * right_share) * down for left, right, right_share in columns]


def png(width, colour, rows, bits=8):
    """A PNG file of so many bits a channel; `colour` is its colour type, `rows` the bytes of each row."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    header = struct.pack(">IIBBBBB", width, len(rows), bits, colour, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


class Library(harness.ServerCase):
    source = SOURCE

    def ask(self, name, **parameters):
        reply = self.server.post(f"/Library/{name}", parameters)
        self.assertEqual(reply.status, 200, (name, parameters, reply))
        return reply.json

    def refused(self, status, code, name, **parameters):
        self.assert_error(self.server.post(f"/Library/{name}", parameters), status, code)

    def assert_near(self, found, wanted, tolerance=1e-6):
        self.assertEqual(len(found), len(wanted))
        for one, other in zip(found, wanted):
            self.assertAlmostEqual(one, other, delta=tolerance)

    def test_every_function_is_called(self):
        program = SOURCE.read_text() + "".join((harness.ROOT / f"tests/e2e/{name}_test.py").read_text() for name in ("audio", "images", "numeric", "text", "times", "tokens"))
        for source in LIBRARY:
            names = re.findall(rf"^///.*\n{DECLARED}(\w+)", source.read_text(), re.M) or [name for name, _ in MEMBERS[source.stem]]
            self.assertTrue(names, source)
            prefix = "" if source.stem == "prelude" else source.stem + r"\."
            for name in names:
                self.assertRegex(program, rf"\b{prefix}{name}\(", f"{source.stem}.{name} has no test")

    def test_every_function_of_the_page_has_an_example(self):
        found = 0
        for section in re.split(r"^## ", harness.wfc("doc", "std").stdout, flags=re.M)[1:]:
            name, declared = section.partition("\n")[0], re.search(rf"```wf\n{DECLARED}", section)
            if declared:
                found += 1
                self.assertRegex(section, r"(?m)^Example.*: `[^`]+`\.$", f"{name} has no example")
        self.assertGreater(found, 150)

    def test_every_example_holds(self):
        examples = []
        for source in LIBRARY:
            comment = ""
            for line in source.read_text().splitlines():
                if match := re.match(rf"{DECLARED}(\w+)", line):
                    found = re.findall(r"^//+ Example.*: `([^`]+)`\.$", comment, re.M)
                    self.assertTrue(found or not comment.startswith("///"), f"{source.stem}.{match[1]} has no example")
                    examples += found
                comment = comment + line + "\n" if line.startswith("//") else ""
        for module, members in MEMBERS.items():
            for name, text in members:
                found = re.findall(r"Example.*: `([^`]+)`\.", text)
                self.assertTrue(found, f"{module}.{name} has no example")
                examples += found
        folder = harness.scratch() / "examples"
        folder.mkdir()
        (folder / "table.json").write_text('{"a": 1, "b": 2}')
        (folder / "words.txt").write_text("[UNK]\n[CLS]\n[SEP]\nsome\nwords\n")
        (folder / "letters.json").write_text(json.dumps({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False}}))
        (folder / "pieces.json").write_text(json.dumps({"model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["\u2581", -2], ["b", -3], ["\u2581ab", -4], ["a", -5]]}, "pre_tokenizer": {"type": "Metaspace"}}))
        shutil.copy(harness.EXAMPLES / "digits/testdata/seven.png", folder)
        samples = struct.pack("<8h", *range(8))
        (folder / "tone.wav").write_bytes(struct.pack("<4sI8sIHHIIHH4sI", b"RIFF", 36 + len(samples), b"WAVEfmt ", 16, 1, 2, 8000, 32000, 4, 16, b"data", len(samples)) + samples)
        imports = [f"import std.{source.stem};" for source in LIBRARY if source.stem != "prelude"]
        tests = [f'test "{number}" {{ expect {example}; }}' for number, example in enumerate(examples)]
        (folder / "examples.wf").write_text("\n".join([*imports, 'const TABLE: map<i64> = json("table.json");', *tests]))
        done = harness.wfc("test", folder / "examples.wf", check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_top_k(self):
        cases = [[], [1], [2, 2, 2], [0.5, -1, 7, 7, 3], [-3e30, 1, -1e-30, 0], [NAN, 1, NAN, -5, 1], [NAN, NAN]]
        dice = random.Random(2)
        cases.append([single(dice.choice((dice.uniform(-5, 5), dice.randrange(3), NAN))) if i % 7 else NAN for i in range(300)])
        for xs in cases:
            xs = [NAN if x > 1e30 else x for x in xs]
            for k in {0, min(1, len(xs)), len(xs) // 2, len(xs)}:
                at = in_order(xs)[:k]
                reply = self.ask("TopK", x=xs, k=k)
                self.assertEqual(reply["indices"], at, xs)
                self.assertEqual(reply["nan"], [xs[i] == NAN for i in at])
                self.assertEqual([single(value) for value in reply["values"]], [0 if xs[i] == NAN else single(xs[i]) for i in at])
            for k in (-1, len(xs) + 1):
                self.refused(500, 7001, "TopK", x=xs, k=k)

    def test_top_k_of_integers(self):
        xs = [-2**63, 5, 2**63 - 1, 5, 0]
        reply = self.ask("TopKInt", x=xs, k=4)
        self.assertEqual((reply["values"], reply["indices"]), ([2**63 - 1, 5, 5, 0], [2, 1, 3, 4]))
        reply = self.ask("TopKBytes", x=[0, 255, 128, 127], k=3)
        self.assertEqual((reply["values"], reply["indices"]), ([255, 128, 127], [1, 2, 3]))

    def test_argmax(self):
        for xs in ([4], [1, 3, 3, 2], [-5, -2, -9], [NAN, -7, NAN], [NAN, NAN], [0.25] * 40 + [0.5] + [0.25] * 40):
            self.assertEqual(self.ask("Argmax", x=xs)["at"], in_order(xs)[0], xs)
        self.refused(500, 7005, "Argmax", x=[])
        self.assertEqual(self.ask("ArgmaxWide", x=[1.0, 1.0 + 2**-50, 1.0 + 2**-51])["at"], 1)  # f32 cannot tell these apart

    def test_softmax(self):
        for xs in ([3], [0, 0], [1, 2, 3], [1000, 999], [-1000, -1001, -3000], [math.log(i + 1) for i in range(100)]):
            reply = self.ask("Softmax", x=xs)
            self.assert_near(reply["y"], softmax(xs))
            self.assertAlmostEqual(sum(reply["y"]), 1, delta=1e-5)
        self.refused(500, 7005, "Softmax", x=[])
        self.assertEqual(self.ask("Softmax", x=[1, NAN, 2])["nan"], [True] * 3)

    def test_softmax_of_rows(self):
        rows = [[1, 2, 3, 4], [0, 0, 0, 0], [500, -500, 499, 0]]
        for found, row in zip(self.ask("SoftmaxRows", x=rows)["y"], rows, strict=True):
            self.assert_near(found, softmax(row))
        self.assertEqual(self.ask("SoftmaxRows", x=[])["y"], [])

    def test_sigmoid(self):
        xs = [0, 1, -1, 20, -20, 80, -80, 1e-3]
        self.assert_near(self.ask("Sigmoid", x=xs)["y"], [1 / (1 + math.exp(-x)) for x in xs], 2e-7)
        self.assertEqual(self.ask("Sigmoid", x=[])["y"], [])
        self.assertEqual(self.ask("SigmoidAtInfinity")["y"], [1, 0])

    def test_clamp(self):
        for name in ("Clamp", "ClampInt"):
            for x, low, high in ((5, 1, 3), (0, 1, 3), (2, 1, 3), (1, 1, 3), (3, 1, 3), (-4, -4, -4), (2, 3, 1)):
                self.assertEqual(self.ask(name, x=x, low=low, high=high)["y"], min(max(x, low), high), (name, x, low, high))
        self.assertEqual(self.ask("ClampNan")["nan"], True)

    def test_resize(self):
        dice = random.Random(3)
        for height, width, to_height, to_width in ((1, 1, 3, 4), (2, 2, 4, 4), (4, 4, 2, 2), (8, 8, 28, 28), (5, 7, 11, 3), (28, 28, 8, 8), (9, 9, 2, 1), (3, 5, 3, 5)):
            px = [[dice.randrange(256) for _ in range(width)] for _ in range(height)]
            found = self.ask("Resize", px=px, height=to_height, width=to_width)["px"]
            wanted = list(resized(px, to_height, to_width))
            self.assertEqual((len(found), len(found[0])), (to_height, to_width))
            for row, exact_row in zip(found, wanted):
                for value, exact in zip(row, exact_row):
                    below, above = (math.floor(exact + Fraction(1, 2) + Fraction(sign, 1000)) for sign in (-1, 1))  # a half within f32's error goes either way
                    self.assertIn(value, (below, above), (height, width, to_height, to_width))

    def test_resize_where_halves_are_exact(self):
        self.assertEqual(self.ask("Resize", px=[[0, 255]], height=1, width=4)["px"], [[0, 64, 191, 255]])
        self.assertEqual(self.ask("Resize", px=[[0, 1], [2, 3]], height=1, width=1)["px"], [[2]])  # 1.5, rounded up
        self.assertEqual(self.ask("Resize", px=[[10, 20], [30, 40]], height=2, width=2)["px"], [[10, 20], [30, 40]])
        self.assertEqual(self.ask("Resize", px=[[200] * 3] * 3, height=7, width=5)["px"], [[200] * 5] * 7)

    def test_resize_to_nothing_and_of_nothing(self):
        self.assertEqual(self.ask("Resize", px=[[1]], height=0, width=3)["px"], [])
        self.refused(500, 7001, "Resize", px=[], height=1, width=1)

    def test_places_of_pixels(self):
        for inputs, outputs in ((1, 1), (1, 4), (2, 4), (4, 2), (8, 32), (32, 8), (16, 2)):  # powers of two: exact in f32
            reply, wanted = self.ask("Places", inputs=inputs, outputs=outputs), list(places(inputs, outputs))
            self.assertEqual(list(zip(reply["before"], reply["after"], reply["share"])), [(b, a, float(s)) for b, a, s in wanted])
            self.assertEqual(reply["centre"], [float(b + s) for b, _, s in wanted])

    def test_mix(self):
        for a, b, t, wanted in ((0, 8, 0, 0), (0, 8, 1, 8), (0, 8, 0.25, 2), (8, 0, 0.25, 6), (-4, 4, 0.5, 0)):
            self.assertEqual(self.ask("Mix", a=a, b=b, t=t)["y"], wanted)

    def test_crop(self):
        px = [[10 * y + x for x in range(7)] for y in range(5)]
        for top, left, height, width in ((0, 0, 5, 7), (1, 2, 3, 4), (4, 6, 1, 1), (2, 0, 0, 7), (0, 3, 2, 0), (5, 7, 0, 0)):
            part = [row[left:left + width] for row in px[top:top + height]]
            self.assertEqual(self.ask("Crop", px=px, top=top, left=left, height=height, width=width)["px"], part)
        for (top, left, height, width), told in (((0, 0, 6, 7), "slice 0:6 of an axis of 5"), ((0, 0, 5, 8), "slice 0:8 of an axis of 7"), ((-1, 0, 2, 2), "slice -1:5 of an axis of 5"),
                                                 ((0, -1, 2, 2), "slice -1:7 of an axis of 7"), ((4, 6, 1, 2), "slice 0:2 of an axis of 1"), ((6, 0, 0, 0), "slice 6:5 of an axis of 5"),
                                                 ((0, 0, -1, 2), "slice 0:-1 of an axis of 5"), ((2**62, 0, 1, 1), f"slice {2**62}:5 of an axis of 5"), ((1, 1, 2**63 - 1, 1), f"slice 0:{2**63 - 1} of an axis of 4")):
            self.assert_error(self.server.post("/Library/Crop", {"px": px, "top": top, "left": left, "height": height, "width": width}), 500, 7001, told)

    def test_sort_by(self):
        dice = random.Random(4)
        cases = [[], [1], [3, 1, 2], [2, 1, 2, 1], [-0.0, 0.0], [NAN, 1, NAN, -3e30], [dice.randrange(20) for _ in range(300)]]
        for by in cases:
            order = sorted(range(len(by)), key=lambda i: (by[i] == NAN, 0 if by[i] == NAN else by[i], i))
            self.assertEqual(self.ask("SortBy", xs=[str(i) for i in range(len(by))], by=by)["xs"], [str(i) for i in order], by)
        for xs in (["a"], ["a", "b", "c"]):
            self.assert_error(self.server.post("/Library/SortBy", {"xs": xs, "by": [1, 2]}), 500, 7000, f"{len(xs)} elements, 2 numbers")

    def test_take(self):
        for xs in ([], [5], [5, 6, 7]):
            for count in (-1, 0, 1, 2, 3, 9):
                self.assertEqual(self.ask("Take", xs=xs, count=count)["xs"], xs[:max(count, 0)])

    def test_flatten(self):
        for texts in ([], ["a"], ["a b", "", "c d e"]):
            self.assertEqual(self.ask("Words", texts=texts)["words"], [word for text in texts for word in text.split(" ")])

    def test_join(self):
        for texts in ([], ["a"], ["a", "b", ""], ["", "", ""], ["é", "\u2603"]):
            for between in ("", ", ", "\n"):
                self.assertEqual(self.ask("Join", texts=texts, between=between)["joined"], between.join(texts))

    def test_transpose(self):
        self.assertEqual(self.ask("Transpose", x=[[1, 2, 3], [4, 5, 6]], flags=[True, False]), {"y": [[1, 4], [2, 5], [3, 6]], "flag": [True, False]})

    def test_concat(self):
        for a, b in (([], []), ([1], []), ([], [2]), ([1, 255], [3, 4, 5])):
            self.assertEqual(self.ask("Concat", a=a, b=b)["y"], a + b)
        for a, b in (([[1, 2]], [[3, 4], [5, 6]]), ([[1]], [[2]])):
            self.assertEqual(self.ask("ConcatRows", a=a, b=b)["y"], a + b)
        self.refused(400, 5000, "ConcatRows", a=[[1, 2]], b=[[3]])

    def test_gather(self):
        xs = [5, 6, 7]
        for at in ([], [2], [1, 1, 0, 2]):
            self.assertEqual(self.ask("Gather", x=xs, at=at)["y"], [xs[i] for i in at])
            self.assertEqual(self.ask("GatherRows", x=[[x, -x] for x in xs], at=at)["y"], [[xs[i], -xs[i]] for i in at])
        for at in ([3], [-1], [0, 9]):
            self.refused(500, 7001, "Gather", x=xs, at=at)
            self.refused(500, 7001, "GatherRows", x=[[x] for x in xs], at=at)

    def test_rotate(self):
        self.assertEqual(self.ask("Rotate", px=[[1, 2, 3], [4, 5, 6]])["px"], [[4, 1], [5, 2], [6, 3]])
        self.assertEqual(self.ask("Rotate", px=[[9]])["px"], [[9]])

    def test_letterbox(self):
        for h, w, height, width in ((2, 4, 4, 4), (4, 2, 4, 4), (3, 3, 5, 9), (1, 100, 8, 8), (7, 5, 3, 11), (4, 4, 4, 4)):
            shrink = min(Fraction(height, h), Fraction(width, w))
            rows, columns = (max(1, math.floor(side * shrink + Fraction(1, 2))) for side in (h, w))
            top, left = (height - rows) // 2, (width - columns) // 2
            px = [[10 * y + x for x in range(w)] for y in range(h)]
            reply = self.ask("Letterbox", px=px, height=height, width=width)
            self.assertEqual([reply[name] for name in ("top", "left", "rows", "columns")], [top, left, rows, columns], (h, w, height, width))
            inner = self.ask("Resize", px=px, height=rows, width=columns)["px"]
            wanted = [[inner[y - top][x - left] if top <= y < top + rows and left <= x < left + columns else 7 for x in range(width)] for y in range(height)]
            self.assertEqual(reply["px"], wanted)
        self.refused(500, 7000, "Letterbox", px=[], height=2, width=2)

    def test_channels(self):
        dice = random.Random(7)
        for channels in (1, 3, 4):
            px = [[[dice.randrange(256) for _ in range(channels)] for _ in range(7)] for _ in range(5)]
            planes = [[[pixel[channel] for pixel in row] for row in px] for channel in range(channels)]

            def joined(results):
                return [[list(pixel) for pixel in zip(*rows)] for rows in zip(*results)]

            for height, width in ((5, 7), (11, 3), (2, 20)):
                wanted = joined([self.ask("Resize", px=plane, height=height, width=width)["px"] for plane in planes])
                self.assertEqual(self.ask("ResizeColour", px=px, height=height, width=width)["px"], wanted, (channels, height, width))
            self.assertEqual(self.ask("CropColour", px=px, top=1, left=2, height=3, width=4)["px"], [row[2:6] for row in px[1:4]])
            self.refused(500, 7001, "CropColour", px=px, top=1, left=2, height=3, width=6)
            self.assertEqual(self.ask("RotateColour", px=px)["px"], [[px[4 - x][y] for x in range(5)] for y in range(7)])
            inner = self.ask("ResizeColour", px=px, height=9, width=12)["px"]
            row = [[114] * channels] * 12
            self.assertEqual(self.ask("LetterboxColour", px=px, height=12, width=12)["px"], [row, *inner, row, row])
        self.assertEqual(self.ask("ResizeColour", px=[], height=1, width=1)["px"], [[[]]])  # without channels nothing is read
        self.refused(500, 7000, "LetterboxColour", px=[], height=2, width=2)

    def test_iou(self):
        for one, other, wanted in (([0, 0, 2, 2], [1, 1, 3, 3], 1 / 7), ([0, 0, 2, 2], [0, 0, 2, 2], 1), ([0, 0, 1, 1], [1, 0, 2, 1], 0), ([0, 0, 4, 4], [1, 1, 3, 3], 0.25),
                                   ([1, 1, 1, 1], [1, 1, 1, 1], 0), ([0, 0, 1, 1], [5, 5, 6, 6], 0)):
            self.assertAlmostEqual(self.ask("Iou", boxes=[one, other])["iou"], wanted, delta=1e-6)

    def test_nms(self):
        def area(box):
            return (box[2] - box[0]) * (box[3] - box[1])

        def iou(a, b):
            shared = max(min(a[2], b[2]) - max(a[0], b[0]), 0) * max(min(a[3], b[3]) - max(a[1], b[1]), 0)
            return Fraction(shared, area(a) + area(b) - shared) if shared else 0

        dice = random.Random(5)
        for count, most in ((1, 0.5), (12, 0.25), (60, 0.5), (60, 0), (60, 1)):  # f32 holds these
            corners = [(dice.randrange(40), dice.randrange(40)) for _ in range(count)]
            boxes = [[y, x, y + dice.randrange(1, 24), x + dice.randrange(1, 24)] for y, x in corners]
            scores = [NAN if i % 17 == 5 else dice.randrange(20) for i in range(count)]
            stay = []
            for i in in_order(scores):
                if all(iou(boxes[i], boxes[j]) <= most for j in stay):
                    stay.append(i)
            self.assertEqual(self.ask("Nms", boxes=boxes, scores=scores, most=most)["stay"], stay, (count, most))

    def test_nms_of_very_many(self):
        boxes = [[10 * (i % 100), 0, 10 * (i % 100) + 5, 5] for i in range(10_000)]  # 100 of them at each of 100 places
        self.assertEqual(self.ask("Nms", boxes=boxes, scores=list(range(10_000)), most=0.5)["stay"], list(range(9_999, 9_899, -1)))

    def test_ctc_greedy(self):
        def scores(classes):
            return [[1 if c == one else 0 for c in range(4)] for one in classes]

        for classes, wanted in (([0, 0], []), ([1, 1, 2], [1, 2]), ([1, 0, 1], [1, 1]), ([3, 3, 0, 0, 3, 2, 2, 0], [3, 3, 2])):
            self.assertEqual(self.ask("Ctc", scores=scores(classes), blank=0), {"read": wanted, "usual": wanted})
        self.assertEqual(self.ask("Ctc", scores=scores([3, 1, 1, 3, 0]), blank=3)["read"], [1, 0])

    def test_split(self):
        for text in ("", "a", "a,b", ",a,,b,", "über, \u2603, c"):
            for between in (",", ", ", "b", "\u2603"):
                self.assertEqual(self.ask("Split", text_=text, between=between)["parts"], text.split(between))
        self.refused(500, 7000, "Split", text_="a", between="")

    def test_wordpiece(self):
        start, end, unknown = 2, 3, 1
        cases = [("", []), ("Unaffordable, playing!", [5, 6, 7, 11, 8, 9, 12]), ("Caf\u00e9 \u4f60\u597d zebra", [13, 14, 15, unknown]), ("a[MASK]plays", [unknown, 4, 8, 10])]
        for text, ids in cases:
            self.assertEqual(self.ask("WordPiece", text_=text)["ids"], [start, *ids, end], text)
            self.assertEqual(self.ask("WordPiece", text_=text, special=False)["ids"], ids, text)
            for most in range(2, 10):
                self.assertEqual(self.ask("WordPiece", text_=text, most=most)["ids"], [start, *ids[:most - 2], end], (text, most))
        self.refused(500, 7000, "WordPiece", text_="a", most=1)
        self.refused(500, 7000, "WordPiece", text_="a", most=-1, special=False)

    def test_bpe(self):
        for text, ids in (("", []), ("low lower", [10, 12, 11]), ("newlow", [14, 10]), ("\u00e9<s>x low", [15, 16, 0, 12])):
            self.assertEqual(self.ask("Bpe", text_=text), {"ids": ids, "forged": ids}, text)

    def test_unigram(self):
        for text, ids, back in (("", [], ""), ("low newer", [4, 6, 5], "low newer"), (" low\t lowest", [4, 4, 13], "low lowest"), ("\u4f60\u597d \u00e9", [3, 0, 3, 16], " \u00e9"), ("lowe", [4, 10], "lowe")):
            self.assertEqual(self.ask("Unigram", text_=text), {"ids": [*ids, 2], "back": back}, text)
        self.assertEqual(self.ask("Unigram", text_="low low low", most=2)["ids"], [4, 2])
        self.refused(500, 7000, "Unigram", text_="a", most=0)

    def test_batches_have_the_length_of_a_bucket(self):
        for texts, length in ((["low", "low low"], 3), (["low " * 3], 6), (["low " * 30, ""], 6), ([""], 3)):
            rows = [self.ask("Unigram", text_=text)["ids"] for text in texts]
            reply = self.ask("Batch", texts=texts, buckets=[3, 6])
            self.assertEqual(reply["ids"], [(row + [9] * length)[:length] for row in rows])
            self.assertEqual(reply["masks"], [([1] * len(row) + [0] * length)[:length] for row in rows])
        self.refused(500, 7001, "Batch", texts=["low"], buckets=[])
        for count, length in ((0, 0), (0, 2), (3, 2), (2, 2)):
            ids = list(range(5, 5 + count))
            self.assertEqual(self.ask("Padded", ids=ids, length=length), {"ids": (ids + [0] * length)[:length], "mask": ([1] * count + [0] * length)[:length]})
        self.refused(500, 7004, "Padded", ids=[1], length=-1)

    def test_tables_that_no_tokenizer_made(self):
        for table in (b"", b"wtk1", b"wtk1" * 100, bytes(1000)):
            self.refused(500, 7000, "Forged", text_="a", table={"b64": base64.b64encode(table).decode()})
            self.refused(500, 7000, "ForgedText", ids=[1], table={"b64": base64.b64encode(table).decode()})

    def decoded(self, data, workflow="Decode"):
        return self.ask(workflow, picture={"b64": base64.b64encode(data).decode()})["px"]

    def test_decode_gray(self):
        self.assertEqual(self.decoded(png(3, 0, [[0, 128, 255], [7, 8, 9]])), [[0, 128, 255], [7, 8, 9]])
        self.assertEqual(self.decoded(png(2, 2, [[90, 90, 90, 255, 255, 255]])), [[90, 255]])
        luma = self.decoded(png(3, 2, [[255, 0, 0, 0, 255, 0, 0, 0, 255]]))  # of ITU-R BT.601, as a JPEG's
        self.assert_near(luma[0], [0.299 * 255, 0.587 * 255, 0.114 * 255], 1)
        self.assertEqual(self.decoded(png(3, 4, [[0, 0, 0, 255, 50, 255]])), [[255, 0, 50]])  # grey and alpha: laid over white
        half = self.decoded(png(1, 4, [[0, 128]]))[0][0]
        self.assertTrue(120 <= half <= 190, half)
        good = png(3, 0, [[0, 128, 255], [7, 8, 9]])
        for data in (b"", b"text", good[:20], good[:-16], good[:40] + b"\xff" + good[41:]):
            for workflow in ("Decode", "DecodeColour"):
                self.refused(500, 7000, workflow, picture={"b64": base64.b64encode(data).decode()})

    def test_decode(self):
        self.assertEqual(self.decoded(png(2, 2, [[1, 2, 3, 250, 0, 9], [7, 8, 9, 0, 0, 255]]), "DecodeColour"), [[[1, 2, 3], [250, 0, 9]], [[7, 8, 9], [0, 0, 255]]])
        self.assertEqual(self.decoded(png(2, 0, [[0, 128]]), "DecodeColour"), [[[0] * 3, [128] * 3]])
        self.assertEqual(self.decoded(png(2, 6, [[9, 8, 7, 0, 9, 8, 7, 255]]), "DecodeColour"), [[[255] * 3, [9, 8, 7]]])
        deep = self.decoded(png(1, 2, [[0x12, 0x34, 0x80, 0x80, 0xff, 0xff]], bits=16), "DecodeColour")
        self.assertEqual(deep, [[[0x12, 0x80, 255]]])


if __name__ == "__main__":
    harness.main()
