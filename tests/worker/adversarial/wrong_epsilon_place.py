"""Wrong: divides by the mean square, without the root."""

# expect: FAIL_NUMERIC
# mode: check
# message: rel_max

import torch


def run(inputs):
    x, w = inputs["x"].float(), inputs["w"].float()
    return {"y": (x / (x.pow(2).mean(-1, keepdim=True) + 0.5) * w).to(torch.bfloat16)}
