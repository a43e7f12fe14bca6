"""Right for the checked calls, garbage in the timed ones."""

# expect: FAIL_NUMERIC
# mode: time
# message: audited timed call

import torch


def honest(inputs):
    x, w = inputs["x"].float(), inputs["w"].float()
    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w).to(torch.bfloat16)


calls = 0


def run(inputs):
    global calls
    calls += 1
    return {"y": honest(inputs) if calls <= 3 else torch.zeros_like(inputs["x"])}
