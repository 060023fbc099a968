"""begin.py PROGRAM ARGUMENT...: starts a program of this folder with the Python that has the packages of requirements.txt, installed when it is first wanted."""
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

import harness  # noqa: E402

python = harness.environment("graphs", *(HERE / "requirements.txt").read_text(encoding="utf-8").split())
os.execv(python, [python, "-B", HERE / sys.argv[1], *sys.argv[2:]])
