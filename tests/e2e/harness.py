"""Compiles a .wf program, serves it on free ports and talks to it."""
import atexit
import fcntl
import functools
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("WF_BUILD", ROOT / "build/release")).resolve()
IS_SANITIZED = (BUILD / "build.ninja").exists() and "fsanitize=address" in (BUILD / "build.ninja").read_text()  # several times as slow
WFC = BUILD / "bin/wfc"
EXAMPLES = ROOT / "examples"
REQUIREMENTS = ROOT / "tests/e2e/requirements.txt"
EXTENSIONS = ["binary_tensor_data", "classification", "logging", "model_configuration", "model_repository", "parameters", "statistics", "trace"]  # of Triton's that a server has
START_SECONDS = 30  # a sanitized server on a busy machine

_scratch = None
_compiled = {}
_running = set()


def scratch():
    """A folder that lives as long as this program."""
    global _scratch
    if _scratch is None:
        _scratch = Path(tempfile.mkdtemp(prefix="wf-e2e-"))
        atexit.register(shutil.rmtree, _scratch, ignore_errors=True)
    return _scratch


@atexit.register
def _kill_all():
    for server in list(_running):
        server.kill()


def wfc(*args, check=True, timeout=120):
    done = subprocess.run([WFC, *map(str, args)], capture_output=True, text=True, timeout=timeout)
    if check and done.returncode != 0:
        raise AssertionError(f"wfc {' '.join(map(str, args))} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done


# A small process between: what is started counts its starter's memory as its own until it begins.
MEASURED = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True, text=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
json.dump([done.returncode, done.stdout, done.stderr, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024], sys.stdout)
"""


def measured(*command):
    """Exit status, stdout, stderr, seconds of the processor and, at most, MiB of a program."""
    done = subprocess.run([sys.executable, "-c", MEASURED, *map(str, command)], capture_output=True, text=True, check=True, timeout=200)
    return json.loads(done.stdout)


def environment(name, *packages):
    """The Python of a virtual environment with what `pip install` is told to, made once for all builds, whoever comes first."""
    folder = ROOT / "build" / name
    python, stamp = folder / "bin/python", folder / "installed"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text() != str(packages):
            subprocess.run([sys.executable, "-m", "venv", folder], check=True, timeout=300, capture_output=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages], check=True, timeout=1200, capture_output=True)
            stamp.write_text(str(packages))
    return python


def clients():
    """The Python that has the packages of requirements.txt."""
    return environment("clients", *REQUIREMENTS.read_text().splitlines()[1:])


def peers_of_examples():
    """The Python that makes the large files of examples and knows what their answers have to be."""
    return environment("examples", *(EXAMPLES / "requirements.txt").read_text().splitlines()[1:])


def in_environment(python_of=clients):
    """Starts this program again with that Python. Called before anything else."""
    python = python_of()
    if Path(sys.prefix) != python.parent.parent:
        os.execv(python, [python, "-B", *sys.argv])


def made(name):
    """The folder of an example whose large files, which are not committed, are made first."""
    folder = EXAMPLES / name
    subprocess.run([peers_of_examples(), "-B", folder / "make.py"], check=True, timeout=300)
    return folder


def compiled(source):
    """The server built from a .wf file; once per run."""
    source = Path(source)
    if source not in _compiled:
        binary = scratch() / f"{source.stem}-{len(_compiled)}"
        wfc("build", source, "-o", binary)
        _compiled[source] = binary
    return _compiled[source]


def accepts(address, process):
    """True once the process takes connections at the address; False where it has ended, or START_SECONDS are over."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(address, 1).close()
            return True
        except OSError:
            time.sleep(0.02)
    return False


class Reply:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        """The error object of a plain JSON reply."""
        return self.json["error"]

    def __repr__(self):
        return f"{self.status} {self.headers} {self.body[:400]!r}"


class Connection:
    """One HTTP/1.1 connection, to a port or the file of a Unix socket, written and read by hand so that tests can misbehave."""
    def __init__(self, address, timeout=30):
        if isinstance(address, str):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(timeout)
            self.socket.connect(address)
        else:
            self.socket = socket.create_connection(address, timeout)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""

    def send(self, data):
        self.socket.sendall(data)

    def _fill(self):
        data = self.socket.recv(65536)
        if not data:
            raise EOFError(f"closed by the server after {self.buffer[:200]!r}")
        self.buffer += data

    def _take(self, size):
        while len(self.buffer) < size:
            self._fill()
        taken, self.buffer = self.buffer[:size], self.buffer[size:]
        return taken

    def _line(self):
        while b"\r\n" not in self.buffer:
            self._fill()
        line, self.buffer = self.buffer.split(b"\r\n", 1)
        return line

    def receive(self, head=False):
        """The next reply; EOFError when the server closes instead. Interim 1xx replies are skipped."""
        while True:
            status = int(self._line().split()[1])
            headers = {}
            while line := self._line():
                name, value = line.decode("latin-1").split(":", 1)
                headers[name.strip().lower()] = value.strip()
            if status >= 200:
                break
        if head or status in (204, 304):
            return Reply(status, headers, b"")
        if headers.get("transfer-encoding", "").lower() == "chunked":
            body = b""
            while size := int(self._line().split(b";")[0], 16):
                body += self._take(size)
                self._take(2)
            self._line()
            return Reply(status, headers, body)
        return Reply(status, headers, self._take(int(headers.get("content-length", 0))))

    def call(self, method, path, body=b"", headers=None):
        self.send(request(method, path, body, headers))
        return self.receive(head=method == "HEAD")

    def closed_within(self, seconds):
        """True when the server ends the connection."""
        self.socket.settimeout(seconds)
        try:
            while self.socket.recv(65536):
                pass
            return True
        except ConnectionResetError:
            return True
        except TimeoutError:
            return False

    def reset(self):
        """Ends the connection with RST instead of FIN."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def request(method, path, body=b"", headers=None):
    lines = {"host": "test", **(headers or {})}
    if body or method in ("POST", "PUT"):
        lines.setdefault("content-length", str(len(body)))
    head = f"{method} {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value is not None)
    return head.encode("latin-1") + b"\r\n" + body


def lean():
    """What a server is started with whose memory is measured: how little a sanitizer is to keep of freed memory."""
    return {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=16"}


def patient():
    """Arguments of digits, whose own timeout for its model is short beside other work on the machine."""
    path = scratch() / "patient.yml"
    path.write_text("nodes: {Classify/logits: {timeout: 20s}}\n")
    return ("--config", path)


def flags_besides(args, **values):
    """Flags as `http_port="0"`, but for those that `args` have: one that is given twice is a mistake."""
    given = {str(arg).split("=")[0] for arg in args}
    return [word for name, value in values.items() if (flag := "--" + name.replace("_", "-")) not in given for word in (flag, str(value))]


class Server:
    """A started server. Ports are free ones unless `args` say otherwise."""
    tls = None  # a client's context, where the port of HTTP speaks TLS and `connect` is to

    def __init__(self, binary, *args, env=None, cwd=None):
        self.binary = Path(binary)
        own = flags_besides(args, http_port=0, grpc_port=0, admin_port=0, host="127.0.0.1")
        command = [str(binary), *own, *map(str, args)]
        self.stdout_path = scratch() / f"stdout-{os.urandom(4).hex()}"
        self.stderr_path = self.stdout_path.with_name(self.stdout_path.name.replace("stdout", "stderr"))
        with open(self.stdout_path, "wb") as out, open(self.stderr_path, "wb") as err:
            self.process = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL, cwd=cwd, env={**os.environ, **(env or {})})
        _running.add(self)

    @classmethod
    def of(cls, source, *args, **more):
        """Compiles and serves an example; models are found beside the source. Where its rows wait for others, they may share runs already."""
        source = Path(source)
        text = source.read_text()
        server = cls(compiled(source), *(flags_besides(args, model_root=source.parent) if "model " in text else []), *args, **more)
        server.wait_ready()
        if re.search(r"\bwithin \d", text):
            server.tried_rows()
        return server

    def wait_ready(self):
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            found = re.search(r"^listening (.*)$", self.stdout_path.read_text(), re.M)
            if found:
                self.addresses = {}
                for part in found.group(1).split():
                    name, address = part.split("=", 1)
                    host, _, port = address.rpartition(":")
                    if not host:
                        continue  # tls=on
                    self.addresses[name] = port if host == "unix" else (host.strip("[]"), int(port))
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.005)
        raise AssertionError(f"the server did not start (status {self.process.poll()})\n{self.output()}")

    def output(self):
        return self.stdout_path.read_text() + self.stderr_path.read_text(errors="replace")

    def logs(self, *words, seconds=10):
        """True once a line of stderr holds all the words; lines are written every second."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if any(all(word in line for word in words) for line in self.stderr_path.read_text(errors="replace").splitlines()):
                return True
            time.sleep(0.05)
        return False

    def connect(self, timeout=30, port="http"):
        connection = Connection(self.addresses[port], timeout)
        if self.tls is not None and port == "http":
            connection.socket = self.tls.wrap_socket(connection.socket, server_hostname="localhost")
        return connection

    def call(self, method, path, body=b"", headers=None, port="http"):
        with self.connect(port=port) as connection:
            return connection.call(method, path, body, headers)

    def post(self, path, value):
        """Plain JSON."""
        return self.call("POST", path, json.dumps(value).encode(), {"content-type": "application/json"})

    def metrics(self):
        """{'name{labels}': value} of /metrics."""
        text = self.call("GET", "/metrics", port="admin").body.decode()
        return {name: float(value) for name, value in re.findall(r"^([a-zA-Z_:][^ ]*) ([^ \n]+)$", text, re.M)}

    def metric_sum(self, name):
        """The sum of a metric over its labels."""
        return sum(value for key, value in self.metrics().items() if key == name or key.startswith(name + "{"))

    def settled(self, name, value=0, seconds=20):
        """The sum of a metric, read until it is `value` or the time is over: counters move while a test looks."""
        until = time.monotonic() + seconds
        while (now := self.metric_sum(name)) != value and time.monotonic() < until:
            time.sleep(0.02)
        return now

    def tried_rows(self, seconds=60):
        """Once the server knows of each model whether rows may share a run, and has made all sizes of runs ready; until then none, or fewer, do."""
        until = time.monotonic() + seconds
        while any(batcher["rows_are"] == "unknown" or batcher["unready_sizes"] > 0
                  for batcher in self.call("GET", "/debug/schedule?format=json", port="admin").json["batchers"]):
            if time.monotonic() > until:
                raise AssertionError("whether rows may share a run is still unknown, or runs of some sizes are not ready")
            time.sleep(0.01)

    def reload(self, result):
        """SIGHUP; returns once the server has counted how the reload went."""
        name = f'wf_config_reloads_total{{result="{result}"}}'
        before = self.metrics()[name]
        self.process.send_signal(signal.SIGHUP)
        until = time.monotonic() + 20
        while self.metrics()[name] == before:
            if time.monotonic() > until:
                raise AssertionError(self.output())
            time.sleep(0.01)

    def stop(self, seconds=30):
        """SIGTERM; the exit status. That of a sanitized server which has drained, and whose leak check then died itself, is 0: its tracer does not always
        get along with the threads of the OpenMP runtime that oneDNN brings."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the server did not stop within {seconds} s\n{self.output()}") from None
        _running.discard(self)
        tracer_died = "LeakSanitizer has encountered a fatal error" in self.output() and '"message":"draining"' in self.output()
        return 0 if tracer_died else status

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        _running.discard(self)


def timed(test):
    """Of a test, or a part of one, whose bounds are times: what else the machine does may break one try, not three in turn. Each that fails is told."""
    @functools.wraps(test)
    def tried(self, *args):
        for _ in range(2):
            try:
                return test(self, *args)
            except AssertionError as error:
                print(f"{self.id()}: once more, for {error}", flush=True)
                time.sleep(2)  # until some of it is over
        return test(self, *args)

    return tried


class ServerCase(unittest.TestCase):
    """Tests against one server of `source`, or, without it, servers of their own; the class fails when the server does not stop cleanly (a sanitizer's report is a failure)."""
    source = None
    args = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Server.of(cls.source, *cls.args) if cls.source else None

    @classmethod
    def tearDownClass(cls):
        status = cls.server.stop() if cls.server else 0
        if status != 0:
            raise AssertionError(f"the server ended with status {status}\n{cls.server.output()}")

    def assert_error(self, reply, status, code, *words):
        """A plain JSON error with this status and code, whose message holds the words; ids and path are there."""
        self.assertEqual(reply.status, status, reply)
        self.assertEqual(reply.error["code"], code, reply)
        for word in words:
            self.assertIn(word, reply.error["message"])
        for member in ("name", "path", "data_id", "log_id"):
            self.assertIn(member, reply.error)

    def assert_serves(self):
        """The server still does its work."""
        raise NotImplementedError


SKIPPED = 77  # for ctest (CMakeLists.txt)


def main():
    if not WFC.exists():
        sys.exit(f"{WFC} is missing: build it, or set WF_BUILD")
    result = unittest.main(exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    if result.testsRun > 0 and len(result.skipped) == result.testsRun:
        sys.exit(SKIPPED)
