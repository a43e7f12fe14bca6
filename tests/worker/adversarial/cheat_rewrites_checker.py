"""Tries to rewrite the checker and the harness, and returns zeros."""

# expect: FAIL_NUMERIC
# mode: fenced

import sys
from pathlib import Path

import torch


def run(inputs):
    folder = Path(sys.modules["v2kb.worker.harness.child"].__file__).parent
    for path in folder.glob("*.py"):
        try:
            path.write_text("")
        except OSError:
            pass
    return {"y": torch.zeros_like(inputs["x"])}
