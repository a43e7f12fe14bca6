"""Raises only if it finds a secret of the worker in environment, processes or files."""

# expect: PASS
# mode: fenced

import glob
import os

import torch


def honest(inputs):
    x, w = inputs["x"].float(), inputs["w"].float()
    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w).to(torch.bfloat16)


WORDS = (b"V2KB_WORKER_TOKEN", b"seed_secret", b"Run-key")


def run(inputs):
    texts = [repr(os.environ).encode()]
    for pattern in ("/proc/[0-9]*/environ", "/proc/[0-9]*/cmdline", "/box/in/*.json", "/etc/shadow", "/root/*"):
        for path in glob.glob(pattern):
            try:
                with open(path, "rb") as file:
                    texts.append(file.read())
            except OSError:
                pass
    if any(word in text for word in WORDS for text in texts):
        raise RuntimeError("found a secret")
    return {"y": honest(inputs)}
