"""A spec document with its formulas evaluated: what the spec rules read.

Every number is either an int or a `Missing`, which says where an input is absent or unreadable and what to
do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from v2kb.rules.expressions import MAX_SYMBOLS, ExpressionError, SymbolTable, evaluate_whole
from v2kb.rules.problem import Problem
from v2kb.rules.smem import PAGE_BYTES, PAGES, Plan, PlanError, Region, plan
from v2kb.rules.spec_document import normalise

CONSTANTS = {"PAGE": PAGE_BYTES, "PAGES": PAGES}
REGION_NUMBERS = ("ordinal", "size_bytes", "alignment", "page_count", "release_step")


@dataclass(frozen=True, slots=True)
class Missing:
    """An input that a rule needs and cannot read. `path` is the field; `fix` says what to do."""

    path: str
    message: str
    fix: str


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table with its numbers: `values` maps a field to an int or to what is missing."""

    path: str
    source: Mapping[str, Any]
    values: Mapping[str, int | Missing]

    def label(self) -> str:
        """The row's name, or its place in the table while it has none."""
        named = self.source.get("name") or self.source.get("task")
        return named or f"Row {int(self.path.rpartition('[')[2].rstrip(']')) + 1}"


class SpecView:
    """The evaluated form of one spec document.

    `ops` maps an op's slug to its contract: fixed axes on which the spec's ops agree can be used as symbols.
    """

    def __init__(self, doc: Any, ops: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self.doc, self.problems = normalise(doc)
        self.problems: list[Problem]
        used = {op["op"] for op in self.doc["ops"]}
        self.symbols = symbol_table(self.doc["symbols"], [c for slug, c in (ops or {}).items() if slug in used])

    def number(self, path: str, text: str, local: Mapping[str, int] | None = None) -> int | Missing:
        """Evaluate one field."""
        if not text:
            return Missing(path, "Nothing is given here.", "Write a number or a formula.")
        try:
            return evaluate_whole(text, self.symbols, local)
        except ExpressionError as error:
            return Missing(path, f"{text} has no value: {error.message}", error.fix)

    def row(self, path: str, source: Mapping[str, Any], fields: Sequence[str]) -> Row:
        """Evaluate the named fields of one table row."""
        return Row(path, source, {name: self.number(f"{path}.{name}", source[name]) for name in fields})

    @cached_property
    def regions(self) -> tuple[Row, ...]:
        """The regions in document order; `page_count` may use `size` for the region's own bytes."""
        rows = []
        for index, source in enumerate(self.doc["smem"]["regions"]):
            path = f"smem.regions[{index}]"
            values = dict(self.row(path, source, REGION_NUMBERS).values)
            if isinstance(values["size_bytes"], int):
                local = {"size": values["size_bytes"]}
                values["page_count"] = self.number(f"{path}.page_count", source["page_count"], local)
            rows.append(Row(path, source, values))
        return tuple(rows)

    @cached_property
    def sems(self) -> tuple[Row, ...]:
        """The semaphore rows in document order."""
        return tuple(
            self.row(f"sems.rows[{index}]", source, ("ordinal", "slots", "count"))
            for index, source in enumerate(self.doc["sems"]["rows"])
        )

    @cached_property
    def tasks(self) -> tuple[Row, ...]:
        """The granularity rows in document order."""
        return tuple(
            self.row(f"granularity[{index}]", source, ("num_tasks", "listed"))
            for index, source in enumerate(self.doc["granularity"])
        )

    @property
    def family(self) -> str:
        return self.doc["engine"]["family"]

    @cached_property
    def plan_order(self) -> tuple[int, ...]:
        """Document indexes of the regions in the planner's order: by ordinal, or as listed while those are
        bad.
        """
        ordinals = [row.values["ordinal"] for row in self.regions]
        if all(isinstance(value, int) for value in ordinals) and len(set(ordinals)) == len(ordinals):
            return tuple(sorted(range(len(ordinals)), key=lambda index: ordinals[index]))
        return tuple(range(len(ordinals)))

    @cached_property
    def planner_input(self) -> tuple[tuple[Region, ...], tuple[Missing, ...]]:
        """(regions for the planner in its order, inputs that are missing for it)."""
        missing = [
            value
            for row in self.regions
            for name, value in row.values.items()
            if name != "ordinal" and isinstance(value, Missing)
        ]
        if missing:
            return (), tuple(missing)
        return tuple(_region(self.regions[index]) for index in self.plan_order), ()

    @cached_property
    def plan(self) -> Plan | PlanError | None:
        """The logical plan, the planner's refusal, or None while its input is incomplete."""
        regions, missing = self.planner_input
        if missing:
            return None
        try:
            return plan(regions)
        except PlanError as error:
            return error

    def region_path(self, planner_index: int) -> str:
        """Path of the document row behind a region of the planner."""
        return self.regions[self.plan_order[planner_index]].path


def _region(row: Row) -> Region:
    return Region(
        name=row.label(),
        can_pack=row.source["can_pack"],
        contiguous=row.source["contiguous"],
        **{name: row.values[name] for name in REGION_NUMBERS if name != "ordinal"},
    )


def symbol_table(definitions: Mapping[str, str], contracts: Sequence[Mapping[str, Any]] = ()) -> SymbolTable:
    """Return the symbols of a spec: PAGE and PAGES, fixed axes of its contracts, and its own definitions."""
    axes: dict[str, set[str]] = {}
    for contract in contracts:
        for name, axis in (contract.get("axes") or {}).items():
            if isinstance(axis, Mapping) and axis.get("value"):
                axes.setdefault(name, set()).add(str(axis["value"]))
    agreed = {name: next(iter(values)) for name, values in axes.items() if len(values) == 1}
    spare = max(0, MAX_SYMBOLS - len(definitions))
    fixed = [(name, value) for name, value in agreed.items() if name not in CONSTANTS and name not in definitions]
    return SymbolTable({**dict(fixed[:spare]), **definitions}, CONSTANTS)
