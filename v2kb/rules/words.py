"""Counts in words."""


def counted(count: int, one: str, many: str = "") -> str:
    """ "1 row", "2 rows", "0 families": the count with its noun; `many` where it is not `one` and an s."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
