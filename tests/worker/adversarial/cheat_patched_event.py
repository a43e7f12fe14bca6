"""Replaces the device event's elapsed_time."""

# expect: TAMPERED
# mode: check
# message: elapsed_time

import torch


def honest(inputs):
    x, w = inputs["x"].float(), inputs["w"].float()
    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w).to(torch.bfloat16)


torch.cuda.Event.elapsed_time = lambda *_: 0.001


def run(inputs):
    return {"y": honest(inputs)}
