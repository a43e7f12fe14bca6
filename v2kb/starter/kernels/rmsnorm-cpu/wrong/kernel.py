"""RMS norm without its weight: fast and wrong, to show what a failed validation looks like."""

import torch

EPS = 1e-6


def run(inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Normalise `x` [rows, cols] per row and forget `weight`: the right shape with wrong values."""
    x = inputs["x"]
    norm = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    scale = norm.square_().div_(x.shape[-1]).add_(EPS).rsqrt_()
    return {"y": torch.mul(x, scale)}
