"""Rewrites the samples already taken, through the caller's frame."""

# expect: TAMPERED
# mode: time-forged

import sys
import time

import torch


def honest(inputs):
    x, w = inputs["x"].float(), inputs["w"].float()
    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w).to(torch.bfloat16)


def run(inputs):
    time.sleep(0.05)
    samples = sys._getframe(1).f_locals.get("samples", [])
    for index in range(len(samples)):
        samples[index] = 1000
    if samples:
        sys._getframe(1).f_locals["samples"][-1] = 1000
    return {"y": honest(inputs)}
