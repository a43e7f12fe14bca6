"""The pages of shared memory, to scale: `rules.page_map` in, strips and table rows out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from v2kb.core.ui.maps.common import Picture, fits, tones
from v2kb.rules.smem import DEFAULT_GEOMETRY, Geometry

WIDTH_UNITS = 1_120
STRIP_UNITS = 104


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes start..start+size of a strip; `slack` more are booked behind it and lost. `slices` count from `start`."""

    name: str
    start: int
    size: int
    over: bool = False
    slack: int = 0
    slices: Sequence[Picture] = ()


def smem_map(picture: Picture) -> dict[str, Any]:
    """Strips and table rows from `rules.page_map.page_map`: logical pages, and physical pages where there are any."""
    geometry = Geometry(picture["page_bytes"], len(picture["pages"]), picture["capacity_bytes"])
    placed = [region for region in picture["regions"] if region["page"] >= 0]
    strips = [("Logical pages, in the planner's order", [_logical(region, geometry) for region in placed])]
    physical = [
        Span(r["name"], r["start_byte"], r["size_bytes"], r["overrun_bytes"] > 0)
        for r in placed
        if r["start_byte"] is not None
    ]
    if physical:
        strips.append(("Physical pages on a fresh SM", physical))
    return _drawing(strips, _describe(picture, placed), geometry) | {
        "rows": [_row(region, geometry) for region in placed],
        "slices": [{"region": r["name"], **part} for r in placed for part in r["slices"]],
        "page_rows": [_page_row(page) for page in picture["pages"]],
    }


def smem_queue(tasks: Sequence[Picture], geometry: Geometry = DEFAULT_GEOMETRY) -> dict[str, Any]:
    """One strip of physical pages per task that an SM runs in a row, from `rules.page_map.queue_map`."""
    strips, over = [], []
    for task in tasks:
        regions = task["regions"]
        spans = [
            Span(r["name"], r["start_byte"], r["end_byte"] - r["start_byte"], r["overrun_bytes"] > 0) for r in regions
        ]
        strips.append((f"{task['name']}, ends at {task['high_byte']:,} B", spans))
        over += [
            f"{r['name']} of {task['name']} by {r['overrun_bytes']:,} B" for r in regions if r["overrun_bytes"] > 0
        ]
    said = f"{len(tasks)} {'task' if len(tasks) == 1 else 'tasks'} on one SM, physical pages. "
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
    return _drawing(strips, said, geometry) | {"rows": rows}


def _logical(region: Picture, geometry: Geometry) -> Span:
    start = region["page"] * geometry.page_bytes + region["offset_bytes"]
    lost = max(0, min(region["slack_bytes"], geometry.capacity_bytes - start - region["size_bytes"]))
    return Span(region["name"], start, region["size_bytes"], False, lost, region["slices"])


def _drawing(strips: list[tuple[str, list[Span]]], description: str, geometry: Geometry) -> dict[str, Any]:
    known = tones(span.name for _, spans in strips for span in spans)
    last = geometry.pages - 1
    usable = geometry.usable_bytes(last)
    short = "" if usable == geometry.page_bytes else f"page {last} has {usable:,} usable bytes"
    return {
        "width": WIDTH_UNITS + 2,
        "height": STRIP_UNITS * len(strips) - 8,
        "capacity": f"{geometry.capacity_bytes:,}",
        "short_page": short,
        "strips": [_strip(label, spans, known, STRIP_UNITS * n, geometry) for n, (label, spans) in enumerate(strips)],
        "description": description,
    }


def _strip(label: str, spans: list[Span], known: dict[str, int], y: int, geometry: Geometry) -> dict[str, Any]:
    scale = WIDTH_UNITS / (geometry.pages * geometry.page_bytes)
    width = WIDTH_UNITS / geometry.pages
    void = round(min(geometry.capacity_bytes * scale, WIDTH_UNITS), 2)
    return {
        "label": label,
        "y": y,
        "pages": [
            {"x": round(n * width, 2), "width": round(width, 2), "mid": round((n + 0.5) * width, 2), "number": n}
            for n in range(geometry.pages)
        ],
        "void_x": void,
        "void_width": round(WIDTH_UNITS - void, 2),
        "parts": [_part(span, known[span.name], scale) for span in spans],
    }


def _part(span: Span, tone: int, scale: float) -> dict[str, Any]:
    width = max(2.0, span.size * scale)
    size_text = f"{span.size:,} B"
    named = fits(span.name, width)
    slack = round(span.slack * scale, 2)
    slack_text = f"{span.slack:,} B"
    return {
        "x": round(span.start * scale, 2),
        "width": round(width, 2),
        "mid": round(span.start * scale + width / 2, 2),
        "tone": tone,
        "over": span.over,
        "text": span.name if named else "",
        "size_text": size_text if named and fits(size_text, width) else "",
        "slack_x": round((span.start + span.size) * scale, 2),
        "slack_width": slack,
        "slack_mid": round((span.start + span.size) * scale + slack / 2, 2),
        "slack_text": slack_text if fits(slack_text, slack) else "",
        "slices": [_slice(span, part, scale) for part in span.slices if part["size_bytes"] > 0],
    }


def _slice(span: Span, part: Picture, scale: float) -> dict[str, Any]:
    width = part["size_bytes"] * scale
    x = (span.start + part["offset_bytes"]) * scale
    return {
        "x": round(x, 2),
        "width": round(max(1.0, width), 2),
        "mid": round(x + width / 2, 2),
        "over": part["overlaps"] or part["offset_bytes"] < 0 or part["offset_bytes"] + part["size_bytes"] > span.size,
        "text": part["name"] if fits(part["name"], width) else "",
    }


def _row(region: Picture, geometry: Geometry) -> dict[str, Any]:
    start = region["page"] * geometry.page_bytes + region["offset_bytes"]
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


def _page_row(page: Picture) -> dict[str, Any]:
    return {**page, "holds": ", ".join(dict.fromkeys(part["name"] for part in page["parts"]))}


def _describe(picture: Picture, placed: Sequence[Picture]) -> str:
    total, pages, capacity = picture["total_bytes"], len(picture["pages"]), picture["capacity_bytes"]
    size = f"{total:,} of {capacity:,} B" if total is not None else "sizes not all known"
    text = f"{len(placed)} {'region' if len(placed) == 1 else 'regions'} placed, {size}"
    text += f", {picture['page_count']} of {pages} pages." if picture["page_count"] is not None else "."
    lost = sum(region["slack_bytes"] for region in placed)
    if lost:
        text += f" {lost:,} B are lost to whole pages."
    if picture["unplaced"]:
        names = [region["name"] for region in picture["unplaced"]]
        text += f" Not placed: {', '.join(names[:6])}{' and more' if len(names) > 6 else ''}."
    error = picture["error"]
    if error:
        text += f" {error['message']}"
    over = [r for r in picture["regions"] if r["overrun_bytes"] > 0]
    if over:
        text += f" {over[0]['name']} ends {over[0]['overrun_bytes']:,} B past the capacity."
    return text
