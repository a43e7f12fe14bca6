"""Plain values for a picture of a spec's shared memory: 14 pages, what lies where, and what is wasted."""

from typing import Any

from v2kb.rules.smem import Geometry, Placement, Plan, PlanError
from v2kb.rules.smem_sequence import PhysicalRegion, TaskOnSM, fresh_order, run_task
from v2kb.rules.smem_slices import overlaps, slices_of
from v2kb.rules.spec_view import MAX_PLANNED, SpecView


def page_map(view: SpecView) -> dict[str, Any]:
    """Return the pages and regions of a spec as a task on a fresh SM would have them.

    `error` is None, or says what the planner refused (then `pages` shows what was placed before, and physical
    pages are None) or that inputs are missing (then nothing is placed). Bytes count from the task's start;
    indexes of regions are those of the document.
    """
    plan, geometry = view.plan, view.geometry
    task = run_task("this", plan, fresh_order(geometry)) if isinstance(plan, Plan) else None
    if isinstance(plan, Plan):
        placements = plan.placements
    else:
        placements = plan.placed if isinstance(plan, PlanError) else ()
    physical = {region.placement.index: region for region in task.regions} if task else {}
    slices = {index: _slices(view, index) for index in range(len(view.regions))}
    regions = []
    for placement in placements:
        index, slot = view.plan_rows[placement.index]
        region = _region(placement, physical.get(placement.index), geometry)
        regions.append({"index": index, "slot": slot, **region, "slices": slices[index]})
    placed = {(region["index"], region["slot"]) for region in regions}
    return {
        "page_bytes": geometry.page_bytes,
        "capacity_bytes": geometry.capacity_bytes,
        "pages": [_page(page, regions, geometry) for page in range(geometry.pages)],
        "regions": regions,
        "unplaced": [_unplaced(view, *row) for row in view.plan_rows[:MAX_PLANNED] if row not in placed],
        "total_bytes": view.total_bytes,
        "page_count": plan.page_count if isinstance(plan, Plan) else None,
        "high_byte": task.high_byte if task else None,
        "next_order": list(task.preferred_after) if task else None,
        "error": _error(view),
    }


def queue_map(tasks: tuple[TaskOnSM, ...]) -> list[dict[str, Any]]:
    """Return, for each task of a simulated queue, its name, its physical regions and its overruns."""
    return [
        {
            "name": task.name,
            "high_byte": task.high_byte,
            "regions": [
                {
                    "name": region.placement.region.name,
                    "pages": list(region.pages),
                    "start_byte": region.start_byte,
                    "end_byte": region.end_byte,
                    "overrun_bytes": region.overrun_bytes,
                }
                for region in task.regions
            ],
            "preferred_before": list(task.preferred_before),
        }
        for task in tasks
    ]


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _unplaced(view: SpecView, index: int, slot: int) -> dict[str, Any]:
    row = view.regions[index]
    several = isinstance(row.values["slots"], int) and row.values["slots"] != 1
    name = f"{row.label()}{slot}" if several else row.label()
    return {"index": index, "slot": slot, "name": name, "size_bytes": _number(row.values["size_bytes"])}


def _slices(view: SpecView, index: int) -> list[dict[str, Any]]:
    parts, _ = slices_of(view, view.regions[index])
    clashes = {(part.row.path, part.slot) for pair in overlaps(parts) for part in pair}
    return [
        {
            "name": part.name,
            "offset_bytes": part.start,
            "size_bytes": part.size,
            "alignment": part.alignment,
            "contents": part.row.source["contents"],
            "overlaps": (part.row.path, part.slot) in clashes,
        }
        for part in parts
    ]


def _region(placement: Placement, physical: PhysicalRegion | None, geometry: Geometry) -> dict[str, Any]:
    region = placement.region
    booked = region.size_bytes if placement.packed else placement.page_count * geometry.page_bytes
    return {
        "name": region.name,
        "size_bytes": region.size_bytes,
        "page": placement.page,
        "page_count": placement.page_count,
        "offset_bytes": placement.offset_bytes,
        "packed": placement.packed,
        "release_step": region.release_step,
        "slack_bytes": booked - region.size_bytes,
        "physical_pages": list(physical.pages) if physical else None,
        "start_byte": physical.start_byte if physical else None,
        "end_byte": physical.end_byte if physical else None,
        "overrun_bytes": physical.overrun_bytes if physical else 0,
    }


def _page(page: int, regions: list[dict[str, Any]], geometry: Geometry) -> dict[str, Any]:
    usable = geometry.usable_bytes(page)
    parts = []
    whole = False
    physical = None
    for region in regions:
        step = page - region["page"]
        if region["page"] < 0 or not 0 <= step < region["page_count"]:
            continue
        whole = whole or not region["packed"]
        if region["physical_pages"]:
            physical = region["physical_pages"][step]
        parts.append(
            {
                "index": region["index"],
                "slot": region["slot"],
                "name": region["name"],
                "offset_bytes": region["offset_bytes"] if step == 0 else 0,
                "bytes": max(0, min(region["size_bytes"] - step * geometry.page_bytes, geometry.page_bytes)),
                "continued": step > 0,
            }
        )
    parts.sort(key=lambda part: part["offset_bytes"])
    used = sum(part["bytes"] for part in parts)
    return {
        "page": page,
        "usable_bytes": usable,
        "used_bytes": used,
        "slack_bytes": usable - used,
        "state": "whole" if whole else "packed" if parts else "empty",
        "physical": physical,
        "parts": parts,
    }


def _error(view: SpecView) -> dict[str, Any] | None:
    if isinstance(view.plan, PlanError):
        error = view.plan
        return {
            "code": error.code,
            "path": view.region_path(error.index),
            "message": f"{view.planner_input[0][error.index].name} could not be placed: {error.reason}.",
        }
    missing = view.planner_input[1]
    if missing:
        return {"code": "missing_input", "path": missing[0].path, "message": missing[0].message}
    return None
