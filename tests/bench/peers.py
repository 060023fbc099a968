"""The peers and the tools of the benchmarks: nginx with one worker, wrk, h2load, and what the kernel counts for a process."""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from statistics import median

import harness

# The server's core and the load tool's. On one core both share it, and the figures say so by being low.
_CPUS = sorted(os.sched_getaffinity(0))
SERVER_CPU, LOAD_CPU = _CPUS[0], _CPUS[-1]
LOOPS = _CPUS[:2]           # of a server with two loops,
REST = _CPUS[2:] or _CPUS   # and of what loads it: on two cores the same
# A load tool on a core of the server goes first: else its share of the core is measured, not the server. Root alone may say so.
FIRST = ("nice", "-n", "-10") if os.geteuid() == 0 else ()
TICKS = os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def pin(process, cpu):
    """All threads of a running process, and those that it starts later."""
    for task in Path(f"/proc/{process}/task").iterdir():
        os.sched_setaffinity(int(task.name), {cpu})


class OnCores:
    """Starts processes that see these cores only, so that they size their threads for them."""
    def __init__(self, *cpus):
        self.cpus = cpus

    def __enter__(self):
        self.before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, self.cpus)

    def __exit__(self, *_):
        os.sched_setaffinity(0, self.before)


def start_server(source, *args, loops=1):
    """A compiled example with one loop thread, on the server's core; with several, on as many."""
    harness.compiled(source)
    with OnCores(*([SERVER_CPU] if loops == 1 else LOOPS)):
        return harness.Server.of(source, "--io-threads", str(loops), *args)


class Nginx:
    """`return 200` with a constant body, one worker, no log. protocol: "" or "http2", by prior knowledge."""
    def __init__(self, body, content_type="application/json", protocol=""):
        self.port = free_port()
        folder = harness.scratch() / f"nginx-{self.port}"
        folder.mkdir()
        text = json.dumps(body)[1:-1].replace("'", "\\'").replace("$", "")
        (folder / "nginx.conf").write_text(f"""
worker_processes 1; daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log crit;
events {{ worker_connections 1024; }}
http {{
  access_log off; keepalive_requests 1000000000; http2_max_concurrent_streams 1000; default_type {content_type}; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi; client_max_body_size 64m;
  server {{ listen 127.0.0.1:{self.port} {protocol}; location / {{ return 200 '{text}'; }} }}
}}
""")
        with OnCores(SERVER_CPU):
            self.process = subprocess.Popen(["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.address = ("127.0.0.1", self.port)
        if not harness.accepts(self.address, self.process):
            self.stop()
            raise AssertionError(f"nginx did not start: {self.process.stderr.read()!r}")

    @classmethod
    def like(cls, server, path, body, content_type="application/json", **more):
        """One that answers the bytes that our server answers."""
        reply = server.call("POST", path, body, {"content-type": content_type})
        if reply.status != 200:
            raise AssertionError(f"{path}: {reply}")
        return cls(reply.body.decode(), **more)

    def stop(self):
        self.process.terminate()
        self.process.wait()


def run_wrk(address, path, body, seconds, connections=32, content_type="application/json", cpus=(LOAD_CPU,)):
    """What wrk tells, when all is answered with 200."""
    script = harness.scratch() / "post.lua"
    data = "".join(f"\\{byte:03d}" for byte in body)
    script.write_text(f'wrk.method = "POST"\nwrk.body = "{data}"\nwrk.headers["content-type"] = "{content_type}"\n')
    with OnCores(*cpus):
        done = subprocess.run([*(FIRST if SERVER_CPU in cpus else ()), "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", str(script), f"http://{address[0]}:{address[1]}{path}"],
                              capture_output=True, text=True, check=True)
    if "Non-2xx" in done.stdout or "Socket errors" in done.stdout:
        raise AssertionError(f"wrk saw failures on {path}:\n{done.stdout}")
    return done.stdout


def wrk(*args, **more):
    """Requests a second."""
    return float(re.search(r"Requests/sec:\s+([\d.]+)", run_wrk(*args, **more)).group(1))


def wrk_count(*args, **more):
    """Requests that were answered: wrk takes up to a tenth of a second more than it was asked to."""
    return int(re.search(r"(\d+) requests in", run_wrk(*args, **more)).group(1))


def at_rate(address, path, body, rate, seconds):
    """What `wfc bench` tells of so many requests a second, whose times begin when they are due."""
    url = f"http://{address[0]}:{address[1]}{path}"
    with OnCores(LOAD_CPU):
        return json.loads(harness.wfc("bench", "--format=json", "--warm-up", "1", "--duration", str(seconds), "--rate", str(rate), "--data", body.decode(), url).stdout)


def http_answer(address, path, body):
    """The body of the answer to plain JSON."""
    command = ["curl", "-sS", "--fail", "--data-binary", "@-", "-H", JSON[0]]
    return subprocess.run([*command, f"http://{address[0]}:{address[1]}{path}"], input=body, capture_output=True, check=True).stdout


JSON = ("content-type: application/json",)


def run_h2load(address, path, body, headers, *options):
    """What h2load tells, when all is answered with 200."""
    data = harness.scratch() / "h2load-body"
    data.write_bytes(body)
    fields = [word for header in headers for word in ("-H", header)]
    with OnCores(LOAD_CPU):
        done = subprocess.run(["h2load", "-t1", *options, "-d", str(data), *fields, f"http://{address[0]}:{address[1]}{path}"],
                              capture_output=True, text=True, check=True)
    counts = re.search(r"status codes: (\d+) 2xx, 0 3xx, 0 4xx, 0 5xx", done.stdout)
    if counts is None or " 0 failed, 0 errored, 0 timeout" not in done.stdout:
        raise AssertionError(f"h2load saw failures on {path}:\n{done.stdout}")
    return done.stdout


def h2load(address, path, body, seconds, connections, streams, headers=JSON, warm_up=1):
    """Requests a second over HTTP/2."""
    told = run_h2load(address, path, body, headers, f"-c{connections}", f"-m{streams}", f"-D{seconds}", f"--warm-up-time={warm_up}s")
    return float(re.search(r"^finished in .*?, ([\d.]+) req/s", told, re.M).group(1))


def h2load_times(address, path, body, seconds, connections, streams, headers=JSON, answer_bytes=None):
    """Requests a second and the median of their times in seconds. h2load looks at no `grpc-status`: with answer_bytes, answers must be about as long."""
    log = harness.scratch() / "h2load-log"
    log.unlink(missing_ok=True)
    told = run_h2load(address, path, body, headers, f"-c{connections}", f"-m{streams}", f"-D{seconds}", "--warm-up-time=0s", f"--log-file={log}")
    times = [int(line.split("\t")[2]) for line in log.read_text().splitlines()]
    if not times:
        raise AssertionError(f"nothing of {path} was answered by {address}:\n{told}")
    received = int(re.search(r"\((\d+)\) data$", told, re.M).group(1))
    if answer_bytes and received < 0.95 * answer_bytes * len(times):
        raise AssertionError(f"{len(times)} answers of {path} have {received} bytes, not {answer_bytes} each")
    return len(times) / seconds, median(times) * 1e-6


def h2load_count(address, path, body, count, connections, streams, headers=JSON):
    """So many requests over HTTP/2."""
    run_h2load(address, path, body, headers, f"-c{connections}", f"-m{streams}", f"-n{count}")


def grpc_answer(address, path, body):
    """The message that a call is answered with, behind its prefix; h2load looks at no `grpc-status`."""
    command = ["curl", "-sS", "--http2-prior-knowledge", "--data-binary", "@-", "-H", "te: trailers", "-H", "content-type: application/grpc"]
    return subprocess.run([*command, f"http://{address[0]}:{address[1]}{path}"], input=body, capture_output=True, check=True).stdout


class GoogleGrpc:
    """Google's gRPC in C++ on the server's core, which answers the same calls; `way`: callback or queue."""
    def __init__(self, way):
        with OnCores(SERVER_CPU):
            self.process = subprocess.Popen([self.binary(), way], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.address = ("127.0.0.1", int(self.process.stdout.readline().split()[1]))

    @staticmethod
    def binary():
        folder = harness.scratch() / "google-grpc"
        if (folder / "server").exists():
            return folder / "server"
        folder.mkdir()
        protos, name = harness.ROOT / "runtime/protocol/oip", "open_inference_grpc"
        plugin = shutil.which("grpc_cpp_plugin")
        if plugin is None:
            raise AssertionError("grpc_cpp_plugin is missing; `scripts/setup --bench` installs it")
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "grpc++", "protobuf"], capture_output=True, text=True, check=True).stdout.split()
        subprocess.run(["protoc", "-I", protos, f"--cpp_out={folder}", f"--grpc_out={folder}", f"--plugin=protoc-gen-grpc={plugin}", f"{name}.proto"], check=True)
        subprocess.run(["g++", "-std=c++20", "-O2", "-o", folder / "made", "-I", folder, Path(__file__).parent / "grpc/server.cc",
                        folder / f"{name}.pb.cc", folder / f"{name}.grpc.pb.cc", *flags], check=True)
        return (folder / "made").rename(folder / "server")

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


def echo_seconds(size, count):
    """Processor time of a message of so many bytes there and back over a socket, with no protocol at all."""
    command = [sys.executable, "-B", Path(__file__).parent / "echo.py", str(size), str(count)]
    with OnCores(SERVER_CPU):
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    with OnCores(LOAD_CPU):
        subprocess.run([*command, server.stdout.readline().strip()], check=True)
    told = server.communicate()[0]
    if server.returncode != 0:
        raise AssertionError("the echo failed")
    return float(told) * 1e-6


def cpu_seconds(pid):
    """(user, system) of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) / TICKS, int(fields[12]) / TICKS


def resident_bytes(pid):
    return int(re.search(r"^VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.M).group(1)) * 1024


def proportional_bytes(pid):
    """Memory of a process and of those that it started, what they share counted once."""
    found = int(re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M).group(1)) * 1024
    children = [int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()]
    return found + sum(map(proportional_bytes, children))
