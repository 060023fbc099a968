"""Random workflows (tests/diff), built and served: what comes back over several connections has the bits that the interpreter computes."""
import json
import struct
import sys
from pathlib import Path
import subprocess
import threading
import unittest
import urllib.parse

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from harness import BUILD, Connection, Server, main, scratch

COUNT = 64  # a file
CONNECTIONS = 4
FLOATS = {"f64": "<Qd", "f32": "<If", "f16": "<He"}


def number(text):
    return -0.0 if text == "-0" else int(text)


def same(wanted, got):
    """Are these the same values? A float is wanted as {"f32": bits}."""
    if isinstance(wanted, dict) and len(wanted) == 1 and (kind := next(iter(wanted))) in (*FLOATS, "bf16"):
        if isinstance(got, bool) or not isinstance(got, (int, float)):
            return False
        if kind == "bf16":
            return struct.pack("<f", got) == struct.pack("<I", wanted[kind] << 16)
        return struct.pack("<" + FLOATS[kind][2], got) == struct.pack("<" + FLOATS[kind][1], wanted[kind])
    if isinstance(wanted, dict):
        return isinstance(got, dict) and wanted.keys() == got.keys() and all(same(wanted[name], got[name]) for name in wanted)
    if isinstance(wanted, list):
        return isinstance(got, list) and len(wanted) == len(got) and all(map(same, wanted, got))
    return type(wanted) is type(got) and wanted == got


def may_be_last(key, got, wanted):
    """May `got` be the last of these annotations of the key? What is not certain may be missing."""
    for name, text, is_certain in reversed(wanted):
        if name == key and got in (text, text.strip(" \t")):
            return True
        if name == key and is_certain:
            return False
    return got is None


class ServedDiff(unittest.TestCase):
    def check(self, call, reply):
        got = json.loads(reply.body, parse_int=number)
        if "values" in call:
            return reply.status == 200 and same(call["values"], got) and self.check_annotations(call["annotations"], reply.headers)
        error = got.get("error", {})
        return any(error.get("code") == code and (code == 9000 or error.get("path", "") == wanted) for code, wanted in call["failures"])

    def check_annotations(self, wanted, headers):
        got = {name[3:]: urllib.parse.unquote_to_bytes(value.encode("latin-1")).decode() for name, value in headers.items() if name.startswith("wf-k")}
        return all(may_be_last(key, got.get(key), wanted) for key in got.keys() | {key for key, _, _ in wanted})

    def talk(self, address, calls, wrong):
        with Connection(address, timeout=120) as connection:
            for call in calls:
                reply = connection.call("POST", call["path"], call["body"].encode(), {"content-type": "application/json", **call["metadata"]})
                if not self.check(call, reply):
                    wrong.append(f"{call}\n  was answered with {reply}")

    def test_replies(self):
        folder = scratch() / "diff"
        folder.mkdir()
        subprocess.run([BUILD / "bin/wf_diff", "run", "--count", str(COUNT), "--seed", "5", "--tries", "0", "--expect", folder], check=True, timeout=250)
        asked = 0
        for source in sorted(folder.glob("*.wf")):
            calls = [json.loads(line) for line in source.with_suffix(".jsonl").read_text().splitlines()]
            asked += len(calls)
            server = Server.of(source)
            wrong = []
            threads = [threading.Thread(target=self.talk, args=(server.addresses["http"], calls[i::CONNECTIONS], wrong)) for i in range(CONNECTIONS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(server.stop(), 0, server.output())
            self.assertEqual(len(wrong), 0, f"{source}\n" + "\n".join(wrong[:5]))
        self.assertGreater(asked, COUNT)


if __name__ == "__main__":
    main()
