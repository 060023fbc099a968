#!/usr/bin/env python3
"""Long programs, each at two lengths: machine code is made in time and memory that grow as the program does."""
import resource
import subprocess
import unittest

import harness

PROGRAM = "fn f({parameter}) -> {result} {body}\n\nworkflow W({parameter}) -> (r: {result}) {{\n  return (r: f(x));\n}}\n\nservice S {{\n  workflow W;\n}}\n"


def function(parameter, result, body):
    return PROGRAM.format(parameter=parameter, result=result, body=body)


def lets(count, value):
    steps = "".join(f"  let a{n} = {value(n)};\n" for n in range(count))
    return "{\n" + steps + "  " + " + ".join(f"a{n}" for n in range(count)) + "\n}"


def chain(count):
    steps = "".join(f"  let a{n + 1}: f32[n] = [i] => a{n}[n - 1 - i] + a{n}[i];\n" for n in range(count))
    return "{\n  let a0 = x;\n" + steps + f"  a{count}\n}}"


def nested(count, value):
    functions = "".join(f"fn h{n}(x: f32[n]) -> f32[n] = {value(f'h{n - 1}')};\n" for n in range(1, count))
    return "fn h0(x: f32[n]) -> f32[n] = x * 2.0;\n" + functions + function("x: f32[n]", "f32[n]", f"= h{count - 1}(x);")


def arms(count, pattern, value):
    return "= match x { " + ", ".join(f"{pattern(n)} => {value(n)}" for n in range(count)) + f", _ => {value(count)} }};"


def workflows(count):
    return ("".join(f"workflow W{n}(x: i64) -> (r: i64) {{\n  return (r: x + {n});\n}}\n\n" for n in range(count)) +
            "service S {\n" + "".join(f"  workflow W{n};\n" for n in range(count)) + "}\n")


PROGRAMS = {
    # name: (the shorter length, program of a length)
    "names of classes": (500, lambda n: function("x: string", "i64", arms(n, lambda k: f'"k{k}"', str))),
    "numbers of classes": (500, lambda n: function("x: i64", "string", arms(n, lambda k: str(7 * k), lambda k: f'"k{k}"'))),
    "computed arms": (100, lambda n: function("x: string", "i64", arms(n, lambda k: f'"k{k}"', lambda k: f"{k} + len(x)"))),
    "choices": (150, lambda n: function("x: string", "i64", lets(n, lambda k: f'if x == "v{k}" {{ {k} }} else {{ {k} + len(x) }}'))),
    "sums": (25, lambda n: function("x: f32[n]", "f32", lets(n, lambda k: f"sum[k](x[k] * {k}.5)"))),
    "tensors": (15, lambda n: function("x: f32[n]", "f32[n]", chain(n))),
    "texts": (150, lambda n: function("x: i64", "list<string>", "= [" + ", ".join(f'"s{k} {{x}}"' for k in range(n)) + "];")),
    "items": (500, lambda n: function("x: i64", "list<i64>", "= [" + ", ".join(f"x * {k % 113 + 1} + {k}" for k in range(n)) + "];")),
    "checked items": (150, lambda n: function("x: list<i64>", "list<i64>", "= [" + ", ".join(f"x[{k}] * {k % 113 + 1} + {k}" for k in range(n)) + "];")),
    "workflows": (15, workflows),
    "mentions of a long text": (500, lambda n: f'const T = "{"t" * 1000 * n}";\nconst L: list<string> = [{", ".join(["T"] * n)}];\n' + function("x: i64", "string", "= L[x];")),
    "builds in builds": (3, lambda n: nested(n, lambda f: f"[k] => x[k] + {f}(x)[0]")),
    "builds in sums": (3, lambda n: nested(n, lambda f: f"[k] => x[k] + sum[j < 3]({f}(x)[j])")),
    "sums in sums": (2, lambda n: function("x: f32[n]", "f32", "= " + "".join(f"sum[k{k}](x[k{k}] * " + (f"x[n - 1 - k{k - 1}] * " if k else "") for k in range(n)) + "1.0" + ")" * n + ";")),
}
TIMES = 8  # the longer one is so much longer
MOST_TIMES = 3 * TIMES  # and takes at most so much longer; what grows as the square does takes 64 times
LEAST_SECONDS = 0.1  # what a program costs whatever its length
MOST_MIB = 500  # in release, where the dearest takes 160


def seconds_and_mib(path):
    status, _, err, seconds, mib = harness.measured(harness.WFC, "build", path, "-o", harness.scratch() / "out", "--stop-after=object")
    if status != 0:
        raise AssertionError(err)
    return seconds, mib


class Growth(unittest.TestCase):
    def test_time_grows_as_the_program_does(self):
        for name, (length, program) in PROGRAMS.items():
            with self.subTest(name):
                length = length if harness.BUILD.name == "release" else length // 3  # a sanitized compiler takes ten times as long
                took = []
                for times in (1, TIMES):
                    path = harness.scratch() / f"growth{times}.wf"
                    path.write_text(program(length * times))
                    seconds, mib = seconds_and_mib(path)
                    took.append(max(seconds, LEAST_SECONDS))
                    if harness.BUILD.name == "release":
                        self.assertLess(mib, MOST_MIB)
                print(f"{name}: {took[0]:.2f} s, {took[1]:.2f} s")
                self.assertLess(took[1], MOST_TIMES * took[0], f"{TIMES} times the program")

    def test_a_file_lies_in_memory_once_however_often_it_is_named(self):
        folder = harness.scratch()
        (folder / "big.bin").write_bytes(bytes(60_000_000))
        path = folder / "files.wf"
        files, lengths = ", ".join(['file("big.bin")'] * 40), " + ".join(['len(file("big.bin"))'] * 40)
        path.write_text(f"const FILES: list<bytes> = [{files}];\nconst LENGTH = {lengths};\n" + function("x: i64", "i64", "= x + LENGTH + len(FILES);"))
        status, _, err, _, mib = harness.measured(harness.WFC, "check", path)
        self.assertEqual(status, 0, err)
        self.assertLess(mib, 500)

    def test_passes_recurse_as_deep_as_chains_are_long_however_little_stack_a_thread_gets(self):
        def value(k):
            return (f"max(a{k}, {k}.5)", f"a{k} * 1.0001", f"if a{k} > {k}.0 {{ a{k} }} else {{ 0.0 - a{k} }}")[k % 3]

        steps = "".join(f"  let a{k + 1} = {value(k)};\n" for k in range(1000))
        chains = "".join(f"fn {name}(x: f32) -> i64 {{\n  let a0 = x;\n{steps}  i64(a1000) + {add}\n}}\n\n" for name, add in (("f", 1), ("g", 2)))
        nodes = "".join(f"  node {name}s: i64[n] = [i] => {name}(x[i]);\n" for name in "fg")  # two bodies: another thread makes code of one
        path = harness.scratch() / "deep.wf"
        path.write_text(f"{chains}workflow W(x: f32[n]) -> (f: i64[n], g: i64[n]) {{\n{nodes}  return (f: fs, g: gs);\n}}\n\nservice S {{\n  workflow W;\n}}\n")
        kib = 128 if harness.BUILD.name == "release" else 512
        done = subprocess.run([harness.WFC, "build", path, "-o", harness.scratch() / "deep"], capture_output=True, text=True, timeout=200,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (kib << 10, resource.getrlimit(resource.RLIMIT_STACK)[1])))
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
