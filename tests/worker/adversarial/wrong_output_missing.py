"""Wrong: an empty dict."""

# expect: FAIL_SHAPE
# mode: check
# message: missing


def run(inputs):
    return {}
