"""Zips for tests of uploads."""

import io
import zipfile
from typing import Any


def zipped(*members: tuple[str, str | bytes], **fields: Any) -> bytes:
    """A zip of (name, content) members; `fields` are set on each member's entry."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in members:
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            for key, value in fields.items():
                setattr(info, key, value)
            target.writestr(info, content)
    return buffer.getvalue()
