"""What batches bring of what they could, and whether a row waits no longer than it may."""
import harness
import looped
import onnx_file
import peers
from bench import Row, in_turns
from programs import written

MOST = 32  # rows of a batch
SEED = b'{"seed":3}'
# A sample made from a number, so that requests are small and the model is what takes the time.
WORKFLOW = """workflow {name}(seed: i64) -> (total: f32) {{
  let x = [{axes}] => f32({sum} + seed) / 512.0;
  node y = Deep(x: x){settings}
  node total = sum[{indices}](y[{indices}]);
  return (total: total);
}}
"""


def workflow(name, indices, settings=";"):
    """indices: each index with its extent."""
    names = list(indices)
    return WORKFLOW.format(name=name, axes=", ".join(f"{index} < {extent}" for index, extent in indices.items()), sum=" + ".join(names), settings=settings,
                           indices=", ".join(names))


def program(name, file, *workflows):
    (harness.scratch() / f"{name}.onnx").write_bytes(file)
    head = f'package bench.batching;\n\nmodel Deep = onnx("{name}.onnx");\n\n'
    names = "".join(f"  workflow {each.split('(')[0].split()[1]};\n" for each in workflows)
    return written(f"{name}.wf", head + "\n".join(workflows) + f"\nservice Bench {{\n{names}}}\n")


def served(source):
    """One thread computes, on one core with the loop."""
    return peers.start_server(source, "--compute-threads", "1")


def efficiency(options, name, made, indices, sizes):
    """(rows a second of a server whose clients keep its queue full, of the best size looped in process, that size). `made`: the file for so many rows."""
    seed = harness.scratch() / "seed.json"
    seed.write_bytes(SEED)
    several = lambda rows: indices if rows == 1 else {"row": rows, **indices}  # a first axis of 1 is that of batches
    looped_rows = {rows: program(f"{name}-{rows}", made(rows), workflow("Score", several(rows))) for rows in sizes}
    rate = lambda rows, seconds: rows / looped.seconds(looped_rows[rows], seed, seconds)
    best = max(sizes, key=lambda rows: rate(rows, options.seconds / 2))
    server = served(program(name, made("N"), workflow("Score", indices, f" {{ batch {MOST} within 2ms; }}")))
    try:
        ask = lambda: peers.wrk(server.addresses["http"], "/Bench/Score", SEED, options.seconds, 4 * MOST)
        ask()  # while sizes are made ready and measured
        found = in_turns(options.rounds, {"served": ask, "looped": lambda: rate(best, options.seconds)})
        return found["served"], found["looped"], best
    finally:
        server.stop()


WITHIN_MS, RATE = 5, 400  # two rows come while one waits


def delays(options):
    """p99.9 of answers in ms: with `within`, and what it may be, which is that plus one run plus the p99.9 of the same calls without it."""
    settings = (("Waits", f" {{ batch {MOST} within {WITHIN_MS}ms; }}"), ("Goes", f" {{ batch {MOST}; }}"))
    server = served(program("delays", onnx_file.perceptron(512, 2048), *(workflow(name, {"i": 512}, how) for name, how in settings)))
    try:
        def slowest(name):
            seen = peers.at_rate(server.addresses["http"], f"/Bench/{name}", SEED, RATE, 4 * options.seconds)
            if seen["statuses"] != {"200": seen["answered"]} or seen["lost"] + seen["timed_out"] + seen["not_sent"] > 0:
                raise AssertionError(f"not all is answered: {seen}")
            return seen["latency_seconds"]["p999"] * 1e3

        found = in_turns(options.rounds, {name: lambda name=name: slowest(name) for name, _ in settings})
        metrics = server.metrics()
        closed = {reason: value for key, value in metrics.items() for reason in ("full", "delay", "idle") if key.startswith("wf_batch_close_total") and f'"{reason}"' in key}
        if closed["delay"] <= closed["full"]:
            raise AssertionError(f"batches were not closed by their delay: {closed}")
        run = max(value for key, value in metrics.items() if key.startswith("wf_batch_run_seconds") and f'rows="{RATE * WITHIN_MS // 1000}"' in key)
        return found["Waits"], WITHIN_MS + run * 1e3 + found["Goes"]
    finally:
        server.stop()


def batching(options):
    """rows of a model in batches: a model that waits for its weights, one that gains nothing, and how long `within` lets a row wait"""
    ours, alone, best = efficiency(options, "weights", lambda rows: onnx_file.perceptron(1024, 8192, rows), {"i": 1024}, (8, 16, MOST))
    yield Row("batching-weight-bound", ours, alone, "rows/s", f"batches of {best} looped", 0.9)
    ours, alone, best = efficiency(options, "squares", lambda rows: onnx_file.square_layers(256, 12, rows), {"i": 256, "j": 256}, (1, 2, 4, 8, 16, MOST))
    yield Row("batching-does-not-pay", ours, alone, "rows/s", f"batches of {best} looped", 0.98)
    ours, most = delays(options)
    yield Row("batching-delay-p99.9", ours, most, "ms", f"{WITHIN_MS} ms + a run + without", 1, higher_is_better=False)
