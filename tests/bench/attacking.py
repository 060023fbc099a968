"""Two thousand clients that send or read as slowly as they can, by slowhttptest, and how long others wait meanwhile."""
import subprocess
import threading
import time

import harness
import peers
from bench import Row, in_turns
from programs import GREET, GREET_BODY, HELLO

CONNECTIONS, A_SECOND = 2000, 200  # connections, and how many slowhttptest opens in a second
LEAST_SECONDS = 12  # of a turn: attackers are cut off within, and come again
JSON = ("-t", "POST", "-f", "application/json")
KINDS = {
    "head": ("-H", GREET),
    "body": ("-B", *JSON, "-s", "100000", GREET),
    "read": ("-X", "-k", "10", "-w", "1", "-y", "8", "-n", "5", "-z", "1", "/v2"),
}


class Attack:
    """Goes on until it is stopped: begins again where the server has ended all connections."""
    def __init__(self, server, kind):
        *how, path = KINDS[kind]
        host, port = server.addresses["http"]
        # On the core of the load, and only while that has nothing to do: what is measured is how long the server takes, not who gets the core.
        self.command = ["chrt", "--idle", "0", "slowhttptest", *how, "-c", str(CONNECTIONS), "-r", str(A_SECOND), "-i", "5", "-l", "600", "-p", "60", "-u", f"http://{host}:{port}{path}"]
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        until = time.monotonic() + 20
        while server.metrics()["wf_connections"] < CONNECTIONS / 2:
            if time.monotonic() > until:
                self.stop()
                raise AssertionError(f"no attack: {' '.join(self.command)}")
            time.sleep(0.1)

    def run(self):
        while not self.is_over.is_set():
            with peers.OnCores(peers.LOAD_CPU):
                process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            while process.poll() is None and not self.is_over.wait(0.1):
                pass
            process.kill()
            process.wait()

    def stop(self):
        self.is_over.set()
        self.thread.join()


def attacks(options):
    """the slowest of a hundred answers at a quarter of what the server can do, while clients attack that take their time, against the same without them"""
    server = peers.start_server(HELLO)
    seconds = max(LEAST_SECONDS, options.seconds)
    try:
        rate = int(peers.wrk(server.addresses["http"], GREET, GREET_BODY, options.seconds, 64) / 4)

        def slowest(kind):
            attack = Attack(server, kind) if kind else None
            try:
                seen = peers.at_rate(server.addresses["http"], GREET, GREET_BODY, rate, seconds)
            finally:
                if attack:
                    attack.stop()
            if seen["statuses"] != {"200": seen["answered"]} or seen["lost"] + seen["timed_out"] + seen["refused"]:
                raise AssertionError(f"not all are answered beside slow clients: {seen}")
            return seen["latency_seconds"]["p99"] * 1e6

        for kind in KINDS:
            found = in_turns(options.rounds, {"attacked": lambda kind=kind: slowest(kind), "alone": lambda: slowest(None)})
            yield Row(f"attacks-slow-{kind}-p99", found["attacked"], found["alone"], "us", f"{rate:,}/s without them", 1 / 1.5, higher_is_better=False)
    finally:
        server.stop()
