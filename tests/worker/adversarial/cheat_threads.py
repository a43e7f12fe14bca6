"""Takes more threads than it was given."""

# expect: TAMPERED
# mode: check
# message: thread count

import torch


def honest(inputs):
    x, w = inputs["x"].float(), inputs["w"].float()
    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w).to(torch.bfloat16)


def run(inputs):
    torch.set_num_threads(torch.get_num_threads() + 3)
    return {"y": honest(inputs)}
