"""Plain values for the pictures of a spec's barriers: who holds the slots of a task, and the audit's ledger."""

from typing import Any

from v2kb.rules.barriers import arriver, has_owner, waiter
from v2kb.rules.channels import announces, is_full
from v2kb.rules.sems import OP_SEM_BUDGET
from v2kb.rules.spec_view import Row, SpecView

MAX_DRAWN_SLOTS = 256
FULL, EMPTY, ONE_SHOT = "full", "empty", "one_shot"
GIVEN, DERIVED, BLANK, NOT_APPLICABLE = "given", "derived", "blank", "not_applicable"

LEDGER_COLUMNS = {
    "name": "barrier",
    "ordinals": "ordinals",
    "init": "initialised by",
    "arrivals": "arrivals of a phase",
    "tx_bytes": "bytes expected",
    "producer": "who arrives",
    "mechanism": "how",
    "consumer": "who waits",
    "first_phase": "first phase waited",
    "releases": "hands back",
    "reinit_owner": "re-initialised by",
}
_BY_KIND = {"tma": "TMA byte delivery", "mma": "tcgen05.commit"}
_BY_PUBLICATION = {
    "fence_then_arrive": "wait_group, fence.proxy.async, one arrive",
    "noinc": "cp.async noinc and one arrive",
}


def semaphore_map(view: SpecView) -> dict[str, Any]:
    """Return plain values for a picture of the semaphore slots.

    `slots` has one entry per ordinal, at least 31: its state is used, clash, free, or over (past the budget), and its
    `rows` are indexes of `rows`: the table's rows with their evaluated numbers (None where they have no value), the
    direction as two roles, the edge (full, empty, one_shot) and who re-initialises it.
    """
    rows = []
    holders: dict[int, list[int]] = {}
    used = 0
    for index, row in enumerate(view.sems):
        drawn = _drawn_row(view, index, row)
        used += drawn["slots"] if drawn["first"] is not None else 0
        last = min(drawn["last"] + 1, MAX_DRAWN_SLOTS) if drawn["first"] is not None else 0
        for ordinal in range(drawn["first"] or 0, last):
            holders.setdefault(ordinal, []).append(index)
        rows.append(drawn)
    drawn_slots = max(OP_SEM_BUDGET, max(holders, default=-1) + 1)
    slots = [
        {"ordinal": ordinal, "rows": holders.get(ordinal, []), "state": _slot_state(ordinal, holders)}
        for ordinal in range(drawn_slots)
    ]
    return {"budget": OP_SEM_BUDGET, "used": used, "free": OP_SEM_BUDGET - used, "rows": rows, "slots": slots}


def _drawn_row(view: SpecView, index: int, row: Row) -> dict[str, Any]:
    numbers = {name: value if isinstance(value, int) else None for name, value in row.values.items()}
    first, slots = numbers["ordinal"], numbers["slots"]
    readable = first is not None and slots is not None and slots > 0 and first >= 0
    source = row.source
    return {
        "index": index,
        "path": row.path,
        "name": row.label(),
        "first": first if readable else None,
        "last": first + slots - 1 if readable else None,
        "slots": slots,
        "count": numbers["count"],
        "producer": source["producer"],
        "consumer": source["consumer"],
        "from_role": arriver(row),
        "to_role": waiter(row),
        "edge": edge(view, row),
        "pair": source["pair"],
        "meaning": source["meaning"],
        "kind": source["kind"],
        "asynchronous": source["kind"] in ("tma", "mma"),
        "reinit_owner": source["reinit_owner"],
    }


def _slot_state(ordinal: int, holders: dict[int, list[int]]) -> str:
    count = len(holders.get(ordinal, ()))
    if count > 1:
        return "clash"
    if count and ordinal >= OP_SEM_BUDGET:
        return "over"
    return "used" if count else "free"


def edge(view: SpecView, row: Row) -> str:
    """full, empty or one_shot; "" for a row whose other direction is not found."""
    pair = _pair(view, row)
    if pair is None:
        return "" if row.source["pair"] else ONE_SHOT
    if is_full(row.source, pair.source):
        return FULL
    return EMPTY if is_full(pair.source, row.source) else ""


def _pair(view: SpecView, row: Row) -> Row | None:
    name = row.source["pair"]
    return next((other for other in view.sems if name and other is not row and other.source["name"] == name), None)


def barrier_ledger(view: SpecView) -> dict[str, Any]:
    """Return the ledger of a barrier audit: one line per barrier row.

    Each cell has `text`, `path` (the field in the document) and `state`: given, derived (it follows from other cells),
    not_applicable, or blank; `blanks` counts the blank ones, and an audit ends with none.
    """
    lines = [
        {"path": row.path, "name": row.label(), "edge": edge(view, row), "cells": _ledger_cells(view, row)}
        for row in view.sems
    ]
    return {
        "columns": [{"key": key, "title": title} for key, title in LEDGER_COLUMNS.items()],
        "rows": lines,
        "blanks": sum(cell["state"] == BLANK for line in lines for cell in line["cells"].values()),
    }


def _ledger_cells(view: SpecView, row: Row) -> dict[str, dict[str, str]]:
    cells = {name: _cell(row, name, row.source[name]) for name in ("name", "producer", "consumer", "reinit_owner")}
    cells["ordinals"] = _cell(row, "ordinal", _ordinals(row))
    cells["init"] = _cell(row, "reinit_owner", _init_scope(row), DERIVED)
    cells["arrivals"] = _cell(row, "count", _number(row, "count"))
    cells["mechanism"] = _mechanism(row)
    if row.source["kind"] in ("", "tma"):
        cells["tx_bytes"] = _cell(row, "tx_bytes", _number(row, "tx_bytes"))
    else:
        cells["tx_bytes"] = _cell(row, "tx_bytes", "none", NOT_APPLICABLE)
    phase = row.source["first_phase"]
    single = edge(view, row) == ONE_SHOT
    cells["first_phase"] = _cell(row, "first_phase", phase or ("0" if single else ""), GIVEN if phase else DERIVED)
    cells["releases"] = _released(view, row)
    return {key: cells[key] for key in LEDGER_COLUMNS}


def _cell(row: Row, name: str, text: str, state: str = GIVEN) -> dict[str, str]:
    return {"text": text, "path": row.cell(name), "state": state if text else BLANK}


def _number(row: Row, name: str) -> str:
    value = row.values[name]
    return f"{value:,}" if isinstance(value, int) else ""


def _ordinals(row: Row) -> str:
    first, slots = row.values["ordinal"], row.values["slots"]
    if not isinstance(first, int) or not isinstance(slots, int):
        return ""
    return str(first) if slots == 1 else f"{first}..{first + slots - 1}"


def _init_scope(row: Row) -> str:
    scope = "controller at each publish"
    return f"{scope}, {row.source['reinit_owner']} at task start" if has_owner(row) else scope


def _mechanism(row: Row) -> dict[str, str]:
    """How an arrival is made; of a barrier that threads arrive at, who they are."""
    source = row.source
    if source["kind"] in _BY_KIND:
        return _cell(row, "kind", _BY_KIND[source["kind"]])
    if source["publication"]:
        return _cell(row, "publication", _BY_PUBLICATION[source["publication"]])
    if source["data"] == "cp_async":
        return _cell(row, "publication", "")
    return _cell(row, "arrivers", f"arrive, {source['arrivers'].replace('_', ' ')}" if source["arrivers"] else "")


def _released(view: SpecView, row: Row) -> dict[str, str]:
    """What a phase hands back: as written, the slot of a ring for its empty edge, nothing where data is announced."""
    source, pair = row.source, _pair(view, row)
    if source["releases"]:
        return _cell(row, "releases", source["releases"])
    if pair is not None and edge(view, row) == EMPTY:
        return _cell(row, "releases", f"a slot of {pair.source['storage'] or pair.label()}", DERIVED)
    if announces(source) or edge(view, row) == FULL:
        return _cell(row, "releases", "nothing, it announces data", NOT_APPLICABLE)
    return _cell(row, "releases", "")
