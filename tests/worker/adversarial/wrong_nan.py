"""Wrong: one NaN in one row."""

# expect: FAIL_NUMERIC
# mode: check
# message: 1 NaN or Inf

import torch


def honest(inputs):
    x, w = inputs["x"].float(), inputs["w"].float()
    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w).to(torch.bfloat16)


def run(inputs):
    y = honest(inputs)
    y[3, 5] = float("nan")
    return {"y": y}
