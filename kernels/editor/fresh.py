"""Rows of a draft that were added and not filled in yet. The editor says nothing of them until they are, or until
the spec is about to be handed in.
"""

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kernels.editor.layout import SECTIONS, Table
from v2kb.rules.spec_document import empty_row

BLANK_CITATION = {"target": "", "stance": "supports", "revision": ""}
BLANK_ACKNOWLEDGED = {"code": "", "reason": ""}
_FRESH_CITATION = {"kind": "evidence", "code": "", "stance": "supports"}
_ADDED_SYMBOL = re.compile(r"NAME[0-9]+\Z")


def blank_row(table: Table) -> dict[str, Any]:
    """What a new row of a table holds."""
    blank = empty_row(table.path) if table.path not in ("anchors", "open_questions") else {}
    return {i.name: blank.get(i.name, False if i.kind == "check" else "") for i in table.inputs}


def added_symbol(count: int) -> str:
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
        for rows, kept in self._kept.items():
            found = re.match(rf"{re.escape(rows)}\[(\d+)\]", path)
            if found:
                return f"{rows}[{kept[int(found.group(1))]}]{path[found.end() :]}"
        return path

    def _leave_out(self, holder: Any, name: str, path: str, fresh: Mapping[str, Any]) -> None:
        rows = holder.get(name) if isinstance(holder, dict) else None
        if not isinstance(rows, list):
            return
        kept = [number for number, row in enumerate(rows) if not _is_fresh(row, fresh)]
        if len(kept) < len(rows):
            self.left_out += len(rows) - len(kept)
            self._kept[path] = kept
            holder[name] = [rows[number] for number in kept]


def _is_fresh(row: Any, blank: Mapping[str, Any]) -> bool:
    return isinstance(row, Mapping) and all(row.get(name, value) == value for name, value in blank.items())


def without_fresh_rows(content: Mapping[str, Any]) -> Filled:
    """A copy of a draft without the rows of tables, citations and symbols that nobody has touched yet."""
    filled = Filled(copy.deepcopy(dict(content)))
    for table in (table for section in SECTIONS for table in section.tables):
        *parents, last = table.path.split(".")
        holder = filled.document.get(parents[0]) if parents else filled.document
        filled._leave_out(holder, last, table.path, blank_row(table))
    choices = filled.document.get("choices")
    for number, choice in enumerate(choices if isinstance(choices, list) else []):
        filled._leave_out(choice, "citations", f"choices[{number}].citations", _FRESH_CITATION)
        filled._leave_out(choice, "acknowledged", f"choices[{number}].acknowledged", BLANK_ACKNOWLEDGED)
    symbols = filled.document.get("symbols")
    if isinstance(symbols, dict):
        fresh = [name for name, value in symbols.items() if value == "" and _ADDED_SYMBOL.match(name)]
        filled.left_out += len(fresh)
        filled.document["symbols"] = {name: value for name, value in symbols.items() if name not in fresh}
    return filled
