"""Wrong: returns fp32 where the contract says bf16."""

# expect: FAIL_SHAPE
# mode: check
# message: float32, expected bfloat16

import torch


def honest(inputs):
    x, w = inputs["x"].float(), inputs["w"].float()
    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w).to(torch.bfloat16)


def run(inputs):
    return {"y": honest(inputs).float()}
