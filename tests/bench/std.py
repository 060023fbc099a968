"""Functions of the standard library beside the packages that people call instead, each on one core."""
import subprocess
from pathlib import Path
from statistics import median

import harness
import looped
import peers
from bench import Row
from programs import written

PACKAGES = ("numpy==2.2.6", "pillow==11.3.0", "opencv-python-headless==4.12.0.88", "ml-dtypes==0.5.3")
DATA_PACKAGES = ("numpy==2.2.6", "scipy==1.16.3", "xxhash==3.5.0", "fast-ctc-decode==0.3.6")
SOUND_PACKAGES = ("numpy==2.2.6", "scipy==1.16.3", "soundfile==0.13.1", "librosa==0.11.0")
FOLDER = Path(__file__).resolve().parent
SAME_LIBRARY, ELSEWHERE, FUSED = 0.95, 1, 3  # the least ratios
PX, FILE = "px: u8[h, w, 3]", "file: bytes"
NORMALISE = "[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]"
BOTH, SHAPED = {"pillow": ELSEWHERE, "opencv": ELSEWHERE}, {"numpy": ELSEWHERE, "opencv": ELSEWHERE}
PERSPECTIVE = "[[1.7, 0.2, 3.0], [-0.1, 1.9, 20.0], [0.0002, 0.0001, 1.0]]"

# The row's name: its parameter, its result, the call, what it is given, and for each peer the least ratio. std_peers.py, std_sound_peers.py and std_data_peers.py have the peers' side of it.
# Without a row are those that compute a number of a few numbers: image.fit and perspective; time.days, hours, minutes, seconds and milliseconds share one.
IMAGES = {
    "decode-jpeg": (FILE, "u8[_, _, 3]", "image.decode(file)", "jpeg", {"pillow": SAME_LIBRARY, "opencv": SAME_LIBRARY}),
    "decode-jpeg-at-least-100": (FILE, "u8[_, _, 3]", "image.decode(file, least_height: 100, least_width: 100)", "jpeg", {"pillow": SAME_LIBRARY}),
    "decode-gray-jpeg": (FILE, "u8[_, _]", "image.decode_gray(file)", "jpeg", {"pillow": SAME_LIBRARY, "opencv": SAME_LIBRARY}),
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
    "rotate180": (PX, "u8[_, _, 3]", "image.rotate180(px)", "pixels", BOTH),
    "rotate270": (PX, "u8[_, _, 3]", "image.rotate270(px)", "pixels", BOTH),
    "flip": (PX, "u8[_, _, 3]", "image.flip(px)", "pixels", BOTH),
    "crop": (PX, "u8[_, _, 3]", "image.crop(px, 100, 150, 224, 224)", "pixels", {"pillow": ELSEWHERE, "numpy": ELSEWHERE}),
    "centre-crop": (PX, "u8[_, _, 3]", "image.centre_crop(px, 224, 224)", "pixels", {"pillow": ELSEWHERE, "numpy": ELSEWHERE}),
    "pad": (PX, "u8[_, _, 3]", "image.pad(px, 10, 20, 30, 40, fill: 7)", "pixels", BOTH),
    "letterbox": (PX, "u8[_, _, 3]", "image.letterbox(px, 416, 416, fill: 114)", "pixels", {"opencv": ELSEWHERE}),
    "remap": ("px: u8[h, w, 3], v: f32[m, n], u: f32[m, n]", "u8[_, _, 3]", "image.remap(px, v, u)", "places", {"opencv": ELSEWHERE}),
    "warp-perspective": (PX, "u8[_, _, 3]", f"image.warp_perspective(px, {PERSPECTIVE}, 224, 224)", "pixels", {"opencv": ELSEWHERE}),
    "bgr": (PX, "u8[_, _, 3]", "image.bgr(px)", "pixels", SHAPED),
    "rgb": ("px: u8[h, w]", "u8[_, _, 3]", "image.rgb(px)", "grey", BOTH),
    "rgb-of-hsv": (PX, "u8[_, _, 3]", "image.rgb_of_hsv(px)", "hues", BOTH),
    "chw": (PX, "u8[3, _, _]", "image.chw(px)", "pixels", SHAPED),
    "hwc": ("px: u8[3, h, w]", "u8[_, _, 3]", "image.hwc(px)", "planes", SHAPED),
    "normalise-chw": (PX, "f32[3, _, _]", f"image.normalise_chw(px, {NORMALISE})", "pixels", {"numpy": FUSED, "opencv": ELSEWHERE}),
    "normalise-hwc": (PX, "f32[_, _, 3]", f"image.normalise_hwc(px, {NORMALISE})", "pixels", {"numpy": FUSED}),
    "normalise-chw-bf16": (PX, "bf16[3, _, _]", f"image.normalise_chw_bf16(px, {NORMALISE})", "pixels", {"numpy": FUSED}),
    "normalise-hwc-bf16": (PX, "bf16[_, _, 3]", f"image.normalise_hwc_bf16(px, {NORMALISE})", "pixels", {"numpy": FUSED}),
    "draw-boxes": ("px: u8[h, w, 3], boxes: f32[n, 4]", "u8[_, _, 3]", "image.draw_boxes(px, boxes, [255, 0, 0], thickness: 2)", "framed", BOTH),
    "encode-jpeg": (PX, "bytes", "image.encode_jpeg(px, 90)", "pixels", {"pillow": SAME_LIBRARY, "opencv": SAME_LIBRARY}),
    "encode-png": (PX, "bytes", "image.encode_png(px)", "pixels", {"pillow": SAME_LIBRARY}),
}


X, SOUND = "x: f32[n]", "samples: f32[c, n]"
AUDIO = {
    "decode-wav": (FILE, "f32[_, _]", "audio.decode(file).samples", "wav", {"soundfile": ELSEWHERE}),
    "decode-flac": (FILE, "f32[_, _]", "audio.decode(file).samples", "flac", {"soundfile": SAME_LIBRARY}),
    "mono": (SOUND, "f32[_]", "audio.mono(samples)", "stereo", {"librosa": ELSEWHERE}),
    "resample": (X, "f32[_]", "audio.resample(x, 44100, 16000)", "sound", {"librosa": ELSEWHERE}),
    "resample-channels": (SOUND, "f32[_, _]", "audio.resample_channels(samples, 44100, 16000)", "stereo", {"librosa": ELSEWHERE}),
    "reflect": (X, "f32[_]", "audio.reflect(x, 200)", "sound", {"numpy": ELSEWHERE}),
    "hann": ("n: i64", "f64[_]", "audio.hann(n)", "window", {"librosa": ELSEWHERE}),
    "hz-to-mel": ("x: f64[n]", "f64[_]", "[i < len(x)] => audio.hz_to_mel(x[i])", "hertz", {"librosa": ELSEWHERE}),
    "mel-to-hz": ("x: f64[n]", "f64[_]", "[i < len(x)] => audio.mel_to_hz(x[i] / 100.0)", "hertz", {"librosa": ELSEWHERE}),
    "mel-filters": ("n: i64", "f32[_, _]", "audio.mel_filters(16000, n, 80)", "window", {"librosa": ELSEWHERE}),
    "spectrogram": (X, "f32[_, _]", "audio.spectrogram(x, 400, 160)", "sound", {"librosa": ELSEWHERE}),
    "log-mel-400": (X, "f32[_, _]", "audio.log_mel(x, SPEECH, 160)", "sound", {"librosa": ELSEWHERE}),
    "mel-db-2048": (X, "f32[_, _]", "audio.db(audio.mel_spectrogram(x, MUSIC))", "sound", {"librosa": ELSEWHERE}),
}

FILTERS = "const SPEECH: f32[80, 201] = audio.mel_filters(16000, 400, 80);\nconst MUSIC: f32[128, 1025] = audio.mel_filters(22050, 2048);\n"

NUMPY, LOOSE = {"numpy": ELSEWHERE}, {"numpy": FUSED}
M, ROWS_AT, AB = "x: f32[m, n]", "x: f32[n, 64], at: i64[k], values: f32[k, 64]", "a: f32[n], b: f32[n], where: bool[n]"
TABLES = "a: f32[128, 128], b: f32[128, 128]"
TENSOR = {
    "top-k": (X, "i64[_]", "tensor.top_k(x, 10).indices", "vector", NUMPY),
    "argmax": (X, "i64", "tensor.argmax(x)", "vector", NUMPY),
    "argsort": (X, "i64[_]", "tensor.argsort(x)", "vector", NUMPY),
    "sort": (X, "f32[_]", "tensor.sort(x)", "vector", NUMPY),
    "cumsum": (X, "f32[_]", "tensor.cumsum(x)", "vector", NUMPY),
    "searchsorted": ("sorted: f32[n], values: f32[k]", "i64[_]", "tensor.searchsorted(sorted, values)", "sorted", NUMPY),
    "transpose": (M, "f32[_, _]", "tensor.transpose(x)", "matrix", NUMPY),
    "stack": ("xs: list<f32[1000]>", "f32[_, 1000]", "tensor.stack(xs)", "parts", NUMPY),
    "concat": (AB, "f32[_]", "tensor.concat(a, b)", "pair", NUMPY),
    "gather": (ROWS_AT, "f32[_, 64]", "tensor.gather(x, at)", "rows", NUMPY),
    "take-along": ("x: f32[m, n], at: i64[m, k]", "f32[_, _]", "tensor.take_along(x, at)", "along", NUMPY),
    "scatter": (ROWS_AT, "f32[_, 64]", "tensor.scatter(x, at, values)", "rows", NUMPY),
    "scatter-add": (ROWS_AT, "f32[_, 64]", "tensor.scatter_add(x, at, values)", "rows", NUMPY),
    "pad": (X, "f32[_]", "tensor.pad(x, 100, 200, 0.0)", "vector", NUMPY),
    "tile": (X, "f32[_]", "tensor.tile(x, 3)", "vector", NUMPY),
    "repeat": (X, "f32[_]", "tensor.repeat(x, 3)", "vector", NUMPY),
    "flip": (X, "f32[_]", "tensor.flip(x)", "vector", NUMPY),
    "roll": (X, "f32[_]", "tensor.roll(x, 1000)", "vector", NUMPY),
    "where": (AB, "f32[_]", "tensor.where(where, a, b)", "pair", NUMPY),
    "clip": (X, "f32[_]", "tensor.clip(x, -1.0, 1.0)", "vector", NUMPY),
    "compress": (AB, "f32[_]", "tensor.compress(where, a)", "pair", NUMPY),
    "one-hot": ("at: i64[n]", "f32[_, 100]", "tensor.one_hot(at, 100)", "labels", NUMPY),
    "dot": (AB, "f32", "tensor.dot(a, b)", "pair", NUMPY),
    "matvec": (TABLES, "f32[_]", "tensor.matvec(a, b[0])", "product", NUMPY),
    "matmul": (TABLES, "f32[_, _]", "tensor.matmul(a, b)", "product", NUMPY),
    "mean": (X, "f32", "tensor.mean(x)", "vector", NUMPY),
    "deviation": (X, "f32", "tensor.deviation(x)", "vector", NUMPY),
    "argmax-rows": (M, "i64[_]", "tensor.argmax_rows(x)", "matrix", NUMPY),
    "top-k-rows": (M, "i64[_, _]", "tensor.top_k_rows(x, 10).indices", "matrix", NUMPY),
    "concat-columns": (TABLES, "f32[_, _]", "tensor.concat_columns(a, b)", "product", NUMPY),
    "split": (X, "f32[_, _]", "tensor.split(x, 100)", "vector", NUMPY),
    "last-at": ("at: i64[n]", "i64[_]", "tensor.last_at(at, 100)", "labels", NUMPY),
    "pad2": (M, "f32[_, _]", "tensor.pad2(x, 1, 2, 3, 4, 0.0)", "matrix", NUMPY),
    "nonzero": (AB, "i64[_]", "tensor.nonzero(where)", "pair", NUMPY),
    "outer": (TABLES, "f32[_, _]", "tensor.outer(a[0], b[0])", "product", NUMPY),
    "bmm": ("a: f32[g, 64, 64], b: f32[g, 64, 64]", "f32[_, _, _]", "tensor.bmm(a, b)", "products", NUMPY),
    "var": (X, "f32", "tensor.var(x)", "vector", NUMPY),
    "scale-clip-where": (AB, "f32[_]", "tensor.where(where, tensor.clip([i < n] => a[i] * 2.0 + 1.0, -1.0, 1.0), [i < n] => b[i] * 0.5)", "pair", LOOSE),
}

BOXES, PLACED, WEIGHED = "boxes: f32[n, 4], scores: f32[n], classes: i64[n]", "deltas: f32[n, 4], anchors: f32[n, 4]", "logits: f32[n], u: f32, seen: i64[k]"
NN = {
    "softmax-rows": (M, "f32[_, _]", "nn.softmax_rows(x)", "matrix", LOOSE),
    "log-softmax-rows": (M, "f32[_, _]", "nn.log_softmax_rows(x)", "matrix", LOOSE),
    "sigmoid": (X, "f32[_]", "nn.sigmoid(x)", "vector", NUMPY),
    "layer-norm": ("x: f32[m, n], scale: f32[n], bias: f32[n]", "f32[_, _]", "nn.layer_norm(x, scale, bias)", "layer", LOOSE),
    "l2-normalise-rows": (ROWS_AT, "f32[_, _]", "nn.l2_normalise_rows(x)", "rows", LOOSE),
    "cosine-rows": (ROWS_AT, "f32[_]", "nn.cosine_rows(x, values[0])", "rows", NUMPY),
    "softmax": (WEIGHED, "f32[_]", "nn.softmax(logits)", "logits", LOOSE),
    "log-softmax": (WEIGHED, "f32[_]", "nn.log_softmax(logits)", "logits", LOOSE),
    "l2-normalise": (X, "f32[_]", "nn.l2_normalise(x)", "vector", NUMPY),
    "cosine": (AB, "f32", "nn.cosine(a, b)", "pair", NUMPY),
    "box-iou": (BOXES, "f32[_, _]", "nn.box_iou(boxes, boxes)", "boxes", LOOSE),
    "decode-boxes": (PLACED, "f32[_, 4]", "nn.decode_boxes(deltas, anchors)", "deltas", LOOSE),
    "nms": (BOXES, "i64[_]", "nn.nms(boxes, scores, 0.5)", "boxes", NUMPY),
    "nms-by-class": (BOXES, "i64[_]", "nn.nms_by_class(boxes, scores, classes, 0.5)", "boxes", NUMPY),
    "soft-nms": (BOXES, "i64[_]", "nn.soft_nms(boxes, scores).indices", "boxes", NUMPY),
    "iou": (BOXES, "f32[_]", "[i < n - 1] => nn.iou(boxes, i, i + 1)", "boxes", LOOSE),
    "box-area": (PLACED, "f32[_]", "nn.box_area(anchors)", "deltas", LOOSE),
    "cxcywh-to-xyxy": (PLACED, "f32[_, 4]", "nn.cxcywh_to_xyxy(anchors)", "deltas", LOOSE),
    "xyxy-to-cxcywh": (PLACED, "f32[_, 4]", "nn.xyxy_to_cxcywh(anchors)", "deltas", LOOSE),
    "xywh-to-xyxy": (PLACED, "f32[_, 4]", "nn.xywh_to_xyxy(anchors)", "deltas", LOOSE),
    "clip-boxes": (PLACED, "f32[_, 4]", "nn.clip_boxes(anchors, 480.0, 640.0)", "deltas", NUMPY),
    "unclip": (PLACED, "f32[_, 4]", "nn.unclip(anchors, 1.5, 480.0, 640.0)", "deltas", LOOSE),
    "text-boxes": ("heat: f32[h, w]", "f32[_, 4]", "nn.text_boxes(heat).boxes", "heat", NUMPY),
    "connected-components": ("mask: bool[h, w]", "i64[_]", "nn.connected_components(mask).areas", "mask", NUMPY),
    "ctc-greedy": ("scores: f32[steps, classes]", "i64[_]", "nn.ctc_greedy(scores)", "steps", NUMPY),
    "ctc-beam": ("scores: f32[steps, classes]", "i64", "len(nn.ctc_beam(scores, 8))", "steps", {"fast-ctc-decode": ELSEWHERE}),
    "max-pool": ("tokens: f32[t, n], mask: i64[t]", "f32[_]", "nn.max_pool(tokens, mask)", "tokens", NUMPY),
    "mean-pool": ("tokens: f32[t, n], mask: i64[t]", "f32[_]", "nn.mean_pool(tokens, mask)", "tokens", LOOSE),
    "top-p-mask": (WEIGHED, "f32[_]", "nn.top_p_mask(logits, 0.9)", "logits", NUMPY),
    "top-k-mask": (WEIGHED, "f32[_]", "nn.top_k_mask(logits, 50)", "logits", NUMPY),
    "repetition-penalty": (WEIGHED, "f32[_]", "nn.repetition_penalty(logits, seen, 1.2)", "logits", NUMPY),
    "sample": (WEIGHED, "i64", "nn.sample(nn.softmax(logits), u)", "logits", NUMPY),
}

PYTHON, WORDS, TEXTS = {"python": ELSEWHERE}, "xs: list<string>, by: f32[n], at: i64[k]", "list<string>"
LISTS = {
    "sort-by": (WORDS, TEXTS, "lists.sort_by(xs, by)", "words", PYTHON),
    "take": (WORDS, TEXTS, "lists.take(xs, 500)", "words", PYTHON),
    "slice": (WORDS, TEXTS, "lists.slice(xs, 100, 900)", "words", PYTHON),
    "reverse": (WORDS, TEXTS, "lists.reverse(xs)", "words", PYTHON),
    "concat": (WORDS, TEXTS, "lists.concat(xs, xs)", "words", PYTHON),
    "flatten": ("xss: list<list<string>>", TEXTS, "lists.flatten(xss)", "lists", PYTHON),
    "chunks": (WORDS, "list<list<string>>", "lists.chunks(xs, 10)", "words", PYTHON),
    "gather": (WORDS, TEXTS, "lists.gather(xs, at)", "words", PYTHON),
    "contains": (WORDS, "bool", 'lists.contains(xs, "not there")', "words", PYTHON),
    "count-of": (WORDS, "i64", 'lists.count_of(xs, "abc")', "words", PYTHON),
    "drop": (WORDS, TEXTS, "lists.drop(xs, 500)", "words", PYTHON),
    "fill": (WORDS, TEXTS, 'lists.fill("same", len(xs))', "words", PYTHON),
    "index-of": (WORDS, "i64?", 'lists.index_of(xs, "not there")', "words", PYTHON),
    "distinct": ("xs: list<i64>", "list<i64>", "lists.distinct(xs)", "integers", PYTHON),
}
MAP = "m: map<f64>, wanted: list<string>"
MAPS = {
    "values": (MAP, "list<f64>", "maps.values(m)", "map", PYTHON),
    "has": (MAP, "list<bool>", "[maps.has(m, key) for key in wanted]", "map", PYTHON),
    "values-of": (MAP, "list<f64>", "maps.values_of(m, wanted, -1.0)", "map", PYTHON),
}

XXHASH = {"xxhash": ELSEWHERE}
FEATURE = {
    "bucketise": (X, "i64[_]", "feature.bucketise(x, [-3.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0])", "vector", NUMPY),
    "hash-bucket": (WORDS, "i64[_]", "feature.hash_bucket(xs, 1000)", "words", XXHASH),
    "hash-cross": (WORDS, "i64", "feature.hash_cross(lists.take(xs, 10), 1000)", "words", XXHASH),
    "embedding-bag": ("table: f32[v, d], ids: i64[k], starts: i64[b]", "f32[_, _]", "feature.embedding_bag(table, ids, starts)", "bags", NUMPY),
    "lookup": ("words: list<string>, vocabulary: map<i64>", "i64[_]", "feature.lookup(words, vocabulary, -1)", "vocabulary", PYTHON),
    "log1p": (X, "f32[_]", "feature.log1p(x)", "positive", NUMPY),
    "standardise": ("x: f32[m, n], mean: f32[n], deviation: f32[n]", "f32[_, _]", "feature.standardise(x, mean, deviation)", "features", LOOSE),
}
HASH = {
    "xxh64": ("text: string", "u64", "hash.xxh64(text)", "text", XXHASH),
    "xxh64-bytes": ("data: bytes", "u64", "hash.xxh64_bytes(data)", "blob", XXHASH),
    "bucket": (WORDS, "list<i64>", "[hash.bucket(x, 1000) for x in xs]", "words", XXHASH),
}

TIMES = "texts: list<string>, at: list<i64>"
TIME = {
    "parse": (TIMES, "list<i64>", "[time.parse(text) for text in texts]", "times", PYTHON),
    "format": (TIMES, "list<string>", "[time.format(ns) for ns in at]", "times", PYTHON),
    "parts": (TIMES, "list<time.Parts>", "[time.parts(ns) for ns in at]", "times", PYTHON),
    "truncate": (TIMES, "list<i64>", "[time.truncate(ns, time.hours(24)) for ns in at]", "times", PYTHON),
    "in-seconds": (TIMES, "list<f64>", "[time.in_seconds(ns) for ns in at]", "times", PYTHON),
    "days-in-month": (TIMES, "list<i64>", "[time.days_in_month(1970 + ns % 100, 1 + ns % 12) for ns in at]", "times", PYTHON),
    "is-leap": (TIMES, "i64", "sum[i < len(at)](if time.is_leap(1970 + at[i] % 100) { 1 } else { 0 })", "times", PYTHON),
    "durations": (
        "x: i64[n]", "i64[_]", "[i < len(x)] => time.days(x[i]) + time.hours(x[i]) + time.minutes(x[i]) + time.seconds(x[i]) + time.milliseconds(x[i])", "counts", LOOSE),
    "from-parts": (TIMES, "list<i64>", "[time.from_parts(1970 + ns % 100, 1 + ns % 12, 1 + ns % 28, ns % 24) for ns in at]", "times", PYTHON),
}



def measured(options, module, rows, declarations="", peer_is=("data", "std_data_peers.py", DATA_PACKAGES)):
    """Rows of one module beside the packages that a script calls: the name of its environment, the script, what it needs."""
    kind, script, packages = peer_is
    python, folder = harness.environment(f"bench-{kind}", *packages), harness.scratch()
    with peers.OnCores(peers.SERVER_CPU):
        process = subprocess.Popen([python, "-B", FOLDER / script, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if process.stdout.readline() != "ready\n":
        raise AssertionError(f"{script} does not start")

    def peer(name, package):
        process.stdin.write(f"{name} {package} {options.seconds / 10}\n")
        process.stdin.flush()
        return float(process.stdout.readline())

    for name, (parameter, result, call, given, goals) in rows.items():
        body = f"workflow Run({parameter}) -> (y: {result}) {{\n  node y = {call};\n  return (y: y);\n}}\nservice Bench {{\n  workflow Run;\n}}\n"
        source = written(f"{module}-{name}.wf", f"import std.{module};\n{declarations}{body}")
        path = next(path for path in (folder / f"{given}.json", folder / f"given.{given}") if path.exists())
        rounds = [(looped.seconds(source, path, options.seconds / 10), *(peer(name, package) for package in goals)) for _ in range(options.rounds)]
        ours, *theirs = (median(column) * 1e6 for column in zip(*rounds))
        for (package, goal), took in zip(goals.items(), theirs):
            yield Row(f"{module}-{name}", ours, took, "us", package, goal, higher_is_better=False)
    process.stdin.close()
    process.wait()


def images(options):
    """std.image beside Pillow and OpenCV: 640 x 480 pixels in colour"""
    yield from measured(options, "image", IMAGES, peer_is=("pictures", "std_peers.py", PACKAGES))


def audio(options):
    """std.audio beside soundfile and librosa: ten seconds of sound"""
    yield from measured(options, "audio", AUDIO, FILTERS, ("sound", "std_sound_peers.py", SOUND_PACKAGES))


def std_tensor(options):
    """std.tensor beside numpy: 100,000 numbers, or a matrix of as many"""
    yield from measured(options, "tensor", TENSOR)


def std_nn(options):
    """std.nn beside numpy and scipy: what stands behind networks"""
    yield from measured(options, "nn", NN)


def std_lists(options):
    """std.lists and std.maps beside Python's own: 1,000 words"""
    yield from measured(options, "lists", LISTS)
    yield from measured(options, "maps", MAPS)


def std_feature(options):
    """std.feature and std.hash beside numpy, Python and xxhash"""
    yield from measured(options, "feature", FEATURE, "import std.lists;\n")
    yield from measured(options, "hash", HASH)


def std_time(options):
    """std.time beside Python's datetime: 1,000 times"""
    yield from measured(options, "time", TIME)
