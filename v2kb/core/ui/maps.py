"""Geometry of the SMEM page map and of the semaphore map: pictures of `v2kb.rules` in, SVG units out."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from v2kb.rules.smem import CAPACITY_BYTES, PAGE_BYTES, PAGES

PAGE_UNITS = 80
STRIP_UNITS = 104
SLOT_UNITS = 34
CHAR_UNITS = 6.8
TONES = 6

Picture = Mapping[str, Any]


def smem_map(picture: Picture) -> dict[str, Any]:
    """Strips and table rows from `rules.page_map.page_map`: logical pages, and physical pages where there are any."""
    placed = [region for region in picture["regions"] if region["page"] >= 0]
    logical = [(r["name"], r["page"] * PAGE_BYTES + r["offset_bytes"], r["size_bytes"], False) for r in placed]
    strips = [("Logical pages, in the planner's order", logical)]
    physical = [
        (r["name"], r["start_byte"], r["size_bytes"], r["overrun_bytes"] > 0)
        for r in placed
        if r["start_byte"] is not None
    ]
    if physical:
        strips.append(("Physical pages on a fresh SM", physical))
    rows = [_row(region) for region in placed]
    return _drawing(strips, _describe(picture, len(placed))) | {"rows": rows}


def smem_queue(tasks: Sequence[Picture]) -> dict[str, Any]:
    """One strip of physical pages per task that an SM runs in a row, from `rules.page_map.queue_map`."""
    strips, over = [], []
    for task in tasks:
        regions = task["regions"]
        spans = [(r["name"], r["start_byte"], r["end_byte"] - r["start_byte"], r["overrun_bytes"] > 0) for r in regions]
        strips.append((f"{task['name']}, ends at {task['high_byte']:,} B", spans))
        over += [
            f"{r['name']} of {task['name']} by {r['overrun_bytes']:,} B" for r in regions if r["overrun_bytes"] > 0
        ]
    said = f"{len(tasks)} tasks on one SM, physical pages. "
    said += f"Past the capacity: {'; '.join(over)}." if over else "All stay below the capacity."
    rows = [
        {
            "name": f"{task['name']}: {r['name']}",
            "size_bytes": r["end_byte"] - r["start_byte"],
            "physical": ", ".join(map(str, r["pages"])),
            "start": r["start_byte"],
            "end": r["end_byte"],
        }
        for task in tasks
        for r in task["regions"]
    ]
    return _drawing(strips, said) | {"rows": rows}


def _drawing(strips: list[tuple[str, list[tuple[str, int, int, bool]]]], description: str) -> dict[str, Any]:
    tones = _tones(name for _, spans in strips for name, *_ in spans)
    return {
        "width": PAGES * PAGE_UNITS + 2,
        "height": STRIP_UNITS * len(strips) - 8,
        "capacity": f"{CAPACITY_BYTES:,}",
        "strips": [_strip(label, spans, tones, STRIP_UNITS * n) for n, (label, spans) in enumerate(strips)],
        "description": description,
    }


def _tones(names: Iterable[str]) -> dict[str, int]:
    """Regions whose names differ only by a trailing number share a tone (W0, W1 ...)."""
    order: dict[str, int] = {}
    return {name: order.setdefault(re.sub(r"\d+$", "", name), len(order)) % TONES for name in names}


def _strip(label: str, spans: list[tuple[str, int, int, bool]], tones: dict[str, int], y: int) -> dict[str, Any]:
    void = round(CAPACITY_BYTES * PAGE_UNITS / PAGE_BYTES, 2)
    pages = [
        {"x": n * PAGE_UNITS, "width": PAGE_UNITS, "mid": n * PAGE_UNITS + PAGE_UNITS // 2, "number": n}
        for n in range(PAGES)
    ]
    return {
        "label": label,
        "y": y,
        "pages": pages,
        "void_x": void,
        "void_width": round(PAGES * PAGE_UNITS - void, 2),
        "parts": [_part(*span, tones[span[0]]) for span in spans],
    }


def _part(name: str, start: int, size: int, over: bool, tone: int) -> dict[str, Any]:
    scale = PAGE_UNITS / PAGE_BYTES
    width = max(2.0, size * scale)
    size_text = f"{size:,} B"
    fits = len(name) * CHAR_UNITS + 4 <= width
    return {
        "x": round(start * scale, 2),
        "width": round(width, 2),
        "mid": round(start * scale + width / 2, 2),
        "tone": tone,
        "over": over,
        "text": name if fits else "",
        "size_text": size_text if fits and len(size_text) * CHAR_UNITS + 4 <= width else "",
    }


def _row(region: Picture) -> dict[str, Any]:
    start = region["page"] * PAGE_BYTES + region["offset_bytes"]
    last = region["page"] + region["page_count"] - 1
    return {
        "name": region["name"],
        "size_bytes": region["size_bytes"],
        "packed": region["packed"],
        "pages": str(region["page"]) if last <= region["page"] else f"{region['page']}–{last}",
        "start": start,
        "end": start + region["size_bytes"],
        "physical": ", ".join(map(str, region["physical_pages"] or [])),
        "slack": region["slack_bytes"],
    }


def _describe(picture: Picture, placed: int) -> str:
    total = picture["total_bytes"]
    size = f"{total:,} of {CAPACITY_BYTES:,} B" if total is not None else "sizes not all known"
    text = f"{placed} regions placed, {size}"
    text += f", {picture['page_count']} of {PAGES} pages." if picture["page_count"] is not None else "."
    error = picture["error"]
    if error:
        text += f" {error['message']}" if error["code"] != "missing_input" else f" {error['path']}: {error['message']}"
    over = [r for r in picture["regions"] if r["overrun_bytes"] > 0]
    if over:
        text += f" {over[0]['name']} ends {over[0]['overrun_bytes']:,} B past the capacity."
    return text


def sem_map(picture: Picture) -> dict[str, Any]:
    """Slots and captions from `rules.barrier_pictures.semaphore_map`."""
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
    groups = [
        {"name": row["name"], "first": row["first"], "slots": row["slots"]}
        for row in picture["rows"]
        if row["first"] is not None
    ]
    width = len(slots) * SLOT_UNITS + 8
    return {
        "width": width,
        "height": 80 + 14 * _levels(groups, width),
        "slots": slots,
        "groups": groups,
        "limit_x": picture["budget"] * SLOT_UNITS - 1,
        "rows": picture["rows"],
        "description": _describe_sems(picture),
    }


def _levels(groups: list[dict[str, Any]], width: float) -> int:
    """Give each caption a line where it runs into no other and stays in the drawing; returns the number of lines."""
    ends: list[float] = []
    for group in sorted(groups, key=lambda g: g["first"]):
        text = f"{group['name']} ×{group['slots']}"
        x = max(0, min(group["first"] * SLOT_UNITS, width - len(text) * CHAR_UNITS))
        level = next((n for n, end in enumerate(ends) if end <= x), len(ends))
        ends[level : level + 1] = [x + len(text) * CHAR_UNITS + 10]
        group.update(x=x, y=86 + 14 * level, text=text)
    return len(ends)


def _describe_sems(picture: Picture) -> str:
    text = f"{picture['used']} of {picture['budget']} semaphores in {len(picture['rows'])} rows."
    clashes = [str(slot["ordinal"]) for slot in picture["slots"] if slot["state"] == "clash"]
    if clashes:
        text += f" Claimed twice: {', '.join(clashes)}."
    if picture["free"] < 0:
        text += f" {-picture['free']} more than a task has."
    return text
