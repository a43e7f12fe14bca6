"""Changing a spec's semaphores from rows to channels and back, and what either way would change beside the form."""

from collections.abc import Iterable, Mapping
from typing import Any

from kernels.editor.amending import amended_paths
from kernels.editor.places import label_of
from v2kb.rules.channels import (
    Change,
    changed_by_channels,
    changed_by_rows,
    channels_of_rows,
    in_ordinal_order,
    rows_of_channels,
)
from v2kb.rules.spec_document import normalise
from v2kb.rules.spec_view import SpecView

CHANNELS, ROWS = "channels", "rows"


def changes(document: Mapping[str, Any], form: str) -> list[str]:
    """What turning a draft's semaphores into `form` would change, a sentence each.

    That is blanks which a channel answers, an order that isn't that of the ordinals, cells that no row holds, and
    amendments of the form that goes. Nothing where the conversion is refused.
    """
    view = SpecView(document)
    sems = view.written["sems"]
    if form == ROWS:
        lost = [*_amended(document, "sems.channels["), *_amended(document, "sems.one_shots[")]
        return _said(changed_by_rows(sems["channels"]), "sems.channels") + lost
    if channels_of_rows(sems["rows"])[2]:
        return []
    return _said(changed_by_channels(sems["rows"], view.symbols), "sems.rows") + _amended(document, "sems.rows[")


def to_channels(document: dict[str, Any]) -> list[str]:
    """Turn the semaphore rows of a draft into channels and one-shots.

    Gives the names of the rows that are neither part of a channel nor a one-shot; then nothing is changed.
    """
    sems = normalise(document)[0]["sems"]
    if sems["rows"]:
        channels, one_shots, left = channels_of_rows(sems["rows"])
        if left:
            return left
        document["sems"] |= {"channels": channels, "one_shots": one_shots, "rows": []}
    document["sems"]["form"] = CHANNELS
    return []


def to_rows(document: dict[str, Any]) -> None:
    """Turn the channels and one-shots of a draft into semaphore rows, in the order of their ordinals."""
    view = SpecView(document)
    rows = in_ordinal_order(rows_of_channels(view.written["sems"]), view.symbols)
    if rows:
        document["sems"] |= {"rows": rows, "channels": [], "one_shots": []}
    document["sems"]["form"] = ROWS


def _amended(document: Mapping[str, Any], table: str) -> list[str]:
    """Fields of the form that goes which an amendment sets."""
    paths = [path for _, path in amended_paths(document) if path.startswith(table)]
    return [f"An amendment sets {label_of(path)}, which the other form does not have." for path in paths]


def _said(found: Iterable[Change], table: str) -> list[str]:
    """One sentence for the rows that change in the same way."""
    names: dict[str, list[str]] = {}
    sentences = []
    for change in found:
        if change.field == "order":
            sentences.append(f"As rows again they would stand as {change.after}, not as {change.before}.")
            continue
        words = label_of(f"{table}.{change.field}")
        said = f"{words} becomes {change.after}" if change.after else f"{words} {change.before} is lost"
        names.setdefault(said, []).append(change.name)
    return [*(f"{said}: {', '.join(of)}." for said, of in names.items()), *sentences]
