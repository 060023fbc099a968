"""The compiled work of a program in a loop: one process, one thread, no server."""
import functools
import re
import subprocess

import harness
import peers

# What a program that is linked by hand needs of the system; archives of the compiler would bring LLVM.
SYSTEM_LIBRARIES = ["-lpng16", "-ljpeg", "-lwebp", "-lFLAC", "-lutf8proc", "-lre2", "-lprotobuf-lite", "-lfmt", "-lpthread", "-ldl"]
COMPILER_ARCHIVES = {"libwf_" + name for name in
                     ("source", "diag", "ast", "ir", "natives", "grammar", "parse", "sema", "passes", "lower", "codegen", "link", "lsp", "backend", "driver")}
# What a server has beyond the tasks' own work, with a `main` and job contexts of its own.
SERVER_ARCHIVES = {"libwf_" + name for name in
                   ("runtime", "server_main", "server", "settings", "bus", "sched", "batch", "net", "loop", "protocol_plain", "protocol_oip", "test_server")}
BENCH_ARCHIVES = {"libwf_bench_loop", "libwf_bench_kernels"}  # each has a `main`


def linked(name, *objects):
    """A program of objects and what they need of the runtime; its `main` is among them."""
    program = harness.scratch() / name
    archives = [path for path in sorted((harness.BUILD / "lib").glob("libwf_*.a")) if path.stem not in COMPILER_ARCHIVES | SERVER_ARCHIVES | BENCH_ARCHIVES]
    subprocess.run(["g++", "-o", program, *objects[:1], "-Wl,--gc-sections,--start-group", *objects[1:], *archives, "-Wl,--end-group", *SYSTEM_LIBRARIES],
                   check=True)
    return program


@functools.cache
def loop_of(source):
    plan = harness.scratch() / f"{source.stem}.o"
    harness.wfc("build", source, "--emit=obj", "-o", plan)
    return linked(f"{source.stem}-loop", plan, harness.BUILD / "lib/libwf_bench_loop.a")


def seconds(source, given, duration):
    """Time of one request's compiled tasks and model calls; `given`: a file with its input."""
    with peers.OnCores(peers.SERVER_CPU):
        done = subprocess.run([loop_of(source), given, str(duration), source.parent], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[0]) * 1e-9


class Served:
    """The same work behind the least server of two threads, both on the server's core."""
    def __init__(self, source, given):
        with peers.OnCores(peers.SERVER_CPU):
            self.process = subprocess.Popen([loop_of(source), given, "serve", source.parent], stdout=subprocess.PIPE, text=True)
        self.address = ("127.0.0.1", int(self.process.stdout.readline()))

    def stop(self):
        self.process.kill()
        self.process.wait()


def shares(source, given, duration, parts):
    """What part of that time goes where: `parts` are patterns of "LIBRARY SYMBOL" by name, of which the first that matches counts; what matches none is the `rest`."""
    file = harness.scratch() / "perf.data"
    with peers.OnCores(peers.SERVER_CPU):
        subprocess.run(["perf", "record", "-F", "3000", "-o", file, loop_of(source), given, str(duration), source.parent], capture_output=True, check=True)
    report = subprocess.run(["perf", "report", "-i", file, "--stdio", "--sort", "dso,symbol", "-t", "|"], capture_output=True, text=True, check=True).stdout
    found = dict.fromkeys((*parts, "rest"), 0.0)
    for line in report.splitlines():
        columns = [column.strip() for column in line.split("|")]
        if line.startswith("#") or not columns[0].endswith("%"):
            continue
        name = f"{columns[1]} {columns[2].partition(' ')[2]}"
        found[next((part for part, pattern in parts.items() if re.search(pattern, name)), "rest")] += float(columns[0][:-1]) / 100
    return found
