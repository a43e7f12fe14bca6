"""Raises only if it finds what an earlier process of the job left on disk."""

# expect: PASS
# mode: check

import os

import torch


def honest(inputs):
    x, w = inputs["x"].float(), inputs["w"].float()
    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w).to(torch.bfloat16)


def run(inputs):
    for folder in ("/tmp", "/dev/shm", os.getcwd(), os.environ["TMPDIR"]):
        path = os.path.join(folder, f"left-behind-{os.getppid()}")
        if os.path.exists(path) and path not in own:
            raise RuntimeError("found a cache of another run")
        try:
            with open(path, "w") as file:
                file.write("answer")
            own.add(path)
        except OSError:
            pass
    return {"y": honest(inputs)}


own = set()
