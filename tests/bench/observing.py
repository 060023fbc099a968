"""What observing costs: a server as it is against the same one whose runtime counts, times and tells nothing, and against itself while traces are kept."""
import http.server
import json
import os
import re
import shlex
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

import harness
import peers

# What is left out: in each file every match of the pattern, which is to be there.
LEFT_OUT = {
    "runtime/observe/metrics.h": [(r"(void (?:Add|Subtract|Set)\(uint64_t n(?: = 1)?\) noexcept) \{[^}]*\}", r"\1 { (void)n; }"),
                                  (r"(void Add\(int64_t ns\) noexcept) \{[^}]*\}", r"\1 { (void)ns; }")],
    "runtime/sched/stats.h": [(r"(void Add\(uint64_t n = 1\) noexcept) \{[^}]*\}", r"\1 { (void)n; }"),
                              (r"(void Add\(int64_t ns\) noexcept) \{[^}]*\}", r"\1 { (void)ns; }"),
                              (r"(void Place\(Placement where, int64_t estimate\) noexcept) \{[^}]*\}", r"\1 { (void)where, (void)estimate; }")],
    "runtime/base/slices.h": [(r"return slices_on.load\(std::memory_order_relaxed\);", "return false;")],
    "runtime/sched/engine.cc": [(r"const bool timed = [^;]*;", "const bool timed = false;")],
    "runtime/server/workflow_answers.cc": [(r"(void WorkflowSite::Record\(.*?\) noexcept \{)", r"\1 return;")],
    "runtime/server/workflow_site.cc": [(r"exchange\.trace\.Take\(head, NextSpan\(\)\);", ";")],
}
FOLDERS = ("runtime/batch/", "runtime/sched/", "runtime/server/")  # whose files see the headers among them


def write_left_out(folder):
    for name, patterns in LEFT_OUT.items():
        text = (harness.ROOT / name).read_text()
        for pattern, instead in patterns:
            text, count = re.subn(pattern, instead, text)
            if count == 0:
                raise AssertionError(f"{name} has nothing like {pattern}: say here what is to be left out now")
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def compiled_sources():
    """(entry of compile_commands.json, source), for each source in FOLDERS; a file that CMake makes to compile several at once stands for these."""
    for entry in json.loads((harness.BUILD / "compile_commands.json").read_text()):
        file = Path(entry["file"])
        sources = re.findall(r'^#include "(.*)"$', file.read_text(), re.MULTILINE) if file.parent.name == "Unity" else [file]
        for source in map(Path, sources):
            if source.is_relative_to(harness.ROOT) and str(source.relative_to(harness.ROOT)).startswith(FOLDERS):
                yield entry, source


def compile_without(folder, entry, source, number):
    """The object of one source by its entry, of the texts in `folder` where these are others."""
    name = source.relative_to(harness.ROOT)
    words = shlex.split(entry["command"])
    made = folder / f"{number}.o"
    words[words.index("-o") + 1] = str(made)
    words[words.index("-c") + 1] = str(folder / name if str(name) in LEFT_OUT else source)
    for flag in ("-MF", "-MT"):
        if flag in words:
            del words[words.index(flag):words.index(flag) + 2]
    words = [word for word in words if word not in ("-MD", "-Werror")]
    subprocess.run([*words[:1 + words[0].endswith("ccache")], "-w", "-iquote", str(folder), *words[1 + words[0].endswith("ccache"):]], cwd=entry["directory"], check=True)
    return made


def runtime_without():
    """A folder as wfc's with the runtime: the archive begins with objects that observe nothing, so that the others of the same symbols stay out."""
    folder = harness.scratch() / "unobserved"
    write_left_out(folder)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(lambda numbered: compile_without(folder, *numbered[1], numbered[0]), enumerate(compiled_sources())))
    lib = folder / "lib"
    lib.mkdir()
    for file in (harness.BUILD / "lib").iterdir():
        if file.name != "libwf_runtime.a":
            (lib / file.name).symlink_to(file)
    # what a script of ar adds later stands before
    script = [f"create {lib}/libwf_runtime.a", f"addlib {harness.BUILD}/lib/libwf_runtime.a", *(f"addmod {each}" for each in objects), "save", "end"]
    subprocess.run(["ar", "-M"], input="\n".join(script) + "\n", text=True, check=True)
    return lib


def built_without(source, lib):
    binary = harness.scratch() / f"{source.stem}-unobserved"
    subprocess.run([harness.WFC, "build", source, "-o", binary], env={**os.environ, "WFC_RUNTIME_DIR": str(lib)}, check=True)
    return binary


class Sink:
    """A collector that takes everything and reads nothing."""
    def __init__(self):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["content-length"]))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def start(binary, *args):
    with peers.OnCores(peers.SERVER_CPU):
        server = harness.Server(binary, "--io-threads", "1", *args)
        server.wait_ready()
        return server


def cpu_per_request(servers, options, path, body):
    """Processor time of one request in us, by server: medians of interleaved rounds, each of which begins with another one."""
    times = {name: [] for name in servers}
    order = list(servers)
    for turn in range(options.rounds):
        for name in order[turn % len(order):] + order[:turn % len(order)]:
            server = servers[name]
            before = sum(peers.cpu_seconds(server.process.pid))
            served = peers.wrk_count(server.addresses["http"], path, body, options.seconds)
            times[name].append((sum(peers.cpu_seconds(server.process.pid)) - before) / served * 1e6)
    return {name: median(each) for name, each in times.items()}


def measure(options, source, lib, path, body):
    """Processor time of a request in us: as it is, with nothing observed (`lib`: runtime_without), and with traces of one in a hundred and of all."""
    with peers.OnCores(peers.LOAD_CPU):
        sink = Sink()
    without = built_without(source, lib)
    servers = {"default": start(harness.compiled(source)), "nothing": start(without),
               "traced": start(harness.compiled(source), "--trace-otlp", sink.url, "--trace-sample", "0.01"),
               "all": start(harness.compiled(source), "--trace-otlp", sink.url, "--trace-sample", "1")}
    try:
        for server in servers.values():
            peers.wrk(server.addresses["http"], path, body, 1)
        if servers["nothing"].metric_sum("wf_requests_total") != 0 or servers["default"].metric_sum("wf_requests_total") == 0:
            raise AssertionError("what was to observe nothing counts, or the other does not")
        found = cpu_per_request(servers, options, path, body)
        time.sleep(1.5)
        if servers["traced"].metric_sum("wf_spans_total") == 0:
            raise AssertionError("nothing was traced")
        return found
    finally:
        for server in servers.values():
            server.stop()
        sink.close()
