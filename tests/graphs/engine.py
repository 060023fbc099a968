"""What `wfc-model` answers for cases on disk, in the form of ONNX's backend tests."""
import os
import re
import subprocess
from pathlib import Path

import numpy as np
from onnx import numpy_helper

BUILD = Path(os.environ.get("WF_BUILD", "build/release")).resolve()
PROGRAM = BUILD / "lib/wfc-model"
SECONDS = 60  # of one case
# What wfc does not take with extents that are open: axis 0 is that of samples where all of it is open (docs/semantics.md 13), and some rules want numbers.
OPEN = re.compile(r"has \d+ rows for \d+ samples|^node .*\bd\d+\b")


def write(folder, case, answers):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(case.model(answers).SerializeToString())
    for kind, arrays in (("input", case.feeds()), ("output", dict(zip(case.outputs, answers)))):
        for i, (name, array) in enumerate(arrays.items()):
            (data / f"{kind}_{i}.pb").write_bytes(numpy_helper.from_array(array, name).SerializeToString())


def said(*arguments, seconds):
    """Output and exit status; None where it took too long."""
    try:
        done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return "", None
    return done.stdout + done.stderr, done.returncode


def tested(folders):
    """{name: (word, reason)} of cases: ok, FAIL, unsupported or, where wfc-model ends by itself, crash."""
    text, status = said("test", "--verbose", "--", *folders, seconds=SECONDS + len(folders))
    if status not in (0, 1):
        if len(folders) > 1:
            half = len(folders) // 2
            return {**tested(folders[:half]), **tested(folders[half:])}
        return {folders[0].name: ("crash", f"status {status}: {text[-2000:]}")}
    found = {}
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        name, _, reason = rest.partition(": ")
        if word == "FAIL" and OPEN.search(reason):
            word = "unsupported"
        if word in ("ok", "FAIL", "unsupported"):
            found[name] = (word, reason)
    return found


def answers(folder, outputs):
    """The arrays that a run gives; a string where it gives none."""
    inputs = sorted((folder / "test_data_set_0").glob("input_*.pb"), key=lambda path: int(path.stem[6:]))
    text, status = said("run", folder / "model.onnx", *inputs, f"--output={folder / 'out'}", seconds=SECONDS)
    return [np.load(folder / "out" / f"{name}.npy") for name in outputs] if status == 0 else text
