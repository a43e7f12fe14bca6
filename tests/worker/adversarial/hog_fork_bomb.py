"""A fork bomb."""

# expect: CRASHED
# mode: check

import os


def run(inputs):
    while True:
        os.fork()
