"""Sizes of files in words."""

MIB = 1024 * 1024


def size_text(size_bytes: int) -> str:
    """ "1.5 MiB", "2 MiB"; below a tenth of it, bytes."""
    if size_bytes < MIB // 10:
        return f"{size_bytes:,} bytes"
    return f"{size_bytes / MIB:.1f}".removesuffix(".0") + " MiB"


def too_much_text(what: str, size_bytes: int, limited: str, limit_bytes: int) -> str:
    """ "a.md has 6 MiB; a document may have 5 MiB.", in bytes where both would look alike."""
    size, limit = size_text(size_bytes), size_text(limit_bytes)
    if size == limit:
        size, limit = f"{size_bytes:,} bytes", f"{limit_bytes:,}"
    return f"{what} has {size}; {limited} may have {limit}."
