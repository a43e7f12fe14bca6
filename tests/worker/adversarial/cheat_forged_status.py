"""Writes the status that a good run would leave, and ends before it returns."""

# expect: FAIL_SHAPE|CRASHED
# mode: check

import json
import os
import sys


def run(inputs):
    frame = sys._getframe()
    while "out" not in frame.f_locals:
        frame = frame.f_back
    status = {"phase": "done", "error": None, "problems": [], "tampered": []}
    (frame.f_locals["out"] / "status.json").write_text(json.dumps(status))
    os._exit(0)
