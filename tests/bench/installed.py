"""Peers out of PyPI and npm, pinned, installed under build/ by whoever comes first: Triton with its Python backend, and Node with onnxruntime-node."""
import fcntl
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import harness
import peers

FOLDER = Path(__file__).resolve().parent
# numpy below 2: with a later one tensors of the Python backend are empty. What else nvidia-pytriton asks for is for its own library, which is not used, and what the others ask for for
# what is not called.
LIBROSA = ("librosa==0.11.0", "audioread==3.0.1", "cffi==1.17.1", "decorator==5.2.1", "joblib==1.5.1", "lazy-loader==0.4", "llvmlite==0.44.0", "msgpack==1.1.1", "numba==0.61.2", "packaging==25.0",
           "platformdirs==4.3.8", "pooch==1.8.2", "pycparser==2.22", "scipy==1.14.1", "soundfile==0.13.1", "soxr==0.5.0.post1", "typing-extensions==4.14.1")
TRITON = ("--no-deps", "nvidia-pytriton==0.7.0", "numpy==1.26.4", "onnxruntime==1.32.0", "pillow==11.3.0", "tokenizers==0.23.3", "xxhash==3.5.0", *LIBROSA)
SHARED_MEMORY = 64 << 20  # of the Python backend from the start, so that it need not grow while it is measured


class Missing(Exception):
    """A peer that this machine cannot have, and why."""


def last_line(text):
    lines = [line.strip() for line in (text or "").splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"


def made(name, make):
    """What `make` installs; its failure is that of the peer."""
    try:
        return make()
    except subprocess.CalledProcessError as error:
        raise Missing(f"{name} cannot be installed: {last_line((error.stderr or b'').decode(errors='replace'))}") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Missing(f"{name} cannot be installed: {error}") from None


class Peer:
    """A server on the server's core, which takes connections."""
    def __init__(self, name, command, port, env=None):
        self.address = ("127.0.0.1", port)
        log = harness.scratch() / f"peer-{port}"
        with open(log, "wb") as file, peers.OnCores(peers.SERVER_CPU):
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, env=env)
        if not harness.accepts(self.address, self.process):
            self.stop()
            raise Missing(f"{name} does not start: {last_line(log.read_text(errors='replace'))}")

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


CHAIN = FOLDER / "triton/chain"


def triton(models=CHAIN, files=None):
    """Triton with the models of a folder, all calls by gRPC: steps in Python, and `pipeline`, an ensemble or a script that calls them. `files`: what else is to lie among these, by their place there."""
    python = made("Triton", lambda: harness.environment("bench-triton", *TRITON))
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    packages = python.parents[1] / f"lib/python{version}/site-packages"
    server, stub = packages / "pytriton/tritonserver", packages / f"pytriton/tritonserver/python_backend_stubs/{version}/triton_python_backend_stub"
    if not stub.exists():
        raise Missing(f"Triton has no Python backend for Python {version}")
    folder, port = harness.scratch() / f"triton-{models.name}", peers.free_port()
    if not folder.exists():
        shutil.copytree(models, folder / "models")
        (folder / "models/pipeline/1").mkdir(exist_ok=True)
        for name, path in (files or {}).items():
            (folder / "models" / name).symlink_to(path)
        shutil.copytree(server / "backends", folder / "backends")
        shutil.copy(stub, folder / "backends/python")
    libraries = f"{sysconfig.get_config_var('LIBDIR')}:{packages / 'nvidia_pytriton.libs'}"
    return Peer("Triton", [server / "bin/tritonserver", "--model-repository", folder / "models", "--backend-directory", folder / "backends",
                           "--backend-config", f"python,shm-default-byte-size={SHARED_MEMORY}", "--grpc-address", "127.0.0.1", "--grpc-port", str(port),
                           "--allow-http", "false", "--allow-metrics", "false"],
                port, {**os.environ, "PATH": f"{python.parent}:{os.environ['PATH']}", "LD_LIBRARY_PATH": libraries})


def node_packages():
    """A folder with node/server.mjs and what it imports; the package's own script, which would download, does not run."""
    folder = harness.ROOT / "build/bench-node"
    folder.mkdir(parents=True, exist_ok=True)
    wanted, stamp = (FOLDER / "node/package.json").read_text(), folder / "installed"
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.copy(FOLDER / "node/server.mjs", folder)
        if not stamp.exists() or stamp.read_text() != wanted:
            (folder / "package.json").write_text(wanted)
            subprocess.run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder, check=True, timeout=600, capture_output=True)
            stamp.write_text(wanted)
    return folder


def node(model):
    """Node with onnxruntime-node, which answers plain JSON from a model; see node/server.mjs."""
    folder, port = made("onnxruntime-node", node_packages), peers.free_port()
    return Peer("Node", ["node", folder / "server.mjs", model, str(port)], port)
