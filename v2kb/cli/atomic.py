"""Writing files so that a reader, or a kill in the middle, finds the old text or the new one, never half of it."""

import os
import secrets
from pathlib import Path

PRIVATE, SHARED = 0o600, 0o644


def write_whole(path: Path, text: str, mode: int = SHARED) -> None:
    """Put `text` in the place of what the file holds, on the disk when this returns. Raises OSError."""
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    _settle(path.parent)


def remove(path: Path) -> None:
    """Remove a file, if it is there, for good."""
    path.unlink(missing_ok=True)
    _settle(path.parent)


def _settle(folder: Path) -> None:
    """A name, too, is only on the disk once its folder is."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
