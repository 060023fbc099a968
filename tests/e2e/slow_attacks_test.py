#!/usr/bin/env python3
"""Clients that go on for ever with next to nothing, on every layer: each is ended within the limit that docs/serving.md has for it, memory stays bounded, and others are served meanwhile. slow_http_test.py
has heads, bodies and answers of HTTP/1.1 with the limits as they are."""
import multiprocessing
import socket
import ssl
import struct
import time
from pathlib import Path

import harness
from tls_cases import Authority

from http2_cases import PREFACE, frame, of_line  # noqa: E402  (packages of tls_cases)

PROGRAM = """
fn ramp(n: i64) -> f64[n] = [i < n] => f64(i);
workflow Ramp(n: i64) -> (xs: f64[n]) { return (xs: ramp(n)); }
service Slow { workflow Ramp; }
"""
HEAD, IDLE, WRITE, ANSWER, BODY = 2, 3, 3, 8, 5  # seconds; the last is not a setting
LIMITS = ("--limits-header-timeout", f"{HEAD}s", "--limits-idle-timeout", f"{IDLE}s", "--limits-write-timeout", f"{WRITE}s", "--limits-answer-timeout", f"{ANSWER}s", "--limits-memory-bytes", "256MiB")  # as much as all of them hold, else some are closed for it
MOST_MORE_MIB = 256 + 32  # what the server may hold for requests, and what it needs beside
LOOKS = 1  # limits are looked at so often, in seconds
LATE = 1.5  # a busy machine
EVERY = 0.2  # seconds between two drips
MANY = 25  # of each kind
LARGE = b'{"n": 150000}'  # a megabyte of answer
GRPC = "(content-type: application/grpc) (te: trailers)"


def message(count):
    """A ModelInferRequest of Ramp."""
    def field(number, data):
        return bytes([number << 3 | 2, len(data)]) + data
    tensor = field(1, b"n") + field(2, b"INT64") + field(3, b"\1")
    text = field(1, b"Slow.Ramp") + field(5, tensor) + field(7, struct.pack("<q", count))
    return struct.pack(">BI", 0, len(text)) + text


def start(window=None):
    return PREFACE + (of_line("settings 0") if window is None else of_line(f"settings 0 INITIAL_WINDOW_SIZE={window}"))


def post(path, *more, flags="headers"):
    return of_line(f"headers:{flags} 1 (:method: POST) (:scheme: http) (:path: {path}) (:authority: t) " + " ".join(more))


def grpc(method):
    return post("/inference.GRPCInferenceService/" + method, GRPC)


def asked(window):
    """Of HTTP/2: a large answer, for which there is so much room."""
    return start(window) + post("/Slow/Ramp", "(content-type: application/json)") + frame(0, 1, 1, LARGE)


def one_byte(stream, data=b"x"):
    return frame(0, 0, stream, data)


OPEN_1 = of_line("window 1 u32=1") + of_line("window 0 u32=1")
OPEN_1000 = of_line("window 1 u32=1000") + of_line("window 0 u32=1000")
BLOCK = post("/Slow/Ramp", flags="end")  # without END_HEADERS
LONG_FIELD = b"\x00\x01a\x7f\xe1\x74"  # the begin of one: its name, and that its value has 15,072 bytes
LINGER = 3  # a body may end for so long behind its answer, and is then reset
STALL = 2 * WRITE  # what waits when it is looked at is given that time from then on
# name: what it sends at once, what every so often, at most how many bytes it reads each time, after how many seconds the server ends the connection.
PLAIN = {
    "bytes of a preface": (b"", PREFACE, None, HEAD),
    "a preface alone": (PREFACE, b"", None, HEAD),
    "half a preface": (PREFACE[:18], b"", None, HEAD),
    "settings alone": (start(), b"", None, IDLE),
    "pings for ever": (start(), of_line('ping 0 "12345678"'), None, IDLE),
    "the head of a frame": (start() + b"\0\0", b"", None, IDLE),
    "bytes of a frame's payload": (start() + frame(0x42, 0, 0, b"", length=16_000), b"x", None, IDLE),
    "bytes of a continuation": (start() + BLOCK + frame(9, 0, 1, LONG_FIELD, length=16_000), b"x", None, HEAD),
    "a continuation of a call that is over": (start() + BLOCK + frame(9, 0, 1, b"", length=16_000), b"\0", None, IDLE),  # reset: fields without a name
    "continuations of nothing": (start() + BLOCK, of_line("continuation 1"), None, HEAD),
    "a stream that is left": (start() + post("/Slow/Ramp"), b"", None, BODY + LINGER + IDLE),
    "bytes of a body": (start() + post("/Slow/Ramp"), one_byte(1), None, BODY + LINGER + IDLE),
    "windows of nothing": (asked(0), b"", None, STALL + IDLE),
    "windows that open by the byte": (asked(1), OPEN_1, None, STALL + IDLE),
    "windows that open steadily": (asked(1), OPEN_1000, None, ANSWER + IDLE),
    "an answer of HTTP/2 by the byte": (asked(2**31 - 1) + of_line("window 0 u32=2000000000"), b"", 1, WRITE),
    "an answer of HTTP/1.1 by the byte": (harness.request("POST", "/Slow/Ramp", LARGE), b"", 1, WRITE),
    "a call of gRPC that is left": (start() + grpc("ModelInfer"), b"", None, BODY + LINGER + IDLE),
    "bytes of a message": (start() + grpc("ModelInfer") + frame(0, 0, 1, message(5)[:7]), one_byte(1), None, BODY + LINGER + IDLE),
    "bytes of a message of many": (start() + grpc("ModelStreamInfer") + frame(0, 0, 1, message(5) + message(5)[:9]), one_byte(1), None, BODY + LINGER + IDLE),
    "messages whose answers nobody reads": (start(0) + grpc("ModelStreamInfer") + frame(0, 1, 1, message(100_000) * 2), b"", None, STALL + IDLE),
    "answers of gRPC by the byte": (start(1) + grpc("ModelInfer") + frame(0, 1, 1, message(100_000)), OPEN_1, None, STALL + IDLE),
}
SILENT_READERS = {name for name, attack in PLAIN.items() if attack[2]}  # who reads so slowly sees the end too late to tell of it


class Handshake:
    """A client of TLS whose messages are given one by one."""
    def __init__(self, context):
        self.come, self.gone = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.session = context.wrap_bio(self.come, self.gone, server_hostname="localhost")

    def step(self, connection):
        """What it says next, having heard all that the server says until then."""
        while True:
            try:
                self.session.do_handshake()
                return self.gone.read()
            except ssl.SSLWantReadError:
                if said := self.gone.read():
                    return said
                self.come.write(connection.recv(65536))


# What a client has said when it begins to take its time, as steps of its handshake, and of the next one which part; after how many seconds the end comes.
SECURE = {
    "nothing": (0, 0, b""),
    "bytes of a hello": (0, 1, b"hello"),
    "a hello": (1, 0, b""),
    "half of what follows": (1, 0.5, b""),
    "a record that never ends": (2, 0, b"\x17\x03\x03\x40\x00"),
    "a handshake alone": (2, 0, b""),
    "bytes of a record": (2, 0, b"bytes"),
}


def is_open(connection):
    """Reads away what has come; false once the server has ended the connection."""
    try:
        while connection.recv(65536):
            pass
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


class Attacker:
    def __init__(self, name, address, attack):
        self.name, (first, self.drip, self.reads, _) = name, attack
        self.socket = socket.socket()
        if self.reads:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        self.socket.connect(address)
        self.socket.sendall(first)
        self.begun, self.at = time.monotonic(), 0

    def goes_on(self):
        self.socket.setblocking(False)
        try:
            if self.drip == PREFACE:
                self.socket.send(PREFACE[self.at:self.at + 1])
                self.at += 1
            elif self.drip:
                self.socket.send(self.drip)
            if self.reads:
                self.socket.recv(self.reads)
                return True
        except BlockingIOError:
            return True
        except OSError:
            return False
        return is_open(self.socket)


class SecureAttacker:
    drips = {b"bytes": b"\x17\x03\x03\x40\x00" + bytes(16_000)}

    def __init__(self, name, address, context, attack):
        self.name, (steps, part, then) = name, attack
        self.socket = socket.create_connection(address, 30)
        self.begun, self.at = time.monotonic(), 0
        handshake = Handshake(context)
        for _ in range(steps):
            self.socket.sendall(handshake.step(self.socket))
        self.slow = b""
        if part == 1:
            self.slow = handshake.step(self.socket)
        elif part:
            said = handshake.step(self.socket)
            self.socket.sendall(said[:int(len(said) * part)])
        elif then in self.drips:
            self.slow = self.drips[then]
        else:
            self.socket.sendall(then)

    def goes_on(self):
        self.socket.setblocking(False)
        try:
            if self.slow:
                self.socket.send(self.slow[self.at:self.at + 1])
                self.at += 1
        except BlockingIOError:
            return True
        except OSError:
            return False
        return is_open(self.socket)


def attack(attackers, until, results):
    """In a process of its own: (name, after how many seconds the server ended it, or None)."""
    ended = []
    while attackers and time.monotonic() < until:
        begun = time.monotonic()
        left = []
        for one in attackers:
            if one.goes_on():
                left.append(one)
            else:
                ended.append((one.name, time.monotonic() - one.begun))
        attackers = left
        time.sleep(max(0, EVERY - (time.monotonic() - begun)))
    results.send(ended + [(one.name, None) for one in attackers])


def resident_mib(server):
    text = Path(f"/proc/{server.process.pid}/status").read_text(encoding="utf-8")
    return int(text.split("VmRSS:")[1].split()[0]) / 1024


class SlowAttacks(harness.unittest.TestCase):
    def setUp(self):
        program = harness.scratch() / "slow.wf"
        program.write_text(PROGRAM)
        authority = Authority("of-slow")
        authority.sign("server")
        self.plain = harness.Server.of(program, *LIMITS)
        self.secure = harness.Server.of(program, *LIMITS, *authority.flags())
        self.newest = [authority.client(newest=version) for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3)]

    def waits(self, seconds):
        """How long calls of a client took, 10 ms apart; sorted."""
        took, until = [], time.monotonic() + seconds
        with self.plain.connect() as good:
            while time.monotonic() < until:
                started = time.monotonic()
                self.assertEqual(good.call("POST", "/Slow/Ramp", b'{"n": 2}').json, {"xs": [0, 1]})
                took.append(time.monotonic() - started)
                time.sleep(0.01)
        return sorted(took)

    def begin(self):
        attackers = [Attacker(name, self.plain.addresses["http"], PLAIN[name]) for name in PLAIN for _ in range(MANY)]
        return attackers + [SecureAttacker(f"TLS, {name}", self.secure.addresses["http"], self.newest[i % 2], SECURE[name]) for name in SECURE for i in range(MANY)]

    def check_ends(self, ended):
        bounds = {name: PLAIN[name][3] for name in PLAIN} | {f"TLS, {name}": HEAD for name in SECURE}
        late = (5 if harness.IS_SANITIZED else 1) * LATE + LOOKS
        wrong = {}
        for name, seconds in ended:
            least, most = 0.5 * min(bounds[name], HEAD), bounds[name] + late
            if name not in SILENT_READERS and (seconds is None or not least < seconds < most):
                wrong.setdefault(f"{name}: {bounds[name]} s", []).append(seconds and round(seconds, 1))
        self.assertEqual(wrong, {}, sorted(wrong))
        self.assertEqual(len(ended), MANY * len(bounds))

    def test_each_is_ended_in_time_and_others_are_served(self):
        alone, before = self.waits(1), resident_mib(self.plain)
        longest = ANSWER + IDLE + LOOKS + LATE + 2
        results, child = multiprocessing.Pipe(duplex=False)
        attackers = self.begin()
        begun = time.monotonic()
        process = multiprocessing.get_context("fork").Process(target=attack, args=(attackers, begun + longest + (10 if harness.IS_SANITIZED else 0), child))
        process.start()
        for one in attackers:
            one.socket.close()  # the other process has it
        beside, most = [], before
        while not results.poll():
            beside += self.waits(0.5)
            most = max(most, resident_mib(self.plain))
        ended = results.recv()
        process.join()
        self.check_ends(ended)
        for server in (self.plain, self.secure):
            self.assertEqual(server.settled("wf_connections"), 0, "somebody is still there")
            self.assertEqual(server.settled("wf_inflight_requests"), 0)
        beside.sort()
        p95 = [times[len(times) * 95 // 100] for times in (alone, beside)]
        print(f"p95 alone {p95[0] * 1e3:.1f} ms, beside {len(ended)} slow clients {p95[1] * 1e3:.1f} ms; {before:.0f} MiB, {most:.0f} at most")
        # S2 asks for 1.5 times on cores of their own; here servers, attackers and this client share two, whose slices are some milliseconds.
        self.assertLess(p95[1], (5 if harness.IS_SANITIZED else 1.5) * p95[0] + 0.02)
        if not harness.IS_SANITIZED:
            self.assertLess(most - before, MOST_MORE_MIB)
        self.assertEqual((self.plain.stop(), self.secure.stop()), (0, 0))


if __name__ == "__main__":
    harness.main()
