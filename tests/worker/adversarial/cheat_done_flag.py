"""Works once, then returns what it has."""

# expect: FAIL_NUMERIC
# mode: check

import torch


def honest(inputs):
    x, w = inputs["x"].float(), inputs["w"].float()
    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w).to(torch.bfloat16)


state = {"done": None}


def run(inputs):
    if state["done"] is None:
        state["done"] = honest(inputs)
    return {"y": state["done"].clone()}
