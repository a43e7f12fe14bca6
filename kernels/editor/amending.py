"""Amendments name rows by their place in a table. They follow a row that is moved, and lose one that is removed."""

import re
from collections.abc import Iterator
from typing import Any

from kernels.editor.rows import Action, new_places


def amended_paths(document: Any) -> Iterator[tuple[dict[str, Any], str]]:
    """(entry, path) for each field that the amendments of a draft set."""
    amendments = document.get("amendments") if isinstance(document, dict) else None
    for amendment in amendments if isinstance(amendments, list) else ():
        fields = amendment.get("fields") if isinstance(amendment, dict) else None
        for entry in fields if isinstance(fields, list) else ():
            if isinstance(entry, dict) and isinstance(entry.get("field"), str):
                yield entry, entry["field"]


def follow_rows(document: dict[str, Any], table: str, action: Action, count: int) -> None:
    """Let the amendments of a draft name the same rows after the action on a `table` of `count` rows.

    The field of a row that is gone becomes empty, which the rules report: it must not become that of the next row.
    """
    places = new_places(action, count)
    for entry, path in amended_paths(document):
        found = re.match(rf"{re.escape(table)}\[([0-9]{{1,3}})\]", path)
        if found and int(found[1]) in places:
            place = places[int(found[1])]
            entry["field"] = "" if place is None else f"{table}[{place}]{path[found.end() :]}"
