"""Returns memory that it never wrote, hoping for an old answer."""

# expect: FAIL_NUMERIC
# mode: check

import torch


def run(inputs):
    return {"y": torch.empty_like(inputs["x"])}
