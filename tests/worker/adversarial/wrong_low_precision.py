"""Wrong: computes in 2 mantissa bits, below what the contract asks."""

# expect: FAIL_NUMERIC
# mode: check

import torch


def honest(inputs):
    x, w = inputs["x"].float(), inputs["w"].float()
    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w).to(torch.bfloat16)


def run(inputs):
    return {"y": honest(inputs).to(torch.float8_e5m2).to(torch.bfloat16)}
