"""The two forms of a semaphore table: one row per span of barriers, or one row per channel, and each from the other.

A channel is a ring with a full edge (the producer says that a slot is filled) and an empty edge (the consumer hands it
back). Source: house-style section 3 and the reference linear's channel table.
"""

from typing import Any

from v2kb.rules import document_shape as shape
from v2kb.rules.spec_fields import CHANNEL, ONE_SHOT, SEM

FULL, EMPTY = "_full", "_empty"
_SEM = shape.record(SEM)
_CHANNEL = shape.record(CHANNEL)
_ONE_SHOT = shape.record(ONE_SHOT)


def rows_of_channels(sems: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return (path of the row that it comes from, semaphore row) for each edge and one-shot of a canonical `sems`.

    A channel that shares its empty edge with another has no row of its own for it.
    """
    found: list[tuple[str, dict[str, Any]]] = []
    for number, channel in enumerate(sems["channels"]):
        path = f"sems.channels[{number}]"
        found.append((path, _full_row(channel)))
        if not channel["shares_empty_with"]:
            found.append((path, _empty_row(channel)))
    for number, shot in enumerate(sems["one_shots"]):
        given = {
            "ordinal": shot["ordinal"],
            "slots": "1",
            "name": shot["name"],
            "count": shot["arrivals"],
            "producer": shot["producer"],
            "consumer": shot["consumer"],
            "meaning": shot["meaning"],
            "kind": shot["kind"],
            "reinit_owner": shot["reinit_by"],
        }
        found.append((f"sems.one_shots[{number}]", _SEM(given, "", [])))
    return found


def _full_row(channel: dict[str, Any]) -> dict[str, Any]:
    partner = channel["shares_empty_with"] or channel["name"]
    given = {
        "ordinal": channel["full_base"],
        "slots": channel["depth"],
        "name": channel["name"] + FULL,
        "count": channel["full_arrivals"],
        "producer": channel["producer"],
        "consumer": channel["consumer"],
        "meaning": channel["meaning"] or "slot is filled",
        "kind": channel["producer_kind"],
        "storage": channel["storage"],
        "pair": partner + EMPTY,
        "reinit_owner": channel["reinit_full_by"],
    }
    return _SEM(given, "", [])


def _empty_row(channel: dict[str, Any]) -> dict[str, Any]:
    given = {
        "ordinal": channel["empty_base"],
        "slots": channel["depth"],
        "name": channel["name"] + EMPTY,
        "count": channel["empty_arrivals"],
        "producer": channel["consumer"],
        "consumer": channel["producer"],
        "meaning": "slot is free again",
        "kind": channel["consumer_kind"],
        "pair": channel["name"] + FULL,
        "reinit_owner": channel["reinit_empty_by"],
    }
    return _SEM(given, "", [])


def channels_of_rows(rows: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[str]]:
    """Return (channels, one-shots, names of rows that fit neither) for canonical semaphore rows.

    Two rows are a channel where they name each other as `pair` (or several full rows name one empty row) and run
    between the same two roles in opposite directions; a row of one slot without a pair is a one-shot.
    """
    by_name = {row["name"]: row for row in rows if row["name"]}
    channels: list[dict[str, Any]] = []
    used: set[str] = set()
    owners: dict[str, str] = {}
    for full in rows:
        empty = by_name.get(full["pair"])
        if empty is None or full["name"] in used or empty["pair"] == "" or not _opposite(full, empty):
            continue
        if (empty["name"] in owners and full["name"] != empty["pair"]) or full["name"] in owners:
            shared = owners.get(empty["name"], "")
        else:
            shared = ""
        if full["name"] in owners:
            continue
        name = full["name"].removesuffix(FULL)
        channels.append(_channel(name, full, empty, shared))
        used.add(full["name"])
        if not shared:
            owners[empty["name"]] = name
            used.add(empty["name"])
    one_shots, left = [], []
    for row in rows:
        if row["name"] in used:
            continue
        if row["slots"] in ("", "1") and not row["pair"]:
            one_shots.append(_one_shot(row))
        else:
            left.append(row["name"] or f"ordinal {row['ordinal']}")
    return channels, one_shots, left


def _opposite(full: dict[str, Any], empty: dict[str, Any]) -> bool:
    return full["producer"] == empty["consumer"] and full["consumer"] == empty["producer"]


def _channel(name: str, full: dict[str, Any], empty: dict[str, Any], shared: str) -> dict[str, Any]:
    given = {
        "name": name,
        "depth": full["slots"],
        "producer": full["producer"],
        "producer_kind": full["kind"],
        "consumer": full["consumer"],
        "consumer_kind": empty["kind"],
        "full_base": full["ordinal"],
        "empty_base": empty["ordinal"],
        "full_arrivals": full["count"],
        "empty_arrivals": empty["count"],
        "storage": full["storage"],
        "shares_empty_with": shared,
        "reinit_full_by": full["reinit_owner"],
        "reinit_empty_by": empty["reinit_owner"],
        "meaning": full["meaning"],
    }
    return _CHANNEL(given, "", [])


def _one_shot(row: dict[str, Any]) -> dict[str, Any]:
    given = {
        "name": row["name"],
        "ordinal": row["ordinal"],
        "arrivals": row["count"],
        "producer": row["producer"],
        "consumer": row["consumer"],
        "kind": row["kind"],
        "reinit_by": row["reinit_owner"],
        "meaning": row["meaning"],
    }
    return _ONE_SHOT(given, "", [])
