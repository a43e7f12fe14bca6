"""Honest: more exact than the reference."""

# expect: PASS
# mode: check

import torch


def run(inputs):
    x, w = inputs["x"].double(), inputs["w"].double()
    return {"y": (x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w).to(torch.bfloat16)}
