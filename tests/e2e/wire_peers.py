"""Other servers beside which ours is tried: a row each, started on free ports, answering every request with 200."""
import os
import shutil
import socket
import subprocess

import harness


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


NGINX = """
worker_processes 1; daemon off; master_process off; pid {folder}/pid; error_log /dev/null crit;
events {{ worker_connections 4096; }}
http {{
  access_log off; keepalive_requests 100000; large_client_header_buffers 8 32k; client_max_body_size 64m; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{ listen 127.0.0.1:{port} {protocol}; location / {{ return 200 'ok'; }} }}
}}
"""
# It reads the whole body before it answers, as far as its buffer holds it.
HAPROXY = """
global
  maxconn 4000
  nbthread 1
defaults
  mode http
  timeout client 30s
  timeout http-request 30s
  timeout http-keep-alive 30s
  option http-buffer-request
frontend all
  bind 127.0.0.1:{port}
  http-request return status 200 content-type text/plain string ok
"""


def nginx(folder, port, protocol=""):
    (folder / "conf").write_text(NGINX.format(folder=folder, port=port, protocol=protocol))
    return ["nginx", "-p", folder, "-c", folder / "conf"]


def haproxy(folder, port):
    (folder / "conf").write_text(HAPROXY.format(port=port))
    return ["haproxy", "-db", "-q", "-f", folder / "conf"]


def nghttpd(folder, port):
    (folder / "livez").write_text("ok")
    return ["nghttpd", "--no-tls", "-a", "127.0.0.1", "-d", folder, str(port)]


HTTP1 = {"nginx": nginx, "haproxy": haproxy}
HTTP2 = {"nginx": lambda folder, port: nginx(folder, port, "http2"), "nghttpd": nghttpd}


class Peer:
    """A running one; `version` is what it says of itself."""
    def __init__(self, name, command_of):
        self.name, port = name, free_port()
        self.address = ("127.0.0.1", port)
        folder = harness.scratch() / f"{name}-{port}"
        folder.mkdir()
        command = command_of(folder, port)
        command[0] = shutil.which(command[0], path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")
        said = subprocess.run([command[0], "--version" if name == "nghttpd" else "-v"], capture_output=True, text=True, timeout=30)
        self.version = (said.stdout + said.stderr).splitlines()[0]
        self.log = folder / "log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        if not harness.accepts(self.address, self.process):
            self.stop()
            raise AssertionError(f"{name} did not start: {self.log.read_text()}")

    def stop(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
