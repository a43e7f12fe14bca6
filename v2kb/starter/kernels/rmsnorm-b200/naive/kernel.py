"""RMS norm of bf16 rows in plain torch: for a diagnostic run of the B200 contract on any machine."""

import torch

EPS = 1e-6


def run(inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Normalise `x` bf16 [rows, cols] in fp32 and round once; returns `y` bf16 [rows, cols]."""
    x, weight = inputs["x"].float(), inputs["weight"].float()
    scale = torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + EPS)
    return {"y": (x * scale * weight).to(torch.bfloat16)}
