"""The two forms of a semaphore table: one row per span of barriers, or one row per channel, and each from the other.

A channel is a ring with a full edge (the producer says that a slot is filled) and an empty edge (the consumer hands it
back). The full edge bears the channel's name. Several channels may share one empty edge: one owns it, the others name
that one and leave their own cells of it blank. Source: house-style section 3 and the reference linear's channel table.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from v2kb.rules import document_shape as shape
from v2kb.rules.expressions import ExpressionError, SymbolTable, evaluate
from v2kb.rules.spec_fields.barriers import CHANNEL, ONE_SHOT, SEM

_SEM = shape.record(SEM)
_CHANNEL = shape.record(CHANNEL)
_ONE_SHOT = shape.record(ONE_SHOT)
_EMPTY_SUFFIX = "_empty"

# Field of a semaphore row -> cell of the channel or one-shot.
_FULL = {
    "ordinal": "full_base",
    "slots": "depth",
    "name": "name",
    "count": "full_arrivals",
    "arrivers": "full_arrivers",
    "producer": "producer",
    "consumer": "consumer",
    "meaning": "meaning",
    "kind": "producer_kind",
    "arrives": "full_arrives",
    "data": "data",
    "publication": "publication",
    "storage": "storage",
    "tx_bytes": "tx_bytes",
    "first_phase": "full_phase",
    "reinit_owner": "reinit_full_by",
    "reinit_order": "reinit_full_order",
    "proof": "full_proof",
}
_EMPTY = {
    "ordinal": "empty_base",
    "slots": "depth",
    "count": "empty_arrivals",
    "arrivers": "empty_arrivers",
    "producer": "consumer",
    "consumer": "producer",
    "meaning": "empty_meaning",
    "kind": "consumer_kind",
    "arrives": "empty_arrives",
    "first_phase": "empty_phase",
    "reinit_owner": "reinit_empty_by",
    "reinit_order": "reinit_empty_order",
    "proof": "empty_proof",
    "releases": "releases",
}
_ONCE = {"count": "arrivals", "reinit_owner": "reinit_by", **{name: name for name in SEM if name in ONE_SHOT}}
_BLANK = _CHANNEL({}, "", [])
# Cells of the empty edge alone: a channel that shares another's leaves them as they are in a new one.
_OWN_EMPTY = (*sorted(set(_EMPTY.values()) - set(_FULL.values())), "empty_name")
# Cells that the findings about a derived field point at.
_FULL_CELLS = {**_FULL, "pair": "shares_empty_with"}
_EMPTY_CELLS = {**_EMPTY, "name": "empty_name", "pair": "name"}


@dataclass(frozen=True, slots=True)
class Edge:
    """A semaphore row that a channel or a one-shot stands for: where it is written, and in which cell each field is."""

    path: str
    row: dict[str, Any]
    cells: Mapping[str, str]


def edges_of_channels(sems: Mapping[str, Any]) -> list[Edge]:
    """Return the semaphore rows of the channels and one-shots of a canonical `sems`, in the order of the tables.

    A channel that shares its empty edge with another has no row of its own for it.
    """
    channels = sems["channels"]
    by_name = {channel["name"]: channel for channel in reversed(channels)}
    edges = []
    for number, channel in enumerate(channels):
        path, partner = f"sems.channels[{number}]", channel["shares_empty_with"]
        empty_name = _empty_name(by_name.get(partner, {"name": partner, "empty_name": ""}) if partner else channel)
        edges.append(Edge(path, _SEM({**_picked(channel, _FULL), "pair": empty_name}, "", []), _FULL_CELLS))
        if not partner:
            more = {"name": empty_name, "data": "none", "pair": channel["name"]}
            edges.append(Edge(path, _SEM({**_picked(channel, _EMPTY), **more}, "", []), _EMPTY_CELLS))
    for number, shot in enumerate(sems["one_shots"]):
        row = _SEM({**_picked(shot, _ONCE), "slots": "1"}, "", [])
        edges.append(Edge(f"sems.one_shots[{number}]", row, _ONCE))
    return edges


def rows_of_channels(sems: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the canonical semaphore rows that the channels and one-shots of `sems` stand for."""
    return [edge.row for edge in edges_of_channels(sems)]


def channels_of_rows(rows: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[str]]:
    """Return (channels, one-shots, names of the rows that fit neither) for canonical semaphore rows.

    Two rows are a channel where each names the other as its pair and they run between the same roles in opposite
    directions with the same slots; further full rows that name the same empty row share it. A row of one slot without a
    pair is a one-shot. A row that says what its form has no cell for, or whose name is not its own, fits neither.
    """
    names = [row["name"] for row in rows]
    by_name = {row["name"]: row for row in rows if row["name"] and names.count(row["name"]) == 1}
    channels, used = [], set()
    for row in rows:
        empty = by_name.get(row["pair"])
        owner = by_name.get(empty["pair"]) if empty else None
        if empty is None or owner is None or owner["pair"] != empty["name"] or row["name"] not in by_name:
            continue
        if _fits(row, empty) and _fits(owner, empty):
            channels.append(_channel(row, empty, owner))
            used |= {row["name"], empty["name"]}
    rest = [row for row in rows if row["name"] not in used]
    once = [row for row in rest if row["name"] in by_name and not row["pair"] and row["slots"] == "1"]
    left = [row["name"] or f"ordinal {row['ordinal']}" for row in rest if row not in once]
    return channels, [_ONE_SHOT(_placed(row, _ONCE), "", []) for row in once], left


@dataclass(frozen=True, slots=True)
class Change:
    """What a conversion changes: `field` of the row or channel `name`. "order" of all ("") stands for another order."""

    name: str
    field: str
    before: str
    after: str


def in_ordinal_order(rows: list[dict[str, Any]], symbols: SymbolTable) -> list[dict[str, Any]]:
    """Return the rows by the value of their ordinals; as they are while one has no value."""
    try:
        return sorted(rows, key=lambda row: evaluate(row["ordinal"], symbols))
    except ExpressionError:
        return rows


def changed_by_channels(rows: list[dict[str, Any]], symbols: SymbolTable) -> list[Change]:
    """Return what rows that all fit the channel form would not get back from it: their order where it isn't that of
    their ordinals, and blanks that the form fills in (a ring is arrived in each iteration, for example).
    """
    channels, one_shots, _ = channels_of_rows(rows)
    back = in_ordinal_order(rows_of_channels({"channels": channels, "one_shots": one_shots}), symbols)
    by_name = {row["name"]: row for row in back}
    changes = [
        Change(row["name"], name, row[name], by_name[row["name"]][name])
        for name in SEM
        for row in rows
        if row[name] != by_name[row["name"]][name]
    ]
    before, after = (", ".join(row["name"] for row in table) for table in (rows, back))
    return [*changes, Change("", "order", before, after)] if before != after else changes


def changed_by_rows(channels: list[dict[str, Any]]) -> list[Change]:
    """Return the cells of canonical channels that no row holds: those of the empty edge where another's is shared."""
    return [
        Change(channel["name"], cell, channel[cell], "")
        for cell in _OWN_EMPTY
        for channel in channels
        if channel["shares_empty_with"] and channel[cell] != _BLANK[cell]
    ]


def announces(row: Mapping[str, Any]) -> bool:
    """True when an arrival at this barrier says that data is there."""
    return row["kind"] == "tma" or row["data"] not in ("", "none")


def is_full(row: Mapping[str, Any], pair: Mapping[str, Any]) -> bool:
    """True when `row` is the full edge of the two: the one that announces data, or else whose waiter starts with
    phase 0.
    """
    if announces(row) != announces(pair):
        return announces(row)
    return row["first_phase"] == "0" and pair["first_phase"] == "1"


def opposite(row: Mapping[str, Any], pair: Mapping[str, Any]) -> bool:
    """True when the two rows run between the same roles in opposite directions."""
    return row["producer"] == pair["consumer"] and row["consumer"] == pair["producer"]


def _empty_name(channel: Mapping[str, Any]) -> str:
    return channel["empty_name"] or channel["name"] + _EMPTY_SUFFIX


def _picked(source: Mapping[str, Any], cells: Mapping[str, str]) -> dict[str, Any]:
    return {name: source[cell] for name, cell in cells.items()}


def _placed(row: Mapping[str, Any], cells: Mapping[str, str]) -> dict[str, Any]:
    return {cell: row[name] for name, cell in cells.items()}


def _holds(row: Mapping[str, Any], cells: Mapping[str, str], derived: tuple[str, ...]) -> bool:
    """True when there is a cell for all that `row` says, beside what the form derives."""
    return all(not row[name] for name in SEM if name not in cells and name not in derived)


def _fits(full: Mapping[str, Any], empty: Mapping[str, Any]) -> bool:
    return (
        is_full(full, empty)
        and opposite(full, empty)
        and not announces(empty)
        and full["slots"] == empty["slots"]
        and _holds(full, _FULL, ("pair",))
        and _holds(empty, _EMPTY, ("name", "data", "pair"))
    )


def _channel(full: Mapping[str, Any], empty: Mapping[str, Any], owner: Mapping[str, Any]) -> dict[str, Any]:
    """The channel of a full row; `owner` is the full row that the empty row names."""
    given = _placed(full, _FULL)
    if owner is full:
        derived = full["name"] + _EMPTY_SUFFIX
        given |= _placed(empty, _EMPTY)
        given |= {"empty_name": "" if empty["name"] == derived else empty["name"], "depth": full["slots"]}
        given |= {"producer": full["producer"], "consumer": full["consumer"]}
    else:
        given["shares_empty_with"] = owner["name"]
    return _CHANNEL(given, "", [])
