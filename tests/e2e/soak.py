#!/usr/bin/env python3
"""soak.py [MINUTES] [--slope MB/h] [--only plain|tls]: clients of every kind against two servers of two loops, one of which speaks TLS, for a long time; what they hold is sampled. Exit status 1 when
one grows, gives a wrong answer, or does not end well."""
import argparse
import itertools
import json
import os
import random
import re
import signal
import ssl
import struct
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import harness
import tls_cases  # first: it brings the packages of the others
import http2_client
from tritonclient.grpc import service_pb2 as oip

DIGITS = harness.EXAMPLES / "digits"
SEVEN = (DIGITS / "testdata/seven.png").read_bytes()
GRPC = "/inference.GRPCInferenceService/"
GRPC_HEAD = [("content-type", "application/grpc"), ("te", "trailers")]
ANSWER_SECONDS = 60
SETTLE_SECONDS = 3
MORE_DESCRIPTORS = 3  # at rest than at the start: libuv keeps one for each loop that has had a connection
PROGRAM = """
import std.image;
import std.tensor;
model Digits = onnx("models/digits");
error NotAnImage = 100001 "the body is not a PNG, JPEG, WebP or BMP image";
fn to_unit(px: u8[h, w]) -> f32[1, h, w] = [c, y, x] => f32(px[y, x]) / 255;
fn ramp(n: i64) -> f64[n] = [i < n] => f64(i);
fn grind(xs: f64[n]) -> f64 = sum[i, j](xs[i] * xs[j] + exp(-xs[i]) * cos(xs[j]));
workflow Greet(name: string = "world") -> (text: string) { return (text: "hello, {name}"); }
workflow Classify(picture: bytes) -> (label: string) {
  node pixels = image.decode_gray(picture) else fail NotAnImage;
  node logits = Digits(to_unit(image.resize(pixels, 28, 28))) { batch 32 within 2ms; }
  node best = tensor.top_k(logits, 1);
  return (label: str(best.indices[0]));
}
workflow Slow(n: i64 = 500) -> (y: f64) { node y = grind(ramp(n)); return (y: y); }
service Soak { workflow Greet; workflow Classify; workflow Slow; inflight 64; }
"""
BROKEN = [b"GARBAGE\r\n\r\n", b"GET / HTTP/9.9\r\nhost: t\r\n\r\n", b"POST /Soak/Greet HTTP/1.1\r\nhost: t\r\ncontent-length: x\r\n\r\n", b"\x16\x03\x01\x02\x00\x01",
          b"POST /Soak/Greet HTTP/1.1\r\nhost: t\r\ncontent-length: 3\r\n\r\n{,}", b"GET /nothing HTTP/1.1\r\nhost: t\r\n\r\n", b"GET /Soak/Greet HTTP/1.1\r\nhost: t\r\n\r\n",
          b"POST /Soak/Classify HTTP/1.1\r\nhost: t\r\ncontent-length: 4\r\n\r\nnone", b"GET / HTTP/1.1\r\nx: " + b"a" * 40_000, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 50]
REFUSED = (429, 503)
CODES = ("0", "3000", "3002", "3010", "3011", "5000", "6000", "100001")  # served, refused, left, mistakes of the clients


class Wrong(Exception):
    pass


def source():
    folder = harness.scratch() / "soak"
    if not folder.exists():
        folder.mkdir()
        (folder / "models").symlink_to(DIGITS / "models")
        (folder / "soak.wf").write_text(PROGRAM)
    return folder / "soak.wf"


def check(reply, expected):
    if reply.status not in REFUSED and (reply.status != 200 or reply.json != expected):
        raise Wrong(f"{reply}, not {expected}")


def greeting(number):
    return f"n{number}" * (1 + number % 50)


def json_calls(server, number):
    """Some requests on one connection of HTTP/1.1."""
    with server.connect(ANSWER_SECONDS) as connection:
        for i in range(20):
            name = greeting(number + i)
            check(connection.call("POST", "/Soak/Greet", json.dumps({"name": name}).encode()), {"text": f"hello, {name}"})


def json_calls_on_streams(server, number):
    with http2_client.Client(server) as client:
        client.socket.settimeout(ANSWER_SECONDS)
        for _ in range(3):
            streams = [(client.begin("/Soak/Greet", json.dumps({"name": greeting(number + i)}).encode()), greeting(number + i)) for i in range(8)]
            for stream, name in streams:
                check(client.reply(stream), {"text": f"hello, {name}"})


def pictures(server, _):
    with server.connect(ANSWER_SECONDS) as connection:
        for _ in range(5):
            check(connection.call("POST", "/Soak/Classify", SEVEN, {"content-type": "application/octet-stream"}), {"label": "7"})


def oip_calls(server, number):
    name = greeting(number)
    body = json.dumps({"id": str(number), "inputs": [{"name": "name", "datatype": "BYTES", "shape": [1], "data": [name]}]}).encode()
    with server.connect(ANSWER_SECONDS) as connection:
        for _ in range(5):
            reply = connection.call("POST", "/v2/models/Soak.Greet/infer", body)
            if reply.status not in REFUSED and (reply.status != 200 or reply.json["id"] != str(number) or reply.json["outputs"][0]["data"] != [f"hello, {name}"]):
                raise Wrong(reply)


def message(name, call_id=""):
    value = name.encode()
    tensor = oip.ModelInferRequest.InferInputTensor(name="name", datatype="BYTES", shape=[1])
    body = oip.ModelInferRequest(model_name="Soak.Greet", id=call_id, inputs=[tensor], raw_input_contents=[struct.pack("<I", len(value)) + value]).SerializeToString()
    return struct.pack(">BI", 0, len(body)) + body


def grpc_calls(server, number):
    with http2_client.Client(server) as client:
        client.socket.settimeout(ANSWER_SECONDS)
        for i in range(8):
            reply = client.reply(client.begin(GRPC + "ModelInfer", message(greeting(number + i)), headers=GRPC_HEAD))
            status = reply.headers["grpc-status"]
            if status not in ("0", "8", "14") or (status == "0" and f"hello, {greeting(number + i)}".encode() not in reply.body):
                raise Wrong(reply)


def grpc_streams(server, number):
    count = 10
    with http2_client.Client(server) as client:
        client.socket.settimeout(ANSWER_SECONDS)
        stream = client.begin(GRPC + "ModelStreamInfer", b"".join(message(greeting(number), str(i)) for i in range(count)), headers=GRPC_HEAD)
        reply = client.reply(stream)
        answers, rest = {}, reply.body
        while rest:
            size = struct.unpack(">BI", rest[:5])[1]
            answer = oip.ModelStreamInferResponse.FromString(rest[5:5 + size])
            answers[answer.infer_response.id] = answer
            rest = rest[5 + size:]
        if reply.headers["grpc-status"] == "0" and sorted(answers) != sorted(map(str, range(count))):
            raise Wrong(reply)
        for answer in answers.values():
            if not answer.error_message and f"hello, {greeting(number)}".encode() not in answer.infer_response.raw_output_contents[0]:
                raise Wrong(answer)


def leavers(server, number):
    """Who ends the connection before the answer, politely or not."""
    connection = server.connect(ANSWER_SECONDS)
    connection.send(harness.request("POST", "/Soak/Slow", b'{"n": 700}'))
    time.sleep(random.random() * 0.03)
    connection.reset() if number % 2 else connection.close()


def resetters(server, _):
    with http2_client.Client(server) as client:
        client.socket.settimeout(ANSWER_SECONDS)
        for _ in range(4):
            stream = client.begin("/Soak/Slow", b'{"n": 700}')
            time.sleep(random.random() * 0.02)
            client.h2.reset_stream(stream)
            client.flush()
        check(client.call("/Soak/Greet", {"name": "left"}), {"text": "hello, left"})
    time.sleep(0.3)  # the budget of resets is of a connection, the processor everybody's


def slow_clients(server, number):
    data = harness.request("POST", "/Soak/Greet", b'{"name": "slow"}')
    with server.connect(ANSWER_SECONDS) as connection:
        for at in range(0, len(data), 10):
            connection.send(data[at:at + 10])
            time.sleep(0.05)
        time.sleep(number % 2)
        check(connection.receive(), {"text": "hello, slow"})


def bad_requests(server, number):
    with server.connect(ANSWER_SECONDS) as connection:
        connection.send(BROKEN[number % len(BROKEN)])
        try:
            if BROKEN[number % len(BROKEN)].startswith(b"PRI"):
                if not connection.closed_within(ANSWER_SECONDS):
                    raise Wrong("bytes that are no HTTP/2 end no connection")
            elif not 400 <= (reply := connection.receive()).status <= 505:
                raise Wrong(reply)
        except (EOFError, ConnectionResetError):
            pass
    time.sleep(0.05)


def scrapes(server, number):
    for path in ("/metrics", "/debug/schedule", "/debug/schedule?format=json", "/livez", *(["/debug/trace?seconds=1"] if number % 10 == 3 else [])):
        with server.connect(ANSWER_SECONDS, port="admin") as connection:
            reply = connection.call("GET", path)
        if reply.status != 200 or not reply.body:
            raise Wrong(reply)
    time.sleep(1)


def reloads(server, number):
    text = "no_such_key: 1\n" if number % 4 == 3 else f"default_timeout: {20 + number % 7}s\nlimits: {{body_bytes: {1 + number % 3}MiB}}\nlog: {{access: {str(number % 2 == 0).lower()}, access_sample: 0.01}}\n"
    server.config.write_text(text)
    server.process.send_signal(signal.SIGHUP)
    time.sleep(1)


def handshakes_left(server, number):
    """Who leaves in the middle of a handshake, at any of its bytes."""
    gone = ssl.MemoryBIO()
    session = server.tls.wrap_bio(ssl.MemoryBIO(), gone, server_hostname="localhost")
    try:
        session.do_handshake()
    except ssl.SSLWantReadError:
        pass
    hello = gone.read()
    with harness.Connection(server.addresses["http"], ANSWER_SECONDS) as connection:
        connection.send(hello[:1 + number * 37 % len(hello)])
        time.sleep(0.05)
        if number % 2:
            connection.reset()


def sessions_resumed(server, number):
    session = None
    for i in range(5):
        connection = harness.Connection(server.addresses["http"], ANSWER_SECONDS)
        connection.socket = server.tls.wrap_socket(connection.socket, server_hostname="localhost", session=session)
        with connection:
            name = greeting(number + i)
            check(connection.call("POST", "/Soak/Greet", json.dumps({"name": name}).encode()), {"text": f"hello, {name}"})
            session = connection.socket.session


def large_answers(server, number):
    """Of many records, read slowly now and then."""
    name = "x" * 300_000
    with server.connect(ANSWER_SECONDS) as connection:
        connection.send(harness.request("POST", "/Soak/Greet", json.dumps({"name": name}).encode()))
        time.sleep(0.2 * (number % 3))
        check(connection.receive(), {"text": f"hello, {name}"})
    time.sleep(0.2)


def strangers_to_tls(server, number):
    with harness.Connection(server.addresses["http"], ANSWER_SECONDS) as connection:
        connection.send((b"GET / HTTP/1.1\r\nhost: t\r\n\r\n", b"\x16\x03\x01\x00\x05hello", bytes(200))[number % 3])
        if not connection.closed_within(ANSWER_SECONDS):
            raise Wrong("bytes that are no TLS end no connection")
    time.sleep(0.05)


KINDS = (json_calls, json_calls_on_streams, pictures, oip_calls, grpc_calls, grpc_streams, leavers, resetters, slow_clients, large_answers, bad_requests, scrapes, reloads)
KINDS_OF_TLS = (handshakes_left, sessions_resumed, strangers_to_tls)


class Load:
    """A thread for each kind, until `stop`."""
    def __init__(self, server):
        self.server, self.over, self.kinds = server, threading.Event(), KINDS + (KINDS_OF_TLS if server.tls else ())
        self.done, self.ended, self.wrong = Counter(), Counter(), []
        self.threads = [threading.Thread(target=self.run, args=(kind,), daemon=True) for kind in self.kinds]
        for thread in self.threads:
            thread.start()

    def run(self, kind):
        for number in itertools.count():
            if self.over.is_set():
                return
            try:
                kind(self.server, number)
                self.done[kind.__name__] += 1
            except (EOFError, ConnectionError, ssl.SSLEOFError):
                self.ended[kind.__name__] += 1
            except Exception as problem:  # told at the end
                self.wrong.append(f"{kind.__name__}: {type(problem).__name__}: {problem}"[:500])

    def stop(self):
        self.over.set()
        for thread in self.threads:
            thread.join(ANSWER_SECONDS + 10)
        return [thread for thread in self.threads if thread.is_alive()]


def mappings(server):
    """{(address, permissions, file): resident KiB}"""
    found, name = {}, None
    for line in Path(f"/proc/{server.process.pid}/smaps").read_text().splitlines():
        if head := re.match(r"([0-9a-f]+)-[0-9a-f]+ (\S+) \S+ \S+ \S+ *(.*)", line):
            name = head.groups()
        elif line.startswith("Rss:"):
            found[name] = int(line.split()[1])
    return found


def grown(before, after):
    """Those that grew most, for who looks for the reason."""
    more = {name: size - before.get(name, 0) for name, size in after.items()}
    most = sorted((name for name in more if more[name] > 0), key=more.get, reverse=True)[:5]
    return "; ".join(f"{address} {permissions} {file or 'anonymous'}: +{more[address, permissions, file]} KiB" for address, permissions, file in most)


class Sample:
    def __init__(self, server, started):
        process = Path(f"/proc/{server.process.pid}")
        self.seconds = time.monotonic() - started
        self.rss = int(re.search(r"^Rss:\s+(\d+)", (process / "smaps_rollup").read_text(), re.M).group(1)) / 1024
        self.names = Counter()
        for descriptor in (process / "fd").iterdir():
            try:
                self.names[re.sub(r"\d+", "N", os.readlink(descriptor))] += 1
            except FileNotFoundError:  # closed meanwhile
                pass
        self.descriptors, self.threads = self.names.total(), len(list((process / "task").iterdir()))


def slope(samples):
    """MiB an hour, by least squares."""
    times, sizes = [sample.seconds / 3600 for sample in samples], [sample.rss for sample in samples]
    mean, middle = sum(times) / len(times), sum(sizes) / len(sizes)
    return sum((at - mean) * (size - middle) for at, size in zip(times, sizes)) / sum((at - mean) ** 2 for at in times)


def answered(server):
    """{code: requests}"""
    found = Counter()
    for name, value in server.metrics().items():
        if name.startswith("wf_requests_total") and value:
            found[re.search(r'code="(\d+)"', name).group(1)] += int(value)
    return dict(found)


class Soaked:
    """A server under load, and what was seen of it."""
    def __init__(self, name, warm):
        self.name, self.warm = name, warm
        self.config = harness.scratch() / f"soak-{name}.yml"
        self.config.write_text("default_timeout: 30s\n")
        flags = ["--config", self.config, "--io-threads", "2", "--model-root", source().parent]
        authority = tls_cases.Authority("of-soak") if name == "tls" else None
        if authority:
            authority.sign("server")
            flags += authority.flags()
        self.server = harness.Server.of(source(), *flags, env=harness.lean())
        self.server.config, self.server.tls = self.config, authority and authority.client()
        self.started = time.monotonic()
        self.fresh, self.samples, self.warm_mappings = Sample(self.server, self.started), [], None
        self.load = Load(self.server)

    def ended(self):
        return self.server.process.poll() is not None

    def look(self):
        self.samples.append(Sample(self.server, self.started))
        if self.warm_mappings is None and self.samples[-1].seconds >= self.warm:
            self.warm_mappings = mappings(self.server)

    def show(self):
        last, load = self.samples[-1], self.load
        print(f"{self.name:>5} {last.seconds:7.0f} {last.rss:8.1f} {last.descriptors:5} {last.threads:7} {sum(load.done.values()):8} {sum(load.ended.values()):6} {len(load.wrong):6}", flush=True)

    def finish(self, most_slope):
        """What was found wrong."""
        server, load = self.server, self.load
        if self.ended():
            load.over.set()
            return [f"the server ended with {server.process.poll()}: {server.output()[-2000:]}"]
        growth = grown(self.warm_mappings or {}, mappings(server))
        stuck = load.stop()
        time.sleep(SETTLE_SECONDS)
        idle, at_work = Sample(server, self.started), [sample for sample in self.samples if sample.seconds >= self.warm]
        grows, codes = slope(at_work), answered(server)
        held = server.settled("wf_connections"), server.settled("wf_inflight_requests"), server.settled("wf_abandoned_inflight")
        status = server.stop()
        print(f"{self.name}: requests by code: {codes}\nturns by kind: {dict(load.done)}\nconnections ended: {dict(load.ended)}")
        print(f"RSS {grows:+.2f} MiB/h after {self.warm:.0f} s, {idle.rss:.1f} MiB at rest; descriptors at rest {idle.descriptors}, at the start {self.fresh.descriptors}; "
              f"threads {sorted({sample.threads for sample in at_work})}")
        found = [f"wrong answers: {len(load.wrong)}, the first: {load.wrong[:3]}"] if load.wrong else []
        found += [f"clients that never came back: {len(stuck)}"] if stuck else []
        found += [f"RSS grows by {grows:.2f} MiB/h, {most_slope:g} at most; most: {growth}"] if grows > most_slope else []
        found += ["threads come and go"] if len({sample.threads for sample in at_work}) > 1 else []
        found += [f"{idle.descriptors} descriptors at rest, {self.fresh.descriptors} at the start: {dict(idle.names - self.fresh.names)} more"] if idle.descriptors > self.fresh.descriptors + MORE_DESCRIPTORS else []
        found += [f"connections, requests in flight, abandoned ones at rest: {held}"] if held != (0, 0, 0) else []
        found += [f"codes that nothing here asks for: {others}"] if (others := {code: count for code, count in codes.items() if code not in CODES}) else []
        found += [f"kinds without a turn: {idle_kinds}"] if (idle_kinds := [kind.__name__ for kind in load.kinds if not load.done[kind.__name__]]) else []
        found += [f"exit status {status}: {server.output()[-1000:]}"] if status != 0 else []
        return found


def soak(minutes, most_slope, names=("plain", "tls")):
    """Prints a table; what was found wrong."""
    seconds = minutes * 60
    warm, every = max(seconds / 5, min(10, seconds / 2)), max(seconds / 30, 1)
    soaked = [Soaked(name, warm) for name in names]
    started, shown = time.monotonic(), 0.0
    print(f"{'':5} {'s':>7} {'MiB':>8} {'fds':>5} {'threads':>7} {'turns':>8} {'ended':>6} {'wrong':>6}")
    while time.monotonic() - started < seconds and not any(one.ended() for one in soaked):
        time.sleep(min(1, seconds / 60))
        for one in soaked:
            one.look()
        if shown == 0 or time.monotonic() - shown >= every:
            shown = time.monotonic()
            for one in soaked:
                one.show()
    return [f"{one.name}: {what}" for one in soaked for what in one.finish(most_slope)]


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("minutes", nargs="?", type=float, default=60)
    options.add_argument("--slope", type=float, default=1.0, help="most MiB an hour")
    options.add_argument("--only", choices=("plain", "tls"), help="one of the servers")
    args = options.parse_args()
    found = soak(args.minutes, args.slope, *([(args.only,)] if args.only else []))
    print("\n".join(found) or "passed: nothing grows, and no answer was wrong")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
