"""JSON bodies: UTF-8, of bounded size and depth, without NaN, doubled keys or broken characters."""

import json
from typing import IO, Any

from rest_framework import exceptions, parsers

MAX_BODY_BYTES = 8 * 1024 * 1024
MAX_DEPTH = 64


class TooLarge(exceptions.APIException):
    """The body is larger than any request needs."""

    status_code = 413
    default_code = "too_large"
    default_detail = f"A JSON body may have {MAX_BODY_BYTES:,} bytes."


class StrictJSONParser(parsers.BaseParser):
    """Reads `application/json`."""

    media_type = "application/json"

    def parse(self, stream: IO[bytes], media_type: str | None = None, parser_context: Any = None) -> Any:
        """The value that the body holds. Raises ParseError (400), or TooLarge (413)."""
        body = stream.read(MAX_BODY_BYTES + 1)
        if len(body) > MAX_BODY_BYTES:
            raise TooLarge()
        try:
            text = body.decode("utf-8")
        except UnicodeDecodeError as error:
            raise exceptions.ParseError(f"The body is not UTF-8 (byte {error.start}).") from error
        try:
            value = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_object)
        except ValueError as error:
            raise exceptions.ParseError(f"The body is not JSON: {error}") from error
        except RecursionError as error:
            raise _too_deep() from error
        if _depth_exceeds(value, MAX_DEPTH):
            raise _too_deep()
        if "\\u" in text:
            _refuse_half_characters(value)
        return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value; send null or text")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # one pass: a body may hold a million
        raise ValueError(f"the name {twice[:80]!r} is used twice in one object")
    return found


def _too_deep() -> exceptions.ParseError:
    return exceptions.ParseError(f"The body is nested more than {MAX_DEPTH} deep.")


def _depth_exceeds(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [
            child
            for parent in level
            if isinstance(parent, dict | list)
            for child in (parent.values() if isinstance(parent, dict) else parent)
        ]
        if not level:
            return False
    return any(isinstance(value, dict | list) for value in level)


def _refuse_half_characters(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise exceptions.ParseError("The body holds half a surrogate pair, which is no character.") from error
