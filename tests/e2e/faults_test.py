#!/usr/bin/env python3
"""Calls of the system that fail, one in some or for good, and limits that are met: a server serves or refuses, recovers, and neither dies nor hangs."""
import errno
import harness

harness.in_environment()

import json
import mmap
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest

import http2_client
from enduring import EnduringCase, status_of, told
from tritonclient.grpc import service_pb2 as oip

HELLO = harness.EXAMPLES / "hello/hello.wf"
DIGITS = harness.EXAMPLES / "digits/digits.wf"
SEVEN = (DIGITS.parent / "testdata/seven.png").read_bytes()
CLASSES = ("memory", "map", "receive", "send", "accept", "thread", "open", "file", "clock")  # as in faults/control.h
FIELDS = ("every", "first", "times", "error", "calls", "failed")
NO_MEMORY_FAULTS = "a sanitizer has its own malloc, which ends the process where it finds no memory, and stands between who maps memory and the test"
ANSWER_SECONDS = 20  # longer is a hang
NEVER = 1 << 62


def message(model, parameter, value):
    """A call of the Open Inference Protocol over gRPC, with one BYTES element."""
    tensor = oip.ModelInferRequest.InferInputTensor(name=parameter, datatype="BYTES", shape=[])
    body = oip.ModelInferRequest(model_name=model, inputs=[tensor], raw_input_contents=[struct.pack("<I", len(value)) + value]).SerializeToString()
    return struct.pack(">BI", 0, len(body)) + body


class Faults:
    """The file that the libraries of faults/ read."""
    def __init__(self):
        self.path = harness.scratch() / f"faults-{os.urandom(4).hex()}"
        self.path.write_bytes(bytes(8 * len(FIELDS) * len(CLASSES)))
        with open(self.path, "r+b") as file:
            self.page = mmap.mmap(file.fileno(), 0)
        libraries = [harness.BUILD / f"lib/wf_fault_{name}.so" for name in (["calls"] if harness.IS_SANITIZED else ["memory", "calls"])]
        self.env = {"LD_PRELOAD": " ".join(map(str, libraries)), "FAULTS_FILE": str(self.path),
                    "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}

    def arm(self, name, **fields):
        values = struct.pack(f"<{len(FIELDS)}q", *(fields.get(field, 0) for field in FIELDS))
        at = CLASSES.index(name) * len(values)
        self.page[at:at + len(values)] = values

    def read(self, name, field):
        return struct.unpack_from("<Q", self.page, 8 * (CLASSES.index(name) * len(FIELDS) + FIELDS.index(field)))[0]

    def end(self, name):
        """Nothing fails any more; how often something did."""
        failed = self.read(name, "failed")
        self.arm(name)
        return failed


class Client:
    """Whether the server answered well (True), refused in words (False), or ended the connection (None), call by call."""
    def __init__(self, server):
        self.server, self.connection = server, None

    def ask(self):
        try:
            self.connection = self.connection or self.connect()
            return self.answered()
        except (EOFError, ConnectionError):
            self.close()
            return None

    def close(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None

    def looked_at(self, reply):
        if reply.status == 200:
            if reply.json != self.server.answer:
                raise AssertionError(f"a wrong answer: {reply}")
            return True
        if reply.error["code"] < 1000 or reply.status not in (408, 413, 429, 500, 503, 504):
            raise AssertionError(f"an error without a name: {reply}")
        return False


class Http1(Client):
    def connect(self):
        return self.server.connect(ANSWER_SECONDS)

    def answered(self):
        return self.looked_at(self.connection.call(*self.server.calls["plain"]))


class Http2(Client):
    def connect(self):
        connection = http2_client.Client(self.server)
        connection.socket.settimeout(ANSWER_SECONDS)
        return connection

    def answered(self):
        method, path, body, headers = self.server.calls["plain"]
        return self.looked_at(self.connection.reply(self.connection.begin(path, body, method, list(headers.items()))))


class Grpc(Http2):
    def answered(self):
        head = [("content-type", "application/grpc"), ("te", "trailers")]
        reply = self.connection.reply(self.connection.begin("/inference.GRPCInferenceService/ModelInfer", self.server.calls["grpc"], headers=head))
        if reply.status == 429:  # there was no memory for the headers, so nobody knew of gRPC, whose clients take it for UNAVAILABLE
            return False
        status = int(reply.headers["grpc-status"])
        if status == 0 and self.server.answer_of_grpc not in reply.body:
            raise AssertionError(f"a wrong answer: {reply}")
        return status == 0


ALL = (Http1, Http1, Http2, Grpc)


class Load:
    """Clients, each in a thread, until `stop`; their outcomes, and what went wrong."""
    def __init__(self, server, clients=ALL):
        self.outcomes, self.wrong, self.over = [], [], threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(client(server),)) for client in clients]
        for thread in self.threads:
            thread.start()

    def run(self, client):
        try:
            while not self.over.is_set():
                self.outcomes.append(client.ask())
        except Exception as problem:  # told by the test
            self.wrong.append((type(client).__name__, problem))
        client.close()

    def stop(self):
        self.over.set()
        for thread in self.threads:
            thread.join(2 * ANSWER_SECONDS)
        return self.outcomes


class FaultCase(EnduringCase):
    def serve(self, source, *args):
        self.faults = Faults()
        server = harness.Server.of(source, "--log-access=true", *(harness.patient() if source == DIGITS else ()), *args, env=self.faults.env)
        self.addCleanup(server.kill)
        if source == HELLO:
            server.calls = {"plain": ("POST", "/Hello/Greet", b'{"name":"Ada"}', {"content-type": "application/json"}),
                            "grpc": message("Hello.Greet", "name", b"Ada")}
            server.answer, server.answer_of_grpc = {"text": "hello, Ada"}, b"hello, Ada"
        else:
            server.calls = {"plain": ("POST", "/DigitService/Classify?top=1", SEVEN, {"content-type": "application/octet-stream"}),
                            "grpc": message("DigitService", "picture", SEVEN)}
            server.answer_of_grpc = b"7"
            server.answer = server.call(*server.calls["plain"]).json
            self.assertEqual(server.answer["labels"], ["7"])
        return server

    def assert_recovers(self, server):
        """Within a few seconds everything is answered again: the reserve of memory is looked at once a second."""
        clients = [client(server) for client in ALL]
        until = time.monotonic() + 5
        while not all([client.ask() for client in clients]):
            self.assertIsNone(server.process.poll(), told(server))
            self.assertLess(time.monotonic(), until, told(server))
            time.sleep(0.05)
        for client in clients * 3:
            self.assertTrue(client.ask())
        for client in clients:
            client.close()


# class of calls, what it says, 1 in so many
WHILE_IT_SERVES = [
    ("map", errno.ENOMEM, 2), ("receive", errno.ECONNRESET, 5), ("receive", errno.EINTR, 3), ("receive", errno.EAGAIN, 3), ("receive", errno.ENOMEM, 5),
    ("send", errno.EPIPE, 5), ("send", errno.EINTR, 3), ("send", errno.EAGAIN, 3), ("send", errno.ENOBUFS, 3), ("accept", errno.EMFILE, 2), ("accept", errno.ECONNABORTED, 2),
    ("accept", errno.ENOMEM, 2), ("accept", errno.EINTR, 2), ("open", errno.EMFILE, 1), ("thread", errno.EAGAIN, 1), ("file", errno.ENOSPC, 1), ("file", errno.EIO, 2)]
MEMORY = [("memory", errno.ENOMEM, every) for every in (2, 5, 20)] * 3  # what corrupts memory is seen by chance
MEMORY_SELDOM = [("memory", every) for every in (5, 20)]


class WhileItServes(FaultCase):
    def run_all(self, source, faults):
        server = self.serve(source)
        if harness.IS_SANITIZED:
            print(f"faults of memory are left out: {NO_MEMORY_FAULTS}")
            faults = [fault for fault in faults if fault[0] != "map"]
        else:
            faults = faults + MEMORY
        for name, error, every in faults:
            with self.subTest(name, error=errno.errorcode[error], every=every):
                self.faults.arm(name, every=every, error=error)
                load = Load(server)
                time.sleep(0.2 if name != "file" else 1.3)  # the log is written every second
                fresh = Load(server, (Http1, Http2))  # connections that begin in the midst of it
                time.sleep(0.1)
                fresh.stop()
                outcomes = load.stop() + fresh.outcomes
                failed = self.faults.end(name)
                self.assertEqual(load.wrong + fresh.wrong, [], told(server))
                self.assertIsNone(server.process.poll(), told(server))
                self.assertGreater(len(outcomes), 0)
                # A server at work has no need of some, and of memory seldom.
                if name not in ("thread", "open", "map") and (name, every) not in MEMORY_SELDOM:
                    self.assertGreater(failed, 0)
                self.assert_recovers(server)
        self.assert_ends_well(server)

    def test_of_functions(self):
        self.run_all(HELLO, WHILE_IT_SERVES)

    def test_of_a_model_and_pictures(self):
        self.run_all(DIGITS, [("map", errno.ENOMEM, 2), ("receive", errno.ECONNRESET, 5)])

    def test_no_thread_needs_memory_to_remember_what_ends_with_it(self):
        """The C library ends the process where it finds none: what a thread destroys is a base::PerThread."""
        for source in (HELLO, DIGITS):
            called = subprocess.run(["nm", "-D", "--undefined-only", harness.compiled(source)], check=True, capture_output=True, text=True).stdout
            self.assertIn("pthread_setspecific", called)
            self.assertNotIn("__cxa_thread_atexit", called)

    @unittest.skipIf(harness.IS_SANITIZED, NO_MEMORY_FAULTS)
    def test_onednn_has_its_memory_from_the_server(self):
        defined = subprocess.run(["nm", "-D", "--defined-only", harness.compiled(DIGITS)], check=True, capture_output=True, text=True).stdout
        self.assertRegex(defined, r"(?m) T posix_memalign$")
        self.assertRegex(defined, r"(?m) T mmap$")


class WhileItStarts(FaultCase):
    """Each call of the start, or a part of them where there are many, fails once, or fails with all that follow."""
    SAMPLES = 4

    def start(self, source, name, **fields):
        faults = Faults()
        faults.arm(name, **fields)
        server = harness.Server(harness.compiled(source), "--model-root", source.parent, env=faults.env)
        self.addCleanup(server.kill)
        return faults, server

    def run_class(self, source, name, error):
        faults, server = self.start(source, name, first=NEVER)
        server.wait_ready()
        calls = faults.read(name, "calls")
        self.assert_ends_well(server)
        self.assertGreater(calls, 0)
        chosen = sorted({1 + number * calls // self.SAMPLES for number in range(self.SAMPLES)} | {calls})
        for times in (1, 0):
            for first in chosen:
                with self.subTest(name, first=first, of=calls, times=times):
                    faults, server = self.start(source, name, first=first, times=times, error=error)
                    try:
                        server.wait_ready()
                    except AssertionError:
                        self.assertEqual(server.process.poll(), 1, server.output())
                        self.assertRegex(server.output(), r"(?m)^\S.*[a-z]")
                        harness._running.discard(server)
                        continue
                    faults.end(name)
                    self.assert_answers_again(server, "GET", "/readyz")
                    self.assert_ends_well(server)

    def test_it_ends_with_a_line_or_serves(self):
        for name, error in (("memory", errno.ENOMEM), ("map", errno.ENOMEM), ("thread", errno.EAGAIN), ("open", errno.EMFILE), ("file", errno.EIO)):
            if harness.IS_SANITIZED and name in ("memory", "map"):
                print(f"faults of memory are left out: {NO_MEMORY_FAULTS}")
                continue
            for source in (HELLO, DIGITS):
                if source == DIGITS or name in ("memory", "thread", "open"):
                    self.run_class(source, name, error)


@unittest.skipIf(harness.IS_SANITIZED, NO_MEMORY_FAULTS)
class ShortMemory(FaultCase):
    def test_a_picture_that_memory_is_short_for_is_no_fault_of_the_client(self):
        server = self.serve(DIGITS)
        refused = set()
        for call in range(1, 13):
            self.assert_recovers(server)
            with server.connect(ANSWER_SECONDS) as connection:
                self.assertEqual(connection.call("GET", "/livez").status, 200)
                self.faults.arm("memory", first=call, times=1, error=errno.ENOMEM)
                reply = connection.call(*server.calls["plain"])
                self.assertEqual(self.faults.end("memory"), 1)
                if reply.status != 200:
                    refused.add((reply.status, reply.error["code"]))
        self.assertEqual({status for status, _ in refused}, {429}, refused)
        self.assert_recovers(server)
        self.assert_ends_well(server)


class Limits(FaultCase):
    @unittest.skipIf(harness.IS_SANITIZED, "a sanitizer looks whether memory is there through a pipe, for which there is no descriptor then")
    def test_of_descriptors(self):
        server = self.serve(HELLO)
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (64, 64))
        connections = [server.connect(ANSWER_SECONDS) for _ in range(200)]
        served = closed = 0
        for connection in connections:
            try:
                self.assertEqual(connection.call(*server.calls["plain"]).json, server.answer)
                served += 1
            except (EOFError, ConnectionError):
                closed += 1
        metrics = server.metrics()  # while none is free
        self.assertGreaterEqual(metrics['wf_refused_total{reason="connections"}'], closed)
        self.assertGreaterEqual(metrics["process_open_fds"], 50)
        self.assertTrue(server.logs("connections were closed for want of descriptors", '"count":'), told(server))
        self.assertGreater(served, 20)
        self.assertEqual(served + closed, 200)
        self.assertGreater(closed, 100)
        for connection in connections:
            connection.close()
        self.assert_recovers(server)
        self.assertGreaterEqual(server.metrics()['wf_refused_total{reason="connections"}'], closed)
        self.assert_ends_well(server)

    def test_as_many_descriptors_as_the_hard_limit_says_may_be_open(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 256), hard))
        try:
            server = self.serve(HELLO)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        self.assertEqual(server.metrics()["process_max_fds"], hard)
        self.assert_ends_well(server)

    def test_of_the_log_s_file(self):
        server = self.serve(HELLO)
        self.assertEqual(server.call(*server.calls["plain"]).status, 200)
        self.assertTrue(server.logs('"message":"request"'))
        size = server.stderr_path.stat().st_size
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size + 1000, resource.RLIM_INFINITY))
        load = Load(server)
        time.sleep(1.5)
        self.assertNotIn(None, load.stop())
        self.assertEqual(load.wrong, [])
        until = time.monotonic() + 5
        while server.metrics()["wf_log_lines_dropped_total"] == 0:
            self.assertLess(time.monotonic(), until)
            time.sleep(0.1)
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        self.assert_recovers(server)
        self.assertTrue(server.logs("log lines were dropped"), told(server))
        self.assert_lines_are_whole(server.stderr_path.read_text())
        self.assert_ends_well(server)

    def assert_lines_are_whole(self, text):
        broken = 0
        for line in (line for line in text.splitlines() if not line.startswith("hello")):  # which warns of variables
            try:
                json.loads(line)
            except ValueError:
                broken += 1
        self.assertLessEqual(broken, 1, "the line that met the limit, and no other")

    def test_of_a_disk(self):
        enter = ["unshare", "--user", "--map-root-user", "--mount"]
        if subprocess.run([*enter, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no file system may be mounted here; the test above has a limit of size instead")
        folder = harness.scratch() / "disk"
        folder.mkdir()
        binary = harness.scratch() / "logs-to-disk"
        binary.write_text(f'#!/bin/sh\nmount -t tmpfs -o size=16k none "{folder}" && exec "{harness.compiled(HELLO)}" "$@" 2>"{folder}/log"\n')
        binary.chmod(0o755)
        starter = harness.scratch() / "in-its-own-mounts"
        starter.write_text(f'#!/bin/sh\nexec {" ".join(enter)} "{binary}" "$@"\n')
        starter.chmod(0o755)
        server = harness.Server(starter, "--log-access=true")
        self.addCleanup(server.kill)
        server.wait_ready()
        for _ in range(300):
            self.assertEqual(server.post("/Hello/Greet", {}).status, 200)
        until = time.monotonic() + 5
        while server.metrics()["wf_log_lines_dropped_total"] == 0:
            self.assertLess(time.monotonic(), until)
            time.sleep(0.1)
        self.assertEqual(server.post("/Hello/Greet", {}).status, 200)
        self.assert_ends_well(server)


# Calls in a loop until the clock says so; the answers' number. A wrong one ends it with a traceback.
CLIENT = """
import http.client, json, sys, time
connection, answers, until = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=20), 0, time.monotonic() + float(sys.argv[2])
while time.monotonic() < until or answers < 20:
    connection.request("POST", "/Hello/Greet", '{"name": "Ada"}', {"content-type": "application/json"})
    assert json.load(connection.getresponse()) == {"text": "hello, Ada"}
    answers += 1
print(answers)
"""


class TimeStandsStill(FaultCase):
    def test_a_client_that_is_stopped_goes_on(self):
        server = self.serve(HELLO)
        stopped = subprocess.Popen([sys.executable, "-c", CLIENT, str(server.addresses["http"][1]), "3"], stdout=subprocess.PIPE, text=True)
        with server.connect() as slow:
            slow.send(harness.request("POST", "/Hello/Greet", b'{"name": "Ada"}')[:-3])
            time.sleep(0.5)
            stopped.send_signal(signal.SIGSTOP)
            load = Load(server)
            time.sleep(2)
            self.assertEqual(set(load.stop()), {True})
            self.assertEqual(load.wrong, [])
            stopped.send_signal(signal.SIGCONT)
            out, _ = stopped.communicate(timeout=60)
            self.assertEqual(stopped.returncode, 0)
            self.assertGreater(int(out), 20)
            slow.send(harness.request("POST", "/Hello/Greet", b'{"name": "Ada"}')[-3:])
            self.assertEqual(slow.receive().json, {"text": "hello, Ada"})
        self.assert_ends_well(server)

    def test_the_time_of_day_jumps(self):
        server = self.serve(HELLO)
        load = Load(server)
        for seconds in (10 * 365 * 86400, -10 * 365 * 86400, 3600, -3600):
            self.faults.arm("clock", every=1, error=seconds)
            time.sleep(0.3)
        self.assertEqual(set(load.stop()), {True})
        self.assertEqual(load.wrong, [])
        self.faults.arm("clock", every=1, error=10 * 365 * 86400)
        self.assert_recovers(server)
        year = str(time.gmtime().tm_year + 10)
        self.assertTrue(server.logs('"message":"request"', f'"time":"{year}'), told(server))
        lines = [json.loads(line) for line in server.stderr_path.read_text().splitlines() if line.startswith("{")]
        took = [line["us"] for line in lines if line["message"] == "request"]
        self.assertTrue(all(0 <= us < 5_000_000 for us in took), [us for us in took if not 0 <= us < 5_000_000][:10])
        self.assert_ends_well(server)


if __name__ == "__main__":
    harness.main()
