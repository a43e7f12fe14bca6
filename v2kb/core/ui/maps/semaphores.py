"""The semaphore slots of a task: who holds each, in which direction, and who re-initialises it."""

from typing import Any

from v2kb.core.ui.maps.common import TONES, Picture, clipped, text_units

SLOT_UNITS = 34
ROW_UNITS = 20
ROWS_FROM = 88
EDGES = {"full": "full", "empty": "empty", "one_shot": "single"}


def sem_map(picture: Picture) -> dict[str, Any]:
    """Slots, and below them a line per barrier, from `rules.barrier_pictures.semaphore_map`."""
    slots = [
        {
            "number": slot["ordinal"],
            "x": slot["ordinal"] * SLOT_UNITS,
            "width": SLOT_UNITS - 2,
            "mid": slot["ordinal"] * SLOT_UNITS + SLOT_UNITS // 2 - 1,
            "free": slot["state"] == "free",
            "over": slot["state"] in ("over", "clash"),
            "tone": slot["rows"][0] % TONES if slot["rows"] else 0,
        }
        for slot in picture["slots"]
    ]
    width = len(slots) * SLOT_UNITS + 8
    drawn = [row for row in picture["rows"] if row["first"] is not None]
    lines = [_line(row, n, width, len(slots)) for n, row in enumerate(drawn)]
    return {
        "width": width,
        "height": ROWS_FROM - 10 + ROW_UNITS * len(lines),
        "slots": slots,
        "lines": lines,
        "limit_x": picture["budget"] * SLOT_UNITS - 1,
        "limit_end": ROWS_FROM - 8 + ROW_UNITS * len(lines),
        "rows": [{**row, "edge_text": EDGES.get(row["edge"], "")} for row in picture["rows"]],
        "description": _describe(picture),
    }


def _line(row: Picture, number: int, width: float, slots: int) -> dict[str, Any]:
    """The bar over a barrier's slots, with its words behind it, or before it where there is more room."""
    x, last = row["first"] * SLOT_UNITS, min(row["last"], slots - 1)
    end = (last + 1) * SLOT_UNITS - 2
    text = _words(row)
    behind = width - end - 8 >= text_units(text) or width - end >= x
    room = (width - end if behind else x) - 10
    return {
        "x": x,
        "width": end - x,
        "y": ROWS_FROM + ROW_UNITS * number,
        "text_y": ROWS_FROM + ROW_UNITS * number + 11,
        "text_x": end + 6 if behind else x - 6,
        "anchor": "start" if behind else "end",
        "text": clipped(text, room),
        "tone": row["index"] % TONES,
        "owned": bool(row["reinit_owner"] and row["reinit_owner"] != "none"),
    }


def _words(row: Picture) -> str:
    giver, taker = row["from_role"] or row["producer"] or "?", row["to_role"] or row["consumer"] or "?"
    name = row["name"] if row["slots"] == 1 else f"{row['name']} ×{row['slots']}"
    text = f"{name}: {giver} → {taker}"
    owner = row["reinit_owner"]
    if owner and owner != "none":
        return f"{text}, re-armed by {owner}"
    return f"{text}, no owner" if row["asynchronous"] else text


def _describe(picture: Picture) -> str:
    rows = picture["rows"]
    text = f"{picture['used']} of {picture['budget']} semaphores in {len(rows)} {'row' if len(rows) == 1 else 'rows'}."
    clashes = [str(slot["ordinal"]) for slot in picture["slots"] if slot["state"] == "clash"]
    if clashes:
        text += f" Claimed twice: {', '.join(clashes)}."
    if picture["free"] < 0:
        text += f" {-picture['free']} more than a task has."
    return text
