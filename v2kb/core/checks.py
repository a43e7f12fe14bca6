"""System checks: the database must hold every declared guard."""

from collections.abc import Sequence

from django.core.checks import CheckMessage, Error
from django.db import DatabaseError

from v2kb.core.guards.install import missing_triggers


def guards_are_in_place(databases: Sequence[str] | None = None, **_: object) -> list[CheckMessage]:
    """One error for each guard that the database lacks."""
    problems: list[CheckMessage] = []
    for using in databases or []:
        try:
            missing = missing_triggers(using)
        except DatabaseError as error:
            problems.append(Error(f"The guards of database {using} can't be read: {error}", id="v2kb.E001"))
            continue
        problems += [
            Error(
                f"Database {using} lacks the guard {name}.",
                hint="Run `manage.py migrate`; it installs every guard again.",
                id="v2kb.E002",
            )
            for name in missing
        ]
    return problems
