"""std_sound_peers.py FOLDER: as std_peers.py, for sound. Each library is held to one thread."""
import io
import json
import sys
from pathlib import Path

import alone  # noqa: F401, I001: before numpy
import librosa
import numpy as np
import soundfile
from std_peers_loop import serve

RATE, SECONDS = 16000, 10


def sound():
    """Gliding tones with some noise, on two channels."""
    t = np.arange(RATE * SECONDS) / RATE
    tones = [0.3 * np.sin(2 * np.pi * (200 + 90 * c + 150 * np.sin(t)) * t) for c in range(2)]
    return (np.stack(tones, 1) + np.random.default_rng(5).normal(0, 0.03, (len(t), 2))).astype(np.float32)


STEREO = sound()
HERTZ = np.random.default_rng(6).uniform(0, 8000, 10_000)
X = np.ascontiguousarray(STEREO[:, 0])


def saved(kind):
    file = io.BytesIO()
    soundfile.write(file, STEREO, RATE, format=kind, subtype="PCM_16")
    return file.getvalue()


FILES = {"wav": saved("WAV"), "flac": saved("FLAC")}
SPEECH = librosa.filters.mel(sr=16000, n_fft=400, n_mels=80)
MUSIC = librosa.filters.mel(sr=22050, n_fft=2048, n_mels=128)


def power(n_fft, hop):
    return np.abs(librosa.stft(X, n_fft=n_fft, hop_length=hop)) ** 2


CALLS = {
    **{(f"decode-{kind}", "soundfile"): lambda kind=kind: soundfile.read(io.BytesIO(FILES[kind]), dtype="float32") for kind in FILES},
    ("mono", "librosa"): lambda: librosa.to_mono(STEREO.T),
    ("resample", "librosa"): lambda: librosa.resample(X, orig_sr=44100, target_sr=16000, res_type="polyphase"),
    ("resample-channels", "librosa"): lambda: librosa.resample(STEREO.T, orig_sr=44100, target_sr=16000, res_type="polyphase"),
    ("reflect", "numpy"): lambda: np.pad(X, 200, mode="reflect"),
    ("hann", "librosa"): lambda: librosa.filters.get_window("hann", 400),
    ("hz-to-mel", "librosa"): lambda: librosa.hz_to_mel(HERTZ),
    ("mel-to-hz", "librosa"): lambda: librosa.mel_to_hz(HERTZ / 100),
    ("mel-filters", "librosa"): lambda: librosa.filters.mel(sr=16000, n_fft=400, n_mels=80),
    ("spectrogram", "librosa"): lambda: power(400, 160),
    # With the filters made before, as ours are.
    ("log-mel-400", "librosa"): lambda: np.log(np.maximum(SPEECH @ power(400, 160), 1e-10)),
    ("mel-db-2048", "librosa"): lambda: librosa.power_to_db(MUSIC @ power(2048, 512)),
}


def main():
    folder = Path(sys.argv[1])
    for kind, data in FILES.items():
        (folder / f"given.{kind}").write_bytes(data)
    (folder / "stereo.json").write_text(json.dumps({"samples": STEREO.T.tolist()}))
    (folder / "sound.json").write_text(json.dumps({"x": X.tolist()}))
    (folder / "window.json").write_text(json.dumps({"n": 400}))
    (folder / "hertz.json").write_text(json.dumps({"x": HERTZ.tolist()}))
    serve(CALLS)


if __name__ == "__main__":
    main()
