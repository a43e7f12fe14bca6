"""What changed between two revisions of a spec: choices, rows, texts, and numbers with their percent.

Rows are matched by what names them (a region's name, a choice's id), so that a moved row is no change. Formulas are
compared by text and by value: a new value of STAGES shows at every size that depends on it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from v2kb.rules.canonical import canonical_json
from v2kb.rules.expressions import ExpressionError, SymbolTable, evaluate
from v2kb.rules.formulas import FORMULAS
from v2kb.rules.numbers import read_decimal
from v2kb.rules.spec_view import symbol_table

ADDED, REMOVED, CHANGED, NUMBER_CHANGED = "added", "removed", "changed", "number_changed"

Namer = Callable[[dict[str, Any]], str]


def _by(*names: str) -> Namer:
    """What names a row: the first of these fields that is filled in."""
    return lambda row: next((row[name] for name in names if row[name]), "")


def _by_ordinal(row: dict[str, Any]) -> str:
    return row["name"] or f"ordinal {row['ordinal']}"


# A table by its path, or by its own name where it stands inside rows.
_KEYS: dict[str, Namer] = {
    "ops": _by("op", "name"),
    "claims": _by("symbol"),
    "smem.regions": _by_ordinal,
    "slices": _by("name"),
    "tmem.objects": _by("name"),
    "sems.rows": _by_ordinal,
    "sems.channels": _by("name"),
    "sems.one_shots": _by_ordinal,
    "roles.rows": _by("role"),
    "granularity": _by("task"),
    "choices": _by("id"),
    "bands": _by("what"),
    "anchors": _by("name"),
    "measurement.targets": _by("what"),
    "scale_packs": _by("name"),
    "gates": _by("rung"),
    "wiring.tasks": _by("type", "enum"),
    "wiring.files": _by("path"),
    "open_questions": _by("id"),
    "reviews.rows": lambda row: " ".join(filter(None, (row["date"], row["engine"], row["item"]))),
    "self_audit": _by("item"),
    "amendments": _by("id"),
    "fields": _by("field"),
    "citations": lambda row: ":".join(
        str(row.get(k, "")) for k in ("kind", "code", "document", "anchor", "path", "lines")
    ),
    "acknowledged": _by("code"),
}


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. `place` names it in words of the document, such as `choices C1 > prediction > gain_percent`.

    `section` is the top-level part; `key` the row it lies in, or ""; `percent` is set for numbers whose earlier
    value isn't zero, as text with one decimal and a sign.
    """

    kind: str
    section: str
    key: str
    place: str
    before: str
    after: str
    percent: str = ""

    def as_document(self) -> dict[str, str]:
        """Return the change as plain values."""
        return {name: getattr(self, name) for name in self.__slots__}


def spec_diff(old: dict[str, Any], new: dict[str, Any]) -> list[Change]:
    """Return what changed from canonical document `old` to `new`, in the order of the document."""
    walk = _Walk(symbol_table(old["symbols"]), symbol_table(new["symbols"]))
    for section in new:
        walk.compare(old[section], new[section], (section,), section, "")
    return walk.changes


class _Walk:
    def __init__(self, old_symbols: SymbolTable, new_symbols: SymbolTable) -> None:
        self.old_symbols = old_symbols
        self.new_symbols = new_symbols
        self.changes: list[Change] = []

    def compare(self, old: Any, new: Any, path: tuple[str, ...], section: str, key: str) -> None:
        if isinstance(old, dict) and isinstance(new, dict):
            for name in [*new, *(name for name in old if name not in new)]:
                self.compare(old.get(name), new.get(name), (*path, name), section, key)
        elif self._row_key(path) and isinstance(old, list) and isinstance(new, list):
            self._compare_rows(old, new, path, section, key)
        else:
            self._compare_leaf(old, new, path, section, key)

    def _row_key(self, path: tuple[str, ...]) -> Namer | None:
        return _KEYS.get(".".join(path)) or _KEYS.get(path[-1])

    def _compare_rows(self, old: list[Any], new: list[Any], path: tuple[str, ...], section: str, key: str) -> None:
        namer = self._row_key(path)
        before, after = _keyed(old, namer), _keyed(new, namer)
        for name in [*after, *(name for name in before if name not in after)]:
            place = (*path[:-1], f"{path[-1]} {name}")
            row_key = key or name
            if name not in before:
                self._add(ADDED, section, row_key, place, "", canonical_json(after[name]))
            elif name not in after:
                self._add(REMOVED, section, row_key, place, canonical_json(before[name]), "")
            else:
                self.compare(before[name], after[name], place, section, row_key)

    def _compare_leaf(self, old: Any, new: Any, path: tuple[str, ...], section: str, key: str) -> None:
        first, second = self._number(old, path, self.old_symbols), self._number(new, path, self.new_symbols)
        if first is not None and second is not None and first != second:
            percent = f"{float((second - first) / abs(first)) * 100:+.1f}" if first else ""
            self._add(NUMBER_CHANGED, section, key, path, _spoken(old, first), _spoken(new, second), percent)
        elif old != new:
            kind = ADDED if _blank(old) else REMOVED if _blank(new) else CHANGED
            self._add(kind, section, key, path, _plain(old), _plain(new))

    def _number(self, value: Any, path: tuple[str, ...], symbols: SymbolTable) -> Fraction | None:
        if not isinstance(value, str) or not value:
            return None
        if path[0] == "symbols":
            return symbols.values.get(path[-1])
        if path[-1] in FORMULAS:
            try:
                return evaluate(value, symbols)
            except ExpressionError:
                return None
        number = read_decimal(value) if path[-2:-1] == ("prediction",) else None
        return Fraction(Decimal(number)) if number is not None else None

    def _add(
        self, kind: str, section: str, key: str, path: tuple[str, ...], before: str, after: str, percent: str = ""
    ) -> None:
        self.changes.append(Change(kind, section, key, " > ".join(path), before, after, percent))


def _keyed(rows: list[Any], namer: Namer) -> dict[str, Any]:
    """Rows by name; a repeated or empty name gets a number behind it."""
    result: dict[str, Any] = {}
    for row in rows:
        name = namer(row) or "unnamed"
        unique, number = name, 2
        while unique in result:
            unique, number = f"{name} ({number})", number + 1
        result[unique] = row
    return result


def _blank(value: Any) -> bool:
    return value is None or value in ("", [], {})


def _plain(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else canonical_json(value)


def _spoken(text: str, value: Fraction) -> str:
    plain = f"{value.numerator}" if value.denominator == 1 else f"{value.numerator}/{value.denominator}"
    return text if text == plain or read_decimal(text) is not None else f"{text} = {plain}"
