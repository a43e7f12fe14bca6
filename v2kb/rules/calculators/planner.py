"""The planner without a spec: regions, a page geometry and a queue of tasks, as typed."""

from collections.abc import Mapping, Sequence
from typing import Any

from v2kb.rules import document_shape as shape
from v2kb.rules.calculators.entry import MISSING, TOO_LARGE, UNREADABLE, Entry
from v2kb.rules.page_map import page_map, queue_map
from v2kb.rules.smem import PAGE_BYTES, PAGES, TASK_ALIGNMENT, Geometry, Plan, PlanError, Region, check_region
from v2kb.rules.smem_sequence import TaskOnSM, simulate
from v2kb.rules.spec_fields.parts import MAX_ROWS
from v2kb.rules.spec_view import Missing, Row, SpecView
from v2kb.rules.spec_words import THIS_SPEC

UNKNOWN_TASK, OVERRUN = "unknown_task", "overrun"
MAX_PAGES = 64
MAX_PAGE_BYTES = 1 << 20
_REFUSED_FIELD = {
    "negative_size": "size_bytes",
    "bad_alignment": "alignment",
    "page_count_too_small": "page_count",
}
_TICKED, _NOT_TICKED = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")


def _tick(value: Any, path: str, problems: shape.Problems) -> bool:
    if isinstance(value, str) and value.strip().lower() in (*_TICKED, *_NOT_TICKED):
        return value.strip().lower() in _TICKED
    return shape.flag()(value, path, problems)


def _names(value: Any, path: str, problems: shape.Problems) -> list[str]:
    parts = [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value
    return shape.rows(shape.text(100), MAX_ROWS)(parts, path, problems)


REGION_ROW: dict[str, shape.Shape] = {
    "name": shape.text(100),
    "slots": shape.formula(blank="1"),
    "size_bytes": shape.formula(),
    "alignment": shape.formula(blank=str(TASK_ALIGNMENT)),
    "page_count": shape.formula(blank="-1"),
    "can_pack": _tick,
    "release_step": shape.formula(blank="0"),
}
_REGIONS = shape.rows(shape.record(REGION_ROW), MAX_ROWS)
FIELDS: dict[str, shape.Shape] = {
    "regions": _REGIONS,
    "page_bytes": shape.formula(blank=str(PAGE_BYTES)),
    "pages": shape.formula(blank=str(PAGES)),
    "others": shape.rows(shape.record({"name": shape.text(100), "regions": _REGIONS}), 16),
    "queue": _names,
}


def smem_plan(given: Any) -> dict[str, Any]:
    """Return where the planner puts `regions` (rows in ordinal order), and what happens over a `queue` of tasks.

    A row has name, slots, size_bytes, alignment, page_count, can_pack and release_step, as in a spec; sizes are
    formulas over `symbols`, PAGE and PAGES. `page_bytes` and `pages` replace the geometry; the capacity stays. `queue`
    names tasks that one SM runs in a row: "this" is these regions, other names are those of `others` (name, regions);
    blank runs "this" once. `result` has total_bytes, page_count (None where the planner refuses), high_byte over the
    queue, the `map` of `page_map`, the `queue` of `queue_map` and a message. A refusal of the planner is a problem with
    the code of its `PlanError`, an end past the capacity one with the code "overrun".
    """
    entry = Entry(given, FIELDS)
    values = entry.values
    page_bytes = entry.whole("page_bytes", values["page_bytes"], most=MAX_PAGE_BYTES)
    pages = entry.whole("pages", values["pages"], most=MAX_PAGES)
    if not values["regions"]:
        entry.add(MISSING, "regions", "No region is listed.", "Add one with its size.")
    # Where something here has no value the rows are read all the same, so that nobody mends one field at a time; the
    # geometry of the runtime stands in, and what only a placement could tell is left out.
    can_place, page_is_known = not entry.problems, page_bytes is not None
    geometry = Geometry(page_bytes or PAGE_BYTES, pages or PAGES)
    views = {THIS_SPEC: _view(values["symbols"], values["regions"], geometry)}
    plans = {THIS_SPEC: _planned(entry, views[THIS_SPEC], "regions", can_place, page_is_known)}
    for index, other in enumerate(values["others"]):
        path = f"others[{index}]"
        if not other["name"] or other["name"] in views:
            entry.add(MISSING, f"{path}.name", "This task needs a name of its own.", "Name it.")
            continue
        views[other["name"]] = _view(values["symbols"], other["regions"], geometry)
        plans[other["name"]] = _planned(entry, views[other["name"]], f"{path}.regions", can_place, page_is_known)
    tasks = _run(entry, values["queue"] or [THIS_SPEC], plans, geometry)
    if not can_place:
        return entry.answer(None)
    view = views[THIS_SPEC]
    return entry.answer(
        {
            "total_bytes": view.total_bytes,
            "page_count": view.plan.page_count if isinstance(view.plan, Plan) else None,
            "high_byte": max((task.high_byte for task in tasks), default=None),
            "map": page_map(view),
            "queue": queue_map(tuple(tasks)),
            "message": _message(view, tasks),
        }
    )


def _view(symbols: Mapping[str, str], rows: Sequence[Mapping[str, Any]], geometry: Geometry) -> SpecView:
    """The rows as a spec's region table; ordinals follow the order."""
    regions = [{**row, "ordinal": str(index)} for index, row in enumerate(rows)]
    return SpecView({"symbols": dict(symbols), "smem": {"regions": regions}}, geometry=geometry)


def _planned(
    entry: Entry, view: SpecView, path: str, can_place: bool, page_is_known: bool
) -> tuple[Region, ...] | None:
    """The planner's regions, or None after saying what it lacks and what it refuses of each row."""
    regions, missing = view.planner_input
    of_rows = [value for row in view.regions for value in row.values.values() if isinstance(value, Missing)]
    for absent in {value.path: value for value in (*of_rows, *missing)}.values():
        field = absent.path.replace("smem.regions", path, 1)
        code = MISSING if absent.is_empty else TOO_LARGE if field == path else UNREADABLE
        entry.add(code, field, "Nothing is given here." if absent.is_empty else absent.message, absent.fix)
    refused = [error for index, row in enumerate(view.regions) if (error := _refusal(view, index, row))]
    for error in refused if page_is_known else [e for e in refused if e.code != "page_count_too_small"]:
        row = view.regions[error.index]
        field = f"{path}[{error.index}].{_REFUSED_FIELD[error.code]}"
        entry.add(error.code, field, f"{row.label()} could not be placed: {error.reason}.", "Correct it.")
    if missing or refused or not can_place:
        return None
    if isinstance(view.plan, PlanError):
        error = view.plan
        field = view.region_path(error.index).replace("smem.regions", path, 1)
        message = f"{regions[error.index].name} could not be placed: {error.reason}."
        entry.add(error.code, field, message, "Shrink, split or pack regions.")
        return None
    return regions


def _refusal(view: SpecView, index: int, row: Row) -> PlanError | None:
    """What the planner refuses to read in a row by itself; None while a number of it is missing."""
    size, alignment, count = (row.values[name] for name in ("size_bytes", "alignment", "page_count"))
    if any(isinstance(value, Missing) for value in (size, alignment, count)):
        return None
    try:
        check_region(index, Region(row.label(), size, alignment, count), view.geometry)
    except PlanError as error:
        return error
    return None


def _run(
    entry: Entry, queue: Sequence[str], plans: Mapping[str, tuple[Region, ...] | None], geometry: Geometry
) -> tuple[TaskOnSM, ...]:
    known = True
    for index, name in enumerate(queue):
        if name not in plans:
            known = False
            message = f'"{name[:40]}" is none of the tasks here.'
            entry.add(UNKNOWN_TASK, f"queue[{index}]", message, f"Use {', '.join(plans)}.")
    if not known or any(plans[name] is None for name in queue):
        return ()
    tasks = simulate([(name, plans[name] or ()) for name in queue], geometry)
    for index, task in enumerate(tasks):
        for region in task.overruns:
            name = region.placement.region.name
            message = f"{name} of {task.name} ends {region.overrun_bytes:,} B past capacity at place {index + 1}."
            entry.add(OVERRUN, f"queue[{index}]", message, "Change release steps, sizes or the order of tasks.")
    return tasks


def _message(view: SpecView, tasks: Sequence[TaskOnSM]) -> str:
    if not isinstance(view.plan, Plan):
        return "The planner makes no plan of these regions."
    geometry = view.geometry
    text = f"{view.total_bytes:,} of {geometry.capacity_bytes:,} B in {view.plan.page_count} of {geometry.pages} pages."
    over = max((region.overrun_bytes for task in tasks for region in task.overruns), default=0)
    return f"{text} A task of the queue ends {over:,} B past capacity." if over else text
