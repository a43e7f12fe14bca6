"""Wrong: does not parse."""

# expect: COMPILE_ERROR
# mode: check
# message: SyntaxError

import torch


def run(inputs:
    return {}
