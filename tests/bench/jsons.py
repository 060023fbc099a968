"""Functions of std.json beside Python's `json` and `orjson`, each on one core."""
import json
import random
import subprocess
from statistics import median

import harness
import looped
import peers
from bench import Row
from programs import written

PACKAGES = {"json": "json", "orjson": "orjson==3.11.3"}
ROWS, NUMBERS = 1000, 20_000
MEASURE = """import sys, time, importlib
name, what, file, duration = sys.argv[1:]
package = importlib.import_module(name)
text = open(file).read()
value = package.loads(text)
call = (lambda: package.loads(text)) if what == "parse" else (lambda: package.dumps(value))
call()
calls, started = 0, time.perf_counter()
while calls < 3 or time.perf_counter() < started + float(duration):
    call()
    calls += 1
print((time.perf_counter() - started) / calls)
"""
# The row's name: the type, and what is counted so that the value is made.
TYPES = {"records": ("list<Record>", "len(made)"), "floats": ("f64[_]", "len(made)")}


def given():
    dice = random.Random(3)
    word = lambda: "".join(dice.choice("abcdefghij \u00e9\"") for _ in range(dice.randrange(4, 24)))
    return {"records": [{"id": dice.randrange(10**9), "name": word(), "score": dice.uniform(-9, 9), "tags": [word() for _ in range(3)], "open": dice.random() < 0.5} for _ in range(ROWS)],
            "floats": [dice.gauss(0, 100) for _ in range(NUMBERS)]}


def program(name, what):
    kind, counted = TYPES[name]
    head = "import std.json;\ntype Record {\n  id: i64;\n  name: string;\n  score: f64;\n  tags: list<string>;\n  open: bool;\n}\n"
    parameter, made = ("text: string", f"node made: {kind} = json.parse(text);") if what == "parse" else (f"value: {kind}", "node made = json.build(value);")
    return written(f"json-{what}-{name}.wf", f"{head}workflow Run({parameter}) -> (n: i64) {{\n  {made}\n  return (n: {counted});\n}}\nservice Bench {{\n  workflow Run;\n}}\n")


def std_json(options):
    """json.parse and json.build of 1,000 records and of 20,000 numbers, against Python's json and orjson"""
    python, folder = harness.environment("bench-json", *[package for package in PACKAGES.values() if "=" in package]), harness.scratch()
    for name, value in given().items():
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        (folder / f"{name}.json").write_text(text)
        (folder / f"parse-{name}.json").write_text(json.dumps({"text": text}, ensure_ascii=False))
        (folder / f"build-{name}.json").write_text(json.dumps({"value": value}, ensure_ascii=False))

    def peer(package, what, name):
        with peers.OnCores(peers.SERVER_CPU):
            done = subprocess.run([python, "-c", MEASURE, package, what, folder / f"{name}.json", str(options.seconds / 10)], check=True, capture_output=True, text=True)
        return float(done.stdout)

    for what in ("parse", "build"):
        for name in TYPES:
            source = program(name, what)
            rounds = [(looped.seconds(source, folder / f"{what}-{name}.json", options.seconds / 10), *(peer(package, what, name) for package in PACKAGES)) for _ in range(options.rounds)]
            ours, *theirs = (median(column) * 1e6 for column in zip(*rounds))
            for package, took in zip(PACKAGES, theirs):
                yield Row(f"json-{what}-{name}", ours, took, "us", package, 1, higher_is_better=False)
