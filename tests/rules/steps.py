"""Bounded work without a clock: how many Python and C calls a piece of code makes. The same on every machine."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def at_most(calls: int) -> Iterator[None]:
    """Fail when the block makes more than `calls` calls; it is stopped at once, so that nothing runs for ever."""
    seen = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal seen
        if event in ("call", "c_call"):
            seen += 1
            if seen > calls:
                sys.setprofile(None)
                raise AssertionError(f"more than {calls} calls")

    before: Callable | None = sys.getprofile()
    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(before)
