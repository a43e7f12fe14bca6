"""Overwrites its input."""

# expect: FAIL_NUMERIC
# mode: check
# message: was changed by the kernel

import torch


def honest(inputs):
    x, w = inputs["x"].float(), inputs["w"].float()
    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w).to(torch.bfloat16)


def run(inputs):
    y = honest(inputs)
    inputs["x"].zero_()
    return {"y": y}
