"""Changing a spec's semaphores from rows to channels and back. Both forms hold the same, so nothing is lost."""

from typing import Any

from v2kb.rules.channels import channels_of_rows, rows_of_channels
from v2kb.rules.spec_document import normalise


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
    document["sems"]["form"] = "channels"
    return []


def to_rows(document: dict[str, Any]) -> None:
    """Turn the channels and one-shots of a draft into semaphore rows."""
    rows = rows_of_channels(normalise(document)[0]["sems"])
    if rows:
        document["sems"] |= {"rows": rows, "channels": [], "one_shots": []}
    document["sems"]["form"] = "rows"
