#!/usr/bin/env python3
"""std.image against Pillow and OpenCV, and where they have no such thing numpy: random pictures, edge sizes, what is refused.

Each row of FUNCTIONS is a workflow of the program that is served, for grey pictures (u8[h, w]) or such of colours (u8[h, w, 3]); a reference gives what the server has to answer, or the code of its failure.
OPENCV has the references that are OpenCV's, for the same workflows."""
import copy
import io
import re
import unittest

import harness

if __name__ == "__main__":
    harness.in_environment()

import cv2  # noqa: E402
from native_case import NativeCase  # noqa: E402
import numpy as np  # noqa: E402
from PIL import Image, ImageDraw  # noqa: E402

F32, F64, I64, U8 = np.float32, np.float64, np.int64, np.uint8
INDEX, TYPE, DIMENSION = 7001, 7000, 7004
MEAN, DEVIATION = np.array([0.485, 0.456, 0.406], F32), np.array([0.229, 0.224, 0.225], F32)
dice = np.random.default_rng(11)


def noise(*shape):
    """Levels without order: neighbours differ as much as they can."""
    return dice.integers(0, 256, shape, U8)


def extremes(*shape):
    return (dice.integers(0, 2, shape) * 255).astype(U8)


def pictures(h, w):
    yield noise(h, w)
    yield noise(h, w, 3)
    yield extremes(h, w, 3)


SIZES = [(1, 1, 1, 1), (1, 1, 5, 7), (5, 7, 1, 1), (2, 3, 2, 3), (16, 16, 8, 8), (17, 31, 5, 100), (31, 17, 100, 5), (60, 80, 23, 29), (23, 29, 60, 80), (200, 3, 7, 3), (3, 200, 3, 7), (64, 64, 63, 65)]
RESIZED = [(px, I64(height), I64(width)) for h, w, height, width in SIZES for px in pictures(h, w)]
# Without places that lie on the border of two pixels, of which Pillow, adding up its steps, takes either.
RESIZED_NEAREST = [case for case in RESIZED if not any((2 * i + 1) * extent % (2 * int(to)) == 0 for extent, to in zip(case[0].shape, case[1:]) for i in range(int(to)))]
NOTHING = [(np.zeros((0, 3), U8), I64(2), I64(2)), (np.zeros((3, 0, 3), U8), I64(2), I64(2))]


def resized(way, nothing=TYPE):
    def reference(px, height, width):
        return np.asarray(Image.fromarray(px).resize((width, height), way)) if px.size else nothing
    return reference


def centre_crop(px, height, width):
    top, left = (px.shape[0] - int(height)) // 2, (px.shape[1] - int(width)) // 2
    return px[top:top + height, left:left + width] if top >= 0 and left >= 0 else INDEX


def padded(px, top, bottom, left, right):
    y = np.pad(px, [(max(top, 0), max(bottom, 0)), (max(left, 0), max(right, 0))] + [(0, 0)] * (px.ndim - 2), constant_values=7)
    return y[max(-top, 0):y.shape[0] - max(-bottom, 0), max(-left, 0):y.shape[1] - max(-right, 0)]


def resized_by_opencv(way):
    return lambda px, height, width: cv2.resize(px, (int(width), int(height)), interpolation=way).reshape(height, width, *px.shape[2:])


def warped(px, m, height, width):
    """Pillow's transforms, whose places are those of corners: half a pixel from ours on both sides. In f64: theirs."""
    half = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])
    m = half @ (m if len(m) == 3 else np.vstack([m, [0, 0, 1]])).astype(F64) @ np.linalg.inv(half)
    m /= m[2, 2]
    way, data = (Image.Transform.AFFINE, m[:2].flatten()) if not m[2, :2].any() else (Image.Transform.PERSPECTIVE, m.flatten()[:8])
    return np.asarray(Image.fromarray(px).transform((width, height), way, data, Image.Resampling.BILINEAR, fillcolor=9 if px.ndim == 2 else (9, 9, 9)))


def perspective(corners, height, width):
    """By the eight equations."""
    rows = []
    for (x, y), (u, v) in zip([(0, 0), (width - 1, 0), (width - 1, height - 1), (0, height - 1)], corners.astype(F64)):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
    return np.append(np.linalg.solve(np.array(rows, F64), corners.astype(F64).flatten()), 1).reshape(3, 3)


def remapped(px, v, u):
    """In exact numbers, before it is rounded."""
    h, w = px.shape[:2]
    with np.errstate(invalid="ignore"):
        inside = (v >= -0.5) & (v < h - 0.5) & (u >= -0.5) & (u < w - 0.5)
    v, u = (np.where(inside, place, 0).astype(F64).reshape(place.shape + (1,) * (px.ndim - 2)) for place in (v, u))
    y, x = np.floor(v).astype(int), np.floor(u).astype(int)
    at = [[px[np.clip(y + i, 0, h - 1).reshape(inside.shape), np.clip(x + j, 0, w - 1).reshape(inside.shape)].astype(F64) for j in (0, 1)] for i in (0, 1)]
    above, below = (row[0] * (1 - (u - x)) + row[1] * (u - x) for row in at)
    return np.where(inside.reshape(v.shape), above * (1 - (v - y)) + below * (v - y), 9)


def places_of(m, height, width):
    """Rows and columns in f64."""
    y, x = np.mgrid[0:height, 0:width].astype(F64)
    m = (m if len(m) == 3 else np.vstack([m, [0, 0, 1]])).astype(F64)
    u, v, by = (row[0] * x + row[1] * y + row[2] for row in m)
    return v / by, u / by


def within(found, px, v, u):
    """OpenCV mixes its fill with the outermost pixels over a whole pixel. Ours is that of its replicated borders to half a pixel from the outermost centres, and `fill` from there on."""
    h, w = px.shape[:2]
    inside = (v >= -0.5) & (v < h - 0.5) & (u >= -0.5) & (u < w - 0.5)
    return np.where(inside.reshape(inside.shape + (1,) * (px.ndim - 2)), found.reshape(inside.shape + px.shape[2:]), 9)


def remapped_by_opencv(px, v, u):
    v, u = (np.nan_to_num(place, nan=-99, posinf=9999) for place in (v, u))
    return within(cv2.remap(px, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), px, v, u)


def warped_by_opencv(px, m, height, width):
    warp = cv2.warpAffine if len(m) == 2 else cv2.warpPerspective
    return within(warp(px, m.astype(F64), (int(width), int(height)), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_REPLICATE), px, *places_of(m, height, width))


def perspective_by_opencv(corners, height, width):
    return cv2.getPerspectiveTransform(np.array([(0, 0), (width - 1, 0), (width - 1, height - 1), (0, height - 1)], F32), corners)


def fitted(h, w, height, width):
    """In whole numbers, halves up."""
    h, w, height, width = map(int, (h, w, height, width))
    if not (0 < h < 2**31 and 0 < w < 2**31 and 0 <= height < 2**31 and 0 <= width < 2**31):
        return TYPE
    rows, columns = (height, min(max((2 * w * height + h) // (2 * h), 1), width)) if height * w <= width * h else (min(max((2 * h * width + w) // (2 * w), 1), height), width)
    return np.array([(height - rows) // 2, (width - columns) // 2, rows, columns])


def as_mode(mode, out=None):
    return lambda px: np.asarray(Image.fromarray(px, mode).convert(out))


def scaled(px, dtype=F32):
    return ((px.astype(F32) / F32(255) - MEAN) / DEVIATION).astype(dtype)


def weight(way, x):
    t = np.abs(x)
    if way == 2:
        return np.where(t < 1, 1.5 * t**3 - 2.5 * t**2 + 1, np.where(t < 2, -0.5 * (t**3 - 5 * t**2 + 8 * t - 4), 0))
    return np.maximum(1 - t, 0) if way == 1 else ((x > -0.5) & (x <= 0.5)).astype(F64)


def drawn(px, boxes, colour, thickness):
    if len(colour) != (1 if px.ndim == 2 else px.shape[2]) or thickness < 1:
        return TYPE
    picture = Image.fromarray(px)
    for box in boxes:
        if np.isnan(box).any():
            continue
        x0, y0, x1, y1 = (int(place) for place in np.rint(np.clip(box, -1000, 1000)))
        if x0 < x1 and y0 < y1:
            ink = tuple(map(int, colour)) if px.ndim == 3 else int(colour[0])
            is_full = 2 * thickness >= min(x1 - x0, y1 - y0)  # Pillow's lines then go beyond the box
            ImageDraw.Draw(picture).rectangle((x0, y0, x1 - 1, y1 - 1), fill=ink if is_full else None, outline=ink, width=1 if is_full else int(thickness))
    return np.asarray(picture)


AFFINE = [np.array(m, F32) for m in ([[1, 0, 0], [0, 1, 0]], [[0.7, 0.31, 2.1], [-0.4, 1.21, 5.3]], [[0.13, 0, 0.2], [0, 0.17, 0.1]], [[3.1, 0.2, -4.3], [0.1, 2.9, -3.2]], [[-1, 0, 29.03], [0, -1, 19.04]])]
PERSPECTIVE = [np.array(m, F32) for m in ([[1, 0, 0.1], [0, 1, 0.2], [0.01, 0.003, 1]], [[1.2, 0.3, -2.1], [0.1, 0.9, 1.3], [-0.004, 0.002, 1]], [[2, 0, 1.1], [0, 2, 1.2], [0, 0, 2]])]
CORNERS = [np.array(c, F32) for c in ([[1, 2], [20, 4], [18, 15], [3, 13]], [[0, 0], [9, 0], [9, 9], [0, 9]], [[5, 5], [1, 9], [-3, 4], [2, 1]])]
BOXES = [np.array(b, F32).reshape(-1, 4) for b in ([], [1, 1, 8, 6], [[2.4, 2.6, 9.5, 7.5], [-5, -5, 4, 4], [0, 0, 30, 20], [3, 3, 3, 9], [9, 9, 4, 4], [np.nan, 0, 5, 5], [0, 5, np.inf, 9], [28, 18, 29, 19], [-np.inf, -1e30, 1e30, 2]])]
PLACES = [(dice.uniform(-2, 12, (2, 7, 9))).astype(F32), np.full((2, 2, 2), np.nan, F32), np.full((2, 1, 1), np.inf, F32), np.full((2, 1, 3), -0.5, F32), np.full((2, 3, 3), 2, F32)]


class Function:
    """`level`: how far a level may be off; what is no level, `relative`."""
    def __init__(self, parameters, results, call, reference, cases, level=0, relative=0.0, grey=None):
        self.parameters, self.results, self.call, self.reference, self.cases = parameters, results, call, reference, list(cases)
        self.level, self.relative, self.grey = level, relative, grey
        self.inputs = [part.split(":")[0].strip() for part in re.split(r",(?![^\[]*\])", parameters)]

    def by(self, reference, cases, level=0, relative=0.0):
        """The same workflow and another's answers."""
        other = copy.copy(self)
        other.reference, other.cases, other.level, other.relative = reference, list(cases), level, relative
        return other

    def workflow(self, name):
        return f"workflow {name}({self.parameters}) -> (y: {self.results}) {{\n  node found: {self.results} = {self.call};\n  return (y: found);\n}}\n"


def both(parameters, call, reference, cases, **how):
    """For grey pictures and for such of three channels: a row each."""
    cases = list(cases)
    for suffix, axes, rank in (("Grey", "[h, w]", 2), ("", "[h, w, 3]", 3)):
        wanted = "u8[_, _]" if rank == 2 else "u8[_, _, 3]"
        yield suffix, Function(f"px: u8{axes}" + (", " if parameters else "") + parameters, wanted, call, reference, [case for case in cases if case[0].ndim == rank], **how)


def named(name, rows):
    return {name + suffix: function for suffix, function in rows}


def some_pictures():
    return [px for shape in ((1, 1), (1, 6), (7, 1), (20, 30)) for px in (noise(*shape), noise(*shape, 3))]


SIZE = "height: i64, width: i64"
COLOURS = np.concatenate([noise(40, 40, 3), np.array([[[r, g, b] for r in (0, 128, 255) for g in (0, 128, 255) for b in (0, 128, 255)] + [[9, 9, 9]] * 13], U8), np.repeat(noise(1, 40, 1), 3, 2)])
FUNCTIONS = {
    **named("Area", both(SIZE, "image.resize_area(px, height, width)", resized(Image.Resampling.BOX), RESIZED + NOTHING)),
    **named("Bilinear", both(SIZE, "image.resize_bilinear(px, height, width)", resized(Image.Resampling.BILINEAR), RESIZED + NOTHING)),
    **named("Bicubic", both(SIZE, "image.resize_bicubic(px, height, width)", resized(Image.Resampling.BICUBIC), RESIZED + NOTHING)),
    **named("Nearest", both(SIZE, "image.resize_nearest(px, height, width)", resized(Image.Resampling.NEAREST, INDEX), RESIZED_NEAREST + NOTHING)),
    **named("Resize", both(SIZE, "image.resize(px, height, width)", resized(Image.Resampling.BILINEAR), [case for case in RESIZED if all(to >= extent for extent, to in zip(case[0].shape, case[1:]))], level=1)),
    **named("CentreCrop", both(SIZE, "image.centre_crop(px, height, width)", centre_crop, [(px, I64(h), I64(w)) for px in some_pictures() for h, w in ((1, 1), (4, 1), (7, 8), (0, 1), (20, 30), (21, 3))])),
    **named("Pad", both("top: i64, bottom: i64, left: i64, right: i64", "image.pad(px, top, bottom, left, right, fill: 7)", padded,
                        [(px, *map(I64, by)) for px in some_pictures() for by in ((0, 0, 0, 0), (1, 2, 3, 4), (0, 5, 0, 1))] + [(noise(9, 8), *map(I64, (-1, -2, 3, -4)))])),
    **named("HalfTurn", both("", "image.rotate180(px)", lambda px: np.rot90(px, 2), [(px,) for px in some_pictures()])),
    **named("Anticlockwise", both("", "image.rotate270(px)", lambda px: np.rot90(px), [(px,) for px in some_pictures()])),
    **named("Clockwise", both("", "image.rotate90(px)", lambda px: np.rot90(px, -1), [(px,) for px in some_pictures()])),
    **named("Mirror", both("", "image.mirror(px)", lambda px: px[:, ::-1], [(px,) for px in some_pictures()])),
    **named("Flip", both("", "image.flip(px)", lambda px: px[::-1], [(px,) for px in some_pictures()])),
    **named("Remap", both("v: f32[a, b], u: f32[a, b]", "image.remap(px, v, u, fill: 9)", remapped, [(px, v, u) for px in some_pictures() for v, u in PLACES], level=0.51)),
    **named("Affine", both("m: f32[2, 3], " + SIZE, "image.warp_affine(px, m, height, width, fill: 9)", warped, [(px, m, I64(25), I64(33)) for px in (noise(20, 30), noise(20, 30, 3)) for m in AFFINE], level=1)),
    **named("Perspective", both("m: f32[3, 3], " + SIZE, "image.warp_perspective(px, m, height, width, fill: 9)", warped, [(px, m, I64(25), I64(33)) for px in (noise(20, 30), noise(20, 30, 3)) for m in PERSPECTIVE], level=1)),
    "PerspectiveOf": Function("corners: f32[4, 2], " + SIZE, "f32[3, 3]", "image.perspective(corners, height, width)", perspective, [(c, I64(h), I64(w)) for c in CORNERS for h, w in ((2, 2), (10, 30), (100, 7))], relative=1e-4),
    "Bgr": Function("px: u8[h, w, 3]", "u8[_, _, 3]", "image.bgr(px)", lambda px: px[..., ::-1], [(noise(5, 6, 3),)]),
    "Gray": Function("px: u8[h, w, 3]", "u8[_, _]", "image.gray(px)", as_mode("RGB", "L"), [(COLOURS,)]),
    "Rgb": Function("px: u8[h, w]", "u8[_, _, 3]", "image.rgb(px)", as_mode("L", "RGB"), [(noise(5, 6),)]),
    "Hsv": Function("px: u8[h, w, 3]", "u8[_, _, 3]", "image.hsv(px)", as_mode("RGB", "HSV"), [(COLOURS,)], level=1),
    "OfHsv": Function("px: u8[h, w, 3]", "u8[_, _, 3]", "image.rgb_of_hsv(px)", as_mode("HSV", "RGB"), [(COLOURS,)], level=1),
    "Chw": Function("px: u8[h, w, 3]", "u8[3, _, _]", "image.chw(px)", lambda px: px.transpose(2, 0, 1), [(noise(5, 6, 3),)]),
    "Hwc": Function("px: f32[c, h, w]", "f32[_, _, _]", "image.hwc(px)", lambda px: px.transpose(1, 2, 0), [(dice.normal(0, 1, (4, 5, 6)).astype(F32),)]),
    "NormaliseChw": Function("px: u8[h, w, 3]", "f32[3, _, _]", "image.normalise_chw(px, MEAN, DEVIATION)", lambda px: scaled(px).transpose(2, 0, 1), [(noise(h, w, 3),) for h, w in ((1, 1), (9, 40), (40, 9))]),
    "NormaliseHwc": Function("px: u8[h, w, 3]", "f32[_, _, 3]", "image.normalise_hwc(px, MEAN, DEVIATION)", scaled, [(noise(h, w, 3),) for h, w in ((1, 1), (9, 40), (40, 9))]),
    **named("Draw", both("boxes: f32[n, 4], colour: u8[k], thickness: i64", "image.draw_boxes(px, boxes, colour, thickness)", drawn,
                         [(px, boxes, np.array([5, 250, 99][:k], U8), I64(thickness)) for px in (noise(20, 30), noise(20, 30, 3)) for boxes in BOXES for thickness in (0, 1, 3, 100) for k in (1, 3)])),
    "Fit": Function("h: i64, w: i64, height: i64, width: i64", "i64[_]", "fitted(h, w, height, width)", fitted,
                    [tuple(map(I64, sizes)) for sizes in ((2, 4, 8, 8), (4, 2, 8, 8), (1, 1, 0, 0), (3, 5, 0, 7), (1, 1000, 5, 5), (2**31 - 1, 1, 2**31 - 1, 2**31 - 1), (480, 640, 2**31 - 1, 2**31 - 1),
                                                          (0, 4, 8, 8), (4, 0, 8, 8), (-1, 4, 8, 8), (4, 4, -1, 8), (4, 4, 8, -8), (2**31, 4, 8, 8), (4, 4, 2**31, 8), (2**62, 2**62, 2**62, 2**62))]),
    "ResizeLong": Function("n: i64", "i64[_]", "unequal(n)", lambda n: np.zeros(1), [(I64(10_000_000),)]),
    # What the others are made of.
    "Weights": Function("way: i64, inputs: i64, outputs: i64", "f64[_]", "added(way, inputs, outputs)", lambda way, inputs, outputs: np.ones(outputs), [(I64(way), I64(a), I64(b)) for way in (0, 1, 2) for a, b in ((1, 1), (1, 9), (9, 1), (640, 224), (100, 300))], relative=1e-5),
    "WeightAt": Function("way: i64, x: f64[n]", "f64[_]", "[i < n] => image.weight(way, x[i])", weight, [(I64(way), np.linspace(-3, 3, 49)) for way in (0, 1, 2)], relative=1e-12),
    "Weighed": Function("px: u8[h, w], height: i64, width: i64", "u8[_, _]",
                        "image.weighed(px, image.weights(1, w, width).first, image.weights(1, w, width).shares, "
                        "image.weights(1, h, height).first, image.weights(1, h, height).shares)",
                        resized(Image.Resampling.BILINEAR), [(noise(9, 7), I64(4), I64(11))]),
    "Resample": Function("px: u8[h, w], height: i64, width: i64", "u8[_, _]", "image.resample(1, px, height, width)", resized(Image.Resampling.BILINEAR), [(noise(9, 7), I64(4), I64(11))]),
    "Hues": Function("x: f32[n, 3]", "u8[_]", "[i < n] => image.hue(x[i, 0], x[i, 1], x[i, 2])", lambda x: as_mode("RGB", "HSV")(x.astype(U8)[None])[0, :, 0], [(COLOURS[20].astype(F32),), (COLOURS[-2].astype(F32),)], level=1),
    "OfHues": Function("x: f32[n, 3]", "u8[_]", "[i < n] => image.channel_of_hsv(x[i, 0], x[i, 1], x[i, 2], 1)", lambda x: as_mode("HSV", "RGB")(x.astype(U8)[None])[0, :, 1], [(COLOURS[20].astype(F32),), (COLOURS[-2].astype(F32),)], level=1),
}


def by_opencv(name, reference, cases=None, **how):
    """For grey pictures and for such of three channels, in the cases of their rows or in others."""
    for suffix, rank in (("Grey", 2), ("", 3)):
        row = FUNCTIONS[name + suffix]
        yield name + suffix, row.by(reference, row.cases if cases is None else [case for case in cases if case[0].ndim == rank], **how)


def in_steps(place):
    """At the places that OpenCV knows."""
    return (np.round(place * 32) / 32).astype(F32)


WHOLE = [case for case in RESIZED if all(extent % to == 0 for extent, to in zip(case[0].shape, case[1:]))]
BETWEEN = 255 / 64 * 2 + 1  # a place is up to 1/64 pixel off, each way
STEPS = [np.array(m, F32) for m in ([[1, 0, 0], [0, 1, 0]], [[0.75, 0.3125, 2.125], [-0.40625, 1.25, 5.34375]], [[0.125, 0, 0.25], [0, 0.1875, 0.09375]], [[-1, 0, 29.03125], [0, -1, 19.03125]])]
OPENCV = dict([
    *by_opencv("Nearest", resized_by_opencv(cv2.INTER_NEAREST_EXACT), RESIZED_NEAREST),
    *by_opencv("Resize", resized_by_opencv(cv2.INTER_LINEAR), RESIZED, level=1),
    *by_opencv("Area", resized_by_opencv(cv2.INTER_AREA), WHOLE, level=1),
    *by_opencv("Remap", remapped_by_opencv, [(px, in_steps(v), in_steps(u)) for px in some_pictures() for v, u in PLACES]),
    *by_opencv("Affine", warped_by_opencv, [(px, m, I64(25), I64(33)) for px in (noise(20, 30), noise(20, 30, 3)) for m in STEPS]),
    ("RemapAnywhere", FUNCTIONS["Remap"].by(remapped_by_opencv, FUNCTIONS["Remap"].cases, level=BETWEEN)),
    ("AffineAnywhere", FUNCTIONS["Affine"].by(warped_by_opencv, FUNCTIONS["Affine"].cases, level=BETWEEN)),
    *by_opencv("Perspective", warped_by_opencv, level=BETWEEN),
    ("PerspectiveOf", FUNCTIONS["PerspectiveOf"].by(perspective_by_opencv, FUNCTIONS["PerspectiveOf"].cases, relative=1e-4)),
    ("Bgr", FUNCTIONS["Bgr"].by(lambda px: cv2.cvtColor(px, cv2.COLOR_RGB2BGR), FUNCTIONS["Bgr"].cases)),
])

HELPERS = """fn fitted(h: i64, w: i64, height: i64, width: i64) -> i64[4] {
  let place = image.fit(h, w, height, width);
  [i] => if i == 0 { place.top } else if i == 1 { place.left } else if i == 2 { place.height } else { place.width }
}
fn unequal(n: i64) -> i64[1] {
  let line: u8[_, _] = [y < 1, x < n] => u8(x * 37 % 251);
  let same = image.resize(line, 1, n);
  [_i] => sum[x < n](if same[0, x] == line[0, x] { 0 } else { 1 })
}
fn added(way: i64, inputs: i64, outputs: i64) -> f64[outputs] {
  let found = image.weights(way, inputs, outputs);
  let first = found.first;
  let shares = found.shares;
  [i] => if first[i] >= 0 && first[i] < inputs {
    f64(sum[k](if first[i] + k < inputs { shares[i, k] } else { 0 })) / 4194304.0
  } else {
    0.0
  }
}
"""


def program():
    numbers = {name: ", ".join(map(repr, map(float, value))) for name, value in (("MEAN", MEAN), ("DEVIATION", DEVIATION))}
    lines = ["import std.image;", HELPERS, *[f"const {name}: f32[3] = [{value}];" for name, value in numbers.items()]]
    lines += [function.workflow(name) for name, function in FUNCTIONS.items()]
    lines.append("""workflow HalfChw(px: u8[h, w, 3]) -> (y: f32[3, _, _], z: f32[_, _, 3]) {
  let chw = image.normalise_chw_bf16(px, MEAN, DEVIATION);
  let hwc = image.normalise_hwc_bf16(px, MEAN, DEVIATION);
  node y: f32[3, h, w] = [c, i, j] => f32(chw[c, i, j]);
  node z: f32[h, w, 3] = [i, j, c] => f32(hwc[i, j, c]);
  return (y: y, z: z);
}
workflow Jpeg(px: u8[h, w, 3], quality: i64) -> (file: bytes) {
  node file = image.encode_jpeg(px, quality);
  return (file: file);
}
workflow JpegGrey(px: u8[h, w], quality: i64) -> (file: bytes) {
  node file = image.encode_jpeg(px, quality);
  return (file: file);
}
workflow Png(px: u8[h, w, c]) -> (file: bytes) {
  node file = image.encode_png(px);
  return (file: file);
}
workflow PngGrey(px: u8[h, w]) -> (file: bytes) {
  node file = image.encode_png(px);
  return (file: file);
}
""")
    others = ("HalfChw", "Jpeg", "JpegGrey", "Png", "PngGrey")
    return "\n".join([*lines, "service Images {", *[f"  workflow {name};" for name in (*FUNCTIONS, *others)], "}"])


class Images(NativeCase):
    program = staticmethod(program)

    def code(self, name, /, **parameters):
        plain = {key: value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value for key, value in parameters.items()}
        return self.server.post(f"/Images/{name}", plain).json["error"]["code"]

    def check(self, name, function, case):
        parameters, wanted = dict(zip(function.inputs, case, strict=True)), function.reference(*case)
        if isinstance(wanted, int):
            if not any(np.asarray(value).dtype.kind == "f" and not np.isfinite(value).all() for value in case):  # JSON has none
                self.assertEqual(self.code(name, **parameters), wanted)
            return
        found, = self.raw(name, ["y"], **parameters)
        self.assertEqual(found.shape, wanted.shape)
        if function.relative:
            np.testing.assert_allclose(found, wanted, function.relative, function.relative)
        else:
            np.testing.assert_allclose(found.astype(F64), wanted.astype(F64), 0, function.level)

    def test_what_pillow_and_numpy_give(self):
        for name, function in FUNCTIONS.items():
            self.assertTrue(function.cases, name)
            for case in function.cases:
                with self.subTest(name, shapes=[np.shape(value) for value in case], values=[value for value in case if np.size(value) < 10]):
                    self.check(name, function, case)

    def test_what_opencv_gives(self):
        for name, function in OPENCV.items():
            self.assertTrue(function.cases, name)
            for case in function.cases:
                with self.subTest(name, shapes=[np.shape(value) for value in case], values=[value for value in case if np.size(value) < 10]):
                    self.check(name.removesuffix("Anywhere"), function, case)

    def test_hues_are_those_of_opencv_which_go_to_180(self):
        found = self.raw("Hsv", ["y"], px=COLOURS)[0].astype(F64)[..., 0] / 255 * 360
        apart = np.abs(found - cv2.cvtColor(COLOURS, cv2.COLOR_RGB2HSV).astype(F64)[..., 0] * 2)
        self.assertLessEqual(np.minimum(apart, 360 - apart).max(), 3)

    def test_nearest_on_the_border_of_two_pixels(self):
        px = np.arange(8, dtype=U8)[None]
        self.assertEqual(self.raw("NearestGrey", ["y"], px=px, height=I64(1), width=I64(4))[0].tolist(), [[1, 3, 5, 7]])

    def test_bf16(self):
        px = noise(9, 17, 3)
        chw, hwc = self.raw("HalfChw", ["y", "z"], px=px)
        wanted = scaled(px)
        np.testing.assert_allclose(hwc, wanted, 2**-8)
        np.testing.assert_array_equal(chw, hwc.transpose(2, 0, 1))
        self.assertFalse((hwc.view(np.uint32) & 0xFFFF).any())

    def opened(self, name, **parameters):
        return Image.open(io.BytesIO(self.raw(name, ["file"], **parameters)[0].item()))

    def test_jpeg_files(self):
        colour = np.asarray(Image.fromarray(noise(12, 16, 3)).resize((90, 70), Image.Resampling.BICUBIC))
        for px, name in ((colour, "Jpeg"), (colour[..., 1], "JpegGrey"), (colour[:1, :1], "Jpeg")):
            for quality in (1, 75, 100):
                found, own = self.opened(name, px=px, quality=I64(quality)), io.BytesIO()
                Image.fromarray(px).save(own, format="JPEG", quality=quality, subsampling=2)
                self.assertEqual(found.format, "JPEG")
                np.testing.assert_allclose(np.asarray(found).astype(int), np.asarray(Image.open(own)).astype(int), 0, 1)
        for quality in (0, 101, -5, 2**62):
            self.assertEqual(self.code("Jpeg", px=colour[:2, :2], quality=quality), TYPE)
        for px in (np.zeros((0, 4), U8), np.zeros((4, 0), U8), np.zeros((1, 65501), U8)):
            self.assertEqual(self.code("JpegGrey", px=px, quality=75), TYPE)

    def test_png_files(self):
        for px in (noise(1, 1, 1), noise(7, 9, 2), noise(70, 90, 3), noise(5, 3, 4)):
            found = self.opened("Png", px=px)
            self.assertEqual(found.format, "PNG")
            np.testing.assert_array_equal(np.asarray(found).reshape(px.shape), px)
        np.testing.assert_array_equal(np.asarray(self.opened("PngGrey", px=noise(3, 4))).shape, (3, 4))
        for px in (noise(2, 2, 5), np.zeros((2, 2, 0), U8), np.zeros((0, 2, 3), U8)):
            self.assertEqual(self.code("Png", px=px), TYPE)


if __name__ == "__main__":
    harness.main()
