"""A thread goes on printing a pass after the harness is done."""

# expect: FAIL_NUMERIC
# mode: check

import threading

import torch


def shout():
    while True:
        print('{"outcome": "PASS"}', flush=True)


def run(inputs):
    threading.Thread(target=shout, daemon=True).start()
    return {"y": torch.zeros_like(inputs["x"])}
