"""std_peers.py FOLDER: writes what the rows of std.py are given to FOLDER, says `ready`, and answers each line `NAME PACKAGE SECONDS` with the seconds that a call takes there. Run by std.py with the
Python that has the packages. OpenCV is held to one thread."""
import io
import json
import sys
from pathlib import Path

import alone  # noqa: F401, I001: before numpy
import cv2
import ml_dtypes
import numpy as np
from PIL import Image, ImageDraw, ImageOps
from std_peers_loop import serve

cv2.setNumThreads(1)
WIDTH, HEIGHT, SIZE = 640, 480, (224, 224)
MEAN, DEVIATION = np.array([0.485, 0.456, 0.406], np.float32), np.array([0.229, 0.224, 0.225], np.float32)
MATRIX = np.array([[1.7, 0.2, 3.0], [-0.1, 1.9, 20.0]], np.float32)
PERSPECTIVE = np.array([[1.7, 0.2, 3.0], [-0.1, 1.9, 20.0], [0.0002, 0.0001, 1.0]], np.float32)
SCALE, SHIFT = 1 / (255 * DEVIATION), -MEAN / DEVIATION


def picture():
    """Slopes and edges with some noise: neither flat nor without order, as photographs are."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    planes = [127 + 80 * np.sin(x / (23 + 9 * c) + y / 31) + 40 * ((x // 80 + y // 60 + c) % 2) for c in range(3)]
    return np.clip(np.stack(planes, 2) + np.random.default_rng(5).normal(0, 6, (HEIGHT, WIDTH, 3)), 0, 255).astype(np.uint8)


PX = picture()
IMAGE = Image.fromarray(PX)
GREY, PLANES = cv2.cvtColor(PX, cv2.COLOR_RGB2GRAY), np.ascontiguousarray(PX.transpose(2, 0, 1))
GREY_IMAGE, HUES_IMAGE = Image.fromarray(GREY), IMAGE.convert("HSV")
HUES = np.asarray(HUES_IMAGE)
# As of a lens that bends what is far from the middle.
Y, X = np.mgrid[-112:112, -112:112].astype(np.float32)
V, U = (middle + 2 * at * (1 - np.float32(1e-5) * (Y * Y + X * X)) for middle, at in ((np.float32(240), Y), (np.float32(320), X)))
CORNERS = np.random.default_rng(6).uniform((0, 0), (560, 400), (40, 2))
BOXES = np.round(np.concatenate([CORNERS, CORNERS + np.random.default_rng(7).uniform(10, 80, (40, 2))], 1)).astype(np.float32)


def saved(**how):
    file = io.BytesIO()
    IMAGE.save(file, **how)
    return file.getvalue()


FILES = {"jpeg": saved(format="JPEG", quality=90), "png": saved(format="PNG"), "webp": saved(format="WEBP", quality=80), "bmp": saved(format="BMP")}


def opened(kind, least=None):
    image = Image.open(io.BytesIO(FILES[kind]))
    if least:
        image.draft("RGB", least)
    return np.asarray(image)


def by_opencv(kind):
    return cv2.imdecode(np.frombuffer(FILES[kind], np.uint8), cv2.IMREAD_COLOR_RGB)


def opened_grey():
    image = Image.open(io.BytesIO(FILES["jpeg"]))
    image.draft("L", None)
    return np.asarray(image)


def normalised(px):
    return (px.astype(np.float32) / 255 - MEAN) / DEVIATION


def in_planes(px):
    return np.ascontiguousarray(px.transpose(2, 0, 1))


def split():
    planes = np.empty((3, HEIGHT, WIDTH), np.uint8)
    cv2.split(PX, list(planes))
    return planes


def normalised_planes_by_opencv():
    y = np.empty((3, HEIGHT, WIDTH), np.float32)
    for plane, out, scale, shift in zip(cv2.split(PX), y, SCALE.tolist(), SHIFT.tolist()):
        cv2.addWeighted(plane, scale, plane, 0, shift, dst=out, dtype=cv2.CV_32F)
    return y


def letterboxed():
    inner = cv2.resize(PX, (416, 312), interpolation=cv2.INTER_LINEAR)
    return cv2.copyMakeBorder(inner, 52, 52, 0, 0, cv2.BORDER_CONSTANT, value=(114, 114, 114))


def drawn_by_pillow():
    image = IMAGE.copy()
    draw = ImageDraw.Draw(image)
    for x0, y0, x1, y1 in BOXES.tolist():
        draw.rectangle((x0, y0, x1 - 1, y1 - 1), outline=(255, 0, 0), width=2)
    return image


def drawn_by_opencv():
    px = PX.copy()
    for x0, y0, x1, y1 in BOXES.astype(int).tolist():
        cv2.rectangle(px, (x0, y0), (x1 - 1, y1 - 1), (255, 0, 0), 2)
    return px


def encoded():
    return cv2.imencode(".jpg", PX, [cv2.IMWRITE_JPEG_QUALITY, 90])


RESAMPLING = Image.Resampling
CALLS = {
    **{(f"decode-{kind}", "pillow"): lambda kind=kind: opened(kind) for kind in FILES},
    **{(f"decode-{kind}", "opencv"): lambda kind=kind: by_opencv(kind) for kind in FILES},
    ("decode-jpeg-at-least-100", "pillow"): lambda: opened("jpeg", (100, 100)),
    ("decode-gray-jpeg", "pillow"): opened_grey,
    ("decode-gray-jpeg", "opencv"): lambda: cv2.imdecode(np.frombuffer(FILES["jpeg"], np.uint8), cv2.IMREAD_GRAYSCALE),
    ("resize", "opencv"): lambda: cv2.resize(PX, SIZE, interpolation=cv2.INTER_LINEAR),
    ("resize-nearest", "pillow"): lambda: IMAGE.resize(SIZE, RESAMPLING.NEAREST),
    ("resize-nearest", "opencv"): lambda: cv2.resize(PX, SIZE, interpolation=cv2.INTER_NEAREST_EXACT),
    ("resize-area", "pillow"): lambda: IMAGE.resize(SIZE, RESAMPLING.BOX),
    ("resize-area", "opencv"): lambda: cv2.resize(PX, SIZE, interpolation=cv2.INTER_AREA),
    ("resize-bilinear", "pillow"): lambda: IMAGE.resize(SIZE, RESAMPLING.BILINEAR),
    ("resize-bicubic", "pillow"): lambda: IMAGE.resize(SIZE, RESAMPLING.BICUBIC),
    ("resize-normalise-chw", "opencv"): lambda: in_planes(normalised(cv2.resize(PX, SIZE, interpolation=cv2.INTER_LINEAR))),
    ("warp-affine", "opencv"): lambda: cv2.warpAffine(PX, MATRIX, SIZE, flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP),
    ("gray", "pillow"): lambda: IMAGE.convert("L"),
    ("gray", "opencv"): lambda: cv2.cvtColor(PX, cv2.COLOR_RGB2GRAY),
    ("hsv", "pillow"): lambda: IMAGE.convert("HSV"),
    ("hsv", "opencv"): lambda: cv2.cvtColor(PX, cv2.COLOR_RGB2HSV_FULL),
    ("mirror", "pillow"): lambda: IMAGE.transpose(Image.Transpose.FLIP_LEFT_RIGHT),
    ("mirror", "opencv"): lambda: cv2.flip(PX, 1),
    ("rotate90", "pillow"): lambda: IMAGE.transpose(Image.Transpose.ROTATE_270),
    ("rotate90", "opencv"): lambda: cv2.rotate(PX, cv2.ROTATE_90_CLOCKWISE),
    ("rotate180", "pillow"): lambda: IMAGE.transpose(Image.Transpose.ROTATE_180),
    ("rotate180", "opencv"): lambda: cv2.rotate(PX, cv2.ROTATE_180),
    ("rotate270", "pillow"): lambda: IMAGE.transpose(Image.Transpose.ROTATE_90),
    ("rotate270", "opencv"): lambda: cv2.rotate(PX, cv2.ROTATE_90_COUNTERCLOCKWISE),
    ("flip", "pillow"): lambda: IMAGE.transpose(Image.Transpose.FLIP_TOP_BOTTOM),
    ("flip", "opencv"): lambda: cv2.flip(PX, 0),
    ("crop", "pillow"): lambda: IMAGE.crop((150, 100, 374, 324)),
    ("crop", "numpy"): lambda: PX[100:324, 150:374].copy(),
    ("centre-crop", "pillow"): lambda: IMAGE.crop((208, 128, 432, 352)),
    ("centre-crop", "numpy"): lambda: PX[128:352, 208:432].copy(),
    ("pad", "pillow"): lambda: ImageOps.expand(IMAGE, (30, 10, 40, 20), (7, 7, 7)),
    ("pad", "opencv"): lambda: cv2.copyMakeBorder(PX, 10, 20, 30, 40, cv2.BORDER_CONSTANT, value=(7, 7, 7)),
    ("letterbox", "opencv"): letterboxed,
    ("remap", "opencv"): lambda: cv2.remap(PX, U, V, cv2.INTER_LINEAR),
    ("warp-perspective", "opencv"): lambda: cv2.warpPerspective(PX, PERSPECTIVE, SIZE, flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP),
    ("bgr", "numpy"): lambda: np.ascontiguousarray(PX[..., ::-1]),
    ("bgr", "opencv"): lambda: cv2.cvtColor(PX, cv2.COLOR_RGB2BGR),
    ("rgb", "pillow"): lambda: GREY_IMAGE.convert("RGB"),
    ("rgb", "opencv"): lambda: cv2.cvtColor(GREY, cv2.COLOR_GRAY2RGB),
    ("rgb-of-hsv", "pillow"): lambda: HUES_IMAGE.convert("RGB"),
    ("rgb-of-hsv", "opencv"): lambda: cv2.cvtColor(HUES, cv2.COLOR_HSV2RGB_FULL),
    ("chw", "numpy"): lambda: in_planes(PX),
    ("chw", "opencv"): split,
    ("hwc", "numpy"): lambda: np.ascontiguousarray(PLANES.transpose(1, 2, 0)),
    ("hwc", "opencv"): lambda: cv2.merge(list(PLANES)),
    ("normalise-chw", "numpy"): lambda: in_planes(normalised(PX)),
    ("normalise-chw", "opencv"): normalised_planes_by_opencv,
    ("normalise-hwc", "numpy"): lambda: normalised(PX),
    ("normalise-chw-bf16", "numpy"): lambda: in_planes(normalised(PX).astype(ml_dtypes.bfloat16)),
    ("normalise-hwc-bf16", "numpy"): lambda: normalised(PX).astype(ml_dtypes.bfloat16),
    ("draw-boxes", "pillow"): drawn_by_pillow,
    ("draw-boxes", "opencv"): drawn_by_opencv,
    ("encode-jpeg", "pillow"): lambda: saved(format="JPEG", quality=90),
    ("encode-jpeg", "opencv"): encoded,
    ("encode-png", "pillow"): lambda: saved(format="PNG"),
}


def main():
    folder = Path(sys.argv[1])
    for kind, data in FILES.items():
        (folder / f"given.{kind}").write_bytes(data)
    given = {"pixels": {"px": PX}, "grey": {"px": GREY}, "planes": {"px": PLANES}, "hues": {"px": HUES}, "places": {"px": PX, "v": V, "u": U}, "framed": {"px": PX, "boxes": BOXES}}
    for kind, values in given.items():
        (folder / f"{kind}.json").write_text(json.dumps(values, default=lambda value: value.tolist()))
    serve(CALLS)


if __name__ == "__main__":
    main()
