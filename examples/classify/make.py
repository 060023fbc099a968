#!/usr/bin/env python3
"""Makes models/mobilenet/1/model.onnx (14 MB, opset 17): MobileNetV2's architecture with random weights by a seed, the same everywhere. With `--pictures` it draws those of testdata
again, which are committed.

    python3 -m venv .venv && .venv/bin/pip install -r ../requirements.txt && .venv/bin/python make.py
"""
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests/bench/engine"))
from models import mobilenet_v2, saved  # noqa: E402

HEIGHT, WIDTH = 480, 640


def draw(seed):
    """Hills one behind the other under a sun, with the grain of a camera."""
    import numpy as np
    dice = np.random.default_rng(seed)
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float32)
    page = np.stack([90 + y / 4, 130 + y / 6, 220 - y / 8], axis=2)
    top, left, side = dice.uniform(60, 160), dice.uniform(80, 560), dice.uniform(20, 60)
    page[(y - top)**2 + (x - left)**2 < side**2] = (250, 230, 150)
    for number in range(4):
        waves = sum(dice.uniform(8, 30) * np.sin(x / dice.uniform(40, 160) + dice.uniform(0, 6)) for _ in range(3))
        page[y > 200 + 70 * number + waves] = dice.uniform(20, 160, 3) * (1 - 0.15 * number)
    return np.clip(page + dice.normal(0, 6, page.shape), 0, 255).astype(np.uint8)


def pictures(folder):
    from PIL import Image
    folder.mkdir(exist_ok=True)
    for name, seed in (("hills", 1), ("more_hills", 2)):
        Image.fromarray(draw(seed)).save(folder / f"{name}.jpg", quality=80)
    Image.new("RGB", (WIDTH, HEIGHT), (180, 40, 90)).save(folder / "blank.jpg", quality=80)
    Image.fromarray(draw(1)[200:220, 300:330]).save(folder / "tiny.png")


if __name__ == "__main__":
    saved(mobilenet_v2, HERE / "models/mobilenet/1/model.onnx")
    if "--pictures" in sys.argv:
        pictures(HERE / "testdata")
