#!/usr/bin/env python3
"""SIGTERM under load loses nothing that was accepted, and a killed server is ready again at once, round after round (ROUNDS: how many drains; kills are twice as many)."""
import json
import os
import signal
import socket
import statistics
import threading
import time
import unittest

import harness

HELLO = harness.EXAMPLES / "hello/hello.wf"
ROUNDS = int(os.environ.get("ROUNDS", "15"))
KILLS = 2 * ROUNDS
CLIENTS = 6
MOST_SECONDS_TO_READY = 5  # of a sanitized server on a busy machine; the median is printed


class Asker(threading.Thread):
    """Requests, on a connection as long as the server keeps it, until nobody listens any more."""
    def __init__(self, server):
        super().__init__()
        self.server, self.answered, self.wrong = server, 0, []
        self.start()

    def run(self):
        try:
            while True:
                with self.server.connect() as connection:
                    keeps = True
                    while keeps:
                        reply = connection.call("POST", "/Hello/Greet", b'{"name":"Ada"}')
                        self.answered += 1
                        keeps = reply.headers.get("connection") != "close"
                        if reply.status != 200 or reply.json != {"text": "hello, Ada"}:
                            self.wrong.append(reply)
        except (EOFError, ConnectionError):  # an idle connection was closed, or the port
            pass
        except Exception as problem:  # told by the test
            self.wrong.append(problem)


def requests_told(server):
    lines = [json.loads(line) for line in server.stderr_path.read_text().splitlines() if line.startswith("{")]
    return [line["status"] for line in lines if line["message"] == "request"]


class Rounds(unittest.TestCase):
    def test_a_drain_under_load_answers_all_that_it_has_read(self):
        total = 0
        for round_ in range(ROUNDS):
            server = harness.Server.of(HELLO, "--log-access=true", "--io-threads", "2", "--schedule", ("inline", "pool")[round_ % 2])
            self.addCleanup(server.kill)
            clients = [Asker(server) for _ in range(CLIENTS)]
            time.sleep(0.02 + 0.01 * (round_ % 10))
            status = server.stop()
            for client in clients:
                client.join(30)
            self.assertEqual(([client.wrong for client in clients], status), ([[]] * CLIENTS, 0), server.output()[-2000:])
            told = requests_told(server)
            self.assertEqual(set(told), {200})
            self.assertEqual(len(told), sum(client.answered for client in clients), "an answer was lost on its way")
            total += len(told)
        print(f"{ROUNDS} drains, {total} requests, none lost")

    @harness.timed
    def test_a_killed_server_is_ready_again(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        took = []
        for _ in range(KILLS):
            began = time.monotonic()
            server = harness.Server(harness.compiled(HELLO), "--http-port", port, "--grpc-port", port)
            self.addCleanup(server.kill)
            server.wait_ready()
            took.append(time.monotonic() - began)
            self.assertEqual(server.post("/Hello/Greet", {"name": "Ada"}).json, {"text": "hello, Ada"})
            clients = [Asker(server) for _ in range(2)]
            time.sleep(0.02)
            server.process.send_signal(signal.SIGKILL)
            self.assertEqual(server.process.wait(10), -signal.SIGKILL)
            for client in clients:
                client.join(30)
                self.assertEqual(client.wrong, [])
        print(f"{KILLS} kills, ready again after {statistics.median(took) * 1e3:.0f} ms, {max(took) * 1e3:.0f} ms at most")
        self.assertLess(max(took), MOST_SECONDS_TO_READY)


if __name__ == "__main__":
    harness.main()
