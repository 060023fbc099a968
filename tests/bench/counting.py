"""How often a request calls the allocator, and locks a mutex."""
import mmap
import struct
import time
from typing import NamedTuple

import grpc_call
import harness
import peers
from bench import Row
from programs import DIGITS, GREET, GREET_BODY, HELLO, seven
from wire import GREET_CALL

LIBPNG_CALLS = 9  # of the allocator, for one small image


class Calls(NamedTuple):
    others: float  # of the allocator, but for those
    onednn: float  # out of oneDNN
    locks: float


class CountedServer:
    """A server whose calls of the allocator, and of locks, are counted."""
    def __init__(self, source):
        path = harness.scratch() / "calls"
        path.write_bytes(bytes(24))
        env = {"LD_PRELOAD": str(harness.BUILD / "lib/wf_count_calls.so"), "WF_CALLS_COUNT": str(path), "WF_CALLS_APART": "libdnnl"}
        self.server = harness.Server.of(source, "--io-threads", "1", env=env)
        with open(path, "r+b") as file:
            self.count = mmap.mmap(file.fileno(), 24)
        if 0 in (self.counted().others, self.counted().locks):
            raise AssertionError("a server has started, and no call was counted")

    def counted(self):
        return Calls(*struct.unpack("<QQQ", self.count[:24]))

    def settled(self):
        """The same when what is made ready after the start is done."""
        now = self.counted()
        while True:
            time.sleep(0.3)
            earlier, now = now, self.counted()
            if now[:2] == earlier[:2]:
                return now

    def stop(self):
        self.server.stop()
        self.count.close()


def calls_per_request(source, method_path, body, measured):
    """In steady state, on one connection."""
    counted = CountedServer(source)
    with counted.server.connect() as connection:
        for _ in range(2000):
            connection.call("POST", method_path, body)
        before = counted.settled()
        for _ in range(measured):
            connection.call("POST", method_path, body)
        per_request = Calls(*((after - earlier) / measured for after, earlier in zip(counted.counted(), before)))
    counted.stop()
    return per_request


def calls_over_http2(source, path, body, headers, measured=20000):
    """The same over HTTP/2: what a long run of requests takes more than a short one, each on connections of its own."""
    counted = CountedServer(source)
    took = []
    for count in (measured, measured, 2 * measured):
        before = counted.settled()
        peers.h2load_count(counted.server.addresses["http"], path, body, count, 4, 4, headers)
        took.append([after - earlier for after, earlier in zip(counted.settled(), before)])
    counted.stop()
    return Calls(*((long - short) / measured for long, short in zip(took[2], took[1])))


def rows_of(name, calls):
    """None is the goal. What threads of the server do now and then whatever comes in is less than a hundredth of a request's."""
    for what, each in (("allocations", calls.others), ("locks", calls.locks)):
        yield Row(f"{what}-per-{name}", max(round(each, 2), 0), 0, "calls", "goal (none)", 1, higher_is_better=False)


def allocations(options):
    """calls of the allocator, and locks taken, per request in steady state"""
    yield from rows_of("request", calls_per_request(HELLO, GREET, GREET_BODY, 5000))
    for name, path, body, headers in (("http2-request", GREET, GREET_BODY, peers.JSON), ("grpc-call", grpc_call.PATH, GREET_CALL, grpc_call.HEADERS)):
        yield from rows_of(name, calls_over_http2(HELLO, path, body, headers))
    # oneDNN allocates in each dnnl_primitive_execute: a table of the arguments, and the closures and the context of some implementations. libpng
    # does for each image: its structs, the chunks' buffers and zlib's state; the interface that keeps setjmp out of ours takes no allocator.
    digit = calls_per_request(DIGITS, "/DigitService/Classify?top=3", seven(), 5000)
    print(f"# {digit.onednn:.2f} more within oneDNN")
    yield Row("allocations-per-digit", round(digit.others, 1), LIBPNG_CALLS, "calls", "libpng's own", 1, higher_is_better=False)
