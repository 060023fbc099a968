"""LSP by hand: messages as bytes, and how long an editor waits after a keystroke."""
import json
import os
import re
import subprocess
import time

import harness


def frame(value):
    body = value if isinstance(value, bytes) else json.dumps({"jsonrpc": "2.0", **value}).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def big_program(lines):
    pieces, number = ["import std.nn;\nimport std.tensor;\n"], 0
    while sum(piece.count("\n") for piece in pieces) < lines:
        number += 1
        pieces.append(f"""
/// Number {number}.
fn scale{number}(x: f32[n], by: f32) -> f32[n] {{
  let total = sum[i](x[i]);
  [i] => x[i] * by / total
}}

workflow W{number}(values: list<f32>, top: i64 = 3) -> (best: list<i64>, label: string) {{
  require top >= 1 else fail InputParams("top is {{top}}");
  node xs = tensor.stack(values);
  node probabilities = nn.softmax(scale{number}(xs, 2.0));
  node best = tensor.top_k(probabilities, top);
  let label = "the best of {{top}}";
  return (best: list(best.indices), label: label);
}}
""")
    return "".join(pieces)


class Wire:
    """wfc lsp with a client that waits for each answer."""
    def __init__(self):
        self.process = subprocess.Popen([harness.WFC, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.send({"id": 1, "method": "initialize", "params": {}}, {"method": "initialized", "params": {}})
        self.receive()

    def send(self, *messages):
        self.process.stdin.write(b"".join(map(frame, messages)))
        self.process.stdin.flush()

    def receive(self):
        length = 0
        while line := self.process.stdout.readline().strip():
            length = int(line.split(b":")[1])
        return json.loads(self.process.stdout.read(length))

    def processor_seconds(self):
        """What the server has used so far; other load on the machine does not count."""
        with open(f"/proc/{self.process.pid}/stat") as stat:
            user, system = stat.read().rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def resident_mib(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(r"VmRSS:\s+(\d+) kB", status.read()).group(1)) / 1024

    def stop(self):
        self.send({"id": 2, "method": "shutdown"}, {"method": "exit"})
        self.process.stdin.close()
        self.process.stdout.close()
        if self.process.wait(30) != 0:
            raise AssertionError(f"wfc lsp ended with {self.process.returncode}")


def keystroke_seconds(lines, rounds):
    """From a change to its diagnostics, which come and go, in a program of so many lines: each time, and what the processor spends on one."""
    text, uri, wire = big_program(lines), "untitled:big", Wire()
    place = text.index("scale7(xs, 2.0") + len("scale7(xs, 2.0")
    line = text.count("\n", 0, place)
    column = place - text.rindex("\n", 0, place) - 1
    wire.send({"method": "textDocument/didOpen", "params": {"textDocument": {"uri": uri, "version": 0, "text": text}}})
    wire.receive()
    times, used = [], wire.processor_seconds()
    for number in range(1, rounds + 1):
        end = column if number % 2 else column + 3
        range_ = {"start": {"line": line, "character": column}, "end": {"line": line, "character": end}}
        change = {"textDocument": {"uri": uri, "version": number}, "contentChanges": [{"range": range_, "text": ", x" if number % 2 else ""}]}
        before = time.perf_counter()
        wire.send({"method": "textDocument/didChange", "params": change})
        found = wire.receive()["params"]
        times.append(time.perf_counter() - before)
        if found["version"] != number or bool(found["diagnostics"]) != bool(number % 2):
            raise AssertionError(f"not the diagnostics of the change: {found}")
    used = (wire.processor_seconds() - used) / rounds
    wire.stop()
    return times, used
