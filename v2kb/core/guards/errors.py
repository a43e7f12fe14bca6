"""From a database's error to a coded refusal. Every guard raises text of the form `v2kb:<code>:<message>`."""

import re

from django.db import DatabaseError, DataError

from v2kb.core.errors import Conflict, Refusal

_GUARD = re.compile(r"v2kb:([a-z_.]+):([^\n]+)")


_UNIQUE = ("UNIQUE constraint failed", "duplicate key value violates unique constraint")


def refusal_from_database(error: DatabaseError) -> Refusal | None:
    """The refusal that a guard meant, or None when the error is a fault of the program.

    SQLite raises IntegrityError and PostgreSQL ProgrammingError or InternalError for the same guard. A row that
    somebody else wrote at the same moment, and a value that a column can't hold, are refusals too.
    """
    found = _GUARD.search(str(error))
    if found is None:
        if any(text in str(error) for text in _UNIQUE):
            return Conflict(
                "database.taken", "Somebody wrote the same thing at the same moment.", fix="Look, then try again."
            )
        if isinstance(error, DataError):
            return Refusal(
                "database.bad_value",
                "A value is too long, out of range, or holds characters that are not text.",
                status=400,
            )
        return None
    return Conflict(
        found.group(1), found.group(2).strip(), fix="The database refuses this change; add a new row instead."
    )
