"""Zeros."""

# expect: FAIL_NUMERIC
# mode: check

import torch


def run(inputs):
    return {"y": torch.zeros_like(inputs["x"])}
