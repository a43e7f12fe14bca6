"""The one error body of pages' JSON, REST and the worker's door."""

from typing import Any

from v2kb.wire.base import Part


class ErrorBody(Part):
    """A refusal: stable `code` for programs, `message` and `fix` for people, `field` and `rule` where they apply."""

    code: str
    message: str
    field: str | None = None
    rule: str | None = None
    fix: str | None = None
    facts: dict[str, Any] = {}
