#!/usr/bin/env python3
"""std.audio against soundfile, librosa, scipy and numpy: random sound, edge lengths, what is refused.

Each row of FUNCTIONS is a workflow of the program that is served; a reference gives what the server has to answer, or the code of its failure."""
import io
import math
import re
import struct
import unittest

import harness

if __name__ == "__main__":
    harness.in_environment()

import librosa  # noqa: E402
from native_case import NativeCase  # noqa: E402
import numpy as np  # noqa: E402
import scipy.io.wavfile  # noqa: E402
import scipy.signal  # noqa: E402
import soundfile  # noqa: E402

F32, F64, I64 = np.float32, np.float64, np.int64
INDEX, EMPTY, TYPE, MEMORY_CAP = 7001, 7005, 7000, 3012
CLOSE = 1e-4  # what issue and page promise; of decibels and logarithms as they are, of others as a share
dice = np.random.default_rng(17)


def noise(*shape):
    return dice.uniform(-1, 1, shape).astype(F32)


def tone(count, turns=0.05):
    """Little but one frequency: what is far from it is far below it."""
    return (0.7 * np.sin(2 * np.pi * turns * np.arange(count)) + 1e-3 * np.cos(2.2 * np.arange(count))).astype(F32)


def sounds(*counts):
    return [make(count) for count in counts for make in (noise, tone)] + [np.zeros(max(counts), F32), np.ones(max(counts), F32)]


class Function:
    def __init__(self, parameters, results, call, reference, cases, relative=1e-6, absolute=1e-6):
        self.parameters, self.results, self.call, self.reference, self.cases = parameters, results, call, reference, list(cases)
        self.relative, self.absolute = relative, absolute
        self.inputs = [part.split(":")[0].strip() for part in re.split(r",(?![^\[]*\])", parameters)]

    def workflow(self, name):
        return f"workflow {name}({self.parameters}) -> (y: {self.results}) {{\n  node found: {self.results} = {self.call};\n  return (y: found);\n}}\n"


def resampled(x, from_, to):
    if from_ < 1 or to < 1:
        return TYPE
    both = math.gcd(int(from_), int(to))
    up, down = int(to) // both, int(from_) // both
    if up * (2 * (10 * max(up, down) // up + 1) + 1) > 4 * 2**20:
        return TYPE
    return scipy.signal.resample_poly(x, up, down, axis=-1)


def of_frames(x, n_fft, hop, window, centre):
    count = len(x) + (2 * (n_fft // 2) if centre else 0)
    return TYPE if hop < 1 or not 1 <= window <= n_fft or count < n_fft else None


def spectrogram(x, n_fft, hop, window, centre):
    refused = of_frames(x, n_fft, hop, window, centre)
    if refused:
        return refused
    return np.abs(librosa.stft(x.astype(F64), n_fft=int(n_fft), hop_length=int(hop), win_length=int(window), center=bool(centre), pad_mode="constant")) ** 2


def filters(rate, n_fft, mels, htk, area):
    if not 1 <= rate <= 10**9 or n_fft < 1:
        return TYPE
    return librosa.filters.mel(sr=int(rate), n_fft=int(n_fft), n_mels=int(mels), htk=bool(htk), norm="slaney" if area else None)


def mel_spectrogram(x, hop):
    return librosa.feature.melspectrogram(y=x.astype(F64), sr=16000, n_fft=400, hop_length=int(hop), n_mels=80)


def mels_of(x):
    """As librosa's users have them: n_fft of 2048, a hop of 512, 128 bands, decibels."""
    return librosa.power_to_db(librosa.feature.melspectrogram(y=x.astype(F64), sr=22050), ref=1.0)


def sinc(i, zero):
    x = i.astype(F64) / zero
    return np.sinc(x) * np.i0(5 * np.sqrt(np.maximum(1 - (x / 10) ** 2, 0))) / np.i0(5)


RATES = [(44100, 16000), (48000, 16000), (16000, 8000), (8000, 16000), (16000, 44100), (22050, 16000), (11025, 8000), (8000, 8000), (3, 7), (7, 3), (1, 1000), (1000, 1), (192000, 16000)]
ODD_RATES = [(96001, 16000), (48001, 16000), (1, 120000), (199999, 8000), (205000, 1)]  # below 4 Mi shares
REFUSED_RATES = [(0, 8000), (8000, 0), (-1, 5), (999983, 1000003), (2**40, 3)]
FRAMES = [(512, 128, 512, True), (400, 160, 400, True), (512, 160, 400, True), (512, 160, 401, False), (441, 100, 441, True), (30, 7, 13, True), (2, 1, 2, True), (1, 1, 1, True), (2048, 512, 2048, True)]
REFUSED_FRAMES = [(512, 0, 512, True), (512, -3, 512, True), (512, 1, 513, True), (512, 1, 0, True), (0, 1, 0, True), (2048, 1, 2048, False)]
FRAMED = "x: f32[n], n_fft: i64, hop: i64, window: i64, centre: bool"


def framed(rows):
    for n_fft, hop, window, centre in rows:
        for x in sounds(1, 999, 1600) if (n_fft, hop, window, centre) in FRAMES else [noise(1000)]:
            if centre or len(x) >= n_fft:
                yield x, I64(n_fft), I64(hop), I64(window), np.bool_(centre)
            elif rows is REFUSED_FRAMES:
                yield x, I64(n_fft), I64(hop), I64(window), np.bool_(centre)


FUNCTIONS = {
    "Mono": Function("x: f32[c, n]", "f32[_]", "audio.mono(x)", librosa.to_mono, [(noise(c, n),) for c in (1, 2, 6) for n in (1, 17, 300)]),
    "Gcd": Function("a: i64, b: i64", "i64", "audio.gcd(a, b)", lambda a, b: np.gcd(a, b), [(I64(a), I64(b)) for a, b in (*RATES, (2**40, 2**39), (1, 2**40), (433494437, 267914296), (548354040, 2**40))]),
    "Bessel": Function("x: f64[n]", "f64[_]", "[i < n] => audio.bessel0(x[i])", np.i0, [(np.linspace(-6, 6, 101),)], 1e-7),
    "KaiserSinc": Function("i: i64[n], zero: i64", "f64[_]", "[k < n] => audio.kaiser_sinc(i[k], zero)", sinc, [(np.arange(-10 * zero, 10 * zero + 1), I64(zero)) for zero in (1, 2, 160)]),
    # Each place's shares sum to 1 but for ripples; those of rates that have nothing in common are too many.
    "Phases": Function("from: i64, to: i64", "f32[_]", "total(from, to)", lambda a, b: TYPE if (a, b) in REFUSED_RATES else np.ones(b // math.gcd(int(a), int(b))), [(I64(a), I64(b)) for a, b in (*RATES, *ODD_RATES, *REFUSED_RATES)], 0, 2e-3),
    "Resample": Function("x: f32[n], from: i64, to: i64", "f32[_]", "audio.resample(x, from, to)", resampled, [(x, I64(a), I64(b)) for a, b in RATES for x in sounds(1, 30, 1000)] + [(noise(30), I64(a), I64(b)) for a, b in ODD_RATES], 1e-5, 1e-5),
    "ResampleChannels": Function("x: f32[c, n], from: i64, to: i64", "f32[_, _]", "audio.resample_channels(x, from, to)", resampled, [(noise(c, n), I64(a), I64(b)) for a, b in RATES[:6] for c in (1, 2, 5) for n in (1, 500)], 1e-5, 1e-5),
    "ResampleLibrosa": Function("x: f32[n]", "f32[_]", "audio.resample(x, 22050, 16000)", lambda x: librosa.resample(x, orig_sr=22050, target_sr=16000, res_type="polyphase"), [(x,) for x in sounds(1000, 4321)], 1e-5, 1e-5),
    "Hann": Function("n: i64", "f64[_]", "audio.hann(n)", lambda n: scipy.signal.get_window("hann", int(n)), [(I64(n),) for n in (1, 2, 3, 400, 2048)]),
    "Reflect": Function("x: f32[n], by: i64", "f32[_]", "audio.reflect(x, by)", lambda x, by: np.pad(x, int(by), "reflect") if by < len(x) else INDEX, [(noise(n), I64(by)) for n, by in ((1, 0), (2, 1), (500, 200), (500, 499), (5, 5), (1, 1))]),
    "Spectra": Function("x: f32[n], w: f64[m], hop: i64", "f32[_, _]", "audio.spectra(x, w, hop)", lambda x, w, hop: np.stack([np.abs(np.fft.rfft(x[at:at + len(w)].astype(F64) * w)) ** 2 for at in range(0, len(x) - len(w) + 1, hop)]).T if hop > 0 else TYPE,
                        [(noise(1000), noise(m).astype(F64), I64(hop)) for m in (1, 2, 3, 60, 127, 400, 1000) for hop in (1, 77, 2000)] + [(noise(9), noise(4).astype(F64), I64(0))], CLOSE, 1e-5),
    "Spectrogram": Function(FRAMED, "f32[_, _]", "audio.spectrogram(x, n_fft, hop, window, centre)", spectrogram, [*framed(FRAMES), *framed(REFUSED_FRAMES)], CLOSE, 1e-9),
    "SpectrogramWhisper": Function("x: f32[n]", "f32[_, _]", "audio.spectrogram(audio.reflect(x, 200), 400, 160, centre: false)", lambda x: np.abs(librosa.stft(x.astype(F64), n_fft=400, hop_length=160, pad_mode="reflect")) ** 2, [(x,) for x in sounds(999, 5000)], CLOSE, 1e-9),
    "HzToMel": Function("hz: f64[n], htk: bool", "f64[_]", "[i < n] => audio.hz_to_mel(hz[i], htk)", lambda hz, htk: librosa.hz_to_mel(hz, htk=bool(htk)), [(np.linspace(0, 24000, 77), np.bool_(htk)) for htk in (0, 1)], 1e-9),
    "MelToHz": Function("mel: f64[n], htk: bool", "f64[_]", "[i < n] => audio.mel_to_hz(mel[i], htk)", lambda mel, htk: librosa.mel_to_hz(mel, htk=bool(htk)), [(np.linspace(0, 60, 77), np.bool_(htk)) for htk in (0, 1)], 1e-9),
    "MelFilters": Function("rate: i64, n_fft: i64, mels: i64, htk: bool, area: bool", "f32[_, _]", "audio.mel_filters(rate, n_fft, mels, htk: htk, area: area)", filters,
                           [(I64(rate), I64(n_fft), I64(mels), np.bool_(htk), np.bool_(area)) for rate, n_fft, mels in ((22050, 2048, 128), (16000, 400, 80), (16000, 512, 40), (44100, 1024, 1), (8000, 255, 20), (0, 400, 80), (-5, 400, 80), (10**9 + 1, 400, 80), (8000, 0, 20), (8000, -1, 20)) for htk in (0, 1) for area in (0, 1)], 1e-5, 1e-9),
    "MelFiltersBetween": Function("low: f64, high: f64", "f32[_, _]", "audio.mel_filters(16000, 512, 40, low, high)", lambda low, high: librosa.filters.mel(sr=16000, n_fft=512, n_mels=40, fmin=low, fmax=high), [(F64(20), F64(7600)), (F64(300), F64(3400))], 1e-5, 1e-9),
    "MelSpectrogram": Function("x: f32[n], hop: i64", "f32[_, _]", "audio.mel_spectrogram(x, WHISPER, hop)", mel_spectrogram, [(x, I64(hop)) for x in sounds(1, 3000, 16000) for hop in (100, 160)], CLOSE, 1e-10),
    "LogMel": Function("x: f32[n], hop: i64", "f32[_, _]", "audio.log_mel(x, WHISPER, hop)", lambda x, hop: np.log(np.maximum(mel_spectrogram(x, hop), 1e-10)), [(x, I64(hop)) for x in sounds(1, 3000, 16000) for hop in (100, 160)], 0, CLOSE),
    "MelsInDecibels": Function("x: f32[n]", "f32[_, _]", "audio.db(audio.mel_spectrogram(x, LIBROSA))", mels_of, [(x,) for x in sounds(1, 5000, 22050)], 0, CLOSE),
    "Decibels": Function("x: f32[m, n], range: f32", "f32[_, _]", "audio.db(x, 2.0, 1e-6, range)", lambda x, range_: librosa.power_to_db(x, ref=2.0, amin=1e-6, top_db=range_) if x.size else EMPTY,
                         [(np.abs(noise(m, n)) ** power, F32(range_)) for m, n in ((1, 1), (5, 30)) for power in (1, 9) for range_ in (0, 30, 1000)] + [(np.zeros((2, 3), F32), F32(80)), (np.zeros((0, 3), F32), F32(80))], 0, CLOSE),
    "DecibelsUnbounded": Function("x: f32[m, n]", "f32[_, _]", "audio.db(x, range: none)", lambda x: librosa.power_to_db(x, top_db=None), [(np.abs(noise(5, 30)) ** 40,)], 0, CLOSE),
}


TOTAL = """fn total(from: i64, to: i64) -> f32[_] {
  let way = audio.phases(from, to);
  let shares = way.shares;
  [p < way.up] => sum[d < 2 * way.reach + 1](shares[p, d]) * f32(1.0)
}
"""


def program():
    lines = ["import std.audio;", TOTAL, "const WHISPER: f32[80, 201] = audio.mel_filters(16000, 400, 80);", "const LIBROSA: f32[128, 1025] = audio.mel_filters(22050, 2048);"]
    lines += [function.workflow(name) for name, function in FUNCTIONS.items()]
    lines.append("""workflow Decode(file: bytes) -> (samples: f32[_, _], rate: i64) {
  node sound = audio.decode(file);
  return (samples: sound.samples, rate: sound.rate);
}
""")
    return "\n".join([*lines, "service Audio {", *[f"  workflow {name};" for name in (*FUNCTIONS, "Decode")], "}"])


def saved(data, rate=16000, **how):
    file = io.BytesIO()
    soundfile.write(file, data, rate, **how)
    return file.getvalue()


class Audio(NativeCase):
    program = staticmethod(program)

    def check(self, name, function, case):
        parameters, wanted = dict(zip(function.inputs, case, strict=True)), function.reference(*case)
        if isinstance(wanted, int):
            reply = self.server.post(f"/Audio/{name}", {key: value.tolist() for key, value in parameters.items()})
            self.assert_error(reply, 500, wanted)
            return
        found, = self.raw(name, ["y"], **parameters)
        self.assertEqual(found.shape, np.shape(wanted))
        np.testing.assert_allclose(found, wanted, function.relative, function.absolute)

    def test_what_librosa_scipy_and_numpy_give(self):
        for name, function in FUNCTIONS.items():
            self.assertTrue(function.cases, name)
            for case in function.cases:
                with self.subTest(name, shapes=[np.shape(value) for value in case], values=[value for value in case if np.size(value) < 10]):
                    self.check(name, function, case)

    def decoded(self, file):
        samples, rate = self.raw("Decode", ["samples", "rate"], file=file)
        return samples, int(rate)

    def assert_refused(self, file, status=500, code=TYPE):
        reply = self.server.call("POST", "/Audio/Decode", file, {"content-type": "application/octet-stream"})
        self.assert_error(reply, status, code)

    def test_files_are_read_as_soundfile_reads_them(self):
        ways = [(kind, subtype, channels) for kind in ("WAV", "WAVEX") for subtype in ("PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE") for channels in (1, 2, 7)]
        ways += [("FLAC", subtype, channels) for subtype in ("PCM_S8", "PCM_16", "PCM_24") for channels in (1, 2, 8)]
        for kind, subtype, channels in ways:
            for count, rate in ((1, 8000), (30000, 44100)):
                with self.subTest(kind=kind, subtype=subtype, channels=channels, count=count):
                    file = saved(dice.uniform(-1, 1, (count, channels)), rate, format=kind, subtype=subtype)
                    wanted, _ = soundfile.read(io.BytesIO(file), dtype="float32", always_2d=True)
                    samples, found_rate = self.decoded(file)
                    np.testing.assert_array_equal(samples, wanted.T)
                    self.assertEqual(found_rate, rate)

    def test_extremes_of_floats_are_as_they_are(self):
        for subtype, dtype in (("FLOAT", F32), ("DOUBLE", F64)):
            x = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1e30, -3.5, np.finfo(F32).smallest_subnormal], dtype)
            samples, _ = self.decoded(saved(x, format="WAV", subtype=subtype))
            np.testing.assert_array_equal(samples[0], x.astype(F32))

    def test_what_is_damaged_is_refused_wherever_it_ends(self):
        for how in ({"format": "WAV", "subtype": "PCM_16"}, {"format": "WAVEX", "subtype": "FLOAT"}, {"format": "FLAC", "subtype": "PCM_16"}):
            file = saved(noise(500, 2), **how)
            for length in [*range(1, 100), *range(100, len(file) - 1, 97), len(file) - 1]:
                self.assert_refused(file[:length])

    def test_other_kinds_are_refused(self):
        for how in ({"format": "WAV", "subtype": "ULAW"}, {"format": "WAV", "subtype": "IMA_ADPCM"}, {"format": "OGG", "subtype": "VORBIS"}, {"format": "AIFF", "subtype": "PCM_16"}):
            self.assert_refused(saved(noise(500), **how))
        for file in (b"x", b"RIFF\0\0\0\0WAVE", b"fLaC", b"\0" * 1000):
            self.assert_refused(file)

    def test_24_bits_in_blocks_of_4_bytes_are_read_as_scipy_reads_them(self):
        for channels in (1, 2):
            x = dice.integers(-2**23, 2**23, (1000, channels), np.int32) * 256
            head = struct.pack("<4sI8sIHHIIHH4sI", b"RIFF", 36 + x.nbytes, b"WAVEfmt ", 16, 1, channels, 8000, 32000 * channels, 4 * channels, 24, b"data", x.nbytes)
            _, wanted = scipy.io.wavfile.read(io.BytesIO(head + x.tobytes()))
            np.testing.assert_array_equal(self.decoded(head + x.tobytes())[0], wanted.reshape(-1, channels).T / F32(2**31))

    def test_a_file_behind_a_tag(self):
        tag = b"ID3\4\0\0\0\0\1\0" + b"x" * 128
        for how in ({"format": "WAV", "subtype": "PCM_16"}, {"format": "FLAC", "subtype": "PCM_16"}):
            file = saved(noise(500), **how)
            np.testing.assert_array_equal(self.decoded(tag + file)[0], self.decoded(file)[0])

    def test_a_wav_of_unknown_length(self):
        file = saved(noise(500), format="WAV", subtype="PCM_16")
        at = file.index(b"data") + 4
        samples, _ = self.decoded(file[:at] + b"\xff" * 4 + file[at + 4:])
        np.testing.assert_array_equal(samples, self.decoded(file)[0])

    def test_claims_without_samples_take_no_memory(self):
        wav = bytearray(saved(noise(500), format="WAV", subtype="PCM_16"))
        at = wav.index(b"data") + 4
        wav[at:at + 4] = struct.pack("<I", 2**30)
        flac = bytearray(saved(noise(500), format="FLAC", subtype="PCM_16"))
        for count, refusal in ((2**36 - 1, (429, MEMORY_CAP)), (64 * 2**20, (500, TYPE)), (501, (500, TYPE))):
            flac[21] = flac[21] & 0xF0 | count >> 32
            flac[22:26] = struct.pack(">I", count & 0xFFFFFFFF)
            self.assert_refused(bytes(flac), *refusal)
        self.assert_refused(bytes(wav))


if __name__ == "__main__":
    harness.main()
