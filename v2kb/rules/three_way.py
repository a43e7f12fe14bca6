"""Merging two changed copies of one document with the copy that both began from.

Where only one side changed a field, its change stands; where both changed it to different values, that is a conflict
for a person. Rows of a table are told apart by their names, so that a row that moved is no conflict.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

NAMES = (
    "name",
    "id",
    "task",
    "type",
    "role",
    "code",
    "target",
    "rung",
    "item",
    "what",
    "path",
    "symbol",
    "field",
    "op",
)


class _Absent:
    """What a side has where it has nothing."""

    def __repr__(self) -> str:
        return "absent"


ABSENT = _Absent()


@dataclass(frozen=True, slots=True)
class Conflict:
    """A field that both sides changed. A value is ABSENT where the field, or the row, is not there."""

    path: str
    base: Any
    mine: Any
    theirs: Any


def merge(base: Any, mine: Any, theirs: Any, path: str = "") -> tuple[Any, list[Conflict]]:
    """Return (merged value, conflicts). At a conflict the merged value is `mine`, or `theirs` where mine is absent.

    The values are what JSON can hold; `path` is where they stand. Paths of conflicts name places in the merged value.
    """
    conflicts: list[Conflict] = []
    return _merge(base, mine, theirs, path, conflicts), conflicts


def _merge(base: Any, mine: Any, theirs: Any, path: str, conflicts: list[Conflict]) -> Any:
    if mine == theirs or theirs == base:
        return mine
    if mine == base:
        return theirs
    if isinstance(mine, Mapping) and isinstance(theirs, Mapping):
        return _merge_fields(base, mine, theirs, path, conflicts)
    if _is_table(mine) and _is_table(theirs):
        merged = _merge_rows(base if _is_table(base) else [], mine, theirs, path, conflicts)
        if merged is not None:
            return merged
    conflicts.append(Conflict(path, base, mine, theirs))
    return theirs if mine is ABSENT else mine


def _merge_fields(
    base: Any, mine: Mapping[str, Any], theirs: Mapping[str, Any], path: str, conflicts: list[Conflict]
) -> dict[str, Any]:
    known = base if isinstance(base, Mapping) else {}
    merged = {}
    for name in [*mine, *(name for name in theirs if name not in mine)]:
        inner = f"{path}.{name}" if path else name
        sides = (side.get(name, ABSENT) for side in (known, mine, theirs))
        value = _merge(*sides, inner, conflicts)
        if value is not ABSENT:
            merged[name] = value
    return merged


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, Mapping) for row in value)


def _names(rows: Sequence[Mapping[str, Any]]) -> list[str] | None:
    """What names each row, where every row has a name of its own; else None."""
    field = next((name for name in NAMES if rows and all(row.get(name) for row in rows)), None)
    names = [str(row[field]) for row in rows] if field else []
    return names if len(set(names)) == len(rows) else None


def _merge_rows(
    base: list[Any], mine: list[Any], theirs: list[Any], path: str, conflicts: list[Conflict]
) -> list[Any] | None:
    """The rows merged by name, or by number where their names don't tell them apart; None where neither is possible."""
    old, own, other = (_names(rows) for rows in (base, mine, theirs))
    if old is None or own is None or other is None:
        if not len(base) == len(mine) == len(theirs) or any(_moved(base, rows) for rows in (mine, theirs)):
            return None
        sides = zip(base, mine, theirs, strict=True)
        return [_merge(*rows, f"{path}[{number}]", conflicts) for number, rows in enumerate(sides)]
    names = [old, _as_before(old, own), _as_before(old, other)]
    by_name = [dict(zip(found, rows, strict=True)) for found, rows in zip(names, (base, mine, theirs), strict=True)]
    merged: list[Any] = []
    for name in _order(*names):
        sides = [rows.get(name, ABSENT) for rows in by_name]
        value = _merge(*sides, f"{path}[{len(merged)}]", conflicts)
        if value is not ABSENT:
            merged.append(value)
    return merged


def _moved(base: list[Any], rows: list[Any]) -> bool:
    """True when the rows are those of `base` in another order."""
    return rows != base and sorted(map(repr, rows)) == sorted(map(repr, base))


def _as_before(base: list[str], names: list[str]) -> list[str]:
    """The names of one side, with that of `base` for a row that was renamed where it stood."""
    renamed = {n for n in range(min(len(base), len(names))) if names[n] not in base and base[n] not in names}
    return [base[n] if n in renamed else name for n, name in enumerate(names)]


def _order(base: list[str], mine: list[str], theirs: list[str]) -> list[str]:
    """The rows of both sides: in the order of the side that moved rows, mine where both did; new ones after the row
    that they follow.
    """
    kept = [name for name in mine if name in base]
    first, second = (theirs, mine) if kept == [name for name in base if name in mine] else (mine, theirs)
    order = list(first)
    for position, name in enumerate(second):
        if name not in order:
            before = next((n for n in reversed(second[:position]) if n in order), None)
            order.insert(order.index(before) + 1 if before else 0, name)
    return order
