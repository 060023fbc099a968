"""Pipelines of examples beside the same ones in Triton, whose steps are in Python (triton/): rate, time, memory and length."""
import json
import math
import shutil
import struct
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Callable

import grpc_call
import harness
import installed
import looped
import oip
import peers
import programs
from bench import Row, in_turns
from programs import written
from wire import started

MODELS = Path(__file__).resolve().parent / "triton"
TEXT = b"The file could not be opened because the disk is full; remove some files that are not needed, and try again."  # 28 tokens
P50, MEMORY = 1 / 0.5, 1 / 0.3  # the least ratios
AT_ONCE = "within: 0ms, queue: 4096"  # settings of a node whose rows wait for nobody and are not refused, as Triton's are,
PATIENT = "timeout: 20s"              # and of one that is not late, however many requests are there


@dataclass
class Pipeline:
    """`call` and `theirs` ask the same, `agree` compares what both answer. Goals are least ratios of rates: of the best of each, and with 16 in flight."""
    sources: Callable            # the .wf files, of which the first is served
    call: bytes
    theirs: bytes
    agree: Callable
    nodes: dict                  # their settings, by name
    files: dict = field(default_factory=dict)  # of Triton's models
    others: tuple = ()           # more calls of ours and theirs, which have to be answered alike, too
    best_goal: float = 0
    goal_at_16: float = 0
    memory_goal: float = MEMORY


def floats(raw):
    return struct.unpack(f"<{len(raw) // 4}f", raw)


def agree_on_classes(most):
    """Both have the same classes, with probabilities that differ by `most` times of themselves."""
    def agree(ours, theirs):
        classes = json.loads(ours["classes"][4:])
        shares, numbers = floats(theirs["probabilities"]), struct.unpack("<5q", theirs["numbers"])
        by_number = {one["number"]: one["probability"] for one in classes}
        return set(by_number) == set(numbers) and all(abs(by_number[number] - share) <= most * share for number, share in zip(numbers, shares))
    return agree


def changed(name, old, new):
    """The program of an example, with other settings."""
    folder = harness.scratch() / f"{name}-changed"
    source = folder / f"{name}.wf"
    if not folder.exists():
        shutil.copytree(harness.made(name), folder)
        source.write_text(source.read_text().replace(old, new))
    return [source]


def classify_in_f32():
    return changed("classify", "precision bf16;", "precision f32;")


def embed_in_bf16():
    return changed("embed", "pad t to", "precision bf16;\n  pad t to")


def of_bytes(name, content):
    return name, b"BYTES", (1,), grpc_call.text(content)


def of_levels(name, content):
    """A file as Triton takes it with the least work."""
    return name, b"UINT8", (len(content),), content


def classify(sources, most, **goals):
    hills = (harness.EXAMPLES / "classify/testdata/hills.jpg").read_bytes()
    return Pipeline(sources, grpc_call.tensors(b"Pictures.Classify", of_bytes(b"picture", hills)), grpc_call.tensors(b"pipeline", of_levels(b"picture", hills)),
                    agree_on_classes(most), {"Classify/scores": AT_ONCE}, {"network/1/model.onnx": harness.EXAMPLES / "classify/models/mobilenet/1/model.onnx"}, **goals)


def page():
    folder = harness.EXAMPLES / "pages"
    scan = (folder / "testdata/page12.png").read_bytes()
    return Pipeline(lambda: [folder / name for name in ("pages.wf", "find.wf", "layout.wf")], grpc_call.tensors(b"Pages.Text", of_bytes(b"page", scan)),
                    grpc_call.tensors(b"pipeline", of_levels(b"page", scan)), lambda ours, theirs: ours["text"] == theirs["text"],
                    {"Text/read/Read/maps": AT_ONCE, "Text/read/Read/glyphs": AT_ONCE},
                    {"find/1/model.onnx": folder / "models/detect/1/model.onnx", "digits/1/model.onnx": folder / "models/digits/1/model.onnx"}, goal_at_16=3)


def agree_on_vectors(most):
    """Numbers of vectors of length 1 differ by no more."""
    def agree(ours, theirs):
        [vector], other = json.loads(ours["vectors"][4:]), floats(theirs["vectors"])
        return len(vector) == len(other) and all(abs(a - b) <= most for a, b in zip(vector, other))
    return agree


def embed(sources, most):
    folder = harness.EXAMPLES / "embed"
    return Pipeline(sources, grpc_call.tensors(b"Embeddings.Embed", of_bytes(b"texts", TEXT)), grpc_call.tensors(b"pipeline", of_bytes(b"texts", TEXT)), agree_on_vectors(most),
                    {"Embed/each/One/hidden": AT_ONCE}, {"encoder/1/model.onnx": folder / "models/encoder/1/model.onnx", "tokenise/1/tokenizer.json": folder / "tokenizer.json"}, goal_at_16=3)


def speech():
    folder = harness.EXAMPLES / "speech"
    recording = (folder / "testdata/three.wav").read_bytes()
    return Pipeline(lambda: [folder / "speech.wf"], grpc_call.tensors(b"Speech.Listen", of_bytes(b"recording", recording)), grpc_call.tensors(b"pipeline", of_levels(b"recording", recording)),
                    lambda ours, theirs: ours["digits"] == theirs["digits"], {"Listen/scores": AT_ONCE}, {"network/1/model.onnx": folder / "models/digits/1/model.onnx"}, goal_at_16=3)


def close(ours, theirs, most):
    return len(ours) == len(theirs) and all(abs(a - b) <= most for a, b in zip(floats(ours), floats(theirs)))


def of_numbers(name, datatype, kind, values):
    return name, datatype, (len(values),), struct.pack(f"<{len(values)}{kind}", *values)


def a_row(name, datatype, shape, content):
    """An input of one of Triton's models that takes batches: with 1 row."""
    return name, datatype, (1, *shape), content


def digits():
    folder = harness.EXAMPLES / "digits"
    seven = of_bytes(b"picture", (folder / "testdata/seven.png").read_bytes())

    def agree(ours, theirs):
        return ours["labels"] == theirs["labels"] and close(ours["scores"], theirs["scores"], 1e-3)

    return Pipeline(lambda: [folder / "digits.wf"], grpc_call.tensors(b"DigitService.Classify", seven), grpc_call.tensors(b"pipeline", a_row(*seven)), agree,
                    {"Classify/logits": f"{AT_ONCE}, {PATIENT}"}, {"network/1/model.onnx": folder / "models/digits/1/model.onnx"}, goal_at_16=3)


def rank():
    folder = harness.EXAMPLES / "rank"
    asked = json.loads((folder / "testdata/visitor.json").read_text())
    numbers = [of_numbers(name.encode(), b"FP32", "f", asked[name]) for name in ("taste", "habits")]
    words = b"".join(grpc_call.text(word.encode()) for word in asked["visitor"].values())

    def agree(ours, theirs):
        found = json.loads(ours["found"][4:])
        items = struct.unpack(f"<{len(found)}q", theirs["item"])
        return ours["by"] == theirs["by"] == grpc_call.text(b"network") and [one["item"] for one in found] == list(items) and all(
            math.isclose(one[name], theirs_one, abs_tol=1e-5) for name in ("score", "likeness") for one, theirs_one in zip(found, floats(theirs[name])))

    count = of_numbers(b"count", b"INT64", "q", [asked["count"]])
    return Pipeline(lambda: [harness.made("rank") / "rank.wf"],
                    grpc_call.tensors(b"Ranking.Recommend", *numbers, of_bytes(b"visitor", json.dumps(asked["visitor"]).encode()), count),
                    grpc_call.tensors(b"pipeline", *(a_row(*each) for each in (*numbers, (b"visitor", b"BYTES", (6,), words), count))), agree,
                    {"Recommend/wanted": f"within: 0ms, queue: 16384, {PATIENT}"},
                    {"wide_deep/1/model.onnx": folder / "models/wide_deep/1/model.onnx", **{f"pipeline/1/{name}.npy": folder / f"{name}.npy" for name in ("items", "kinds", "measures")}},
                    memory_goal=0)


def fraud():
    folder = harness.EXAMPLES / "fraud"

    def calls(name):
        asked = json.loads((folder / f"testdata/{name}.json").read_text())
        label = of_bytes(b"label", asked["label"].encode())
        return (grpc_call.tensors(b"Fraud.Check", of_bytes(b"wine", json.dumps(asked["wine"]).encode()), label),
                grpc_call.tensors(b"pipeline", a_row(*of_numbers(b"wine", b"FP32", "f", asked["wine"].values())), a_row(*label)))

    def agree(ours, theirs):
        verdict = json.loads(ours["verdict"][4:])
        return (verdict["genuine"] == bool(theirs["genuine"][0]) and theirs["by"] == grpc_call.text(verdict["by"].encode())
                and math.isclose(verdict["probability"], *floats(theirs["probability"]), abs_tol=1e-5))

    return Pipeline(lambda: [folder / "fraud.wf"], *calls("doubtful"), agree, {"Check/guess": AT_ONCE, "Check/exact": f"{AT_ONCE}, {PATIENT}"},
                    {"cheap/1/model.onnx": folder / "models/cheap/1/model.onnx", "exact/1/model.onnx": folder / "models/exact/1/model.onnx",
                     "pipeline/1/cheap.json": folder / "cheap.json"}, (calls("clear"), calls("forged")), goal_at_16=3)


def router():
    folder = harness.EXAMPLES / "router"
    picture = of_bytes(b"picture", (folder / "testdata/seven.png").read_bytes())

    def calls(user):
        return grpc_call.tensors(b"Router.Read", picture, parameters={b"user": user}), grpc_call.tensors(b"pipeline", a_row(*picture), a_row(*of_bytes(b"user", user)))

    def agree(ours, theirs):
        return ours["digit"] == theirs["digit"] and close(ours["score"], theirs["score"], 1e-3)

    return Pipeline(lambda: [folder / "router.wf"], *calls(b"ada"), agree, {},
                    {"current/1/model.onnx": folder / "models/current/1/model.onnx", "candidate/1/model.onnx": folder / "models/candidate/1/model.onnx"}, (calls(b"cleo"),), goal_at_16=3)


def chain():
    return Pipeline(lambda: [written("chain-of-three.wf", programs.trivial_chains((3,)))], grpc_call.floats(b"Chains.Nodes3", b"x", 4), grpc_call.floats(b"pipeline", b"x", 4),
                    lambda ours, theirs: ours["y"] == theirs["y"], {}, best_goal=40)


PIPELINES = {
    "classify": lambda: classify(classify_in_f32, 0.01, best_goal=2),
    "classify-bf16": lambda: classify(lambda: [harness.made("classify") / "classify.wf"], 0.25),
    "page": page,
    "embed": lambda: embed(lambda: [harness.made("embed") / "embed.wf"], 1e-4),
    "embed-bf16": lambda: embed(embed_in_bf16, 0.02),
    "speech": speech,
    "digits": digits,
    "rank": rank,
    "fraud": fraud,
    "router": router,
    "chain": chain,
}


def lines_of_wf(paths):
    """Lines of programs but tests, comments and empty ones."""
    count = 0
    for path in paths:
        in_test = False
        for line in path.read_text().splitlines():
            in_test = in_test or line.startswith("test ")
            count += not in_test and bool(line.strip()) and not line.strip().startswith("//")
            in_test = in_test and line != "}"
    return count


def lines_of_models(folder):
    """Lines of models in Python and of their configurations, but comments, texts that say what they are, and empty ones."""
    return sum(bool(line.strip()) and not line.strip().startswith(("#", '"""'))
               for path in folder.rglob("*") if path.suffix in (".py", ".pbtxt") for line in path.read_text().splitlines())


@dataclass
class Side:
    address: tuple
    call: bytes
    pid: int


@dataclass
class Found:
    rate: float     # requests a second
    seconds: float  # the median of a request
    bytes: int      # of memory afterwards


def measured(options, pipeline, sides):
    """{in flight: {name: Found}} of `sides`, by name."""
    def answered(calls):
        """What each side says to its call; they must agree."""
        answers = {name: peers.grpc_answer(side.address, grpc_call.PATH, call) for (name, side), call in zip(sides.items(), calls)}
        if "Triton" in answers and not pipeline.agree(*map(grpc_call.results, answers.values())):
            raise AssertionError(f"the servers answer differently: {answers}")
        return answers

    for calls in pipeline.others:
        answered(calls)
    answers = answered((pipeline.call, pipeline.theirs))
    found = {}
    for in_flight, shape in oip.IN_FLIGHT.items():
        seconds = {name: [] for name in sides}

        def rate_of(name, side):
            rate, median_seconds = peers.h2load_times(side.address, grpc_call.PATH, side.call, options.seconds, *shape, grpc_call.HEADERS, len(answers[name]))
            seconds[name].append(median_seconds)
            return rate

        rates = in_turns(options.rounds, {name: lambda name=name, side=side: rate_of(name, side) for name, side in sides.items()})
        found[in_flight] = {name: Found(rates[name], median(seconds[name]), peers.proportional_bytes(side.pid)) for name, side in sides.items()}
        told = (f"{name} {each.rate:.0f}/s, p50 {each.seconds * 1e3:.3g} ms, {each.bytes / 2**20:.0f} MiB" for name, each in found[in_flight].items())
        print(f"#   {in_flight} in flight: {'; '.join(told)}", flush=True)
    return found


def rows_of(name, options, pipeline):
    sources = pipeline.sources()
    settings = written(f"{name}.yml", "nodes: {" + ", ".join(f"{node}: {{{each}}}" for node, each in pipeline.nodes.items()) + "}\n")
    models = MODELS / name.removesuffix("-bf16")
    server = peers.start_server(sources[0], "--config", settings)
    triton = started(installed.triton, models, pipeline.files)
    sides = {"ours": Side(server.addresses["grpc"], pipeline.call, server.process.pid)}
    if triton:
        sides["Triton"] = Side(triton.address, pipeline.theirs, triton.process.pid)
    try:
        print(f"# {name}", flush=True)
        found = measured(options, pipeline, sides)
    finally:
        if triton:
            triton.stop()
        server.stop()
    best = {side: max((each[side].rate, in_flight) for in_flight, each in found.items()) for side in sides}
    soonest = {side: min(each[side].seconds for each in found.values()) * 1e3 for side in sides}
    yield oip.row_beside_triton(f"{name}-rate", best, pipeline.best_goal)
    yield oip.row_beside_triton(f"{name}-rate-at-16", {side: (each.rate, 16) for side, each in found[16].items()}, pipeline.goal_at_16)
    yield Row(f"{name}-p50", soonest["ours"], soonest.get("Triton"), "ms", "Triton, each at its soonest", P50, higher_is_better=False)
    for in_flight, goal in ((16, pipeline.memory_goal), (100, 0)):
        mib = {side: each.bytes / 2**20 for side, each in found[in_flight].items()}
        yield Row(f"{name}-memory-at-{in_flight}", mib["ours"], mib.get("Triton"), "MiB", "Triton and its processes", goal, higher_is_better=False)
    yield Row(f"{name}-lines", lines_of_wf(sources), lines_of_models(models), "lines", "Triton, Python and pbtxt", 0, higher_is_better=False)


PARTS = {
    "decode": r"libjpeg|libpng|[Dd]ecode|Jpeg|Exif",
    "model": r"JIT|libdnnl|wf::(kernels|model)|gomp",
    "resize-normalise": r" task_\d|wf_n_resample|wf::nodes|Scratch|memmove|memcpy",
}
MOST_PERCENT = 3


def profile(options):
    """Where the time of a request of classify in f32 goes: its tasks in a loop, and beside them what a request takes whose picture is `tiny`, but whose body is as long."""
    [source] = classify_in_f32()
    hills, tiny = ((source.parent / "testdata" / name) for name in ("hills.jpg", "tiny.png"))
    whole = looped.seconds(source, hills, options.seconds)
    parts = {part: share * whole for part, share in looped.shares(source, hills, options.seconds, PARTS).items()}
    server = peers.start_server(source)
    body = tiny.read_bytes().ljust(hills.stat().st_size, b"\0")
    call = grpc_call.tensors(b"Pictures.Classify", of_bytes(b"picture", body))
    parts["reply"] = 1 / peers.h2load(server.addresses["grpc"], grpc_call.PATH, call, options.seconds, *oip.IN_FLIGHT[16], grpc_call.HEADERS)
    server.stop()
    total = sum(parts.values())
    for part, seconds in parts.items():
        goal = 0 if part in ("decode", "model") else 1
        yield Row(f"classify-share-{part}", 100 * seconds / total, MOST_PERCENT, "%", f"goal; {seconds * 1e6:.0f} us", goal, higher_is_better=False)


def pipelines(options):
    """examples beside the same pipelines of Python models in Triton: the eight of examples/README.md, a chain of three; --model NAME for one"""
    for name, make in PIPELINES.items():
        if name in (options.model or PIPELINES):
            yield from rows_of(name, options, make())
    if "classify" in (options.model or PIPELINES):
        if shutil.which("perf"):
            yield from profile(options)
        else:
            print("# where the time of classify goes: perf is missing", flush=True)
