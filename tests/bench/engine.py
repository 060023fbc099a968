"""Models of true architectures beside onnxruntime and openvino, one thread each; engine/ has the models and what measures them."""
import json
import subprocess
from pathlib import Path

import harness
from bench import Row

PACKAGES = ("numpy==2.3.5", "onnx==1.23.2", "onnxruntime==1.32.0", "openvino==2026.4.1")
FOLDER = Path(__file__).resolve().parent / "engine"
LARGE_BYTES = 50 << 20  # of a file whose peak of memory has a goal
F32 = ("resnet50", "mobilenet-v2", "mobilenet-v2-b8", "efficientnet-b0", "bert-base-16", "bert-base-128", "bert-base-384", "minilm-16", "minilm-128",
       "minilm-384", "vit-b16", "unet", "yolo", "crnn", "wide-deep", "wide-deep-b8", "dlrm", "dlrm-b8", "mlp", "mlp-b8")
CASES = (*F32, "forest", "forest-b8", *(f"{name}-bf16" for name in F32), "resnet50-int8", "mobilenet-v2-int8")


def row_of(found):
    """Ours beside the better of the peers."""
    times = dict(found["ms"])
    ours, better = times.pop("ours"), min(times, key=times.get)
    return Row(found["name"], ours, times[better], "ms", " ".join(f"{name} {ms:.4g}" for name, ms in times.items()), found["goal"], higher_is_better=False)


def memory_row(found):
    """The most memory of a process that answers once, beside the weights and activations."""
    command = found["command"]
    told = json.loads(subprocess.run([command[0], "model", "inspect", *command[3:]], check=True, capture_output=True, text=True).stdout)
    status, _, err, _, mib = harness.measured(*command, "--seconds=0.01")
    if status != 0:
        raise AssertionError(f"{found['name']}: {err}")
    wanted = (told["bytes"] + told["run"]["activation_bytes"]) / 2**20
    return Row(f"{found['name']}-memory", mib, wanted, "MiB", "weights and activations", 1 / 1.1 if told["bytes"] >= LARGE_BYTES else 0, higher_is_better=False)


def engine(options):
    """models of true architectures beside onnxruntime and openvino, one thread each, f32 and, beside openvino alone, bf16; then from the file to the first answer, and peak memory"""
    python, kept = harness.environment("bench-engine", *PACKAGES), harness.ROOT / "build/bench-models"
    kept.mkdir(exist_ok=True)
    seconds = min(options.seconds, 1)  # a turn: those of the sides are to lie close together
    command = [python, "-B", FOLDER / "measure.py", harness.WFC, kept, str(options.rounds), str(seconds), *(options.model or CASES)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        found = json.loads(line)
        yield row_of(found)
        if found["ready_ms"]:
            yield Row(f"{found['name']}-start", found["ready_ms"]["ours"], found["ready_ms"]["onnxruntime"], "ms", "onnxruntime", 3, higher_is_better=False)
            yield memory_row(found)
    if process.wait() != 0:
        raise AssertionError("measure.py failed")
