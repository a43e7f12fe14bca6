"""Looks at the call stack for the timing loop."""

# expect: FAIL_NUMERIC
# mode: time
# message: audited timed call

import sys

import torch


def honest(inputs):
    x, w = inputs["x"].float(), inputs["w"].float()
    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w).to(torch.bfloat16)


def timed():
    frame = sys._getframe()
    while frame is not None:
        if "clock" in frame.f_locals and frame.f_locals.get("count", 0) > 3:
            return True
        frame = frame.f_back
    return False


def run(inputs):
    return {"y": torch.zeros_like(inputs["x"]) if timed() else honest(inputs)}
