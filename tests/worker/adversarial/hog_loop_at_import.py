"""Loops for ever while it is loaded."""

# expect: COMPILE_TIMEOUT
# mode: check

while True:
    pass
