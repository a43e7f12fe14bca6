"""Wrong: one output too many."""

# expect: FAIL_SHAPE
# mode: check
# message: not in the contract

import torch


def honest(inputs):
    x, w = inputs["x"].float(), inputs["w"].float()
    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w).to(torch.bfloat16)


def run(inputs):
    y = honest(inputs)
    return {"y": y, "z": y}
