"""Rows of a draft that were added and not filled in yet. The editor says nothing of them until they are, or until
the spec is about to be handed in.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kernels.editor.amending import amended_paths
from kernels.editor.layout import ACKNOWLEDGED, BANDS, CITATIONS, SECTIONS, Table
from v2kb.core.values import plain_copy
from v2kb.rules.spec_document import empty_row
from v2kb.rules.spec_fields import ROW_FIELDS

BLANK_CITATION = {"target": "", "stance": "supports", "revision": ""}
BLANK_ACKNOWLEDGED = {"code": "", "reason": "", "revision": ""}
_FRESH_CITATION = {"kind": "evidence", "code": "", "stance": "supports"}
_FRESH_ACKNOWLEDGED = {"code": "", "reason": ""}
_ADDED_NAME = re.compile(r"NAME[0-9]+\Z")


def blank_row(table: Table, count: int = 0) -> dict[str, Any]:
    """What a new row of a table holds beside `count` others."""
    if table is CITATIONS:
        return dict(BLANK_CITATION)
    if table is ACKNOWLEDGED:
        return dict(BLANK_ACKNOWLEDGED)
    if table.named:
        return {"name": added_name(count), "value": ""}
    known = next((path for path in ROW_FIELDS if path == table.path or path.endswith(f".{table.path}")), None)
    blank = empty_row(known) if known else {}
    row = {i.name: blank.get(i.name, False if i.kind == "check" else "") for i in table.all_inputs}
    return row | {inner.path: [] for inner in table.tables}


def added_name(count: int) -> str:
    """The name of a new symbol beside `count` others; it is meant to be changed."""
    return f"NAME{count}"


@dataclass
class Filled:
    """A draft as the rules judge it while it is written. `left_out` counts the fresh rows that are not in it."""

    document: dict[str, Any]
    left_out: int = 0
    _kept: dict[str, list[int]] = field(default_factory=dict)

    def place(self, path: str) -> str:
        """Where a path of `document` is in the draft, whose rows have other numbers after one that was left out."""
        # The rows inside a row first: their keys count the outer rows as `document` does.
        for rows, kept in sorted(self._kept.items(), key=lambda item: -len(item[0])):
            found = re.match(rf"{re.escape(rows)}\[(\d+)\]", path)
            if found:
                path = f"{rows}[{kept[int(found.group(1))]}]{path[found.end() :]}"
        return path

    def leave_out(self, holder: Any, name: str, path: str, fresh: Mapping[str, Any]) -> list[Any]:
        """Take the fresh rows out of `holder[name]`, which stands at `path`; gives the rows that stay."""
        rows = holder.get(name) if isinstance(holder, dict) else None
        if not isinstance(rows, list):
            return []
        if any(amended.startswith(f"{path}[") for _, amended in amended_paths(self.document)):
            return rows  # the amendment counts them all
        kept = [number for number, row in enumerate(rows) if not _is_fresh(row, fresh)]
        if len(kept) < len(rows):
            self.left_out += len(rows) - len(kept)
            self._kept[path] = kept
            holder[name] = [rows[number] for number in kept]
        return holder[name]

    def leave_out_of(self, table: Table, holder: Any, above: str = "") -> None:
        """Take the fresh rows out of a table and of the tables inside its rows."""
        *parents, last = table.path.split(".")
        for parent in parents:
            holder = holder.get(parent) if isinstance(holder, dict) else None
        path = f"{above}{table.path}"
        for number, row in enumerate(self.leave_out(holder, last, path, blank_row(table))):
            for inner in table.tables:
                self.leave_out_of(inner, row, f"{path}[{number}].")

    def leave_out_names(self, holder: Any, name: str) -> None:
        """Take the names that were added and not filled in out of a mapping."""
        named = holder.get(name) if isinstance(holder, dict) else None
        if isinstance(named, dict):
            fresh = [key for key, value in named.items() if value == "" and _ADDED_NAME.match(key)]
            self.left_out += len(fresh)
            holder[name] = {key: value for key, value in named.items() if key not in fresh}


def _is_fresh(row: Any, blank: Mapping[str, Any]) -> bool:
    return isinstance(row, Mapping) and all(row.get(name, value) == value for name, value in blank.items())


def without_fresh_rows(content: Mapping[str, Any]) -> Filled:
    """A copy of a draft without the rows of tables, citations and symbols that nobody has touched yet."""
    filled = Filled(plain_copy(dict(content)))
    seen: set[str] = set()
    for table in (table for section in SECTIONS for table in section.tables):
        if table.named:
            *parents, last = table.path.split(".")
            filled.leave_out_names(filled.document.get(parents[0]) if parents else filled.document, last)
        elif table.path not in seen:
            seen.add(table.path)
            filled.leave_out_of(table, filled.document)
    choices = filled.document.get("choices")
    for number, choice in enumerate(choices if isinstance(choices, list) else []):
        above = f"choices[{number}]."
        filled.leave_out(choice, "citations", f"{above}citations", _FRESH_CITATION)
        filled.leave_out(choice, "acknowledged", f"{above}acknowledged", _FRESH_ACKNOWLEDGED)
        filled.leave_out_of(BANDS, choice, above)
    return filled
