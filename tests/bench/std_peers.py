"""std_peers.py FOLDER: writes what the rows of std.py are given to FOLDER, says `ready`, and answers each line `NAME PACKAGE SECONDS` with the seconds that a call takes there. Run by std.py with the
Python that has the packages. OpenCV is held to one thread."""
import io
import json
import sys
from pathlib import Path

import cv2
import numpy as np
from PIL import Image
from std_peers_loop import serve

cv2.setNumThreads(1)
WIDTH, HEIGHT, SIZE = 640, 480, (224, 224)
MEAN, DEVIATION = np.array([0.485, 0.456, 0.406], np.float32), np.array([0.229, 0.224, 0.225], np.float32)
MATRIX = np.array([[1.7, 0.2, 3.0], [-0.1, 1.9, 20.0]], np.float32)


def picture():
    """Slopes and edges with some noise: neither flat nor without order, as photographs are."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    planes = [127 + 80 * np.sin(x / (23 + 9 * c) + y / 31) + 40 * ((x // 80 + y // 60 + c) % 2) for c in range(3)]
    return np.clip(np.stack(planes, 2) + np.random.default_rng(5).normal(0, 6, (HEIGHT, WIDTH, 3)), 0, 255).astype(np.uint8)


PX = picture()
IMAGE = Image.fromarray(PX)


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


def normalised():
    px = cv2.resize(PX, SIZE, interpolation=cv2.INTER_LINEAR)
    return np.ascontiguousarray(((px.astype(np.float32) / 255 - MEAN) / DEVIATION).transpose(2, 0, 1))


def encoded():
    return cv2.imencode(".jpg", PX, [cv2.IMWRITE_JPEG_QUALITY, 90])


RESAMPLING = Image.Resampling
CALLS = {
    **{(f"decode-{kind}", "pillow"): lambda kind=kind: opened(kind) for kind in FILES},
    **{(f"decode-{kind}", "opencv"): lambda kind=kind: by_opencv(kind) for kind in FILES},
    ("decode-jpeg-at-least-100", "pillow"): lambda: opened("jpeg", (100, 100)),
    ("resize", "opencv"): lambda: cv2.resize(PX, SIZE, interpolation=cv2.INTER_LINEAR),
    ("resize-nearest", "pillow"): lambda: IMAGE.resize(SIZE, RESAMPLING.NEAREST),
    ("resize-nearest", "opencv"): lambda: cv2.resize(PX, SIZE, interpolation=cv2.INTER_NEAREST_EXACT),
    ("resize-area", "pillow"): lambda: IMAGE.resize(SIZE, RESAMPLING.BOX),
    ("resize-area", "opencv"): lambda: cv2.resize(PX, SIZE, interpolation=cv2.INTER_AREA),
    ("resize-bilinear", "pillow"): lambda: IMAGE.resize(SIZE, RESAMPLING.BILINEAR),
    ("resize-bicubic", "pillow"): lambda: IMAGE.resize(SIZE, RESAMPLING.BICUBIC),
    ("resize-normalise-chw", "opencv"): normalised,
    ("warp-affine", "opencv"): lambda: cv2.warpAffine(PX, MATRIX, SIZE, flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP),
    ("gray", "pillow"): lambda: IMAGE.convert("L"),
    ("gray", "opencv"): lambda: cv2.cvtColor(PX, cv2.COLOR_RGB2GRAY),
    ("hsv", "pillow"): lambda: IMAGE.convert("HSV"),
    ("hsv", "opencv"): lambda: cv2.cvtColor(PX, cv2.COLOR_RGB2HSV_FULL),
    ("mirror", "pillow"): lambda: IMAGE.transpose(Image.Transpose.FLIP_LEFT_RIGHT),
    ("mirror", "opencv"): lambda: cv2.flip(PX, 1),
    ("rotate90", "pillow"): lambda: IMAGE.transpose(Image.Transpose.ROTATE_270),
    ("rotate90", "opencv"): lambda: cv2.rotate(PX, cv2.ROTATE_90_CLOCKWISE),
    ("encode-jpeg", "pillow"): lambda: saved(format="JPEG", quality=90),
    ("encode-jpeg", "opencv"): encoded,
    ("encode-png", "pillow"): lambda: saved(format="PNG"),
}


def main():
    folder = Path(sys.argv[1])
    for kind, data in FILES.items():
        (folder / f"given.{kind}").write_bytes(data)
    (folder / "pixels.json").write_text(json.dumps({"px": PX.tolist()}))
    serve(CALLS)


if __name__ == "__main__":
    main()
