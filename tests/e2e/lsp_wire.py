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


def position_of(text, offset):
    line_start = text.rfind("\n", 0, offset) + 1
    return {"line": text.count("\n", 0, offset), "character": offset - line_start}


class Document:
    """A file that is open in `wire`, and changes."""
    def __init__(self, wire, text):
        self.wire, self.text, self.version, self.named = wire, text, 0, {"uri": "untitled:big"}
        wire.send({"method": "textDocument/didOpen", "params": {"textDocument": {**self.named, "version": 0, "text": text}}})
        wire.receive()

    def change(self, begin, end, typed):
        """The message that puts `typed` in place of what lies between two offsets."""
        range_ = {"start": position_of(self.text, begin), "end": position_of(self.text, end)}
        self.text, self.version = self.text[:begin] + typed + self.text[end:], self.version + 1
        params = {"textDocument": {**self.named, "version": self.version}, "contentChanges": [{"range": range_, "text": typed}]}
        return {"method": "textDocument/didChange", "params": params}

    def found(self):
        """Whether there are diagnostics of the change, which are what comes next."""
        found = self.wire.receive()["params"]
        if found["version"] != self.version:
            raise AssertionError(f"not the diagnostics of the change: {found}")
        return bool(found["diagnostics"])


def keystroke_seconds(lines, rounds):
    """From a change to its diagnostics, which come and go, in a program of so many lines: each time, and what the processor spends on one."""
    wire = Wire()
    document = Document(wire, big_program(lines))
    place = document.text.index("scale7(xs, 2.0") + len("scale7(xs, 2.0")
    times, used = [], wire.processor_seconds()
    for number in range(1, rounds + 1):
        change = document.change(place, place, ", x") if number % 2 else document.change(place, place + 3, "")
        before = time.perf_counter()
        wire.send(change)
        found = document.found()
        times.append(time.perf_counter() - before)
        if found != bool(number % 2):
            raise AssertionError("not the diagnostics of the change")
    used = (wire.processor_seconds() - used) / rounds
    wire.stop()
    return times, used


def completion_seconds(lines, rounds):
    """From a `.` that ends what is written of a statement, where the text parses no more, to the members that may follow: each time, and what the processor
    spends on one and on the diagnostics behind it."""
    wire = Wire()
    document = Document(wire, big_program(lines))
    place, typed, times, used = document.text.index("  let label", document.text.index("workflow W7(")), "  let z = best", [], 0.0
    for number in range(rounds):
        wire.send(document.change(place, place, typed + "\n"))
        document.found()
        dot, before_use = place + len(typed), wire.processor_seconds()
        change = document.change(dot, dot, ".")
        params = {"textDocument": document.named, "position": position_of(document.text, dot + 1), "context": {"triggerKind": 2, "triggerCharacter": "."}}
        before = time.perf_counter()
        wire.send(change, {"id": 100 + number, "method": "textDocument/completion", "params": params})
        labels = [item["label"] for item in wire.receive()["result"]]
        times.append(time.perf_counter() - before)
        if labels != ["values", "indices"] or not document.found():
            raise AssertionError(f"not the members, or no diagnostics: {labels}")
        used += wire.processor_seconds() - before_use
        wire.send(document.change(place, dot + 2, ""))
        if document.found():
            raise AssertionError("diagnostics of a program without mistakes")
    wire.stop()
    return times, used / rounds
