"""Reads address 0."""

# expect: CRASHED
# mode: check
# message: SIGSEGV

import ctypes


def run(inputs):
    ctypes.string_at(0)
