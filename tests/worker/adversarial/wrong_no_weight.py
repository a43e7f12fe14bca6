"""Wrong: forgets the weight."""

# expect: FAIL_NUMERIC
# mode: check

import torch


def run(inputs):
    x = inputs["x"].float()
    return {"y": (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)).to(torch.bfloat16)}
