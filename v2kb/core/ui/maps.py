"""Geometry of two drawings: the SMEM page map and the semaphore ordinal map. Bytes in, SVG units out."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from v2kb.rules.smem import DEFAULT_GEOMETRY, Geometry, Placement, Plan, PlanError
from v2kb.rules.smem_sequence import TaskOnSM

PAGE_UNITS = 80
STRIP_UNITS = 104
CHAR_UNITS = 6.8
TONES = 6
SEMAPHORES = 31
SLOT_UNITS = 34


def smem_map(source: Plan | TaskOnSM | PlanError) -> dict[str, Any]:
    """Strips, parts and table rows of one task's shared memory.

    A Plan gives the logical pages, a TaskOnSM the physical pages below them, a PlanError what was placed before
    the planner refused.
    """
    physical: dict[int, Any] = {}
    if isinstance(source, TaskOnSM):
        physical = {region.placement.index: region for region in source.regions}
        placements, geometry = source.plan.placements, source.plan.geometry
    elif isinstance(source, PlanError):
        placements, geometry = source.placed, DEFAULT_GEOMETRY
    else:
        placements, geometry = source.placements, source.geometry
    placed = [p for p in placements if p.page >= 0]
    tones = _tones(p.region.name for p in placed)
    spans = [(p, p.page * geometry.page_bytes + p.offset_bytes, False) for p in placed]
    strips = [_strip("Logical pages, in the planner's order", geometry, spans, tones, 0)]
    if physical:
        found = [(p, physical[p.index].start_byte, physical[p.index].overrun_bytes > 0) for p in placed]
        strips.append(_strip("Physical pages on this SM", geometry, found, tones, STRIP_UNITS))
    return {
        "width": geometry.pages * PAGE_UNITS + 2,
        "height": STRIP_UNITS * len(strips) - 8,
        "capacity": f"{geometry.capacity_bytes:,}",
        "strips": strips,
        "rows": [_row(p, geometry, physical.get(p.index)) for p in placed],
        "description": _describe(source, placed, geometry),
    }


def _tones(names: Iterable[str]) -> dict[str, int]:
    """Regions whose names differ only by a trailing number share a tone (W0, W1 ...)."""
    order: dict[str, int] = {}
    return {name: order.setdefault(re.sub(r"\d+$", "", name), len(order)) % TONES for name in names}


def _strip(
    label: str,
    geometry: Geometry,
    spans: list[tuple[Placement, int, bool]],
    tones: dict[str, int],
    y: int,
) -> dict[str, Any]:
    scale = PAGE_UNITS / geometry.page_bytes
    end = geometry.pages * PAGE_UNITS
    void = round(geometry.capacity_bytes * scale, 2)
    pages = [
        {"x": n * PAGE_UNITS, "width": PAGE_UNITS, "mid": n * PAGE_UNITS + PAGE_UNITS // 2, "number": n}
        for n in range(geometry.pages)
    ]
    parts = [_part(p, start, over, scale, tones[p.region.name]) for p, start, over in spans]
    return {"label": label, "y": y, "pages": pages, "void_x": void, "void_width": round(end - void, 2), "parts": parts}


def _part(placement: Placement, start: int, over: bool, scale: float, tone: int) -> dict[str, Any]:
    width = max(2.0, placement.region.size_bytes * scale)
    x = start * scale
    size = f"{placement.region.size_bytes:,} B"
    name = placement.region.name
    fits = len(name) * CHAR_UNITS + 4 <= width
    return {
        "x": round(x, 2),
        "width": round(width, 2),
        "mid": round(x + width / 2, 2),
        "tone": tone,
        "over": over,
        "text": name if fits else "",
        "size_text": size if fits and len(size) * CHAR_UNITS + 4 <= width else "",
    }


def _row(placement: Placement, geometry: Geometry, physical: Any) -> dict[str, Any]:
    start = placement.page * geometry.page_bytes + placement.offset_bytes
    booked = 0 if placement.packed else placement.page_count * geometry.page_bytes
    usable = sum(geometry.usable_bytes(placement.page + step) for step in range(placement.page_count))
    last = placement.page + placement.page_count - 1
    return {
        "ordinal": placement.index,
        "name": placement.region.name,
        "size_bytes": placement.region.size_bytes,
        "packed": placement.packed,
        "pages": str(placement.page) if last <= placement.page else f"{placement.page}–{last}",
        "start": start,
        "end": start + placement.region.size_bytes,
        "physical": ", ".join(str(page) for page in physical.pages) if physical else "–",
        "slack": max(0, min(booked, usable) - placement.region.size_bytes) if booked else 0,
    }


def _describe(source: Any, placed: list[Placement], geometry: Geometry) -> str:
    total = sum(p.region.size_bytes for p in placed)
    pages = {p.page + step for p in placed for step in range(max(1, p.page_count))}
    text = f"{len(placed)} regions, {total:,} of {geometry.capacity_bytes:,} B, {len(pages)} of {geometry.pages} pages."
    if isinstance(source, PlanError):
        return f"{text} The planner stopped at region {source.index}: {source.reason}."
    if isinstance(source, TaskOnSM) and source.overruns:
        worst = max(source.overruns, key=lambda region: region.overrun_bytes)
        name = worst.placement.region.name
        return f"{text} On physical pages {name} ends {worst.overrun_bytes:,} B past the capacity."
    return text


def _read(row: Any, name: str, default: Any = None) -> Any:
    return row.get(name, default) if isinstance(row, Mapping) else getattr(row, name, default)


def sem_map(rows: Iterable[Any], limit: int = SEMAPHORES) -> dict[str, Any]:
    """Slots of the semaphore table; each row has name, ordinal and slots (ints), unreadable rows are left out."""
    groups, owners = [], {}
    for tone, row in enumerate(rows):
        ordinal, slots = _read(row, "ordinal"), _read(row, "slots", 1)
        if not isinstance(ordinal, int) or not isinstance(slots, int) or ordinal < 0 or not 0 < slots <= 512:
            continue
        groups.append({"name": _read(row, "name", ""), "first": ordinal, "slots": slots, "tone": tone % TONES})
        for number in range(ordinal, ordinal + slots):
            owners.setdefault(number, []).append(tone % TONES)
    count = max(limit, *(number + 1 for number in owners)) if owners else limit
    slots_drawn = [
        {
            "number": number,
            "x": number * SLOT_UNITS,
            "width": SLOT_UNITS - 2,
            "mid": number * SLOT_UNITS + SLOT_UNITS // 2 - 1,
            "free": number not in owners,
            "over": number >= limit or len(owners.get(number, [])) > 1,
            "tone": owners.get(number, [0])[0],
        }
        for number in range(count)
    ]
    twice = [number for number, tones in sorted(owners.items()) if len(tones) > 1]
    return {
        "width": count * SLOT_UNITS + 8,
        "height": 80 + 14 * _levels(groups),
        "slots": slots_drawn,
        "groups": groups,
        "limit_x": limit * SLOT_UNITS - 1,
        "description": _describe_sems(len(owners), limit, twice, groups),
    }


def _levels(groups: list[dict[str, Any]]) -> int:
    """Give each group's caption a place where it does not run into another; returns the number of lines."""
    ends: list[float] = []
    for group in sorted(groups, key=lambda g: g["first"]):
        text = f"{group['name']} ×{group['slots']}"
        x = group["first"] * SLOT_UNITS
        level = next((n for n, end in enumerate(ends) if end <= x), len(ends))
        ends[level : level + 1] = [x + len(text) * CHAR_UNITS + 10]
        group.update(x=x, y=86 + 14 * level, text=text)
    return len(ends)


def _describe_sems(used: int, limit: int, twice: list[int], groups: list[dict[str, Any]]) -> str:
    text = f"{used} of {limit} semaphores in {len(groups)} rows."
    if twice:
        text += f" Claimed twice: {', '.join(map(str, twice))}."
    if used > limit:
        text += f" {used - limit} more than there are."
    return text
