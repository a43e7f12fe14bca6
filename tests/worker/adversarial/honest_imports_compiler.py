"""Honest, and imports torch's compiler, which wraps some of torch's functions anew."""

# expect: PASS
# mode: check
# seconds: 60

import torch
import torch._dynamo


def run(inputs):
    x, w = inputs["x"].float(), inputs["w"].float()
    return {"y": (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w).to(torch.bfloat16)}
