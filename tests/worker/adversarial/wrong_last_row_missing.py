"""Wrong: leaves the last row out, which hardly moves the cosine."""

# expect: FAIL_NUMERIC
# mode: check

import torch


def honest(inputs):
    x, w = inputs["x"].float(), inputs["w"].float()
    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w).to(torch.bfloat16)


def run(inputs):
    y = honest(inputs)
    y[-1] = 0
    return {"y": y}
