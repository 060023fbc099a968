"""Serves each program of rules/ that has calls beside it, and makes them: served.py --wfc=PATH [NAME...]

NAME.calls holds calls and their answers, with a blank line between two:

    > POST /v2/models/S.Scale/infer
    > x-request-id: seven
    > {"inputs": []}
    < 400
    < content-type: application/json
    < {"code": 5000}

What is not written of an answer may be anything: other headers, other members of objects. A body that is no JSON is compared as it is. A program
`fail_...` is one whose calls are all refused, of the others none is.
"""
import http.client
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import test_blocks

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import cases  # noqa: E402

START_SECONDS = 30


class Message:
    """The lines of a request or an answer: the first, headers, the body."""
    def __init__(self, lines):
        self.first, rest = lines[0], lines[1:]
        split = next((i for i, line in enumerate(rest) if not re.match(r"[a-z0-9-]+: ", line)), len(rest))
        self.headers = dict(line.split(": ", 1) for line in rest[:split])
        self.body = "\n".join(rest[split:])


def read_calls(path):
    for block in path.read_text(encoding="utf-8").strip().split("\n\n"):
        lines = block.splitlines()
        yield tuple(Message([line[2:] for line in lines if line.startswith(mark)]) for mark in "><")


def holds(wanted, found):
    """Does `found` have all that `wanted` says?"""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(name in found and holds(value, found[name]) for name, value in wanted.items())
    if isinstance(wanted, list):
        return isinstance(found, list) and len(wanted) == len(found) and all(map(holds, wanted, found))
    return wanted == found and isinstance(wanted, bool) == isinstance(found, bool)


def same_body(wanted, found):
    try:
        return holds(json.loads(wanted), json.loads(found))
    except ValueError:
        return wanted == found


def mistakes_of_call(name, port, request, wanted):
    method, path = request.first.split()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, request.body.encode(), request.headers)
    answer = connection.getresponse()
    body = answer.read().decode()
    fits = str(answer.status) == wanted.first and all(answer.headers.get(key) == value for key, value in wanted.headers.items())
    if not fits or (wanted.body and not same_body(wanted.body, body)):
        yield f"{name}: {request.first}\n--- wanted\n{wanted.first} {wanted.headers}\n{wanted.body}\n--- found\n{answer.status} {dict(answer.headers)}\n{body}"
    if (answer.status >= 400) != name.startswith("fail_"):
        yield f"{name}: {request.first}: the name begins with fail_ exactly if the call is refused"


def port_of(process, output):
    """Of HTTP; None: the server ended, or does not listen."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        found = re.search(r"^listening .*\bhttp=\S*:(\d+)", output.read_text(), re.M)
        if found:
            return int(found.group(1))
        time.sleep(0.01)
    return None


def mistakes_of(program, wfc, _):
    with tempfile.TemporaryDirectory() as folder:
        server, output = Path(folder) / "server", Path(folder) / "output"
        built = subprocess.run([wfc, "build", program.name, "-o", server], cwd=program.parent, capture_output=True, text=True, timeout=240)
        if built.returncode != 0:
            return [f"{program.name}: exit status {built.returncode}\n{built.stderr}"]
        ports = [part for name in ("http", "grpc", "admin") for part in (f"--{name}-port", "0")]
        with open(output, "wb") as out:
            process = subprocess.Popen([server, *ports, "--host", "127.0.0.1", "--model-root", program.parent], stdout=out, stderr=out)
        try:
            port = port_of(process, output)
            if port is None:
                return [f"{program.name}: the server does not listen\n{output.read_text()}"]
            calls = read_calls(program.with_suffix(".calls"))
            return [text for request, wanted in calls for text in mistakes_of_call(program.stem, port, request, wanted)]
        finally:
            process.kill()
            process.wait()


def programs(folder):
    return [path.with_suffix(".wf") for path in sorted(folder.glob("*.calls"))]


RUNNER = cases.Runner(__doc__, cases=programs, name_of=lambda program: program.stem, mistakes_of=mistakes_of, held="{} programs answer as expected",
                      updates=False, folder=test_blocks.FOLDER, at_once=2)

if __name__ == "__main__":
    RUNNER.main()
