"""Replaces the process clock."""

# expect: TAMPERED
# mode: check
# message: perf_counter_ns

import time

import torch


def honest(inputs):
    x, w = inputs["x"].float(), inputs["w"].float()
    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w).to(torch.bfloat16)


def run(inputs):
    time.perf_counter_ns = lambda: 0
    return {"y": honest(inputs)}
