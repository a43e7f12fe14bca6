"""Allocates without end."""

# expect: OOM
# mode: check
# seconds: 60

import torch

kept = []


def run(inputs):
    while True:
        kept.append(torch.ones(16 * 1024 * 1024))
