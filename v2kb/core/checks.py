"""System checks: the database must hold every declared guard."""

from collections.abc import Sequence

from django.core.checks import CheckMessage, Error, run_checks
from django.core.management.base import SystemCheckError
from django.db import DatabaseError

from v2kb.core.guards.install import missing_triggers

GUARDS_TAG = "guards"


def guards_are_in_place(databases: Sequence[str] | None = None, **_: object) -> list[CheckMessage]:
    """One error for each database, naming the guards that it lacks."""
    problems: list[CheckMessage] = []
    for using in databases or []:
        try:
            missing = missing_triggers(using)
        except DatabaseError as error:
            problems.append(Error(f"The guards of database {using} can't be read: {error}", id="v2kb.E001"))
            continue
        if missing:
            problems.append(
                Error(
                    f"Database {using} lacks {len(missing)} guards: {', '.join(missing)}.",
                    hint="Run `manage.py migrate`; it installs every guard again.",
                    id="v2kb.E002",
                )
            )
    return problems


def refuse_without_guards() -> None:
    """Raise SystemCheckError unless every guard is in place; servers call it before they serve."""
    problems = run_checks(tags=[GUARDS_TAG], include_deployment_checks=True, databases=["default"])
    if problems:
        raise SystemCheckError("\n".join(f"{problem.msg} {problem.hint or ''}" for problem in problems))
