"""Wrong: raises."""

# expect: CRASHED
# mode: check
# message: tile does not divide


def run(inputs):
    raise RuntimeError("tile does not divide")
