"""Replaces the clock in the timed run alone."""

# expect: TAMPERED
# mode: time
# message: perf_counter_ns

import time

import torch


def honest(inputs):
    x, w = inputs["x"].float(), inputs["w"].float()
    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w).to(torch.bfloat16)


calls = 0


def run(inputs):
    global calls
    calls += 1
    if calls > 3:
        time.perf_counter_ns = lambda: 0
    return {"y": honest(inputs)}
