"""Allocates without end, spread over processes that each stay small."""

# expect: OOM|CRASHED
# mode: check
# seconds: 60

import os
import time


def run(inputs):
    for _ in range(12):
        if os.fork() == 0:
            kept = bytearray(b"x") * (200 * 1024 * 1024)
            time.sleep(1000)
            os._exit(len(kept))
    time.sleep(1000)
