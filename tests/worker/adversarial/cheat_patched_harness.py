"""Replaces the harness's own functions."""

# expect: TAMPERED
# mode: check
# message: examine

import sys

import torch


def honest(inputs):
    x, w = inputs["x"].float(), inputs["w"].float()
    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w).to(torch.bfloat16)


child = sys.modules["v2kb.worker.harness.child"]
child.examine = lambda returned, expected, device: (returned, [])


def run(inputs):
    return {"y": honest(inputs)}
