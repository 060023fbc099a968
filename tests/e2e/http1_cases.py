"""The transcripts of tests/protocol/http1 as what a client sends to a server; what the server answers, and whether that is what the transcript says."""
import asyncio
import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "protocol/http1"
PATIENCE = 30  # seconds for what must come
PROBE = b"GET /livez HTTP/1.1\r\nHost: probe\r\nConnection: close\r\n\r\n"
STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})[ \r][^\r\n]*\r\n")
LEAKS = re.compile(rb"/[\w.-]+/[\w.-]+\.(?:cc|h|c)\b|\w::\w|\b0x[0-9a-f]{6,}|llhttp|nghttp2|HPE_")  # what no answer tells: sources, pointers, names of C++ and of libraries
REFUSALS = {400, 408, 411, 413, 414, 417, 421, 426, 431, 501, 505}  # of a request that was not taken for what it looks like


def unescape(text):
    """`\\r \\n \\t \\0 \\xHH \\\\`: the bytes of a line of a case."""
    return re.sub(r"\\(x([0-9a-fA-F]{2})|.)", lambda m: chr(int(m[2], 16)) if m[2] else {"r": "\r", "n": "\n", "t": "\t", "0": "\0"}.get(m[1], m[1]), text).encode("latin-1")


class Case:
    """statuses: of the answers, None where any will do; end: how the connection is left. `excused`: the peers that it may be more permissive than."""
    def __init__(self, path):
        self.name, self.data, self.events, self.served, self.excused = path.stem, b"", [], None, {}
        for line in path.read_text().splitlines():
            kind, _, text = line.partition(" ")
            if kind == ">":
                times, times_text = re.match(r"(\d+)\*(.*)", text), text
                self.data += unescape(times[2]) * int(times[1]) if times else unescape(times_text)
            elif kind == "=":
                self.events.append(text)
            elif kind == "~":
                self.served = text.split()
            elif kind == "!":
                peers, _, why = text.partition(": ")
                self.excused.update({peer: why for peer in peers.split()})
        self.statuses, self.end = self._by_word() if self.served else self._by_events()

    def _by_word(self):
        return [None if word == "any" else int(word) for word in self.served[:-1]], self.served[-1]

    def _by_events(self):
        statuses, open_head = [], None
        for event in self.events:
            if event.startswith("head"):
                open_head = event
            elif event == "end":
                statuses.append(None)
                if " close" in open_head:
                    return statuses, "closed"
                open_head = None
            elif event.startswith("error"):
                return [*statuses, int(event.split()[1])], "closed"
            elif event == "http2":
                return statuses, "http2"
        middle = open_head or self.data[-4:] != b"\r\n\r\n" and not statuses
        return statuses, "waits" if middle else "open"


def cases():
    return [Case(path) for path in sorted(FOLDER.glob("*.txt"))]


class Answers:
    """What came back on one connection."""
    def __init__(self):
        self.data, self.closed, self.end = b"", False, None

    @property
    def statuses(self):
        found = [int(status) for status in STATUS.findall(self.data) if not status.startswith(b"1")]
        return found if found or not self.data or self.data.startswith(b"\0\0") else [9]  # a body without a head: HTTP/0.9

    def taken(self):
        """How many requests were taken for good; more is more permissive."""
        return sum(status not in REFUSALS for status in self.statuses)

    def __str__(self):
        return " ".join([*map(str, self.statuses), self.end])


class Asking:
    """One connection to `address`."""
    def __init__(self, address):
        self.address, self.answers = address, Answers()

    async def __aenter__(self):
        self.reader, self.writer = await asyncio.open_connection(*self.address)
        return self

    async def __aexit__(self, *_):
        self.writer.transport.abort()

    async def send(self, data):
        try:
            self.writer.write(data)
            await asyncio.wait_for(self.writer.drain(), PATIENCE)
        except ConnectionError:
            pass  # what it said before is still to be read

    async def read(self, seconds):
        """One portion; False: nothing came in that time, or nothing more will."""
        try:
            data = await asyncio.wait_for(self.reader.read(65536), seconds)
        except ConnectionError:
            data = b""
        except TimeoutError:
            return False
        self.answers.closed = not data
        self.answers.data += data
        return bool(data)

    async def until(self, done, seconds=PATIENCE):
        while not done(self.answers) and await self.read(seconds):
            pass

    async def probe(self, seconds):
        """Is another request answered on the connection?"""
        before = len(self.answers.statuses)
        answers, self.answers = self.answers, Answers()
        await self.send(PROBE)
        await self.until(lambda a: a.closed or a.statuses, seconds)
        answers.end = "open" if self.answers.taken() else "waits"
        self.answers = answers
        return before


async def served(address, case):
    """Asks as the case says: each thing that it expects is waited for, so that the time of the machine does not matter."""
    async with Asking(address) as asking:
        await asking.send(case.data)
        if case.end == "http2":
            await asking.until(lambda a: len(a.data) >= 9 or a.closed)
            asking.answers.end = "http2" if asking.answers.data[3:4] == b"\x04" else "closed"
            return asking.answers
        await asking.until(lambda a: a.closed or len(a.statuses) >= len(case.statuses))
        if case.end == "closed":
            await asking.until(lambda a: a.closed)
        elif case.end == "waits":
            await asking.until(lambda a: a.closed, 0.3)
        if asking.answers.closed:
            asking.answers.end = "closed"
        elif case.end == "open":
            await asking.probe(PATIENCE)
        else:
            asking.answers.end = "waits" if case.end == "waits" else "open"
        return asking.answers


async def observed(address, case, quiet=1.5):
    """Asks a server of which nothing is expected: it has said all once it is quiet."""
    async with Asking(address) as asking:
        await asking.send(case.data)
        await asking.until(lambda a: a.closed, quiet)
        if asking.answers.closed:
            asking.answers.end = "closed"
        elif asking.answers.data.startswith(b"\0\0"):
            asking.answers.end = "http2"
        else:
            await asking.probe(quiet)
        return asking.answers


def ask_all(ask, address, cases_):
    """[(case, answers)], asked side by side."""
    async def run():
        places = asyncio.Semaphore(200)

        async def one(case):
            async with places:
                return case, await ask(address, case)
        return await asyncio.gather(*map(one, cases_))
    return asyncio.run(run())
