"""Functions of the standard library beside the packages that people call instead, each on one core."""
import subprocess
from pathlib import Path
from statistics import median

import harness
import looped
import peers
from bench import Row
from programs import written

PACKAGES = ("numpy==2.2.6", "pillow==11.3.0", "opencv-python-headless==4.12.0.88")
SOUND_PACKAGES = ("numpy==2.2.6", "scipy==1.16.3", "soundfile==0.13.1", "librosa==0.11.0")
FOLDER = Path(__file__).resolve().parent
SAME_LIBRARY, ELSEWHERE, FUSED = 0.95, 1, 3  # the least ratios
PX, FILE = "px: u8[h, w, 3]", "file: bytes"
NORMALISE = "[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]"

# The row's name: its parameter, its result, the call, what it is given, and for each peer the least ratio. std_peers.py has the peers' side of it.
IMAGES = {
    "decode-jpeg": (FILE, "u8[_, _, 3]", "image.decode(file)", "jpeg", {"pillow": SAME_LIBRARY, "opencv": SAME_LIBRARY}),
    "decode-jpeg-at-least-100": (FILE, "u8[_, _, 3]", "image.decode(file, least_height: 100, least_width: 100)", "jpeg", {"pillow": SAME_LIBRARY}),
    "decode-png": (FILE, "u8[_, _, 3]", "image.decode(file)", "png", {"pillow": SAME_LIBRARY, "opencv": SAME_LIBRARY}),
    "decode-webp": (FILE, "u8[_, _, 3]", "image.decode(file)", "webp", {"pillow": SAME_LIBRARY, "opencv": SAME_LIBRARY}),
    "decode-bmp": (FILE, "u8[_, _, 3]", "image.decode(file)", "bmp", {"pillow": ELSEWHERE, "opencv": ELSEWHERE}),
    "resize": (PX, "u8[_, _, 3]", "image.resize(px, 224, 224)", "pixels", {"opencv": ELSEWHERE}),
    "resize-nearest": (PX, "u8[_, _, 3]", "image.resize_nearest(px, 224, 224)", "pixels", {"pillow": ELSEWHERE, "opencv": ELSEWHERE}),
    "resize-area": (PX, "u8[_, _, 3]", "image.resize_area(px, 224, 224)", "pixels", {"pillow": ELSEWHERE, "opencv": ELSEWHERE}),
    "resize-bilinear": (PX, "u8[_, _, 3]", "image.resize_bilinear(px, 224, 224)", "pixels", {"pillow": ELSEWHERE}),
    "resize-bicubic": (PX, "u8[_, _, 3]", "image.resize_bicubic(px, 224, 224)", "pixels", {"pillow": ELSEWHERE}),
    "resize-normalise-chw": (PX, "f32[3, _, _]", f"image.normalise_chw(image.resize(px, 224, 224), {NORMALISE})", "pixels", {"opencv": FUSED}),
    "warp-affine": (PX, "u8[_, _, 3]", "image.warp_affine(px, [[1.7, 0.2, 3.0], [-0.1, 1.9, 20.0]], 224, 224)", "pixels", {"opencv": ELSEWHERE}),
    "gray": (PX, "u8[_, _]", "image.gray(px)", "pixels", {"pillow": ELSEWHERE, "opencv": ELSEWHERE}),
    "hsv": (PX, "u8[_, _, 3]", "image.hsv(px)", "pixels", {"pillow": ELSEWHERE, "opencv": ELSEWHERE}),
    "mirror": (PX, "u8[_, _, 3]", "image.mirror(px)", "pixels", {"pillow": ELSEWHERE, "opencv": ELSEWHERE}),
    "rotate90": (PX, "u8[_, _, 3]", "image.rotate90(px)", "pixels", {"pillow": ELSEWHERE, "opencv": ELSEWHERE}),
    "encode-jpeg": (PX, "bytes", "image.encode_jpeg(px, 90)", "pixels", {"pillow": SAME_LIBRARY, "opencv": SAME_LIBRARY}),
    "encode-png": (PX, "bytes", "image.encode_png(px)", "pixels", {"pillow": SAME_LIBRARY}),
}


X, SOUND = "x: f32[n]", "samples: f32[c, n]"
AUDIO = {
    "decode-wav": (FILE, "f32[_, _]", "audio.decode(file).samples", "wav", {"soundfile": ELSEWHERE}),
    "decode-flac": (FILE, "f32[_, _]", "audio.decode(file).samples", "flac", {"soundfile": SAME_LIBRARY}),
    "mono": (SOUND, "f32[_]", "audio.mono(samples)", "stereo", {"librosa": ELSEWHERE}),
    "resample": (X, "f32[_]", "audio.resample(x, 44100, 16000)", "sound", {"librosa": ELSEWHERE}),
    "spectrogram": (X, "f32[_, _]", "audio.spectrogram(x, 400, 160)", "sound", {"librosa": ELSEWHERE}),
    "log-mel-400": (X, "f32[_, _]", "audio.log_mel(x, SPEECH, 160)", "sound", {"librosa": ELSEWHERE}),
    "mel-db-2048": (X, "f32[_, _]", "audio.db(audio.mel_spectrogram(x, MUSIC))", "sound", {"librosa": ELSEWHERE}),
}
FILTERS = "const SPEECH: f32[80, 201] = audio.mel_filters(16000, 400, 80);\nconst MUSIC: f32[128, 1025] = audio.mel_filters(22050, 2048);\n"


def measured(options, kind, declarations, rows, packages):
    """Rows of one module beside the packages that std_peers.py or std_sound_peers.py calls."""
    python, folder = harness.environment(f"bench-{kind}", *packages), harness.scratch()
    script = FOLDER / {"pictures": "std_peers.py", "sound": "std_sound_peers.py"}[kind]
    with peers.OnCores(peers.SERVER_CPU):
        process = subprocess.Popen([python, "-B", script, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if process.stdout.readline() != "ready\n":
        raise AssertionError(f"{script.name} does not start")

    def peer(name, package):
        process.stdin.write(f"{name} {package} {options.seconds / 10}\n")
        process.stdin.flush()
        return float(process.stdout.readline())

    for name, (parameter, result, call, given, goals) in rows.items():
        source = written(f"{name}.wf", f"{declarations}workflow Run({parameter}) -> (y: {result}) {{\n  node y = {call};\n  return (y: y);\n}}\nservice Bench {{\n  workflow Run;\n}}\n")
        path = next(path for path in (folder / f"{given}.json", folder / f"given.{given}") if path.exists())
        rounds = [(looped.seconds(source, path, options.seconds / 10), *(peer(name, package) for package in goals)) for _ in range(options.rounds)]
        ours, *theirs = (median(column) * 1e6 for column in zip(*rounds))
        for (package, goal), took in zip(goals.items(), theirs):
            yield Row(f"{'image' if kind == 'pictures' else 'audio'}-{name}", ours, took, "us", package, goal, higher_is_better=False)
    process.stdin.close()
    process.wait()


def images(options):
    """std.image beside Pillow and OpenCV: 640 x 480 pixels in colour"""
    yield from measured(options, "pictures", "import std.image;\n", IMAGES, PACKAGES)


def audio(options):
    """std.audio beside soundfile and librosa: ten seconds of sound"""
    yield from measured(options, "sound", "import std.audio;\n" + FILTERS, AUDIO, SOUND_PACKAGES)
