"""Honest, but prints 100 MB: the log is cut, the run goes on."""

# expect: PASS
# mode: check

import torch


def honest(inputs):
    x, w = inputs["x"].float(), inputs["w"].float()
    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w).to(torch.bfloat16)


LINE = "x" * 1023


def run(inputs):
    for _ in range(34_000):
        print(LINE)
    return {"y": honest(inputs)}
