"""What a built server answers to the calls of a file of random workflows, next to what `wf_diff run --expect` says it owes."""
import base64
import json
import math
import struct
import sys
import threading
import urllib.parse
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from harness import Connection, Server, scratch, wfc

CONNECTIONS = 4
MOST_QUERY_BYTES = 1000
MOST_HEADER_BYTES = 4096  # of an annotation
BUILD_SECONDS = 600  # a long run gives way to all else
FLOATS = {"f64": "<Qd", "f32": "<If", "f16": "<He"}


def number(text):
    return -0.0 if text == "-0" else int(text)


def bf16(bits):
    return struct.unpack("<f", struct.pack("<I", bits << 16))[0]


def reads_as_bf16(number, bits):
    """Is that the bf16 which is nearest to the number?"""
    value = bf16(bits)
    if number == value:
        return math.copysign(1, number) == math.copysign(1, value)
    return bits & 0x7FFF != 0 and all(abs(number - value) < abs(number - bf16(beside)) for beside in (bits - 1, bits + 1))


def same(wanted, got):
    """Are these the same values? A float is wanted as {"f32": bits}."""
    if isinstance(wanted, dict) and len(wanted) == 1 and (kind := next(iter(wanted))) in (*FLOATS, "bf16"):
        if isinstance(got, bool) or not isinstance(got, (int, float)):
            return False
        if kind == "bf16":
            return reads_as_bf16(got, wanted[kind])
        return struct.pack("<" + FLOATS[kind][2], got) == struct.pack("<" + FLOATS[kind][1], wanted[kind])
    if isinstance(wanted, dict):
        return isinstance(got, dict) and wanted.keys() == got.keys() and all(same(wanted[name], got[name]) for name in wanted)
    if isinstance(wanted, list):
        return isinstance(got, list) and len(wanted) == len(got) and all(map(same, wanted, got))
    return type(wanted) is type(got) and wanted == got


def may_be_last(key, got, wanted):
    """May `got` be the last of these annotations of the key? What is not certain may be missing."""
    for name, whole, is_certain in reversed(wanted):
        text = whole.encode()[:MOST_HEADER_BYTES].decode(errors="ignore")
        if name == key and got in (text, text.strip(" \t")):
            return True
        if name == key and is_certain:
            return False
    return got is None


def has_annotations(wanted, headers):
    got = {name[3:]: urllib.parse.unquote_to_bytes(value.encode("latin-1")).decode() for name, value in headers.items() if name.startswith("wf-k")}
    return all(may_be_last(key, got.get(key), wanted) for key in got.keys() | {key for key, _, _ in wanted})


def is_owed(call, reply):
    got = json.loads(reply.body, parse_int=number)
    if "values" in call:
        return reply.status == 200 and same(call["values"], got) and has_annotations(call["annotations"], reply.headers)
    error = got.get("error", {})
    return any(error.get("code") == code and (code == 9000 or error.get("path", "") == wanted) for code, wanted in call["failures"])


def asked(call):
    """Path, body and type. The one parameter of bytes that is required is sent as the body itself, while the others, as they are or as JSON, fit a query."""
    others = json.loads(call["body"])
    if not call["raw"] or len(call["body"]) > MOST_QUERY_BYTES:
        return call["path"], call["body"].encode(), "application/json"
    body = base64.b64decode(others.pop(call["raw"])["b64"])
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in others.items() if value is not None}
    return f"{call['path']}?{urllib.parse.urlencode(texts)}", body, "application/octet-stream"


def talk(address, calls, wrong):
    try:
        with Connection(address, timeout=120) as connection:
            for call in calls:
                path, body, kind = asked(call)
                reply = connection.call("POST", path, body, {"content-type": kind, **call["metadata"]})
                if not is_owed(call, reply):
                    wrong.append(f"{call}\n  was answered with {reply}")
    except (OSError, ValueError, AssertionError) as error:
        wrong.append(f"a connection ended with {error!r}")


def built(source, level="-O2"):
    binary = scratch() / f"{source.stem}.server"
    wfc("build", source, "-o", binary, level, timeout=BUILD_SECONDS)
    return binary


def served(source, binary):
    """The calls in the file beside `source` that its server was asked, and what it answered otherwise than owed. The server is gone then."""
    calls = [json.loads(line) for line in source.with_suffix(".jsonl").read_text().splitlines()]
    text = source.read_text()
    server = Server(binary, *(["--model-root", source.parent] if "onnx(" in text else []))
    server.wait_ready()
    if "onnx(" in text:
        server.tried_rows()
    wrong = []
    threads = [threading.Thread(target=talk, args=(server.addresses["http"], calls[i::CONNECTIONS], wrong)) for i in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if server.stop() != 0:
        wrong.append(f"the server did not end as it should\n{server.output()}")
    for path in (binary, server.stdout_path, server.stderr_path):
        path.unlink()
    return len(calls), wrong
