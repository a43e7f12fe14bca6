"""Plain values for a picture of a spec's shared memory: 14 pages, what lies where, and what is wasted."""

from typing import Any

from v2kb.rules.smem import CAPACITY_BYTES, DEFAULT_GEOMETRY, PAGE_BYTES, PAGES, Placement, Plan, PlanError
from v2kb.rules.smem_sequence import PhysicalRegion, TaskOnSM, fresh_order, run_task
from v2kb.rules.spec_view import SpecView


def page_map(view: SpecView) -> dict[str, Any]:
    """Return the pages and regions of a spec as a task on a fresh SM would have them.

    `error` is None, or says what the planner refused (then `pages` shows what was placed before, and physical
    pages are None) or that inputs are missing (then nothing is placed). Bytes count from the task's start;
    indexes of regions are those of the document.
    """
    plan = view.plan
    task = run_task("this", plan, fresh_order()) if isinstance(plan, Plan) else None
    if isinstance(plan, Plan):
        placements = plan.placements
    else:
        placements = plan.placed if isinstance(plan, PlanError) else ()
    physical = {region.placement.index: region for region in task.regions} if task else {}
    regions = [_region(view, placement, physical.get(placement.index)) for placement in placements]
    placed = {region["index"] for region in regions}
    return {
        "page_bytes": PAGE_BYTES,
        "capacity_bytes": CAPACITY_BYTES,
        "pages": [_page(page, regions) for page in range(PAGES)],
        "regions": regions,
        "unplaced": [
            {"index": index, "name": row.label(), "size_bytes": _number(row.values["size_bytes"])}
            for index, row in enumerate(view.regions)
            if index not in placed
        ],
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


def _region(view: SpecView, placement: Placement, physical: PhysicalRegion | None) -> dict[str, Any]:
    region = placement.region
    booked = region.size_bytes if placement.packed else placement.page_count * PAGE_BYTES
    return {
        "index": view.plan_rows[placement.index][0],
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


def _page(page: int, regions: list[dict[str, Any]]) -> dict[str, Any]:
    usable = DEFAULT_GEOMETRY.usable_bytes(page)
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
                "name": region["name"],
                "offset_bytes": region["offset_bytes"] if step == 0 else 0,
                "bytes": max(0, min(region["size_bytes"] - step * PAGE_BYTES, PAGE_BYTES)),
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
