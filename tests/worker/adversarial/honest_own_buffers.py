"""Honest: keeps a scratch buffer between calls and overwrites it each time."""

# expect: PASS
# mode: check

import torch

scratch = {}


def run(inputs):
    x = inputs["x"].float()
    buffer = scratch.setdefault(tuple(x.shape), torch.empty_like(x))
    torch.mul(x, torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6), out=buffer)
    return {"y": (buffer * inputs["w"].float()).to(torch.bfloat16)}
