"""Refusals: one class of error, with a stable code, that pages, API, admin and command line all show alike."""

from typing import Any


class Refusal(Exception):
    """Something was refused. `code` is stable and documented; `fix` says what to do about it.

    `problems` lists further refusals of the same submission, each a dict with code, message, field, rule, fix.
    """

    status = 422

    def __init__(
        self,
        code: str,
        message: str,
        *,
        field: str | None = None,
        rule: str | None = None,
        fix: str | None = None,
        facts: dict[str, Any] | None = None,
        problems: list[dict[str, Any]] | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field
        self.rule = rule
        self.fix = fix
        self.facts = facts or {}
        self.problems = problems or []
        if status is not None:
            self.status = status

    def as_document(self) -> dict[str, Any]:
        """The one JSON form of an error, for every door."""
        document: dict[str, Any] = {
            "code": self.code,
            "message": self.message,
            "field": self.field,
            "rule": self.rule,
            "fix": self.fix,
            "facts": self.facts,
        }
        if self.problems:
            document["problems"] = self.problems
        return document


class Forbidden(Refusal):
    """The actor may not do this."""

    status = 403


class Missing(Refusal):
    """There is no such thing, or the actor may not know of it."""

    status = 404


class Conflict(Refusal):
    """Somebody or something else came first; nothing was written."""

    status = 409
