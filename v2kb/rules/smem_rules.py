"""Rules R01 to R04: the regions of a spec against the planner, and over the queue of an SM."""

from collections.abc import Mapping
from dataclasses import dataclass

from v2kb.rules.rule_registry import ERROR, WARNING, Context, Reporter, Rule, spec_rule
from v2kb.rules.smem import (
    CAPACITY_BYTES,
    PAGE_BYTES,
    PAGES,
    Plan,
    PlanError,
    Region,
    pages_needed,
)
from v2kb.rules.smem_sequence import TaskOnSM, repeat_until_settled, simulate
from v2kb.rules.spec_view import Missing, Row, SpecView
from v2kb.rules.spec_words import THIS_SPEC

LAST_PAGE_BYTES = CAPACITY_BYTES - (PAGES - 1) * PAGE_BYTES
REGIONS = "smem.regions"


def without_regions(view: SpecView) -> bool:
    """True when the family has no regions of its own and none are listed."""
    return not view.regions and view.family in ("D", "E")


def has_regions(view: SpecView, report: Reporter) -> bool:
    """True when there are regions to judge; else say why there are none, or that they are missing."""
    if without_regions(view):
        report.skip(f"Family {view.family} has no regions of its own.")
    elif not view.regions:
        fix = "List the regions, or choose family D or E."
        report.missing(Missing(REGIONS, "The spec lists no SMEM regions.", fix))
    return bool(view.regions)


def sized(view: SpecView, report: Reporter, *names: str) -> list[tuple[Row, tuple[int, ...]]]:
    """Return (row, its named numbers) of the region rows that have them all; the others are reported."""
    if not has_regions(view, report):
        return []
    found = [(row, report.need(row, *names)) for row in view.regions]
    return [(row, values) for row, values in found if values is not None]


@spec_rule(
    "R01",
    severity=ERROR,
    title="Total bytes",
    version=2,
    source="house-style section 4; wiring-recipe section 9",
    formula="sum(size_bytes) <= 224,256",
    inputs=("smem.regions[].size_bytes",),
)
def r01(view: SpecView, report: Reporter, context: Context) -> None:
    total = sum(max(slots, 0) * size for _, (slots, size) in sized(view, report, "slots", "size_bytes"))
    if total > CAPACITY_BYTES:
        over = total - CAPACITY_BYTES
        report.add(
            REGIONS,
            f"SMEM total {total:,} B exceeds {CAPACITY_BYTES:,} B by {over:,}.",
            "Shrink a region or use fewer stages.",
            total_bytes=total,
            over_bytes=over,
        )


def planned(view: SpecView, report: Reporter) -> bool:
    """True when the planner could run (it may still have refused); reports missing inputs otherwise."""
    if not has_regions(view, report):
        return False
    for missing in view.planner_input[1]:
        report.missing(missing)
    return view.plan is not None


@spec_rule(
    "R02",
    severity=ERROR,
    title="Pages",
    source="house-style section 4; v2_smem_planner.py",
    formula="the planner places every region on 14 pages of 16,384 B",
    inputs=("smem.regions[]",),
)
def r02(view: SpecView, report: Reporter, context: Context) -> None:
    if not planned(view, report) or not isinstance(view.plan, PlanError):
        return
    error = view.plan
    regions = view.planner_input[0]
    name, path = regions[error.index].name, view.region_path(error.index)
    if error.code in ("no_run", "no_gap", "last_page"):
        pages = pages_needed(regions)
        report.add(
            path,
            f"Plan needs {pages} pages ({PAGES} exist); {name} could not be placed: {error.reason}.",
            "Shrink or split regions, pack small ones, or use fewer stages.",
            pages=pages,
            region=name,
            reason=error.code,
        )
    else:
        report.add(
            path,
            f"The planner refuses {name}: {error.reason}.",
            "Correct this row; the planner raises an error and builds no task graph.",
            region=name,
            reason=error.code,
        )


@spec_rule(
    "R03",
    severity=ERROR,
    title="Page 13",
    source="house-style section 4; v2_smem_planner.py",
    formula="bytes on logical page 13 <= 11,264",
    inputs=("smem.regions[]",),
)
def r03(view: SpecView, report: Reporter, context: Context) -> None:
    if not planned(view, report):
        return
    error = view.plan
    if isinstance(error, PlanError) and error.code == "last_page":
        name = view.planner_input[0][error.index].name
        report.add(
            view.region_path(error.index),
            f"Page {PAGES - 1} has {LAST_PAGE_BYTES:,} usable bytes; {name} needs {error.needed_bytes:,}.",
            f"Leave page {PAGES - 1} to regions of at most {LAST_PAGE_BYTES:,} B, or use fewer pages.",
            region=name,
            needed_bytes=error.needed_bytes,
            usable_bytes=LAST_PAGE_BYTES,
        )


@dataclass(frozen=True, slots=True)
class QueueOfSM:
    """The tasks of the queue that a spec states, or, where it states none (`guessed`), the spec's own task again and
    again; no tasks while something is `missing`.
    """

    tasks: tuple[TaskOnSM, ...]
    guessed: bool = False
    missing: tuple[Missing, ...] = ()


def queue_of(view: SpecView, neighbours: Mapping[str, SpecView] | None) -> QueueOfSM:
    """Follow the queue of the SM that a spec's task runs on. The spec itself must have a plan."""
    stated = view.doc["smem"]["queue"]
    if not stated:
        return QueueOfSM(repeat_until_settled(THIS_SPEC, view.planner_input[0]), guessed=True)
    known = {**(neighbours or {}), THIS_SPEC: view}
    queue: list[tuple[str, tuple[Region, ...]]] = []
    missing: list[Missing] = []
    for index, code in enumerate(stated):
        path = f"smem.queue[{index}]"
        other = known.get(code)
        if other is None:
            missing.append(Missing(path, f"{code} is not a spec that is known here.", "Name an existing spec."))
            continue
        listed = bool(other.regions) or without_regions(other)
        unread = any(problem.field.startswith("smem") for problem in other.problems)
        if unread or not listed or not isinstance(other.plan, Plan):
            name = "This spec" if code == THIS_SPEC else code
            fix = "Complete and correct its SMEM table first."
            missing.append(Missing(path, f"{name} has no plan of its own yet.", fix))
            continue
        queue.append((code, other.planner_input[0]))
    if THIS_SPEC not in stated:
        fix = f'Add "{THIS_SPEC}" where the task runs.'
        missing.append(Missing("smem.queue", "The queue doesn't hold this spec.", fix))
    return QueueOfSM((), missing=tuple(missing)) if missing else QueueOfSM(simulate(queue))


@spec_rule(
    "R04",
    severity=ERROR,
    title="Physical overrun in a sequence",
    source="v2_smem_planner.py, by simulation",
    formula="over the SM's queue every region ends at or below byte 224,256",
    inputs=("smem.regions[]", "smem.queue"),
)
def r04(view: SpecView, report: Reporter, context: Context) -> None:
    if not planned(view, report):
        return
    if isinstance(view.plan, PlanError):
        report.missing(
            Missing(REGIONS, "There is no plan whose pages could be followed.", "Correct the SMEM table first (R02).")
        )
        return
    queue = queue_of(view, context.neighbours)
    for missing in queue.missing:
        report.missing(missing)
    _report_overruns(view, report, queue.tasks, queue.guessed)


def _report_overruns(view: SpecView, report: Reporter, tasks: tuple[TaskOnSM, ...], guessed: bool) -> None:
    seen: set[tuple[str, str]] = set()
    for position, task in enumerate(tasks):
        for region in task.overruns:
            name = region.placement.region.name
            if (task.name, name) in seen:
                continue
            seen.add((task.name, name))
            own = task.name == THIS_SPEC
            previous = tasks[position - 1].name if position else ""
            before = f"After {_spoken(previous)}" if previous else "On an SM that has run nothing"
            what = name if own else f"{name} of {task.name}"
            guess = " The queue is guessed: the same task again and again." if guessed and position else ""
            report.add(
                view.region_path(region.placement.index) if own else f"smem.queue[{position}]",
                f"{before}, {what} lands on page {PAGES - 1} and ends {region.overrun_bytes:,} B past capacity."
                + guess,
                "Change release steps, region sizes or the order of tasks so that page 13 stays free of it; "
                "the planner does not check this step."
                + (" State the SM's queue to judge the real order." if guess else ""),
                severity=WARNING if guessed and position else ERROR,
                position=position,
                region=name,
                overrun_bytes=region.overrun_bytes,
                end_byte=region.end_byte,
                guessed=guessed,
            )


def _spoken(name: str) -> str:
    return "this task" if name == THIS_SPEC else name


SMEM_PLAN_RULES: tuple[Rule, ...] = (r01, r02, r03, r04)
