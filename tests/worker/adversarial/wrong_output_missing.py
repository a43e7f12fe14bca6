"""Wrong: an empty dict."""

# expect: FAIL_SHAPE
# mode: check
# message: missing

import torch


def run(inputs):
    return {}
