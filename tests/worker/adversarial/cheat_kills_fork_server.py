"""Kills the process that supervises it."""

# expect: TAMPERED
# mode: check

import os
import signal


def run(inputs):
    os.kill(os.getppid(), signal.SIGKILL)
    while True:
        pass
