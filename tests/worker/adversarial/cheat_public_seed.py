"""Makes the inputs again from what is public about their seeds."""

# expect: FAIL_NUMERIC
# mode: check

import hashlib

import torch


def honest(inputs):
    x, w = inputs["x"].float(), inputs["w"].float()
    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w).to(torch.bfloat16)


def run(inputs):
    seed = int.from_bytes(hashlib.sha1(b"x").digest()[:8], "big") >> 1
    x = torch.randn(inputs["x"].shape, generator=torch.Generator().manual_seed(seed)).to(torch.bfloat16)
    return {"y": honest({"x": x, "w": inputs["w"]})}
