"""The input itself."""

# expect: FAIL_NUMERIC
# mode: check


def run(inputs):
    return {"y": inputs["x"]}
