#!/usr/bin/env python3
"""Settings of the server and of the program: which one holds, what is read again on SIGHUP, what --check-config finds."""
import json
import os
import signal
import socket
import subprocess
import threading
import time
import unittest

import harness

# `Slow` takes seconds, which is more than every deadline here.
SLOW = """
fn ramp(n: i64) -> f64[n] = [i < n] => f64(i);
fn grind(xs: f64[n]) -> f64 = sum[i, j](xs[i] * xs[j] + exp(-xs[i]) * cos(xs[j]));
workflow Slow(n: i64 = 2) -> (y: f64) {
  node y = grind(ramp(n));
  return (y: y);
}
workflow Echo(text: string) -> (size: i64) { return (size: len(text)); }
"""


def program(name, services):
    file = harness.scratch() / f"{name}.wf"
    file.write_text(SLOW + services)
    return file


SILENT = program("silent", "service S { workflow Slow; workflow Echo; }\n")
WRITTEN = program("written", "service S { workflow Slow; workflow Echo; timeout 60s; body 2KiB; inflight 3; }\n")
HELLO = harness.EXAMPLES / "hello/hello.wf"
LONG = {"n": 60_000}


class Precedence(unittest.TestCase):
    def serve(self, source, *args):
        server = harness.Server.of(source, *args)
        self.addCleanup(server.kill)
        return server

    def test_a_program_that_says_nothing_takes_the_servers_values(self):
        server = self.serve(SILENT, "--default-timeout", "100ms", "--limits-body-bytes", "1KiB")
        reply = server.post("/S/Slow", LONG)
        self.assertEqual((reply.status, reply.error["code"]), (504, 6000), reply)
        self.assertEqual(server.post("/S/Echo", {"text": "x" * 900}).json, {"size": 900})
        self.assertEqual(server.post("/S/Echo", {"text": "x" * 1100}).status, 413)

    def test_what_the_program_says_wins(self):
        server = self.serve(WRITTEN, "--default-timeout", "1ms", "--limits-body-bytes", "1KiB")
        self.assertEqual(server.post("/S/Echo", {"text": "x" * 1500}).json, {"size": 1500})
        self.assertEqual(server.post("/S/Echo", {"text": "x" * 2100}).status, 413)
        reply = server.post("/S/Slow", {"n": 3000})  # many milliseconds, less than the program's minute
        self.assertEqual(reply.status, 200, reply)

    def test_requests_in_flight(self):
        server = self.serve(SILENT, "--limits-inflight", "1", "--schedule=pool")
        with server.connect() as coming, server.connect() as busy:
            late = harness.request("POST", "/S/Echo", b'{"text": "late"}')
            coming.send(late[:-1])  # it takes no place until it is whole
            self.assertEqual(server.post("/S/Echo", {"text": ""}).status, 200)
            busy.send(harness.request("POST", "/S/Slow", b'{"n": 10000}'))
            until = time.monotonic() + 10
            while (status := server.post("/S/Echo", {"text": ""}).status) != 429 and time.monotonic() < until:
                time.sleep(0.01)
            self.assertEqual(status, 429)
            coming.send(late[-1:])
            self.assertEqual(coming.receive().status, 429)
            self.assertEqual(busy.receive().status, 200)

    def test_the_graph_prints_what_holds(self):
        silent = harness.wfc("graph", SILENT, "--level=node").stdout
        self.assertIn("timeout 30s · inflight 256 · body 64MiB · rows 1024", silent)
        written = json.loads(harness.wfc("graph", WRITTEN, "--format=json").stdout)
        self.assertEqual(written["workflows"][0]["settings"], {"timeout": "1m", "inflight": "3", "body": "2KiB", "rows": "1024"})


class Reload(unittest.TestCase):
    def setUp(self):
        self.file = harness.scratch() / f"{self.id().rsplit('.', 1)[-1]}.yml"
        self.file.write_text("default_timeout: 30s\n")
        self.server = harness.Server.of(SILENT, "--config", self.file)
        self.addCleanup(self.server.kill)

    def reload(self, text, result):
        if text is not None:
            self.file.write_text(text)
        self.server.reload(result)

    def test_reloadable_settings_hold_for_what_comes_next(self):
        self.reload("default_timeout: 100ms\nlimits: {body_bytes: 1KiB}\nlog: {access: true}\n", "ok")
        reply = self.server.post("/S/Slow", LONG)
        self.assertEqual((reply.status, reply.error["code"]), (504, 6000), reply)
        self.assertEqual(self.server.post("/S/Echo", {"text": "x" * 1100}).status, 413)
        self.assertTrue(self.server.logs('"message":"request"', "/S/Slow"), self.server.output())
        self.reload("log: {level: error}\n", "ok")
        self.assertEqual(self.server.post("/S/Echo", {"text": "x" * 1100}).json, {"size": 1100})

    def test_limits_of_heads_hold_on_open_connections(self):
        with self.server.connect() as connection:
            for limits, status in (("{}", 200), ("{header_bytes: 2KiB, request_line_bytes: 1KiB}", 431)):
                self.reload(f"limits: {limits}\n", "ok")
                connection.send(harness.request("POST", "/S/Echo", b'{"text": "x"}', {"content-type": "application/json", "x": "a" * 8000}))
                self.assertEqual(connection.receive().status, status, limits)

    def test_what_needs_a_restart_is_told_and_stays(self):
        self.reload("io_threads: 7\nlimits: {body_bytes: 1KiB}\n", "ok")
        self.assertTrue(self.server.logs('"warning"', "io_threads", "restart"), self.server.output())
        self.assertEqual(self.server.post("/S/Echo", {"text": "x" * 1100}).status, 413)

    def test_a_configuration_with_a_mistake_changes_nothing(self):
        self.reload("limits: {body_bytes: 1KiB}\n", "ok")
        for text, word in (("limits: {body_bytes: 2KiB}\ndefault_timout: 1s\n", "default_timeout"), ("{{{", self.file.name), ("default_timeout: 400s\n", "limits.timeout")):
            self.reload(text, "error")
            self.assertTrue(self.server.logs('"error"', word), self.server.output())
            self.assertEqual(self.server.post("/S/Echo", {"text": "x" * 1100}).status, 413)
        self.file.unlink()
        self.server.process.send_signal(signal.SIGHUP)
        self.assertTrue(self.server.logs('"error"', "no such file"), self.server.output())
        self.assertEqual(self.server.post("/S/Echo", {"text": "x" * 900}).status, 200)

    def test_a_pipe_is_read_at_the_start_alone(self):
        pipe = harness.scratch() / "pipe.yml"
        os.mkfifo(pipe)
        self.server = harness.Server(harness.compiled(SILENT), "--config", pipe)
        self.addCleanup(self.server.kill)
        time.sleep(0.2)  # its writer may come later, and take its time
        with open(pipe, "w", encoding="utf-8") as writer:
            writer.write("limits: {body")
            writer.flush()
            time.sleep(0.2)
            writer.write("_bytes: 1KiB}\n")
        self.server.wait_ready()
        self.reload(None, "error")
        self.assertTrue(self.server.logs('"error"', "pipe.yml", "not a regular file"), self.server.output())
        self.assertEqual(self.server.post("/S/Echo", {"text": "x" * 1100}).status, 413)
        self.assertEqual(self.server.stop(), 0, self.server.output())

    def test_flags_win_again(self):
        server = harness.Server.of(SILENT, "--config", self.file, "--limits-body-bytes", "1KiB")
        self.addCleanup(server.kill)
        self.server = server
        self.reload("limits: {body_bytes: 1MiB, timeout: 200s}\n", "ok")
        self.assertEqual(server.post("/S/Echo", {"text": "x" * 1100}).status, 413)

    def test_no_request_is_lost_while_it_changes(self):
        stop = threading.Event()
        answers, failures = [0] * 4, []

        def ask(index):
            try:
                with self.server.connect() as connection:
                    while not stop.is_set():
                        reply = connection.call("POST", "/S/Slow", b'{"n": 20}')
                        if reply.status != 200:
                            failures.append(reply)
                        answers[index] += 1
            except (OSError, EOFError) as error:
                failures.append(error)

        clients = [threading.Thread(target=ask, args=(index,)) for index in range(len(answers))]
        for client in clients:
            client.start()
        for round_ in range(12):
            if round_ % 4 == 3:
                self.reload("no_such_key: 1\n", "error")
            else:
                self.reload(f"default_timeout: {20 + round_}s\n", "ok")
        stop.set()
        for client in clients:
            client.join()
        self.assertEqual(failures, [])
        self.assertGreater(min(answers), 10)
        self.assertEqual(self.server.stop(), 0, self.server.output())


class CheckConfig(unittest.TestCase):
    DIGITS = harness.EXAMPLES / "digits/digits.wf"

    def check(self, source, *args):
        return subprocess.run([harness.compiled(source), "--check-config", *harness.flags_besides(args, admin_port=0, http_port=0), *map(str, args)], capture_output=True, text=True, timeout=60, check=False)

    def test_a_sound_one(self):
        done = self.check(self.DIGITS, "--model-root", self.DIGITS.parent)
        self.assertEqual((done.returncode, done.stdout), (0, "the configuration is fine\n"), done)

    def test_one_port_for_two_listeners_is_told_by_both(self):
        for flags in ([], ["--check-config"]):
            done = subprocess.run([harness.compiled(HELLO), "--http-port=8099", "--admin-port=8099", *flags], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done)
            self.assertIn("`admin_port` is `8099` and `http_port` is `8099` (--http-port): give each its own", done.stderr)

    def test_a_file_full_of_mistakes_is_refused_in_a_few_lines(self):
        file = harness.scratch() / "full.yml"
        file.write_text("".join(f"k{i}: 1\n" for i in range(80_000)))
        done = self.check(HELLO, "--config", file)
        self.assertEqual((done.returncode, done.stderr.count("full.yml:")), (1, 20), done.stderr[:2000])
        self.assertIn("and 79980 more mistakes", done.stderr)

    def test_models_are_looked_at(self):
        folder = harness.scratch() / "checked"
        done = self.check(self.DIGITS, "--model-root", folder)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn(str(folder), done.stderr)
        (folder / "models/digits/1").mkdir(parents=True)
        (folder / "models/digits/1/model.onnx").write_bytes(b"no model")
        done = self.check(self.DIGITS, "--model-root", folder)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done)
        self.assertIn("models/digits/1/model.onnx", done.stderr)

    def test_addresses_and_ports_are_tried(self):
        server = harness.Server.of(HELLO)
        self.addCleanup(server.kill)
        for flag, port in (("--http-port", "http"), ("--admin-port", "admin")):
            done = self.check(HELLO, "--host", "127.0.0.1", flag, server.addresses[port][1])
            self.assertEqual((done.returncode, done.stdout), (1, ""), done)
            self.assertIn(f":{server.addresses[port][1]}: the port is in use by another process", done.stderr)
        self.assertEqual(server.post("/Hello/Greet", {}).status, 200)
        self.assertEqual(server.stop(), 0)
        tried = []
        while not tried or (tried[-1].returncode != 0 and len(tried) < 20):  # the system may hand a port without a listener to others
            with socket.socket() as free:  # not the server's, which another test may have taken by now
                free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                free.bind(("127.0.0.1", 0))  # without listening
                tried.append(self.check(HELLO, "--host", "127.0.0.1", "--http-port", free.getsockname()[1]))
        self.assertEqual(tried[-1].returncode, 0, tried)
        for flag, host, status, word in (("--host", "localhost", 2, "expected a numeric address, as `127.0.0.1`"), ("--host", "300.1.1.1", 2, "numeric"),
                                         ("--admin-host", "203.0.113.7", 1, "no such address")):
            done = self.check(HELLO, flag, host)
            self.assertEqual(done.returncode, status, done)
            self.assertIn(host, done.stderr)
            self.assertIn(word, done.stderr)

    def test_a_configuration_file_without_a_name(self):
        done = self.check(HELLO, "--config", "")
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("--config: expected the name of a file", done.stderr)


class ReadyLine(unittest.TestCase):
    def test_it_names_what_is_served(self):
        server = harness.Server.of(HELLO)
        self.addCleanup(server.kill)
        self.assertEqual(sorted(server.addresses), ["admin", "grpc", "http"])
        self.assertEqual(server.addresses["grpc"], server.addresses["http"])


if __name__ == "__main__":
    harness.main()
