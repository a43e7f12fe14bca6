"""Wrong: raises with half a character, a NUL and control characters in its message."""

# expect: CRASHED
# mode: check
# message: RuntimeError


def run(inputs):
    print("\ud800".encode("utf-8", "surrogatepass"), b"\xff\x00\x1b[2J", flush=True)
    raise RuntimeError("half \ud800 and \x00 and \x1b[2J")
