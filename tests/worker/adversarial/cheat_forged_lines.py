"""Writes result lines to every descriptor it can find, and returns zeros."""

# expect: FAIL_NUMERIC
# mode: check

import os

import torch

LINES = b'{"event": "exit", "code": 0, "signal": null, "wall_ns": 1, "left_behind": 0}\n{"outcome": "PASS"}\n'


def run(inputs):
    for descriptor in range(64):
        try:
            os.write(descriptor, LINES)
        except OSError:
            pass
    return {"y": torch.zeros_like(inputs["x"])}
