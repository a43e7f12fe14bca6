"""Rules R40 to R42: how many tasks an op becomes, and what a grid-wide task must bring along; and the K iterations of
one task.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from v2kb.rules.expressions import ExpressionError, names_in
from v2kb.rules.rule_registry import ERROR, Context, Reporter, Rule, spec_rule
from v2kb.rules.spec_view import Missing, Row, SpecView

ROWS = "granularity"
ACTIVE = "active"
MAX_ACTIVE = 1024
GRID_WIDE_NEEDS = {
    "justification": "a written justification",
    "monotonic_barrier": "a monotonic barrier with need = num_tasks * (iteration + 1), never reset",
    "host_assert": "a host assertion num_tasks == num_workers",
    "skip_after_step0": "skip_after_step0 on the barrier's scratch",
    "task_offset": "an entry in the task_offset list",
}


@dataclass(frozen=True, slots=True)
class Iterations:
    """K iterations of one task: one number, or one for each count of active experts."""

    fixed: int | None = None
    by_active: Mapping[int, int] | None = None

    @property
    def low(self) -> int:
        return self.fixed if self.by_active is None else min(self.by_active.values())

    @property
    def high(self) -> int:
        return self.fixed if self.by_active is None else max(self.by_active.values())


def iterations(view: SpecView, row: Row) -> Iterations | Missing:
    """Return the K iterations of a granularity row; a formula over `active` is evaluated over the row's whole range
    active_low..active_high.
    """
    path, text = f"{row.path}.iterations", row.source["iterations"]
    try:
        varies = ACTIVE in names_in(text) and (row.source["active_low"] or ACTIVE not in view.doc["symbols"])
    except ExpressionError:
        varies = False
    if not varies:
        value = view.number(path, text)
        return value if isinstance(value, Missing) else Iterations(fixed=value)
    low, high = (view.number(f"{row.path}.{name}", row.source[name]) for name in ("active_low", "active_high"))
    for bound in (low, high):
        if isinstance(bound, Missing):
            return bound
    if not 0 <= low <= high <= MAX_ACTIVE:
        message = f"{low:,} to {high:,} is no range of active experts."
        return Missing(f"{row.path}.active_high", message, f"Write a range from 0 up, of at most {MAX_ACTIVE:,}.")
    by_active: dict[int, int] = {}
    for active in range(low, high + 1):
        value = view.number(path, text, {ACTIVE: active})
        if isinstance(value, Missing):
            return value
        by_active[active] = value
    return Iterations(by_active=by_active)


def has_rows(view: SpecView, report: Reporter) -> bool:
    """Say whether the table of tasks has rows; where it should and doesn't, that is a missing input."""
    if view.tasks:
        return True
    if view.family == "E":
        report.skip("A helper runs inside another task.")
    else:
        report.missing(
            Missing(ROWS, "The spec doesn't say which tasks the op becomes.", "Add a row per task with its count.")
        )
    return False


@spec_rule(
    "R40",
    severity=ERROR,
    title="Number of tasks",
    source="house-style section 6",
    formula="num_tasks evaluates to the listed count; several instances per tile are justified",
    inputs=(
        "granularity[].num_tasks",
        "granularity[].listed",
        "granularity[].mode",
        "granularity[].justification",
    ),
    version=2,
)
def r40(view: SpecView, report: Reporter, context: Context) -> None:
    if not has_rows(view, report):
        return
    for row in view.tasks:
        if row.source["mode"] == "multi_instance" and not row.source["justification"]:
            report.add(
                f"{row.path}.justification",
                f"{row.label()} has several instances and doesn't say why; one task per tile is the default.",
                "Write why, or make the task per tile.",
            )
        values = report.need(row, "num_tasks", "listed")
        if values is None:
            continue
        computed, listed = values
        if computed < 1:
            report.add(
                f"{row.path}.num_tasks",
                f"{row.source['num_tasks']} gives {computed:,} tasks for {row.label()}.",
                "A task type has at least one task; check the symbols.",
                computed=computed,
            )
        elif computed != listed:
            report.add(
                f"{row.path}.listed",
                f"{row.label()}: {row.source['num_tasks']} gives {computed:,} tasks, but {listed:,} are listed.",
                f"Write {computed:,}, or correct the formula.",
                computed=computed,
                listed=listed,
            )


@spec_rule(
    "R41",
    severity=ERROR,
    title="Grid-wide tasks",
    source="house-style section 6; wiring-recipe sections 7 and 8",
    formula="grid-wide needs justification, monotonic barrier, host assertion, skip_after_step0 and task_offset",
    inputs=("granularity[]",),
)
def r41(view: SpecView, report: Reporter, context: Context) -> None:
    if not has_rows(view, report):
        return
    for row in view.tasks:
        if row.source["mode"] != "grid_wide":
            continue
        lacking = [name for name in GRID_WIDE_NEEDS if not row.source[name]]
        if lacking:
            report.add(
                f"{row.path}.{lacking[0]}",
                f"{row.label()} is grid-wide and lacks " + "; ".join(GRID_WIDE_NEEDS[name] for name in lacking) + ".",
                "Add what is missing, or make the task per tile.",
                lacking=lacking,
            )


@spec_rule(
    "R42",
    severity=ERROR,
    title="Grid barriers",
    source="house-style section 6",
    formula="a grid barrier exactly where the task is grid-wide",
    inputs=("granularity[].mode", "granularity[].grid_barrier", "granularity[].monotonic_barrier"),
)
def r42(view: SpecView, report: Reporter, context: Context) -> None:
    if not has_rows(view, report):
        return
    for row in view.tasks:
        wide = row.source["mode"] == "grid_wide"
        barrier = row.source["grid_barrier"] or row.source["monotonic_barrier"]
        if wide and not barrier:
            report.add(
                f"{row.path}.grid_barrier",
                f"{row.label()} is grid-wide and has no grid barrier.",
                "Add the barrier, or make the task per tile.",
            )
        elif barrier and not wide:
            report.add(
                f"{row.path}.mode",
                f"{row.label()} is not grid-wide and has a grid barrier: tasks of one op on one worker would wait for "
                "each other.",
                "Take the barrier out, or make the task grid-wide.",
            )


GRANULARITY_RULES: tuple[Rule, ...] = (r40, r41, r42)


def total_tasks(view: SpecView) -> int | None:
    """Sum of the evaluated task counts, or None while one has no value."""
    counts = [row.values["num_tasks"] for row in view.tasks]
    return sum(counts) if counts and all(isinstance(count, int) for count in counts) else None
