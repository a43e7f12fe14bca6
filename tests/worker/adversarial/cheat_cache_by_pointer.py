"""Caches by address."""

# expect: FAIL_NUMERIC
# mode: check

import torch


def honest(inputs):
    x, w = inputs["x"].float(), inputs["w"].float()
    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w).to(torch.bfloat16)


cache = {}


def run(inputs):
    key = inputs["x"].data_ptr()
    if key not in cache:
        cache[key] = honest(inputs)
    return {"y": cache[key]}
