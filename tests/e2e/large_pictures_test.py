#!/usr/bin/env python3
"""A file of a few kilobytes may hold a picture of millions of pixels: others are answered while it is decoded, and nobody decodes what nobody waits for."""
import io
import struct
import time
import unittest
import zlib

import harness

if __name__ == "__main__":
    harness.in_environment()

from PIL import Image  # noqa: E402

SOURCE = """
import std.image;

workflow Look(picture: bytes) -> (rows: i64) { node px = image.decode(picture); node rows = len(px); return (rows: rows); }
workflow Grey(picture: bytes) -> (rows: i64) { node px = image.decode_gray(picture); node rows = len(px); return (rows: rows); }
workflow Glance(picture: bytes) -> (rows: i64) { node px = image.decode(picture, 100, 100); node rows = len(px); return (rows: rows); }
workflow Hurry(picture: bytes) -> (rows: i64) { node px = image.decode(picture) { timeout 50ms; } node rows = len(px); return (rows: rows); }
workflow Add(a: i64) -> (b: i64) { node b = a + 1; return (b: b); }
workflow Pooled(n: f64) -> (y: f64) { node y = sum[k < i64(n)](f64(k) * 0.5); return (y: y); }

service Pictures { workflow Look; workflow Grey; workflow Glance; workflow Hurry; workflow Add; workflow Pooled; }
"""
SIDE = 5700  # 32 million pixels: 0.1 to 1 s of a CPU
SOON = 0.6 if harness.IS_SANITIZED else 0.2  # seconds: long before a picture is whole


def source():
    path = harness.scratch() / "large_pictures.wf"
    path.write_text(SOURCE)
    return path


def png(depth, colour, bytes_per_pixel):
    """All black, and transparent where it may be."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    packer = zlib.compressobj(1)
    row = bytes(1 + SIDE * bytes_per_pixel)
    data = b"".join(packer.compress(row) for _ in range(SIDE)) + packer.flush()
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", SIDE, SIDE, depth, colour, 0, 0, 0)) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def saved(mode, **how):
    file = io.BytesIO()
    Image.new(mode, (SIDE, SIDE)).save(file, **how)
    return file.getvalue()


def bmp():
    """Each row is a few runs."""
    row = b"\xff\1" * (SIDE // 255) + bytes([SIDE % 255, 1]) + b"\0\0"
    return b"BM" + struct.pack("<IIIIiiHHIIiiII", 0, 0, 1078, 40, SIDE, SIDE, 1, 8, 1, 0, 0, 0, 0, 0) + bytes(1024) + row * SIDE


FILES = {
    "PNG": lambda: png(8, 2, 3),
    "JPEG": lambda: saved("RGB", format="JPEG"),
    "progressive JPEG": lambda: saved("RGB", format="JPEG", progressive=True),
    "WebP": lambda: saved("RGBA", format="WEBP", lossless=True, quality=0, method=0),
    "BMP": bmp,
}


def webp_of_tables():
    """1 Mi black pixels, each 16 of which have five codes of their own, of one symbol: 300 KB that libwebp makes tables of 370 MB of."""
    bits = []

    def put(value, count):
        bits.extend(value >> i & 1 for i in range(count))

    def of_256(rest):  # a code of 256 symbols in 8 bits each, and of `rest` that do not occur
        put(8 << 1, 5)
        for i in range(12):
            put(int(i in (2, 11)), 3)  # lengths are 0 or 8
        put(0, 1)
        bits.extend([1] * 256 + [0] * rest)

    put(0x2f | 1023 << 8 | 1023 << 22, 40)
    put(0b000100, 6)  # no transforms, no cache; codes differ by squares of 4 pixels
    put(0, 1)
    of_256(24)
    of_256(0)
    put(0x111, 12)
    for i in range(65536):  # the square's codes: green, then red
        bits.extend(i >> 7 - k & 1 for k in range(8))
        bits.extend(i >> 15 - k & 1 for k in range(8))
    bits.extend([1, 0, 0, 0] * 5 * 65536)
    data = int("".join(map(str, reversed(bits))), 2).to_bytes(len(bits) // 8 + 16, "little")
    data += bytes(len(data) % 2)
    return b"RIFF" + struct.pack("<I", len(data) + 12) + b"WEBPVP8L" + struct.pack("<I", len(data)) + data


def small():
    file = io.BytesIO()
    Image.new("RGB", (16, 16)).save(file, format="PNG")
    return file.getvalue()


class LargePictures(harness.ServerCase):
    source = source()
    args = ("--io-threads", "1", "--compute-threads", "1")

    def runs(self, node):
        report = self.server.call("GET", "/debug/schedule?format=json", port="admin").json
        [runs] = [task["runs"] for task in report["tasks"] if task["node"] == node]
        return runs

    def pooled(self):
        """Answered once the one thread of the pool is free."""
        with self.server.connect() as connection:
            self.assertEqual(connection.call("POST", "/Pictures/Pooled", b'{"n": 10}').status, 200)

    def test_the_header_of_a_file_says_where_it_is_decoded(self):
        for workflow in ("Look", "Grey"):
            before = self.runs(f"{workflow}/px")
            for _ in range(20):
                self.assertEqual(self.server.call("POST", f"/Pictures/{workflow}", small()).json, {"rows": 16})
            between = self.runs(f"{workflow}/px")
            self.assertGreater(between["loop"], before["loop"], workflow)  # the first at least: one that a busy machine keeps for 1 ms sends the next to the pool
            for name, file in FILES.items():
                self.assertEqual(self.server.call("POST", f"/Pictures/{workflow}", file()).json, {"rows": SIDE}, name)
            after = self.runs(f"{workflow}/px")
            self.assertEqual((after["loop"] - between["loop"], after["pool"] - between["pool"]), (0, len(FILES)), workflow)

    @harness.timed
    def test_others_are_answered_meanwhile(self):
        for name, make in FILES.items():
            file, took = make(), []
            with self.server.connect() as one, self.server.connect() as other:
                for connection in (one, other):
                    connection.send(harness.request("POST", "/Pictures/Look", file))
                self.server.settled("wf_inflight_requests", 2, seconds=1)
                with self.server.connect() as third:
                    for _ in range(20):
                        began = time.monotonic()
                        self.assertEqual(third.call("POST", "/Pictures/Add", b'{"a": 1}').json, {"b": 2})
                        took.append(time.monotonic() - began)
                        time.sleep(0.005)
                for connection in (one, other):
                    self.assertEqual(connection.receive().json, {"rows": SIDE}, name)
            took.sort()
            self.assertLess(took[10], 0.005, (name, took))
            self.assertLess(took[-1], 0.05, (name, took))

    @harness.timed
    def test_decoding_ends_with_the_time_for_it(self):
        file = png(16, 6, 8)
        with self.server.connect() as connection:
            for _ in range(3):
                began = time.monotonic()
                reply = connection.call("POST", "/Pictures/Hurry", file)
                answered = time.monotonic() - began
                self.pooled()
                free = time.monotonic() - began
                self.assert_error(reply, 504, 6000)
                self.assertGreater(answered, 0.04)
                self.assertLess(answered, SOON)
                self.assertLess(free - answered, SOON / 2)

    @harness.timed
    def test_decoding_ends_with_its_client(self):
        for file in (png(16, 6, 8), FILES["WebP"]()):
            with self.server.connect() as connection:
                connection.send(harness.request("POST", "/Pictures/Look", file))
                self.server.settled("wf_inflight_requests", 1)
                time.sleep(0.05)
            began = time.monotonic()
            self.pooled()
            self.assertLess(time.monotonic() - began, SOON)


class LittleMemory(harness.ServerCase):
    source = source()
    args = ("--limits-request-bytes", "16MiB")

    def peak(self):
        with open(f"/proc/{self.server.process.pid}/status", encoding="utf-8") as status:
            return int(next(line for line in status if line.startswith("VmHWM:")).split()[1]) * 1024

    def test_a_progressive_jpeg_takes_no_more_at_an_eighth_than_a_request_may_have(self):
        self.assertEqual(self.server.call("POST", "/Pictures/Glance", FILES["JPEG"]()).status, 200)
        before = self.peak()
        for how in ({}, {"subsampling": 0}):
            reply = self.server.call("POST", "/Pictures/Glance", saved("RGB", format="JPEG", progressive=True, **how))
            self.assert_error(reply, 429, 3012, "limits.request_bytes")
        self.assertLess(self.peak() - before, 32 << 20)
        self.assertEqual(self.server.call("POST", "/Pictures/Glance", small()).json, {"rows": 16})

    def test_a_webp_takes_no_more_than_a_request_may_have(self):
        def file(side, mode="RGB", **how):
            data = io.BytesIO()
            Image.new(mode, (side, side)).save(data, format="WEBP", method=0, **how)
            return data.getvalue()

        for how in ({"lossless": True, "quality": 0}, {"mode": "RGBA"}):  # 7 and 9 bytes a pixel
            self.assertEqual(self.server.call("POST", "/Pictures/Look", file(1300, **how)).json, {"rows": 1300})
            self.assert_error(self.server.call("POST", "/Pictures/Look", file(1700, **how)), 429, 3012, "limits.request_bytes")
        self.assertEqual(self.server.call("POST", "/Pictures/Look", file(1700)).json, {"rows": 1700})

    def test_tables_of_a_webp_take_no_more_than_a_request_may_have(self):
        before = self.peak()
        self.assert_error(self.server.call("POST", "/Pictures/Look", webp_of_tables()), 429, 3012, "limits.request_bytes")
        self.assertLess(self.peak() - before, 32 << 20)
        self.assertEqual(self.server.call("POST", "/Pictures/Look", small()).json, {"rows": 16})


if __name__ == "__main__":
    harness.main()
