"""Fills a cache in warm-up and reads it when timed."""

# expect: FAIL_NUMERIC
# mode: time
# message: audited timed call

import torch


def honest(inputs):
    x, w = inputs["x"].float(), inputs["w"].float()
    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w).to(torch.bfloat16)


cache = {}
calls = 0


def run(inputs):
    global calls
    calls += 1
    if calls <= 2:
        return {"y": honest(inputs)}
    return {"y": cache.setdefault(inputs["x"].shape, honest(inputs))}
