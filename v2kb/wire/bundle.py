"""File bundles: the content-addressed files of one kernel version, with an entry."""

import hashlib
import re
from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from v2kb.rules.canonical import content_hash
from v2kb.wire.base import Part

MAX_BUNDLE_FILES = 64
MAX_FILE_BYTES = 2 * 1024 * 1024
MAX_PATH = 160

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]

_PATH_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*\Z")
_ENTRY = re.compile(r"(?P<path>[^:]+):(?P<name>[A-Za-z_][A-Za-z0-9_]*)\Z")


def check_path(path: str) -> str:
    """Return `path` when it is a plain relative path such as `kernel.py` or `lib/tiles.py`.

    Raises ValueError, saying which rule was broken, for absolute paths, `..`, backslashes, empty or odd parts.
    """
    if not path or len(path) > MAX_PATH:
        raise ValueError(f"The path {path[:40]!r} is empty or longer than {MAX_PATH} characters; shorten it.")
    if path.startswith("/") or "\\" in path or re.match(r"[A-Za-z]:", path):
        raise ValueError(f"The path {path!r} is absolute or uses backslashes; write it relative, such as lib/tiles.py.")
    for part in path.split("/"):
        if part in ("", ".", ".."):
            raise ValueError(f"The path {path!r} has an empty, '.' or '..' part; write it without detours.")
        if not _PATH_PART.match(part):
            raise ValueError(
                f"The path {path!r} has the part {part!r}; use letters, digits, '_', '-', '+' and '.' only."
            )
    return path


def check_entry(entry: str) -> tuple[str, str]:
    """Split `kernel.py:run` into path and function name. Raises ValueError when it has another form."""
    match = _ENTRY.match(entry)
    if not match:
        raise ValueError(f"The entry {entry!r} must read path:function, such as kernel.py:run.")
    return check_path(match["path"]), match["name"]


def bundle_digest(language: str, entry: str, files: Mapping[str, str]) -> str:
    """Return the digest of a kernel version; `files` maps each path to the sha256 of its content."""
    return content_hash({"language": language, "entry": entry, "files": dict(files)})


class BundleFile(Part):
    path: str
    sha256: Sha256
    size_bytes: Annotated[int, Field(ge=0, le=MAX_FILE_BYTES)]


class Bundle(Part):
    """A kernel version's files by content: safe and distinct paths, a present entry, the right digest."""

    digest: Sha256
    language: Literal["python"]
    entry: str
    files: Annotated[list[BundleFile], Field(min_length=1, max_length=MAX_BUNDLE_FILES)]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        by_path = {check_path(file.path): file.sha256 for file in self.files}
        if len({path.lower() for path in by_path}) != len(self.files):
            raise ValueError("Two files have the same path (case does not count); rename one.")
        for path in by_path:
            if any(other.startswith(path + "/") for other in by_path):
                raise ValueError(f"{path!r} is both a file and a folder; rename one.")
        entry_path, _ = check_entry(self.entry)
        if entry_path not in by_path:
            raise ValueError(f"The entry's file {entry_path!r} is not among the files.")
        expected = bundle_digest(self.language, self.entry, by_path)
        if self.digest != expected:
            raise ValueError(f"The digest {self.digest[:12]} does not match the files ({expected[:12]}).")
        return self


def make_bundle(entry: str, contents: Mapping[str, bytes], language: str = "python") -> Bundle:
    """Return the Bundle of file contents by path. Raises ValueError (pydantic) when a path or the entry is refused."""
    files = [
        BundleFile(path=path, sha256=hashlib.sha256(data).hexdigest(), size_bytes=len(data))
        for path, data in sorted(contents.items())
    ]
    digest = bundle_digest(language, entry, {file.path: file.sha256 for file in files})
    return Bundle(digest=digest, language=language, entry=entry, files=files)
