"""Runs in the environment of engine.py: what each model takes with ours and the peers, in turns, after answers have been compared.
measure.py WFC FOLDER ROUNDS SECONDS CASE...: a line of JSON for each case."""
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
import onnxruntime
import openvino
from models import CASES

BRIEF = 0.01  # seconds


class Ours:
    """A process for each measurement: what it takes to begin is not in it."""
    def __init__(self, wfc, path, case):
        self.command = [wfc, "model", "bench", path, f"--batch={case.batch}", *(f"--dim={name}={n}" for name, n in case.extents().items()),
                        f"--precision={case.precision}", "--format=json"]
        self.wfc, self.path, self.precision = wfc, path, case.precision

    def answers(self, inputs):
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for i, (name, array) in enumerate(inputs.items()):
                files.append(f"{folder}/{i}.npy")
                np.save(files[-1], array)
            subprocess.run([self.wfc, "model", "run", self.path, *files, f"--precision={self.precision}", f"--output={folder}/out"], check=True, stdout=subprocess.DEVNULL)
            return [np.load(file) for file in sorted(Path(f"{folder}/out").glob("*.npy"))]

    def measured(self, seconds, what):
        return json.loads(subprocess.run([*self.command, f"--seconds={seconds}"], check=True, capture_output=True).stdout)[what]


class OnnxRuntime:
    def __init__(self, path, inputs):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.inputs, self.binding = inputs, self.session.io_binding()
        for name, array in inputs.items():
            self.binding.bind_cpu_input(name, array)
        for output in self.session.get_outputs():
            self.binding.bind_output(output.name, "cpu")

    def answers(self):
        return self.session.run(None, self.inputs)

    def run(self):
        self.session.run_with_iobinding(self.binding)


class OpenVino:
    def __init__(self, path, inputs, precision):
        core = openvino.Core()
        model = core.read_model(path)
        model.reshape({name: list(array.shape) for name, array in inputs.items()})
        compiled = core.compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": precision, "PERFORMANCE_HINT": "LATENCY"})
        self.request = compiled.create_infer_request()
        for name, array in inputs.items():
            self.request.set_tensor(name, openvino.Tensor(array, shared_memory=True))
        self.run = self.request.infer


def p50_ms(peer, seconds):
    took, end = [], time.perf_counter() + seconds
    while not took or time.perf_counter() < end:
        before = time.perf_counter()
        peer.run()
        took.append(time.perf_counter() - before)
    return median(took) * 1e3


def made_up(path, case):
    """Inputs by the file's own words."""
    dice, inputs = np.random.default_rng(0), {}
    for port in onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).get_inputs():
        shape = [case.extents().get(extent, extent) for extent in port.shape]
        inputs[port.name] = (dice.integers(0, 100, shape) if port.type == "tensor(int64)" else dice.uniform(-1, 1, shape).astype(np.float32))
        if port.name in ("attention_mask", "token_type_ids"):
            inputs[port.name] %= 2
            inputs[port.name][..., 0] = 1
    return inputs


def check(case, ours, theirs):
    for mine, other in zip(ours, theirs, strict=True):
        if case.precision == "bf16" and mine.shape == other.shape and np.isfinite(mine).all():  # roundings of single numbers may add up
            apart, whole = (float(np.sqrt(np.mean(np.square(each, dtype=np.float64)))) for each in (mine - other, other))
            if apart > case.close * whole:
                raise SystemExit(f"{case.name}: the answer is not that of ONNX Runtime: off by {apart / whole:.2g} of it, root of the mean squares")
            continue
        if mine.shape != other.shape or not np.isfinite(other).all() or not np.allclose(mine, other, rtol=case.close, atol=case.close * np.abs(other).max()):
            far = np.abs(mine - other).max() if mine.shape == other.shape else "its shape"
            raise SystemExit(f"{case.name}: the answer is not that of ONNX Runtime: off by {far}, of {np.abs(other).max()}")


def ready_ms(make):
    """From the file to the first answer."""
    begin = time.perf_counter()
    make().run()
    return (time.perf_counter() - begin) * 1e3


def measure(case, wfc, folder, rounds, seconds):
    path = case.file(folder)
    inputs = made_up(path, case)
    ours = Ours(wfc, path, case)
    makers = {"onnxruntime": lambda: OnnxRuntime(path, inputs), "openvino": lambda: OpenVino(path, inputs, case.precision)}
    reference = makers["onnxruntime"]()
    check(case, ours.answers(inputs), reference.answers())
    if not case.openvino:
        del makers["openvino"]
    if case.precision != "f32":
        del makers["onnxruntime"]  # it knows no other of a file of f32
    peers = {name: make() for name, make in makers.items()}
    for peer in peers.values():
        peer.run()
    took, ready = {name: [] for name in ("ours", *peers)}, {"ours": [], "onnxruntime": []}
    for _ in range(rounds):
        took["ours"].append(ours.measured(seconds, "p50_ms"))
        for name, peer in peers.items():
            took[name].append(p50_ms(peer, seconds))
    for _ in range(min(rounds, 3) if case.starts else 0):
        ready["ours"].append(ours.measured(BRIEF, "ready_ms"))
        ready["onnxruntime"].append(ready_ms(makers["onnxruntime"]))
    return {"name": case.name, "goal": case.goal, "ms": {name: median(each) for name, each in took.items()},
            "ready_ms": {name: median(each) for name, each in ready.items() if each}, "command": [*map(str, ours.command)]}


def main():
    wfc, folder, rounds, seconds, *names = sys.argv[1:]
    for case in CASES:
        if case.name in names:
            print(json.dumps(measure(case, wfc, Path(folder), int(rounds), float(seconds))), flush=True)


if __name__ == "__main__":
    main()
