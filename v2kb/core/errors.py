"""Refusals: one class of error, with a stable code, that pages, API, admin and command line all show alike."""

from typing import Any

from v2kb.rules.problem import Problem


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


def refuse_problems(code: str, problems: list[Problem], *, message: str = "", rule: str | None = None) -> None:
    """Raise one Refusal that carries every problem of a submission; do nothing when there is none."""
    if not problems:
        return
    documents = [
        {"code": code, "message": p.message, "field": p.field, "rule": rule, "fix": p.fix or None} for p in problems
    ]
    first = documents[0]
    text = message or f"{first['field']}: {first['message']}"
    raise Refusal(code, text, field=first["field"], rule=rule, fix=first["fix"], problems=documents)
