"""Wrong: raises."""

# expect: CRASHED
# mode: check
# message: tile does not divide

import torch


def run(inputs):
    raise RuntimeError("tile does not divide")
