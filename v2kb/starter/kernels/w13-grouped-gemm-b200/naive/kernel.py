"""Grouped W13 product, one slot after the other in fp32: for a diagnostic run, not for speed."""

import torch

GROUP = 128


def run(inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Multiply each slot's fp8 weight [n, k] by the fp8 activation `a` [1, k]: `y13` float32 [slots, n].

    Scales hold one float32 per 128 values of k (`a_scale` [1, k/128]) and per 128 x 128 block (`w13_scale`).
    """
    activation = inputs["a"].float() * inputs["a_scale"].repeat_interleave(GROUP, dim=1)
    rows = []
    for weight, scale in zip(inputs["w13"], inputs["w13_scale"], strict=True):
        blocks = scale.repeat_interleave(GROUP, dim=0).repeat_interleave(GROUP, dim=1)
        rows.append((weight.float() * blocks) @ activation[0])
    return {"y13": torch.stack(rows)}
