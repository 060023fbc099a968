"""Three times what a server can do of a workflow of one millisecond: what it still does, how soon it refuses, what it holds, when it is itself again."""
import importlib.util
import json
import threading
import time
from pathlib import Path

import harness
import peers

TIMES = 3
_spec = importlib.util.spec_from_file_location("overload_test", Path(__file__).resolve().parents[1] / "e2e/overload_test.py")
overload = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(overload)  # the program, and how much work a millisecond is


class Watch:
    """What the server holds at most meanwhile."""
    def __init__(self, server):
        self.server, self.over, self.most_mib = server, threading.Event(), 0.0
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.over.wait(0.1):
            self.most_mib = max(self.most_mib, overload.resident_mib(self.server))

    def stop(self):
        self.over.set()
        self.thread.join()


def load(server, body, *args):
    with peers.OnCores(peers.LOAD_CPU):
        return overload.bench(server, body, "--warm-up", "1", *args)


def measure(seconds):
    """(requests a second in the overload, at the peak; p99 of refusals in seconds; MiB more than before; seconds until the first answer behind it)"""
    with peers.OnCores(peers.SERVER_CPU):
        server = harness.Server(harness.compiled(overload.source()), "--io-threads", "1", "--compute-threads", "1")
        server.wait_ready()
    body = overload.work_of(server, overload.MILLISECOND)
    peak = load(server, body, "--connections", "4", "--duration", str(max(1, seconds // 6)))["per_second"]
    before = overload.resident_mib(server)
    watch = Watch(server)
    seen = load(server, body, "--rate", str(int(TIMES * peak)), "--duration", str(seconds))
    watch.stop()
    began = time.perf_counter()
    with server.connect() as connection:
        while connection.call("POST", "/Overload/Work", body.encode()).status != 200:
            pass
    recovered = time.perf_counter() - began
    server.stop()
    if set(seen["statuses"]) != {"200", "429"} or seen["lost"] + seen["timed_out"] + seen["refused"] != 0:
        raise AssertionError(f"answers of another kind: {json.dumps(seen)}")
    return seen["per_second"], peak, seen["wrong_latency_seconds"]["p99"], watch.most_mib - before, recovered
