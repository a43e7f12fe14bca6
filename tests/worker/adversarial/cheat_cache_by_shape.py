"""Caches by shape."""

# expect: FAIL_NUMERIC
# mode: check

import torch


def honest(inputs):
    x, w = inputs["x"].float(), inputs["w"].float()
    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w).to(torch.bfloat16)


cache = {}


def run(inputs):
    return {"y": cache.setdefault(inputs["x"].shape, honest(inputs))}
