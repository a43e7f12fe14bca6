"""A spec document with its formulas evaluated: what the spec rules read.

Every number is either an int or a `Missing`, which says where an input is absent or unreadable and what to
do.
"""

import copy
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from v2kb.rules.amendments import amended
from v2kb.rules.channels import edges_of_channels
from v2kb.rules.expressions import MAX_SYMBOLS, ExpressionError, SymbolTable, evaluate_whole
from v2kb.rules.field_words import spoken, to_enter
from v2kb.rules.problem import Problem
from v2kb.rules.smem import DEFAULT_GEOMETRY, Geometry, Plan, PlanError, Region, plan
from v2kb.rules.spec_document import normalise

REGION_NUMBERS = ("ordinal", "slots", "size_bytes", "alignment", "page_count", "release_step")
SLICE_NUMBERS = ("slots", "offset_bytes", "size_bytes", "alignment")
TMEM_NUMBERS = ("slots", "columns", "start")
SEM_NUMBERS = ("ordinal", "slots", "count", "tx_bytes")
MAX_SLOTS = 256
MAX_PLANNED = 256
_PLAIN_NUMBER = re.compile(r"0|[1-9][0-9]{0,30}")


@dataclass(frozen=True, slots=True)
class Missing:
    """An input that a rule needs and cannot read: nothing stands there, or it has no value. `fix` says what to do."""

    path: str
    message: str
    fix: str
    is_empty: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table with its numbers: `values` maps a field to an int or to what is missing.

    `cells` maps fields to the names that they have at `path`, where the row stands for a part of another table's row.
    """

    path: str
    source: Mapping[str, Any]
    values: Mapping[str, int | Missing]
    cells: Mapping[str, str] = field(default_factory=dict)

    def cell(self, name: str) -> str:
        """Path of one field of this row in the document."""
        return f"{self.path}.{self.cells.get(name, name)}"

    def label(self) -> str:
        """The row's name, or its place in the table while it has none."""
        named = self.source.get("name") or self.source.get("task")
        return named or f"Row {int(self.path.rpartition('[')[2].rstrip(']')) + 1}"


class SpecView:
    """The evaluated form of one spec document.

    `ops` maps an op's slug to its contract: fixed axes on which the spec's ops agree can be used as symbols.
    `doc` is the design that stands, with its amendments; `amended` maps each field that one of them set to
    what set it.
    `symbols` given here win over the document's, so that a claim can be tried at other values. PAGE and PAGES follow
    `geometry`.
    """

    def __init__(
        self,
        doc: Any,
        ops: Mapping[str, Mapping[str, Any]] | None = None,
        symbols: Mapping[str, int] | None = None,
        geometry: Geometry = DEFAULT_GEOMETRY,
    ) -> None:
        self.geometry = geometry
        self.written, self.problems = normalise(doc)
        self.problems: list[Problem]
        self.doc, self.amended, refused = amended(self.written)
        self.problems += refused
        used = {op["op"] for op in self.doc["ops"]}
        self.contracts = [contract for slug, contract in (ops or {}).items() if slug in used]
        self.symbols = self._symbols(symbols or {})

    def _symbols(self, given: Mapping[str, int]) -> SymbolTable:
        definitions = {**self.doc["symbols"], **{name: str(value) for name, value in given.items()}}
        return symbol_table(definitions, self.contracts, self.geometry)

    def at(self, symbols: Mapping[str, int]) -> "SpecView":
        """Return the view of the same document with other values of some symbols, evaluated anew."""
        other = copy.copy(self)
        for name, value in vars(type(self)).items():
            if isinstance(value, cached_property):
                other.__dict__.pop(name, None)
        other.symbols = self._symbols(symbols)
        return other

    def number(self, path: str, text: str, local: Mapping[str, int] | None = None) -> int | Missing:
        """Evaluate one field."""
        if not text:
            return Missing(path, f"{spoken(path)} is not given.", to_enter(path), is_empty=True)
        if _PLAIN_NUMBER.fullmatch(text):
            return int(text)
        try:
            return evaluate_whole(text, self.symbols, local)
        except ExpressionError as error:
            return Missing(path, f'{spoken(path)} "{text}" has no value: {error.message}', error.fix)

    def row(
        self, path: str, source: Mapping[str, Any], fields: Sequence[str], cells: Mapping[str, str] | None = None
    ) -> Row:
        """Evaluate the named fields of one table row; `cells` as in `Row`."""
        row = Row(path, source, {}, cells or {})
        return replace(row, values={name: self.number(row.cell(name), source[name]) for name in fields})

    @cached_property
    def regions(self) -> tuple[Row, ...]:
        """The rows of the region table in document order. A row stands for `slots` regions of consecutive ordinals;
        its `page_count` may use `size`, the bytes of one.
        """
        rows = []
        for index, source in enumerate(self.doc["smem"]["regions"]):
            path = f"smem.regions[{index}]"
            values = dict(self.row(path, source, REGION_NUMBERS).values)
            if isinstance(values["size_bytes"], int):
                local = {"size": values["size_bytes"]}
                values["page_count"] = self.number(f"{path}.page_count", source["page_count"], local)
            values["release_step"] = self.number(f"{path}.release_step", source["release_step"], {"s": 0})
            rows.append(Row(path, source, values))
        return tuple(rows)

    @cached_property
    def sems(self) -> tuple[Row, ...]:
        """The semaphore rows in document order; those that the channel table stands for where that form is used."""
        sems = self.doc["sems"]
        if sems["form"] == "channels":
            return tuple(self.row(edge.path, edge.row, SEM_NUMBERS, edge.cells) for edge in edges_of_channels(sems))
        rows = enumerate(sems["rows"])
        return tuple(self.row(f"sems.rows[{index}]", source, SEM_NUMBERS) for index, source in rows)

    @cached_property
    def tmem(self) -> tuple[Row, ...]:
        """The objects in tensor memory in document order."""
        return tuple(
            self.row(f"tmem.objects[{index}]", source, TMEM_NUMBERS)
            for index, source in enumerate(self.doc["tmem"]["objects"])
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

    @property
    def in_megakernel(self) -> bool:
        """True when the runtime starts the spec's tasks: by its ops' contracts where they are known, else by its
        family.
        """
        envelopes = {contract.get("envelope") for contract in self.contracts}
        return "fused_megakernel" in envelopes if envelopes else self.family != "E"

    def field(self, path: str, default: str = "") -> int | Missing:
        """The number in one scalar field, such as `roles.stages`; `default` stands where nothing is written."""
        value: Any = self.doc
        for name in path.split("."):
            value = value[name]
        return self.number(path, value or default)

    @cached_property
    def plan_rows(self) -> tuple[tuple[int, int], ...]:
        """(document index of a region row, which of its slots) in the planner's order: by ordinal, or as listed while
        the ordinals are bad.
        """
        ordinals = [row.values["ordinal"] for row in self.regions]
        good = all(isinstance(value, int) for value in ordinals) and len(set(ordinals)) == len(ordinals)
        order = sorted(range(len(ordinals)), key=lambda index: ordinals[index]) if good else range(len(ordinals))
        return tuple((index, slot) for index in order for slot in range(self._slots(index)))

    def _slots(self, index: int) -> int:
        slots = self.regions[index].values["slots"]
        return min(max(slots, 0), MAX_SLOTS) if isinstance(slots, int) else 1

    @cached_property
    def planner_input(self) -> tuple[tuple[Region, ...], tuple[Missing, ...]]:
        """(regions for the planner in its order, inputs that are missing for it)."""
        missing = [
            value
            for row in self.regions
            for name, value in row.values.items()
            if name not in ("ordinal", "release_step") and isinstance(value, Missing)
        ]
        if missing:
            return (), tuple(missing)
        if self.region_count > MAX_PLANNED:
            message = f"{self.region_count:,} regions are too many to plan."
            return (), (Missing("smem.regions", message, "A task has at most 16 regions; check the slots."),)
        regions = [self._region(index, slot) for index, slot in self.plan_rows]
        bad = tuple(region for region in regions if isinstance(region, Missing))
        return ((), bad) if bad else (tuple(regions), ())

    def _region(self, index: int, slot: int) -> Region | Missing:
        """One region; `release_step` may use `s`, the number of its slot."""
        row = self.regions[index]
        step = self.number(f"{row.path}.release_step", row.source["release_step"], {"s": slot})
        if isinstance(step, Missing):
            return step
        return Region(
            name=f"{row.label()}{slot}" if row.values["slots"] != 1 else row.label(),
            can_pack=row.source["can_pack"],
            contiguous=row.source["contiguous"],
            release_step=step,
            **{name: row.values[name] for name in ("size_bytes", "alignment", "page_count")},
        )

    @cached_property
    def plan(self) -> Plan | PlanError | None:
        """The logical plan, the planner's refusal, or None while its input is incomplete."""
        regions, missing = self.planner_input
        if missing:
            return None
        try:
            return plan(regions, self.geometry)
        except PlanError as error:
            return error

    @property
    def total_bytes(self) -> int | None:
        """Bytes of all regions, or None while a size has no value."""
        rows = [(row.values["slots"], row.values["size_bytes"]) for row in self.regions]
        known = all(isinstance(number, int) for row in rows for number in row)
        return sum(max(slots, 0) * size for slots, size in rows) if known else None

    @property
    def region_count(self) -> int:
        """Regions that the rows stand for; a row whose slots have no value counts once."""
        slots = [row.values["slots"] for row in self.regions]
        return sum(max(number, 0) if isinstance(number, int) else 1 for number in slots)

    def region_path(self, planner_index: int) -> str:
        """Path of the document row behind a region of the planner."""
        return self.regions[self.plan_rows[planner_index][0]].path


def symbol_table(
    definitions: Mapping[str, str],
    contracts: Sequence[Mapping[str, Any]] = (),
    geometry: Geometry = DEFAULT_GEOMETRY,
) -> SymbolTable:
    """Return the symbols of a spec: PAGE and PAGES, fixed axes of its contracts, and its own definitions."""
    constants = {"PAGE": geometry.page_bytes, "PAGES": geometry.pages}
    axes: dict[str, set[str]] = {}
    for contract in contracts:
        for name, axis in (contract.get("axes") or {}).items():
            if isinstance(axis, Mapping) and axis.get("value"):
                axes.setdefault(name, set()).add(str(axis["value"]))
    agreed = {name: next(iter(values)) for name, values in axes.items() if len(values) == 1}
    spare = max(0, MAX_SYMBOLS - len(definitions))
    fixed = [(name, value) for name, value in agreed.items() if name not in constants and name not in definitions]
    return SymbolTable({**dict(fixed[:spare]), **definitions}, constants)
