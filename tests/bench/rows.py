"""The benchmarks: each is a function of the options that yields rows. Its first line of text is shown by --list."""
import json
import os
import subprocess
import time
from pathlib import Path
from statistics import median

import attacking
import batching
import counting
import engine
import grpc_call
import harness
import jsons
import looped
import lsp_wire
import observing
import oip
import onnx_file
import overloading
import peers
import pipelines
import programs
import std
import texts
import wire
from bench import Row
from programs import CLASSIFY, DIGITS, GREET, GREET_BODY, HELLO, seven, written
from wire import GREET_CALL, OF_NGINX, against_nginx

NUMPY = "numpy==2.3.5"


def digits(options):
    """the digits example served, against its compiled work looped in one process plus the framework's share"""
    server = peers.start_server(DIGITS)
    body = seven()
    rate, nginx, tasks = against_nginx(options, server, CLASSIFY, body, 64, "application/octet-stream",
                                       lambda: looped.seconds(DIGITS, DIGITS.parent / "testdata/seven.png", options.seconds))
    server.stop()
    yield Row("digits-tasks-looped", tasks * 1e6, 1e6 / rate, "us", "served, per request", 0, higher_is_better=False)
    yield Row("digits-served", rate, 1 / (tasks + 1 / (nginx * OF_NGINX)), "req/s", "1/(tasks + nginx/0.65)", 0.95)


def write_model_program(layers, weights):
    width = 256 if weights else 512  # a quarter of a megabyte, which stays in any core's own cache; or one for each layer, which throws all out
    folder = harness.scratch() / f"chain-{layers}-{weights or layers}"
    folder.mkdir(exist_ok=True)
    (folder / "chain.onnx").write_bytes(onnx_file.chain(width, layers, weights))
    source = folder / "chain.wf"
    source.write_text('package bench.chain;\nmodel Chain = onnx("chain.onnx");\n'
                      f"workflow Run(x: f32[{width}]) -> (total: f32) {{\n  node y = Chain(x);\n  node total = sum[i](y[i]);\n  return (total: total);\n}}\n"
                      "service Bench { workflow Run; }\n")
    (folder / "input.json").write_bytes(b'{"x":[' + b",".join(b"0.5" for _ in range(width)) + b"]}")
    return source


def model(options):
    """a model of about 1 ms behind the server, against the same model looped in one process; then one whose weights fill every cache"""
    yield from model_rows(options, "model-1ms-served", 0.97, weights=1)
    yield from model_rows(options, "model-1ms-streamed-served", 0)  # each run throws out of the caches what the server had there


def model_rows(options, name, goal, weights=None):
    """Beside the loop, and beside a bare server of two threads: what switching between them on one core costs, no server with a pool avoids."""
    def seconds_of(layers):
        source = write_model_program(layers, weights)
        return source, looped.seconds(source, source.parent / "input.json", 0.5)

    tries = {}
    layers = 8
    while len(tries) < 8 and layers not in tries:
        source, took = seconds_of(layers)
        tries[layers] = abs(took - 0.0012), source
        layers = max(1, round(layers * 0.0012 / took))
    _, source = min(tries.values())  # the nearest to a millisecond, a little above
    server = peers.start_server(source)
    body = (source.parent / "input.json").read_bytes()
    bare = looped.Served(source, source.parent / "input.json")
    served, alone, behind = [], [], []
    for _ in range(options.rounds):
        served.append(peers.wrk(server.addresses["http"], "/Bench/Run", body, options.seconds, 4))
        alone.append(1 / looped.seconds(source, source.parent / "input.json", options.seconds))
        behind.append(peers.wrk(bare.address, "/Bench/Run", body, options.seconds, 4))
    server.stop()
    bare.stop()
    yield Row(name, median(served), median(alone), "req/s", "same model looped", goal)
    yield Row(name, median(served), median(behind), "req/s", "epoll and one worker", goal)


def seconds_to_ready(source):
    binary = harness.compiled(source)
    started = time.perf_counter()
    process = subprocess.Popen([binary, "--http-port", "0", "--grpc-port", "0", "--admin-port", "0", "--host", "127.0.0.1", "--model-root", source.parent],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    line = process.stdout.readline()
    took = time.perf_counter() - started
    process.terminate()
    process.wait()
    if not line.startswith(b"listening"):
        raise AssertionError(f"the server did not start: {line!r}")
    return took


def start(options):
    """from exec to ready"""
    for source in (HELLO, DIGITS):
        harness.compiled(source)
        took = median(seconds_to_ready(source) for _ in range(options.rounds * 4 + 1))
        yield Row(f"exec-to-ready-{source.stem}", took * 1e3, 10, "ms", "goal", 1, higher_is_better=False)


def memory(options):
    """resident memory after load, over the size of the weights"""
    for source, path, body, kind in ((HELLO, GREET, GREET_BODY, "application/json"), (DIGITS, CLASSIFY, seven(), "application/octet-stream")):
        server = peers.start_server(source)
        peers.wrk(server.addresses["http"], path, body, options.seconds, content_type=kind)
        weights = sum(file.stat().st_size for file in source.parent.glob("models/*/1/*.onnx"))
        used = peers.resident_bytes(server.process.pid) - weights
        server.stop()
        yield Row(f"resident-{source.stem}", used / 2**20, 20, "MiB", "goal", 1, higher_is_better=False)


def kernels(options):
    """Eight kernels in .wf against C++ -O3 by hand and against numpy; ../kernels/README.md says what is fair."""
    folder = Path(__file__).parent / "kernels"
    plan, peer = harness.scratch() / "kernels.o", harness.scratch() / "peers.o"
    harness.wfc("build", folder / "kernels.wf", "--emit=obj", "-o", plan)
    subprocess.run(["g++", "-std=c++20", "-O3", "-march=native", "-I", harness.ROOT, "-c", folder / "peers.cc", "-o", peer], check=True)
    program = looped.linked("kernels", plan, peer, harness.BUILD / "lib/libwf_bench_kernels.a", harness.BUILD / "lib/libwf_bench_loop.a")
    python = harness.environment("bench-numpy", NUMPY)
    with peers.OnCores(peers.SERVER_CPU):
        process = subprocess.Popen([python, "-B", folder / "measure.py", program, harness.scratch(), str(options.rounds), str(options.seconds / 10)],
                                   stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        found = json.loads(line)
        least = 0 if found["name"] == "one-hot" else 3
        yield Row(found["name"], found["wf"] / 1e3, found["cpp"] / 1e3, "us", "C++ -O3", 0.9, higher_is_better=False)
        yield Row(found["name"], found["wf"] / 1e3, found["numpy"] / 1e3, "us", NUMPY, least, higher_is_better=False)
    if process.wait() != 0:
        raise AssertionError("measure.py failed")


def wfc_run(*args):
    """Processor time in seconds and MiB at most of one run of wfc: what else runs on the machine does not count."""
    status, _, err, seconds, mib = harness.measured(harness.WFC, *args)
    if status != 0:
        raise AssertionError(f"wfc {' '.join(map(str, args))} ended with {status}\n{err}")
    return seconds, mib


def seconds_of(*args):
    """From start to end of a run of wfc, whose threads share the work."""
    started = time.perf_counter()
    harness.wfc(*args)
    return time.perf_counter() - started


def wfc_times(options):
    """How long wfc takes, command by command."""
    def took(*args, rounds=options.rounds * 2 + 1):
        return median(wfc_run(*args)[0] for _ in range(rounds))
    for command in (["--version"], ["explain", "WF3001"]):
        yield Row(f"wfc-{command[0].strip('-')}", took(*command) * 1e3, 15, "ms of CPU", "goal", 1, higher_is_better=False)
    small, large = written("small.wf", programs.functions_and_workflows(200)), written("large.wf", programs.functions_and_workflows(10000))
    yield Row("wfc-check-digits", took("check", DIGITS) * 1e3, 30, "ms of CPU", "goal", 1, higher_is_better=False)
    yield Row("wfc-check-200-lines", took("check", small) * 1e3, 30, "ms of CPU", "goal", 1, higher_is_better=False)
    yield Row("wfc-check-10000-lines", took("check", large, rounds=options.rounds) * 1e3, 1000, "ms of CPU", "goal", 1, higher_is_better=False)
    yield Row("wfc-check-10000-lines-peak", wfc_run("check", large)[1], 200, "MiB", "goal", 1, higher_is_better=False)
    build = ("build", DIGITS, "-o", harness.scratch() / "timed")
    yield Row("wfc-build-digits", median(seconds_of(*build) for _ in range(options.rounds * 2 + 1)) * 1e3, 300, "ms", "goal", 1, higher_is_better=False)


def growth(options):
    """wfc build of 10, 100 and 1,000 nodes: a node of the last 900 may cost a quarter more than one of the first 90."""
    for shape in programs.SHAPES:
        counts = (10, 100, 1000)
        sources = [written(f"{shape.__name__}{count}.wf", shape(count)) for count in counts]
        rounds = [[wfc_run("build", source, "-o", harness.scratch() / "timed")[0] for source in sources] for _ in range(options.rounds)]
        ten, hundred, thousand = (median(column) for column in zip(*rounds))
        yield Row(f"wfc-build-1000-{shape.__name__}", thousand, 10, "s of CPU", "goal", 1, higher_is_better=False)
        yield Row(f"wfc-build-growth-{shape.__name__}", (thousand - hundred) / 900 * 1e3, (hundred - ten) / 90 * 1e3, "ms of CPU/node", "from 10 to 100", 0.8,
                  higher_is_better=False)


def lsp(options):
    """wfc lsp: from a keystroke to its diagnostics, and from a `.`, behind which the text parses no more, to the members that may follow"""
    for name, seconds in (("keystroke", lsp_wire.keystroke_seconds), ("completion", lsp_wire.completion_seconds)):
        took = median(seconds(2000, options.rounds * 4 + 1)[0])
        yield Row(f"lsp-{name}-2000-lines", took * 1e3, 50, "ms", "goal", 1, higher_is_better=False)


def cpu(options):
    """processor time per request, user and system apart, against nginx; then the server's own over HTTP/2 and gRPC"""
    server = peers.start_server(HELLO)
    nginx = peers.Nginx.like(server, GREET, GREET_BODY)
    times = {"ours": [], "nginx": []}
    for _ in range(options.rounds):
        for name, address, pid in (("ours", server.addresses["http"], server.process.pid), ("nginx", nginx.address, nginx.process.pid)):
            before = peers.cpu_seconds(pid)
            served = peers.wrk_count(address, GREET, GREET_BODY, options.seconds)
            times[name].append([(after - b) / served * 1e6 for after, b in zip(peers.cpu_seconds(pid), before)])
    server.stop()
    nginx.stop()
    (user, system), (nginx_user, nginx_system) = ([median(t[i] for t in times[name]) for i in (0, 1)] for name in ("ours", "nginx"))
    yield Row("cpu-user-per-request", user, 2, "us", "goal", 1, higher_is_better=False)
    yield Row("cpu-system-per-request", system, nginx_system, "us", "nginx return 200", 0, higher_is_better=False)
    yield Row("cpu-total-per-request", user + system, nginx_user + nginx_system, "us", "nginx return 200", 1 / 1.2, higher_is_better=False)
    server = peers.start_server(HELLO)
    for name, path, body, headers in (("http2-request", GREET, GREET_BODY, peers.JSON), ("grpc-call", grpc_call.PATH, GREET_CALL, grpc_call.HEADERS)):
        count, taken = int(100_000 * options.seconds), []
        for _ in range(options.rounds):
            before = peers.cpu_seconds(server.process.pid)[0]
            peers.h2load_count(server.addresses["http"], path, body, count, 10, 10, headers)
            taken.append((peers.cpu_seconds(server.process.pid)[0] - before) / count * 1e6)
        yield Row(f"cpu-user-per-{name}", median(taken), 3, "us", "goal", 1, higher_is_better=False)
    server.stop()


def observed(options):
    """what counting, timing and tracing cost: processor time of a request against a runtime that does none of it"""
    lib = observing.runtime_without()
    vector = b'{"x":[' + b",".join([b"0.5"] * 64) + b"]}"
    for name, source, path, body in (("hello", HELLO, GREET, GREET_BODY), ("chain-10", written("chain10.wf", programs.chain(10)), "/Bench/Nodes", vector)):
        found = observing.measure(options, source, lib, path, body)
        yield Row(f"observed-{name}", found["default"], found["nothing"], "us", "nothing observed", 0.97, higher_is_better=False)
        yield Row(f"traced-1%-{name}", found["traced"], found["default"], "us", "nothing traced", 0.97, higher_is_better=False)
        yield Row(f"traced-all-{name}", found["all"], found["default"], "us", "nothing traced", 0, higher_is_better=False)


def overload(options):
    """three times what a server can do of a workflow of 1 ms, for twenty times --seconds"""
    goodput, peak, refused, more_mib, recovered = overloading.measure(int(20 * options.seconds))
    yield Row("overload-goodput", goodput, peak, "req/s", "its own peak", 0.9)
    yield Row("overload-refusal-p99", refused * 1e3, 5, "ms", "goal", 1, higher_is_better=False)
    yield Row("overload-memory", max(more_mib, 0), 64, "MiB", "goal", 1, higher_is_better=False)
    yield Row("overload-recovery", recovered, 1, "s", "goal", 1, higher_is_better=False)


BENCHMARKS = {run.__name__: run for run in (
    wire.http, wire.http2, wire.grpc, oip.oip, oip.chain, pipelines.pipelines, wire.loops, wire.tail, batching.batching, counting.allocations, cpu, overload, attacking.attacks,
    digits, model, start, memory, observed, engine.engine, kernels, std.images, std.audio,
    std.std_tensor, std.std_nn, std.std_lists, std.std_feature, std.std_time, texts.std_text, jsons.std_json, wfc_times, growth, lsp)}
GROUPS = {
    "runtime": ("http", "http2", "grpc", "oip", "chain", "loops", "tail", "batching", "allocations", "cpu", "observed", "overload", "attacks"),
    "compiler": ("kernels", "wfc_times", "growth", "lsp"),
    "std": ("images", "audio", "std_tensor", "std_nn", "std_lists", "std_feature", "std_time", "std_text", "std_json"),
}
