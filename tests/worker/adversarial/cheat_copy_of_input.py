"""The input itself."""

# expect: FAIL_NUMERIC
# mode: check

import torch


def run(inputs):
    return {"y": inputs["x"]}
