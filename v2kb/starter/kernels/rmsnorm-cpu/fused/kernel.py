"""RMS norm over rows with fewer passes: one fused reduction, and the weight applied in place.

`vector_norm` squares and sums in a single read of the input, so no tensor of squares exists. The only tensor
of the input's size that is allocated is the result. `torch.nn.functional.rms_norm` is not used: on a CPU
torch 2.13 runs it as separate steps, and it takes about as long as the baseline.
"""

import torch

EPS = 1e-6


def run(inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Normalise `x` [rows, cols] by its root mean square per row, times `weight` [cols]; `y` is like `x`."""
    x, weight = inputs["x"], inputs["weight"]
    norm = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    scale = norm.square_().div_(x.shape[-1]).add_(EPS).rsqrt_()
    return {"y": torch.mul(x, scale).mul_(weight)}
