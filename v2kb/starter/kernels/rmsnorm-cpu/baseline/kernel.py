"""RMS norm over rows, one torch call per step: the anchor that candidates are compared with.

Every step writes a tensor of its own. Squares and the two products are as large as the input.
"""

import torch

EPS = 1e-6


def run(inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Normalise `x` [rows, cols] by its root mean square per row, times `weight` [cols]; `y` is like `x`."""
    x, weight = inputs["x"], inputs["weight"]
    squares = x * x
    mean_square = squares.mean(dim=-1, keepdim=True)
    scale = torch.rsqrt(mean_square + EPS)
    normed = x * scale
    return {"y": normed * weight}
