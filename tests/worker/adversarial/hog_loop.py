"""Loops for ever and ignores SIGTERM."""

# expect: TIMEOUT
# mode: check

import signal


def run(inputs):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        pass
