#!/usr/bin/env python3
"""Unix sockets: curl, httpx and grpcio on a file, its permissions, files that an earlier server left, and what is left behind."""
import json
import os
import signal
import socket
import stat
import subprocess
import time
import unittest
from pathlib import Path

import harness
import onnx_file

if __name__ == "__main__":
    harness.in_environment()

import grpc  # noqa: E402
import httpx  # noqa: E402

SOURCE = """
workflow Copy(text: string) -> (text: string) { return (text: text); }
service Texts { workflow Copy; }
"""
COPY = "/Texts/Copy"


def program():
    path = harness.scratch() / "texts.wf"
    path.write_text(SOURCE)
    return path


class UnixSockets(unittest.TestCase):
    def setUp(self):
        self.path = harness.scratch() / f"{self._testMethodName[-40:]}.sock"

    def serve(self, *args, **more):
        server = harness.Server.of(program(), "--listen", f"unix:{self.path}", *args, **more)
        self.addCleanup(server.kill)
        return server

    def copy(self, text="a", path=None):
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(path or self.path))) as client:
            return client.post("http://t" + COPY, json={"text": text}).json()

    def refused(self, *args):
        """What a server says that cannot listen there."""
        binary = harness.compiled(program())
        command = [binary, "--listen", f"unix:{self.path}", "--admin-port", "0", *args]
        for check in ([], ["--check-config"]):
            done = subprocess.run([*command, *check], capture_output=True, text=True, timeout=30)
            self.assertEqual(done.returncode, 1, done)
            self.assertIn(f"cannot listen on unix:{self.path}: ", done.stderr)
        return done.stderr

    def test_real_clients(self):
        server = self.serve()
        self.assertIn(f"listening http=unix:{self.path} grpc=unix:{self.path} admin=127.0.0.1:", server.stdout_path.read_text())
        for version in ("--http1.1", "--http2-prior-knowledge"):
            done = subprocess.run(["curl", "-sS", version, "--unix-socket", self.path, "-H", "content-type: application/json", "-d", '{"text": "é"}', "http://t" + COPY],
                                  capture_output=True, text=True, timeout=30)
            self.assertEqual(json.loads(done.stdout), {"text": "é"}, done.stderr)
        self.assertEqual(self.copy("b" * 1_000_000), {"text": "b" * 1_000_000})
        with grpc.insecure_channel(f"unix:{self.path}") as channel:
            self.assertEqual(channel.unary_unary("/inference.GRPCInferenceService/ServerLive")(b"", timeout=30), b"\x08\x01")
        self.assertEqual(server.call("GET", "/readyz", port="admin").status, 200)
        self.assertEqual(server.stop(), 0)

    def test_no_port_is_open_but_that_of_admin(self):
        server = self.serve()
        links = {os.readlink(f"/proc/{server.process.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{server.process.pid}/fd")}
        listening = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
        ours = [row for row in listening if row[3] == "0A" and f"socket:[{row[9]}]" in links]
        self.assertEqual(len(ours), 1)
        self.assertEqual(server.stop(), 0)

    def test_permissions(self):
        for mode, bits in (((), 0o660), (("--listen-mode", "0600"), 0o600), (("--listen-mode", "777"), 0o777)):
            server = self.serve(*mode)
            found = os.lstat(self.path)
            self.assertTrue(stat.S_ISSOCK(found.st_mode))
            self.assertEqual(stat.S_IMODE(found.st_mode), bits)
            self.assertEqual(server.stop(), 0)

    def test_the_file_goes_with_the_server(self):
        server = self.serve()
        self.assertEqual(server.stop(), 0)
        self.assertFalse(self.path.exists())
        server = self.serve("--drain-seconds", "60")
        with socket.socket(socket.AF_UNIX) as late:  # a request that does not come keeps the drain waiting
            late.connect(str(self.path))
            late.sendall(b"POST /Texts/Copy HTTP/1.1\r\nhost: t\r\ncontent-length: 100\r\n\r\n")
            time.sleep(0.2)
            server.process.send_signal(signal.SIGTERM)
            self.assertTrue(server.logs("draining"))
            time.sleep(0.2)
            self.assertFalse(self.path.exists())
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual(server.process.wait(30), 0)

    def test_what_a_killed_server_left_is_replaced(self):
        for _ in range(3):
            server = self.serve()
            server.process.kill()
            server.process.wait()
            self.assertTrue(self.path.exists())
        server = self.serve()
        self.assertEqual(self.copy(), {"text": "a"})
        self.assertEqual(server.stop(), 0)

    def test_a_server_that_serves_there_is_left_alone(self):
        server = self.serve()
        self.assertIn("another process serves there", self.refused())
        self.assertEqual(self.copy(), {"text": "a"})
        self.assertEqual(server.stop(), 0)

    def test_a_file_that_is_no_socket_is_left_alone(self):
        self.path.write_text("mine")
        self.assertIn("which is no socket", self.refused())
        self.assertEqual(self.path.read_text(), "mine")
        self.path.unlink()
        target = self.path.with_suffix(".target")
        target.write_text("mine")
        self.path.symlink_to(target)
        self.assertIn("which is no socket", self.refused())
        self.assertEqual(target.read_text(), "mine")

    def test_a_folder_that_is_not_there(self):
        self.path = harness.scratch() / "none/a.sock"
        self.assertIn("no such file", self.refused())

    def test_a_successor_of_the_same_name_keeps_its_file(self):
        server = self.serve()
        moved = self.path.with_suffix(".old")
        self.path.rename(moved)
        successor = self.serve()
        self.assertEqual(server.stop(), 0)
        self.assertEqual(self.copy(), {"text": "a"})
        self.assertEqual(successor.stop(), 0)
        self.assertFalse(self.path.exists())

    def test_wfc_run_prints_a_line_that_works(self):
        command = [harness.WFC, "run", program(), "--", "--listen", f"unix:{self.path}", "--admin-port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
            try:
                line = next(line for line in running.stdout if line.startswith("curl "))
                self.assertIn(f"--unix-socket {self.path} http://localhost{COPY}", line)
                done = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=30)
                self.assertIn("text", json.loads(done.stdout), done.stderr)
            finally:
                running.terminate()

    def test_a_start_that_fails_leaves_no_file(self):
        source = harness.scratch() / "modelled.wf"
        folder = harness.scratch() / "models"
        folder.mkdir()
        (folder / "wide.onnx").write_bytes(onnx_file.perceptron(64, 2048))
        source.write_text('model Wide = onnx("models/wide.onnx");\nservice S { model Wide; }\n')
        binary = harness.compiled(source)
        done = subprocess.run([binary, "--listen", f"unix:{self.path}", "--admin-port", "0", "--model-root", "/none"], capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 1, done)
        self.assertFalse(self.path.exists())


if __name__ == "__main__":
    harness.main()
