#!/usr/bin/env python3
"""Trains the recogniser of spoken digits and writes everything of this example that is not source text.

    apt-get install espeak-ng
    python3 -m venv .venv && .venv/bin/pip install -r requirements.txt && .venv/bin/python train.py

Data: rows of one to six digits that espeak-ng speaks in English, in its voices and at random speeds and pitches, with some noise. No person speaks in them. Two of the voices
are held out: 40 rows of theirs become testdata/held_out, and none of them trains. Nothing is chosen by looking at these: the recipe runs once, for a fixed number of steps.

Writes models/digits/1/model.onnx, testdata/held_out/*.flac, testdata/held_out/labels.csv and testdata/three.wav.
"""
import csv
import io
import subprocess
from pathlib import Path

import librosa
import numpy as np
import onnx
import soundfile
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).resolve().parent
WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
LANGUAGES = ["en-us", "en-gb", "en-gb-x-rp", "en-gb-scotland", "en-029"]
VOICES = ["m1", "m2", "m3", "m4", "m5", "m6", "f1", "f2", "f3", "f4"]
HELD_VOICES = ["m7", "f5"]
RATE, FFT, HOP, BANDS = 8000, 256, 80, 40
ROWS, HELD_ROWS = 1500, 40
STEPS, BATCH, PEAK_RATE = 1600, 24, 3e-3
KERNEL, NARROW, WIDE, HIDDEN, CLASSES = 5, 48, 64, 48, 11
SEED = 7


# ---- data ----
def spoken(digits, language, voice, speed, pitch):
    """As espeak-ng speaks, at RATE."""
    text = " ".join(WORDS[digit] for digit in digits)
    command = ["espeak-ng", "-v", f"{language}+{voice}", "-s", str(speed), "-p", str(pitch), "--stdout", text]
    x, rate = soundfile.read(io.BytesIO(subprocess.run(command, capture_output=True, check=True).stdout), dtype="float32")
    return librosa.resample(x, orig_sr=rate, target_sr=RATE, res_type="polyphase")


def row(random, voices):
    digits = random.integers(0, 10, random.integers(1, 7))
    x = spoken(digits, random.choice(LANGUAGES), random.choice(voices), random.integers(120, 210), random.integers(20, 80))
    loud = np.abs(x).max()
    x = np.pad(x, random.integers(0, RATE // 4, 2))
    x = x + random.normal(0, loud * 10 ** random.uniform(-3, -1.5), len(x))
    return digits, (x * random.uniform(0.3, 0.9) / np.abs(x).max()).astype(np.float32)


def prepared(x):
    """As speech.wf prepares it."""
    loud = librosa.feature.melspectrogram(y=x.astype(np.float64), sr=RATE, n_fft=FFT, hop_length=HOP, n_mels=BANDS)
    level = np.log(np.maximum(loud, 1e-10))
    return ((level - level.mean(1, keepdims=True)) / np.sqrt(level.var(1, keepdims=True) + 1e-5)).astype(np.float32)


# ---- the network: each layer keeps what its backward pass needs; sound is [batch, step, number] ----
class Conv:
    """Over time, stride 2, zero padding of 2, then the positive part."""
    def __init__(self, random, inputs, outputs):
        self.w = (random.standard_normal((KERNEL * inputs, outputs)) * np.sqrt(2 / (KERNEL * inputs))).astype(np.float32)
        self.params = [self.w, np.zeros(outputs, np.float32)]

    def forward(self, x):
        self.shape = x.shape
        padded = np.pad(x, ((0, 0), (2, 2), (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, KERNEL, axis=1)[:, ::2]  # [batch, step, input, k]
        self.columns = windows.reshape(*windows.shape[:2], -1)
        y = self.columns @ self.w + self.params[1]
        self.on = y > 0
        return y * self.on

    def backward(self, dy):
        dy = dy * self.on
        flat = dy.reshape(-1, dy.shape[-1])
        self.grads = [self.columns.reshape(len(flat), -1).T @ flat, flat.sum(0)]
        windows = (dy @ self.w.T).reshape(*dy.shape[:2], self.shape[2], KERNEL)
        dx = np.zeros((self.shape[0], self.shape[1] + 4 + KERNEL, self.shape[2]), np.float32)
        for k in range(KERNEL):
            dx[:, k:k + 2 * dy.shape[1]:2] += windows[..., k]
        return dx[:, 2:2 + self.shape[1]]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class Gru:
    """One direction; gates in ONNX's order (z, r, h), linear before reset."""
    def __init__(self, random, inputs, backwards):
        scale = 1 / np.sqrt(HIDDEN)
        self.w, self.r = ((random.uniform(-scale, scale, (size, 3 * HIDDEN))).astype(np.float32) for size in (inputs, HIDDEN))
        self.params = [self.w, self.r, np.zeros(3 * HIDDEN, np.float32), np.zeros(3 * HIDDEN, np.float32)]
        self.backwards = backwards

    def forward(self, x):
        self.x = x[:, ::-1] if self.backwards else x
        given = self.x @ self.w + self.params[2]
        h, self.kept, ys = np.zeros((len(x), HIDDEN), np.float32), [], []
        for t in range(x.shape[1]):
            own = h @ self.r + self.params[3]
            z, r = (sigmoid(given[:, t, gate] + own[:, gate]) for gate in (slice(0, HIDDEN), slice(HIDDEN, 2 * HIDDEN)))
            n = np.tanh(given[:, t, 2 * HIDDEN:] + r * own[:, 2 * HIDDEN:])
            self.kept.append((h, z, r, n, own[:, 2 * HIDDEN:]))
            h = (1 - z) * n + z * h
            ys.append(h)
        y = np.stack(ys, 1)
        return y[:, ::-1] if self.backwards else y

    def backward(self, dy):
        dy = dy[:, ::-1] if self.backwards else dy
        d_given, d_own = np.zeros((2, *dy.shape[:2], 3 * HIDDEN), np.float32)
        dh = np.zeros((len(dy), HIDDEN), np.float32)
        for t in range(dy.shape[1] - 1, -1, -1):
            h, z, r, n, own = self.kept[t]
            dh = dh + dy[:, t]
            dn = dh * (1 - z) * (1 - n * n)
            dz, dr = dh * (h - n) * z * (1 - z), dn * own * r * (1 - r)
            d_given[:, t] = np.concatenate([dz, dr, dn], 1)
            d_own[:, t] = np.concatenate([dz, dr, dn * r], 1)
            dh = dh * z + d_own[:, t] @ self.r.T
        before = np.stack([kept[0] for kept in self.kept], 1).reshape(-1, HIDDEN)
        flat_given, flat_own = d_given.reshape(-1, 3 * HIDDEN), d_own.reshape(-1, 3 * HIDDEN)
        self.grads = [self.x.reshape(len(flat_given), -1).T @ flat_given, before.T @ flat_own, flat_given.sum(0), flat_own.sum(0)]
        dx = d_given @ self.w.T
        return dx[:, ::-1] if self.backwards else dx


class Both:
    def __init__(self, random, inputs):
        self.ways = [Gru(random, inputs, backwards) for backwards in (False, True)]
        self.params = [each for way in self.ways for each in way.params]

    def forward(self, x):
        return np.concatenate([way.forward(x) for way in self.ways], 2)

    def backward(self, dy):
        dx = sum(way.backward(part) for way, part in zip(self.ways, np.split(dy, 2, 2)))
        self.grads = [each for way in self.ways for each in way.grads]
        return dx


class Linear:
    def __init__(self, random, inputs, outputs):
        self.w = (random.standard_normal((inputs, outputs)) / np.sqrt(inputs)).astype(np.float32)
        self.params = [self.w, np.zeros(outputs, np.float32)]

    def forward(self, x):
        self.x = x
        return x @ self.w + self.params[1]

    def backward(self, dy):
        flat = dy.reshape(-1, dy.shape[-1])
        self.grads = [self.x.reshape(len(flat), -1).T @ flat, flat.sum(0)]
        return dy @ self.w.T


def ctc(logits, labels):
    """The mean loss, and its gradient: forward and backward over each row's labels with blanks (0) between."""
    count, steps, _ = logits.shape
    log_p = logits - logits.max(2, keepdims=True)
    log_p = (log_p - np.log(np.exp(log_p).sum(2, keepdims=True))).astype(np.float64)
    places = 2 * max(map(len, labels)) + 1
    states, lengths = np.zeros((count, places), int), np.array([2 * len(each) + 1 for each in labels])
    for at, each in enumerate(labels):
        states[at, 1:lengths[at]:2] = each
    skips = np.zeros((count, places), bool)
    skips[:, 2:] = (states[:, 2:] != 0) & (states[:, 2:] != states[:, :-2])
    emitted = np.take_along_axis(log_p, np.broadcast_to(states[:, None], (count, steps, places)), 2)
    never = -1e30

    def moved(x, by):
        y = np.full_like(x, never)
        if by > 0:
            y[:, by:] = x[:, :-by]
        else:
            y[:, :by] = x[:, -by:]
        return y

    rows = np.arange(count)
    ahead, behind = np.full((2, count, steps, places), never)
    ahead[:, 0, :2] = emitted[:, 0, :2]
    for t in range(1, steps):
        x = ahead[:, t - 1]
        ahead[:, t] = np.logaddexp(np.logaddexp(x, moved(x, 1)), np.where(skips, moved(x, 2), never)) + emitted[:, t]
    behind[rows, -1, lengths - 1] = behind[rows, -1, lengths - 2] = 0
    for t in range(steps - 2, -1, -1):
        x = behind[:, t + 1] + emitted[:, t + 1]
        behind[:, t] = np.logaddexp(np.logaddexp(x, moved(x, -1)), moved(np.where(skips, x, never), -2))
    total = np.logaddexp(ahead[rows, -1, lengths - 1], ahead[rows, -1, lengths - 2])
    share = np.exp(ahead + behind - total[:, None, None])
    used = np.zeros_like(log_p)
    for place in range(places):
        used[rows[:, None], np.arange(steps), states[:, place, None]] += share[:, :, place] * (place < lengths)[:, None]
    return -total.mean(), ((np.exp(log_p) - used) / count).astype(np.float32)


def train(layers, random, sounds, labels):
    """Adam with a rate that rises, then falls; rows of like length together, those that are shorter filled up with 0."""
    moments = [[(np.zeros_like(p), np.zeros_like(p)) for p in layer.params] for layer in layers]
    by_length = np.argsort([sound.shape[1] for sound in sounds], kind="stable")
    losses = []
    for step in range(1, STEPS + 1):
        first = random.integers(0, len(sounds) - BATCH + 1)
        chosen = by_length[first:first + BATCH]
        longest = max(sounds[at].shape[1] for at in chosen)
        x = np.stack([np.pad(sounds[at], ((0, 0), (0, longest - sounds[at].shape[1]))).T for at in chosen])
        for layer in layers:
            x = layer.forward(x)
        loss, gradient = ctc(x, [labels[at] + 1 for at in chosen])
        for layer in reversed(layers):
            gradient = layer.backward(gradient)
        length = np.sqrt(sum((g * g).sum() for layer in layers for g in layer.grads))
        rate = PEAK_RATE * min(step / 100, 0.5 * (1 + np.cos(np.pi * step / STEPS))) / max(1, length / 5)
        for layer, pairs in zip(layers, moments):
            for parameter, g, (m, v) in zip(layer.params, layer.grads, pairs):
                m += 0.1 * (g - m)
                v += 0.001 * (g * g - v)
                parameter -= (rate * (m / (1 - 0.9 ** step)) / (np.sqrt(v / (1 - 0.999 ** step)) + 1e-8)).astype(np.float32)
        losses.append(loss)
        if step % 100 == 0:
            print(f"step {step:4d}  loss {np.mean(losses[-100:]):.4f}", flush=True)


def read(layers, sound):
    x = sound.T[None]
    for layer in layers:
        x = layer.forward(x)
    best = x[0].argmax(1)
    return [int(each) - 1 for at, each in enumerate(best) if each != 0 and (at == 0 or best[at - 1] != each)]


def export(layers, path):
    """ONNX opset 13, f32[batch, 40, t] -> f32[batch, steps, 11]."""
    one, two, both, last = layers
    weights = []

    def put(name, array):
        weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def conv(name, layer, given):
        kernel = layer.w.reshape(-1, KERNEL, layer.w.shape[1]).transpose(2, 0, 1)
        return [helper.make_node("Conv", [given, put(f"{name}.w", kernel), put(f"{name}.b", layer.params[1])], [f"{name}.y"], name, kernel_shape=[KERNEL], strides=[2], pads=[2, 2]),
                helper.make_node("Relu", [f"{name}.y"], [f"{name}.on"], f"{name}.relu")]

    gru = [put(name, np.stack([make(way) for way in both.ways])) for name, make in (("gru.w", lambda way: way.w.T), ("gru.r", lambda way: way.r.T), ("gru.b", lambda way: np.concatenate(way.params[2:])))]
    nodes = [
        *conv("conv1", one, "loud"), *conv("conv2", two, "conv1.on"),
        helper.make_node("Transpose", ["conv2.on"], ["steps"], "transpose", perm=[2, 0, 1]),
        helper.make_node("GRU", ["steps", *gru], ["gru.y"], "gru", hidden_size=HIDDEN, direction="bidirectional", linear_before_reset=1),
        helper.make_node("Transpose", ["gru.y"], ["by_row"], "by_row", perm=[2, 0, 1, 3]),
        helper.make_node("Reshape", ["by_row", put("shape", np.array([0, 0, 2 * HIDDEN], np.int64))], ["both"], "reshape"),
        helper.make_node("MatMul", ["both", put("last.w", last.w)], ["product"], "last"),
        helper.make_node("Add", ["product", put("last.b", last.params[1])], ["scores"], "bias"),
    ]
    graph = helper.make_graph(nodes, "spoken_digits", [helper.make_tensor_value_info("loud", TensorProto.FLOAT, ["batch", BANDS, "t"])],
                              [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["batch", "steps", CLASSES])], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8, producer_name="speech/train.py")
    onnx.checker.check_model(model, full_check=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString(deterministic=True))


def write_held_out(rows, folder):
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "labels.csv", "w", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["file", "digits"])
        for at, (digits, x) in enumerate(rows):
            name = f"{at:02d}.flac"
            soundfile.write(folder / name, x, RATE, subtype="PCM_16")
            lines.writerow([name, "".join(map(str, digits))])


def main():
    random = np.random.default_rng(SEED)
    held = [row(random, HELD_VOICES) for _ in range(HELD_ROWS)]
    rows = [row(random, VOICES) for _ in range(ROWS)]
    layers = [Conv(random, BANDS, NARROW), Conv(random, NARROW, WIDE), Both(random, WIDE), Linear(random, 2 * HIDDEN, CLASSES)]
    train(layers, random, [prepared(x) for _, x in rows], [digits for digits, _ in rows])
    whole = sum(read(layers, prepared(x)) == digits.tolist() for digits, x in held)
    print(f"held out: {whole} of {len(held)} rows right")
    export(layers, HERE / "models/digits/1/model.onnx")
    write_held_out(held, HERE / "testdata/held_out")
    x = spoken([3, 1, 4], "en-us", "f2", 150, 50)
    soundfile.write(HERE / "testdata/three.wav", np.stack([x, 0.5 * x], 1), RATE, subtype="PCM_16")


if __name__ == "__main__":
    main()
