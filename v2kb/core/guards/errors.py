"""From a database's error to a coded refusal. Every guard raises text of the form `v2kb:<code>:<message>`."""

import re

from django.db import DatabaseError

from v2kb.core.errors import Conflict, Refusal

_GUARD = re.compile(r"v2kb:([a-z_.]+):([^\n]+)")


def refusal_from_database(error: DatabaseError) -> Refusal | None:
    """The refusal that a guard meant, or None when the error is not one of ours.

    SQLite raises IntegrityError and PostgreSQL ProgrammingError or InternalError for the same guard.
    """
    found = _GUARD.search(str(error))
    if found is None:
        return None
    return Conflict(
        found.group(1), found.group(2).strip(), fix="The database refuses this change; add a new row instead."
    )
