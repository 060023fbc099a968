#!/usr/bin/env python3
"""Floods of HTTP/2: who does for nothing what costs a server something is told why and closed within a second, while others are served and memory stays as it was."""
import multiprocessing
import socket
import threading
import time
from pathlib import Path

import harness

if __name__ == "__main__":
    harness.in_environment()

from http2_cases import ERRORS, PREFACE, of_line  # noqa: E402
from http2_client import Client  # noqa: E402

HELLO = harness.EXAMPLES / "hello/hello.wf"
# name: what comes first, what is repeated (N: the next stream), and the errors of which one ends the connection, ENHANCE_YOUR_CALM where none is named.
FLOODS = {
    "rapid resets (CVE-2023-44487)": ("", ("headers:end,headers N get", "rst N u32=8")),
    "resets made by a window of 0 (CVE-2025-8671)": ("", ("headers:headers N post", "window N u32=0")),
    "resets made by a window too large": ("", ("headers:headers N post", "window N u32=2147483647")),
    "resets made by a length that is wrong": ("", ("headers:headers N post 0f0d 01 \"1\"", "data:end N \"{}\"")),
    "resets made by a field of HTTP/1.1": ("", ("headers:end,headers N get (connection: close)",)),
    "continuations (CVE-2024-28182)": ("headers:end 3 get", ("continuation 3 0001610162",)),
    "continuations that are empty": ("headers:end 3 get", ("continuation 3",)),
    "settings (CVE-2019-9515)": ("", ("settings 0",)),
    "settings that change the window": ("", ("settings 0 INITIAL_WINDOW_SIZE=0", "settings 0 INITIAL_WINDOW_SIZE=65535")),
    "pings (CVE-2019-9512)": ("", ('ping 0 "12345678"',)),
    "empty data (CVE-2019-9518)": ("headers:headers 3 post", ("data 3",)),
    "padding alone": ("headers:headers 3 post", ("data:padded 3 03000000",)),
    "bombs of HPACK": ("headers:end,headers 3 get 40 01 \"c\" 7fa11e 4000*\"d\"", ("headers:end,headers N get 12000*be",)),
    "bombs of HPACK in trailers": ("headers:end,headers 3 get 40 01 \"c\" 7fa11e 4000*\"d\"", ("headers:headers N post", "headers:end,headers N 12000*be")),
    "heads that are too large": ("headers:end,headers 3 get 40 01 \"c\" 7fa11e 4000*\"d\"", ("headers:end,headers N get 50*be",)),
    "priorities (CVE-2019-9513)": ("", ("priority N 0000000010",)),
    "updates of priorities": ("", ("0x10 0 u32=1 \"u=1\"",)),
    "frames of no type that is known": ("", ("0xbe 0 \"x\"",)),
    "answers to no ping": ("", ('ping:ack 0 "12345678"',)),
    "ends of what has ended": ("headers:end,headers 3 get", ("data:end 3",), "STREAM_CLOSED"),
}


def start_of(flood):
    return PREFACE + of_line("settings 0") + (of_line(flood[0]) if flood[0] else b"")


def rounds_of(flood, first, count):
    return b"".join(of_line(line.replace(" N", f" {2 * i + 5}", 1)) for i in range(first, first + count) for line in flood[1])


def last_error(data):
    """Of the last GOAWAY among these frames."""
    error = None
    while len(data) >= 9:
        length = int.from_bytes(data[:3], "big")
        if data[3] == 7 and len(data) >= 9 + length:
            error = ERRORS[int.from_bytes(data[13:17], "big")]
        data = data[9 + length:]
    return error


def flood_once(address, start, rounds):
    """Sends until the server closes. (what it said, after how many seconds)."""
    with socket.create_connection(address, 30) as connection:
        def send():
            try:
                connection.sendall(start)
                for part in rounds:
                    connection.sendall(part)
            except OSError:
                pass
        sender = threading.Thread(target=send)
        started = time.monotonic()
        sender.start()
        data = b""
        try:
            while part := connection.recv(65536):
                data += part
        except ConnectionResetError:
            pass
        took = time.monotonic() - started
        sender.join()
    return data, took


def flood_for(address, start, part, seconds):
    """A process of its own: one connection after the other."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        flood_once(address, start, [part])


class Floods(harness.ServerCase):
    source = HELLO

    def setUp(self):
        self.good = Client(self.server)
        self.addCleanup(self.good.close)

    def resident_bytes(self):
        return int(next(line for line in Path(f"/proc/{self.server.process.pid}/status").read_text().splitlines() if line.startswith("VmRSS")).split()[1]) * 1024

    def assert_serves(self):
        self.assertEqual(self.good.call("/Hello/Greet", {"name": "Ada"}).json, {"text": "hello, Ada"})
        self.assertEqual(self.server.settled("wf_inflight_requests"), 0)

    def test_each_is_told_why_and_closed_in_a_second(self):
        self.assert_serves()
        for name, flood in FLOODS.items():
            with self.subTest(flood=name):
                self.check_is_told_and_closed(name, flood)

    @harness.timed
    def check_is_told_and_closed(self, name, flood):
        resident = self.resident_bytes()
        rounds = [rounds_of(flood, i, 100) for i in range(0, 3000, 100)]
        data, took = flood_once(self.server.addresses["http"], start_of(flood), rounds)
        errors = {flood[2]} if len(flood) > 2 else {"ENHANCE_YOUR_CALM"}
        if "resets made" in name:
            errors.add("PROTOCOL_ERROR")  # more streams than are offered, in one portion
        self.assertIn(last_error(data), errors, data[-100:])
        self.assertLess(took, 10 if harness.IS_SANITIZED else 1)
        self.assert_serves()
        if not harness.IS_SANITIZED:
            self.assertLess(self.resident_bytes() - resident, 16 << 20)

    def calls_in(self, seconds):
        """Of a client that asks, thinks for 20 ms, and asks again."""
        until, calls = time.monotonic() + seconds, 0
        while time.monotonic() < until:
            self.good.call("/Hello/Greet", {"name": "Ada"})
            time.sleep(0.02)
            calls += 1
        return calls

    def test_others_keep_their_rate_while_it_goes_on(self):
        alone = self.calls_in(1)
        resident = self.resident_bytes()
        for name, flood in FLOODS.items():
            with self.subTest(flood=name):
                self.check_rate_beside(flood, alone)
        self.assert_serves()
        if not harness.IS_SANITIZED:
            self.assertLess(self.resident_bytes() - resident, 16 << 20)

    @harness.timed
    def check_rate_beside(self, flood, alone):
        attacker = multiprocessing.Process(target=flood_for, args=(self.server.addresses["http"], start_of(flood), rounds_of(flood, 0, 1500), 0.6))
        attacker.start()
        time.sleep(0.1)
        beside = self.calls_in(0.5)
        attacker.join()
        self.assertGreaterEqual(beside, (0.2 if harness.IS_SANITIZED else 0.8) * alone / 2)

    def test_a_million_rapid_resets(self):
        flood = FLOODS["rapid resets (CVE-2023-44487)"]
        start, part = start_of(flood), rounds_of(flood, 0, 2000)
        resident = self.resident_bytes()
        count = 100 if harness.IS_SANITIZED else 500
        attackers = [multiprocessing.Process(target=flood_times, args=(self.server.addresses["http"], start, part, count // 2)) for _ in range(2)]
        for attacker in attackers:
            attacker.start()
        for attacker in attackers:
            attacker.join()
            self.assertEqual(attacker.exitcode, 0)
        self.assert_serves()
        if not harness.IS_SANITIZED:
            self.assertLess(self.resident_bytes() - resident, 16 << 20)


def flood_times(address, start, part, times):
    for _ in range(times):
        data, _ = flood_once(address, start, [part])
        assert last_error(data) in ("ENHANCE_YOUR_CALM", None), last_error(data)  # None: a reset overtook it


STALL = """
workflow Copy(text: string) -> (text: string) { return (text: text); }
workflow Count(text: string) -> (n: i64) { return (n: len(text)); }
service Texts { workflow Copy; workflow Count; }
"""


class Stalls(harness.ServerCase):
    """Windows that stay shut: the answers wait in memory, of which there is a bound for all."""
    args = ("--limits-memory-bytes=32MiB",)

    @classmethod
    def setUpClass(cls):
        cls.source = harness.scratch() / "stall.wf"
        cls.source.write_text(STALL)
        super().setUpClass()

    resident_bytes = Floods.resident_bytes

    def test_what_waits_for_a_window_is_bounded(self):
        before = self.resident_bytes()
        shut = []
        for _ in range(12):
            client = Client(self.server, INITIAL_WINDOW_SIZE=0)
            self.addCleanup(client.close)
            for _ in range(10):
                client.begin("/Texts/Copy", b'{"text": "' + b"x" * 500_000 + b'"}')
            shut.append(client)
        with Client(self.server) as good:
            for _ in range(50):
                self.assertEqual(good.call("/Texts/Count", {"text": "abc"}).status, 200)  # an eighth of the memory is not for what waits
        self.assertEqual(self.server.settled("wf_inflight_requests"), 0)
        if not harness.IS_SANITIZED:
            self.assertLess(self.resident_bytes() - before, (32 + 16) << 20)
        for client in shut:
            client.socket.close()
        self.assertEqual(self.server.settled("wf_connections"), 0)
        with Client(self.server) as good:
            self.assertEqual(good.call("/Texts/Count", {"text": "abc"}).json, {"n": 3})


if __name__ == "__main__":
    harness.main()
