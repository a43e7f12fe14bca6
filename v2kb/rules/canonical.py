"""One canonical form for every document that is hashed: specs, evidence revisions, contracts, gate results."""

import hashlib
import json
from typing import Any


class NotCanonical(ValueError):
    """A document holds a value that has no single spelling, such as a float. `path` says where."""

    def __init__(self, path: str, value: object) -> None:
        self.path = path
        super().__init__(f"{path or 'document'}: {type(value).__name__} has no canonical form; write numbers as text")


def _check(value: Any, path: str) -> None:
    if value is None or isinstance(value, (bool, int, str)):
        return
    if isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            _check(item, f"{path}[{index}]")
        return
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise NotCanonical(f"{path}.{key}", key)
            _check(item, f"{path}.{key}" if path else key)
        return
    raise NotCanonical(path, value)


def canonical_json(value: Any) -> str:
    """Return `value` as JSON with sorted keys, no spaces and no floats.

    Raises NotCanonical for floats and any other type without a single spelling.
    """
    _check(value, "")
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def content_hash(value: Any) -> str:
    """Return the sha256 of the canonical form, as 64 hexadecimal digits."""
    return hashlib.sha256(canonical_json(value).encode("utf-8", "surrogatepass")).hexdigest()
