"""The cases of tests/protocol/http2: frames that a client sends, and how a server may take them."""
import asyncio
import re
from pathlib import Path

import hpack
import http1_cases

FOLDER = Path(__file__).resolve().parents[1] / "protocol/http2"
PATIENCE = http1_cases.PATIENCE
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
TYPES = {"data": 0, "headers": 1, "priority": 2, "rst": 3, "settings": 4, "push": 5, "ping": 6, "goaway": 7, "window": 8, "continuation": 9}
FLAGS = {"end": 1, "ack": 1, "headers": 4, "padded": 8, "priority": 32}
SETTINGS = {"HEADER_TABLE_SIZE": 1, "ENABLE_PUSH": 2, "MAX_CONCURRENT_STREAMS": 3, "INITIAL_WINDOW_SIZE": 4, "MAX_FRAME_SIZE": 5, "MAX_HEADER_LIST_SIZE": 6}
ERRORS = ["NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR",
          "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED"]
# Fields by the static table and as literals that are not indexed.
BLOCKS = {"get": b"\x82\x86\x04\x06/livez\x01\x01t", "post": b"\x83\x86\x04\x0c/Hello/Greet\x01\x01t\x0f\x10\x10application/json",
          "grpc": b"\x83\x86\x04\x0c/Hello/Greet\x01\x01t\x0f\x10\x10application/grpc"}
LITERALS = {"": b"\0", "+": b"\x40", "!": b"\x10"}
TOKEN = re.compile(r'(?P<times>\d+\*)?(?:(?P<mark>[+!]?)\((?P<name>:?[^:]*): (?P<value>[^)]*)\)|"(?P<text>(?:\\.|[^"\\])*)"|(?P<word>[^\s"()]+))')


def frame(kind, flags, stream, payload=b"", length=None):
    return (len(payload) if length is None else length).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


PROBES = [frame(6, 0, 0, b"\xff" * 7 + bytes([i])) for i in range(2)]


def of_word(word):
    """A block's name, `u32=7`, a setting, or hexadecimal digits."""
    if word in BLOCKS:
        return BLOCKS[word]
    name, equals, value = word.partition("=")
    if not equals:
        return bytes.fromhex(word)
    if re.fullmatch(r"u(8|16|32)", name):
        return int(value).to_bytes(int(name[1:]) // 8, "big")
    return (SETTINGS[name] if name in SETTINGS else int(name, 16)).to_bytes(2, "big") + int(value).to_bytes(4, "big")


def of_tokens(text):
    """The bytes of a payload, and the length that its frame claims instead of theirs."""
    payload, length = b"", None
    for token in TOKEN.finditer(text):
        times = int((token["times"] or "1*")[:-1])
        if token["name"] is not None:
            name, value = http1_cases.unescape(token["name"]), http1_cases.unescape(token["value"])
            piece = LITERALS[token["mark"]] + bytes([len(name)]) + name + bytes([len(value)]) + value
        elif token["text"] is not None:
            piece = http1_cases.unescape(token["text"])
        elif token["word"].startswith("length="):
            length, piece = int(token["word"][7:]), b""
        else:
            piece = of_word(token["word"])
        payload += piece * times
    return payload, length


def of_line(line):
    """`"bytes"`, or `TYPE:FLAG,FLAG STREAM PAYLOAD`; `N*` before it repeats it."""
    if line.startswith("each "):
        _, first, last, rest = line.split(" ", 3)
        return b"".join(of_line(rest.replace(" N", f" {n}", 1)) for n in range(int(first), int(last) + 1, 2))
    times = re.match(r"(\d+)\*(\w+[ :].*)", line)
    if times:
        return of_line(times[2]) * int(times[1])
    if re.match(r'(\d+\*)?"', line):
        return of_tokens(line)[0]
    head, stream, *rest = line.split(" ", 2)
    kind, _, flags = head.partition(":")
    bits = 0
    for flag in filter(None, flags.split(",")):
        bits |= FLAGS[flag] if flag in FLAGS else int(flag, 16)
    payload, length = of_tokens(rest[0] if rest else "")
    return frame(TYPES[kind] if kind in TYPES else int(kind, 16), bits, int(stream, 0), payload, length)


class Case:
    """steps: bytes to send, or the number of a stream whose answer is waited for; outcomes: those that are taken, each a list of facts; excused: why a
    server may take what its peers refuse."""
    def __init__(self, name, lines):
        self.name, self.steps, self.outcomes, self.excused, self.cites = name, [PREFACE + frame(4, 0, 0)], [], None, None
        for line in lines:
            kind, _, text = line.partition(" ")
            if kind == "rfc":
                self.cites = text
            elif line == "> bare":
                self.steps = []
            elif line.startswith("> wait "):
                self.steps.append(int(text.split()[1]))
            elif kind == ">":
                self.steps.append(of_line(text))
            elif kind == "=":
                self.outcomes.append([fact.split() for fact in text.split(", ")])
            elif kind == "!":
                self.excused = text
            else:
                raise ValueError(f"{name}: {line}")


def cases():
    found = []
    for path in sorted(FOLDER.glob("*.txt")):
        blocks = re.split(r"^case (\S+)$", path.read_text(), flags=re.M)
        for name, text in zip(blocks[1::2], blocks[2::2]):
            found.append(Case(name, [line for line in text.splitlines() if line and not line.startswith("#")]))
    return found


class Outcome:
    """What came back on one connection, read as frames."""
    def __init__(self):
        self.buffer, self.raw, self.hpack = b"", b"", hpack.Decoder()
        self.statuses, self.ended, self.resets, self.goaway, self.pongs, self.acks, self.closed = {}, set(), {}, None, [], 0, False

    def feed(self, data):
        self.raw += data
        self.buffer += data
        while len(self.buffer) >= 9 and len(self.buffer) >= 9 + (size := int.from_bytes(self.buffer[:3], "big")):
            kind, flags, stream, payload = self.buffer[3], self.buffer[4], int.from_bytes(self.buffer[5:9], "big"), self.buffer[9:9 + size]
            self.buffer = self.buffer[9 + size:]
            self.take(kind, flags, stream, payload)

    def take(self, kind, flags, stream, payload):
        if kind == 1:  # an answer's fits in one frame
            status = dict(self.hpack.decode(payload)).get(":status")
            if status is not None and int(status) >= 200:
                self.statuses[stream] = int(status)
        if kind in (0, 1) and flags & 1:
            self.ended.add(stream)
        elif kind == 3:
            self.resets[stream] = int.from_bytes(payload, "big")
        elif kind == 4 and flags & 1:
            self.acks += 1
        elif kind == 6 and flags & 1:
            self.pongs.append(payload)
        elif kind == 7:
            self.goaway = int.from_bytes(payload[4:8], "big")

    def ponged(self, probe):
        return probe[9:] in self.pongs

    def refused_streams(self):
        """A reset without an error says that the rest of a request is not wanted, which has been answered."""
        return {stream: code for stream, code in self.resets.items() if not (code == 0 and stream in self.statuses)}

    def alive(self):
        return not self.closed and self.goaway in (None, 0)

    def meets(self, facts):
        """Do these facts hold, and nothing bad beside them?"""
        kinds = {fact[0] for fact in facts}
        if kinds & {"goaway", "closed"}:
            if not self.closed or "goaway" in kinds and self.goaway in (None, 0):
                return False
        elif not self.alive():
            return False
        if "closed" in kinds and self.goaway not in (None, 0, 1):
            return False
        if not kinds & {"goaway", "closed"} and set(self.refused_streams()) != {int(fact[1]) for fact in facts if fact[0] == "reset"}:
            return False
        return all(getattr(self, "is_" + fact[0])(*fact[1:]) for fact in facts)

    def is_goaway(self, code):
        return ERRORS[self.goaway] == code

    def is_closed(self):
        return self.closed

    def is_reset(self, stream, code):
        return int(stream) in self.resets and code in ("any", ERRORS[self.resets[int(stream)]])

    def is_answered(self, stream, status):
        stream = int(stream)
        if status == "any":  # or not, for the connection may end first
            return True
        return stream in self.ended and self.statuses.get(stream) == int(status)

    def is_pong(self, text):
        return text.strip('"').encode() in self.pongs

    def is_acks(self, count):
        return self.acks == int(count)

    def is_ignored(self):
        return not self.statuses

    def severity(self):
        """2: the connection was refused or ended, 1: a request was, 0: all was taken. Less is more permissive."""
        if not self.alive():
            return 2
        return 1 if self.refused_streams() or any(status in http1_cases.REFUSALS for status in self.statuses.values()) else 0

    def __str__(self):
        words = [f"{stream}:{status}" for stream, status in sorted(self.statuses.items())[:3]] + [f"{stream}!{ERRORS[code]}" for stream, code in sorted(self.refused_streams().items())[:3]]
        if self.goaway is not None:
            words.append("goaway " + ERRORS[self.goaway])
        return " ".join([*words, "closed" if self.closed else "open"])


class Asking(http1_cases.Asking):
    def __init__(self, address):
        super().__init__(address)
        self.outcome = Outcome()

    async def read(self, seconds):
        more = await super().read(seconds)
        if self.answers.closed:
            self.outcome.closed = True
        elif more:
            self.outcome.feed(self.answers.data)
        self.answers.data = b""
        return more

    async def until(self, done, seconds=PATIENCE):
        while not done(self.outcome) and await self.read(seconds):
            pass

    async def do(self, case, seconds):
        for step in case.steps:
            if isinstance(step, int):
                await self.until(lambda o: step in o.ended or o.closed, seconds)
            else:
                await self.send(step)


async def served(address, case):
    """What is expected is waited for. Pings tell that all of it was read; of two in turn, the second that nothing is to come."""
    async with Asking(address) as asking:
        await asking.do(case, PATIENCE)
        await asking.send(PROBES[0])
        met = lambda o: any(o.meets(facts) for facts in case.outcomes)  # noqa: E731
        await asking.until(lambda o: o.closed or o.goaway is None and o.ponged(PROBES[0]) and met(o))
        if not asking.outcome.closed:
            await asking.send(PROBES[1])
            await asking.until(lambda o: o.closed or o.ponged(PROBES[1]))
        return asking.outcome


async def observed(address, case, quiet=1.5):
    """Of a server of which nothing is expected."""
    async with Asking(address) as asking:
        await asking.do(case, quiet)
        await asking.send(PROBES[0])
        await asking.until(lambda o: o.closed, quiet)
        outcome = asking.outcome
        outcome.closed = outcome.closed or not outcome.ponged(PROBES[0])  # it hears no more
        return outcome
