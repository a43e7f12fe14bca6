"""Values of options that `argparse` reads."""

import argparse


def count(text: str) -> int:
    """A whole number of 1 or more."""
    if not (text.isascii() and text.isdecimal()) or len(text) > 9 or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no whole number of 1 or more")
    return int(text)
