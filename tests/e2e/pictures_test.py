#!/usr/bin/env python3
"""std.image in colour against Pillow: files of every kind that both read, and what is done with their pixels, a level apart at most."""
import base64
import io
import random
import struct
import unittest

import harness

if __name__ == "__main__":
    harness.in_environment()

from PIL import Image, ImageOps  # noqa: E402

WIDTH, HEIGHT = 45, 38  # no multiples of a JPEG's blocks


def painted():
    """Slopes with some noise, so that neighbours differ, and one picture from another."""
    dice = random.Random(6)
    pixels = bytearray()
    for y in range(HEIGHT):
        for x in range(WIDTH):
            pixels += bytes(min(max(value + dice.randrange(-9, 10), 0), 255) for value in (5 * x, 6 * y, 250 - 3 * x - 2 * y))
    return Image.frombytes("RGB", (WIDTH, HEIGHT), bytes(pixels))


def with_holes(picture, mode):
    """The picture with alpha, 0 in a corner and 255 elsewhere."""
    alpha = Image.new("L", picture.size, 255)
    alpha.paste(0, (0, 0, 20, 10))
    picture = picture.convert(mode)
    picture.putalpha(alpha)
    return picture


def over_white(picture):
    if picture.mode == "CMYK":
        return picture.convert("RGB")
    picture = picture.convert("RGBA")
    white = Image.new("RGBA", picture.size, "white")
    return Image.alpha_composite(white, picture).convert("RGB")


def bmp_of_masks(picture):
    """5, 6 and 5 bits a pixel, from the top, which Pillow reads and does not write."""
    width, height = picture.size
    rows = b""
    for y in range(height):
        row = b"".join((r >> 3 << 11 | g >> 2 << 5 | b >> 3).to_bytes(2, "little") for r, g, b in (picture.getpixel((x, y)) for x in range(width)))
        rows += row + bytes(-len(row) % 4)
    masks = struct.pack("<3I", 0xF800, 0x07E0, 0x001F)
    return b"BM" + struct.pack("<IIIIiiHHIIiiII", 66 + len(rows), 0, 66, 40, width, -height, 1, 16, 3, len(rows), 0, 0, 0, 0) + masks + rows


def saved(picture, **how):
    file = io.BytesIO()
    picture.save(file, **how)
    return file.getvalue()


def files():
    picture = painted()
    palette = picture.quantize(64)
    yield "rgb.png", saved(picture, format="PNG")
    yield "grey.png", saved(picture.convert("L"), format="PNG")
    yield "bilevel.png", saved(picture.convert("1"), format="PNG")
    yield "palette.png", saved(palette, format="PNG")
    yield "palette of 2 bits.png", saved(picture.quantize(4), format="PNG", bits=2)
    yield "transparent palette.png", saved(palette, format="PNG", transparency=palette.getpixel((3, 3)))
    yield "rgba.png", saved(with_holes(picture, "RGB"), format="PNG")
    yield "grey and alpha.png", saved(with_holes(picture, "L"), format="PNG")
    yield "444.jpg", saved(picture, format="JPEG", quality=90, subsampling=0)
    yield "422.jpg", saved(picture, format="JPEG", quality=80, subsampling=1)
    yield "420.jpg", saved(picture, format="JPEG", quality=70, subsampling=2)
    yield "progressive.jpg", saved(picture, format="JPEG", quality=90, progressive=True)
    yield "without YCbCr.jpg", saved(picture, format="JPEG", quality=90, keep_rgb=True)
    yield "grey.jpg", saved(picture.convert("L"), format="JPEG", quality=90)
    yield "cmyk.jpg", saved(picture.convert("CMYK"), format="JPEG", quality=90)
    yield "lossy.webp", saved(picture, format="WEBP", quality=80)
    yield "lossless.webp", saved(picture, format="WEBP", lossless=True)
    yield "transparent.webp", saved(with_holes(picture, "RGB"), format="WEBP", lossless=True)
    yield "lossy and transparent.webp", saved(with_holes(picture, "RGB"), format="WEBP", quality=80)
    yield "rgb.bmp", saved(picture, format="BMP")
    yield "grey.bmp", saved(picture.convert("L"), format="BMP")
    yield "bilevel.bmp", saved(picture.convert("1"), format="BMP")
    yield "palette.bmp", saved(palette, format="BMP")
    yield "565.bmp", bmp_of_masks(picture)
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        for kind in ("JPEG", "PNG", "WEBP"):
            yield f"turned {orientation}.{kind}", saved(picture, format=kind, exif=exif)


def rows_of(picture):
    data, width = picture.tobytes(), picture.width
    return [[list(data[3 * (y * width + x):3 * (y * width + x) + 3]) for x in range(width)] for y in range(picture.height)]


class Pictures(harness.ServerCase):
    source = harness.ROOT / "tests/lang/nodes/library.wf"

    def ask(self, name, **parameters):
        reply = self.server.post(f"/Library/{name}", parameters)
        self.assertEqual(reply.status, 200, (name, reply))
        return reply.json["px"]

    def assert_same(self, found, wanted, what):
        self.assertEqual((len(found), len(found[0])), (wanted.height, wanted.width), what)
        far = [(y, x, one, other) for y, rows in enumerate(zip(found, rows_of(wanted))) for x, (one, other) in enumerate(zip(*rows))
               if max(abs(a - b) for a, b in zip(one, other)) > 1]
        self.assertFalse(far, (what, far[:3]))

    def test_files(self):
        for name, file in files():
            wanted = over_white(ImageOps.exif_transpose(Image.open(io.BytesIO(file))))
            self.assert_same(self.ask("DecodeColour", picture={"b64": base64.b64encode(file).decode()}), wanted, name)

    def test_jpeg_at_a_part_of_its_size(self):
        file = saved(painted().resize((333, 250)), format="JPEG", quality=90)
        for height, width in ((250, 333), (126, 1), (125, 166), (60, 40), (32, 42), (31, 41), (1, 1)):
            wanted = Image.open(io.BytesIO(file))
            wanted.draft("RGB", (width, height))
            self.assert_same(self.ask("DecodeAtLeast", picture={"b64": base64.b64encode(file).decode()}, height=height, width=width), wanted.convert("RGB"), (height, width))

    def test_grey_of_inks(self):
        file = saved(painted().convert("CMYK"), format="JPEG", quality=90)
        found = self.ask("Decode", picture={"b64": base64.b64encode(file).decode()})
        wanted = Image.open(io.BytesIO(file)).convert("RGB").convert("L")
        for one, other in zip(sum(found, []), wanted.tobytes(), strict=True):
            self.assertAlmostEqual(one, other, delta=1)

    def test_resize(self):
        picture = painted()
        for height, width in ((60, 97), (HEIGHT, 200), (77, WIDTH), (HEIGHT, WIDTH)):  # larger: Pillow takes the mean of more where it shrinks
            found = self.ask("ResizeColour", px=rows_of(picture), height=height, width=width)
            self.assert_same(found, picture.resize((width, height), Image.Resampling.BILINEAR), (height, width))

    def test_crop_and_rotate(self):
        picture = painted()
        found = self.ask("CropColour", px=rows_of(picture), top=7, left=5, height=20, width=31)
        self.assert_same(found, picture.crop((5, 7, 36, 27)), "crop")
        self.assert_same(self.ask("RotateColour", px=rows_of(picture)), picture.transpose(Image.Transpose.ROTATE_270), "clockwise")

    def test_letterbox(self):
        picture = painted()
        for height, width in ((64, 64), (50, 120), (HEIGHT, WIDTH)):
            found = self.ask("LetterboxColour", px=rows_of(picture), height=height, width=width)
            self.assert_same(found, ImageOps.pad(picture, (width, height), Image.Resampling.BILINEAR, (114, 114, 114)), (height, width))


if __name__ == "__main__":
    harness.main()
