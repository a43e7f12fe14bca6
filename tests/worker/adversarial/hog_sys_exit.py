"""Raises SystemExit with code 0."""

# expect: CRASHED
# mode: check
# message: SystemExit

import sys


def run(inputs):
    sys.exit(0)
