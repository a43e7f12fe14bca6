"""Changing a spec's semaphores from rows to channels and back. Columns that channels don't have are kept."""

from collections.abc import Mapping
from typing import Any

from v2kb.rules.channels import channels_of_rows, rows_of_channels
from v2kb.rules.spec_document import normalise

# What a channel without a meaning of its own says of its two rows.
_SAID_FOR_ALL = ("slot is filled", "slot is free again")
# What the channel form says of a row; the rest of the row stays as it was.
_SAID = ("ordinal", "slots", "count", "producer", "consumer", "kind", "reinit_owner")


def to_channels(document: dict[str, Any]) -> list[str]:
    """Fill the channel tables of a draft from its rows, and judge by them.

    Gives the names of the rows that are neither part of a channel nor a one-shot; then nothing is changed. The rows
    stay in the draft, so that a later way back finds their protocol columns.
    """
    sems = normalise(document)[0]["sems"]
    if sems["rows"]:
        channels, one_shots, left = channels_of_rows(sems["rows"])
        if left:
            return left
        document["sems"] |= {"channels": channels, "one_shots": one_shots}
    document["sems"]["form"] = "channels"
    return []


def to_rows(document: dict[str, Any]) -> None:
    """Fill the rows of a draft from its channel tables, and judge by them. A row that begins where one began before
    keeps that row's name and protocol columns.
    """
    sems = normalise(document)[0]["sems"]
    made = rows_of_channels(sems)
    if made:
        before = {(row["ordinal"], row["slots"]): row for row in sems["rows"]}
        old = [before.get((row["ordinal"], row["slots"])) for row in made]
        names = {row["name"]: kept["name"] if kept else row["name"] for row, kept in zip(made, old, strict=True)}
        document["sems"]["rows"] = [_joined(row, kept, names) for row, kept in zip(made, old, strict=True)]
    document["sems"]["form"] = "rows"


def _joined(row: dict[str, Any], kept: dict[str, Any] | None, names: Mapping[str, str]) -> dict[str, Any]:
    pair = names.get(row["pair"], row["pair"])
    if kept is None:
        return {**row, "pair": pair}
    said = {name: row[name] for name in _SAID}
    if row["storage"]:
        said["storage"] = row["storage"]
    if row["meaning"] not in ("", *_SAID_FOR_ALL) or not kept["meaning"]:
        said["meaning"] = row["meaning"]
    return {**kept, **said, "pair": pair}
