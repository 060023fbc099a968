#!/usr/bin/env python3
"""The speech example as its users see it: rows right over every held-out recording, other rates, channels and levels, and what is no recording."""
import csv
import io
import subprocess
import unittest

import harness

if __name__ == "__main__":
    harness.in_environment()

import librosa  # noqa: E402
import numpy as np  # noqa: E402
import soundfile  # noqa: E402

SPEECH = harness.EXAMPLES / "speech"
HELD_OUT = SPEECH / "testdata/held_out"
LEAST_ROWS = 0.9
RATE = 8000


def held_out():
    with open(HELD_OUT / "labels.csv", newline="") as file:
        return [((HELD_OUT / row["file"]).read_bytes(), row["digits"]) for row in csv.DictReader(file)]


def as_file(x, rate=RATE, **how):
    file = io.BytesIO()
    soundfile.write(file, x, rate, **({"format": "WAV", "subtype": "PCM_16"} | how))
    return file.getvalue()


class Speech(harness.ServerCase):
    source = SPEECH / "speech.wf"

    def listen(self, recording):
        reply = self.server.call("POST", "/Speech/Listen", recording, {"content-type": "application/octet-stream"})
        self.assertEqual(reply.status, 200, reply)
        return reply.json

    def test_rows_of_digits_over_the_whole_held_out_split(self):
        recordings = held_out()
        self.assertEqual(len(recordings), 40)
        right = sum(self.listen(file)["digits"] == digits for file, digits in recordings)
        print(f"speech: {right} of {len(recordings)} rows right")
        self.assertGreaterEqual(right / len(recordings), LEAST_ROWS)

    def test_the_rate_and_the_channels_of_a_file_make_no_difference(self):
        for file, _ in held_out()[:8]:
            x, _ = soundfile.read(io.BytesIO(file), dtype="float32")
            wanted = self.listen(file)["digits"]
            for rate in (16000, 22050, 44100, 199999):
                other = librosa.resample(x, orig_sr=RATE, target_sr=rate, res_type="polyphase")
                for sound in (other, np.stack([other, other], 1)):
                    found = self.listen(as_file(sound, rate, subtype="FLOAT"))
                    self.assertEqual(found["digits"], wanted, rate)
                    self.assertAlmostEqual(found["seconds"], len(x) / RATE, places=3)

    def test_how_loud_it_is_makes_no_difference(self):
        file, _ = held_out()[0]
        x, _ = soundfile.read(io.BytesIO(file), dtype="float32")
        self.assertEqual(self.listen(as_file(x / 8, subtype="FLOAT"))["digits"], self.listen(file)["digits"])

    def test_words_are_those_of_the_digits(self):
        found = self.listen((SPEECH / "testdata/three.wav").read_bytes())
        self.assertEqual((found["digits"], found["words"]), ("314", "three one four"))

    def test_silence_has_no_digits(self):
        self.assertEqual(self.listen(as_file(np.zeros(RATE)))["digits"], "")

    def test_what_is_no_recording(self):
        path = "/Speech/Listen"
        whole = (SPEECH / "testdata/three.wav").read_bytes()
        for body in (b"x", whole[:-1], b"fLaC", whole[:30]):
            self.assert_error(self.server.call("POST", path, body), 400, 100001, "no WAV or FLAC")
        self.assert_error(self.server.call("POST", path, as_file(np.zeros(799))), 400, 100002, "shorter")
        self.assert_error(self.server.call("POST", path, as_file(np.zeros(30 * RATE + 1))), 400, 100003, "longer")
        self.assert_error(self.server.call("POST", path, as_file(np.zeros(0))), 400, 100002)
        for rate in (250007, 999983):
            self.assert_error(self.server.call("POST", path, as_file(np.ones(rate // 4), rate)), 400, 100005, "too little in common")
        self.assert_error(self.server.post(path, {"recording": "text"}), 400, 5000, "recording")

    def test_the_client(self):
        done = subprocess.run([SPEECH / "listen", SPEECH / "testdata/three.wav", "http://%s:%d" % self.server.addresses["http"]], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"words":"three one four"', done.stdout)


if __name__ == "__main__":
    harness.main()
