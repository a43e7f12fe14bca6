"""A fork bomb."""

# expect: CRASHED
# mode: check
# seconds: 60

import os


def run(inputs):
    while True:
        os.fork()
