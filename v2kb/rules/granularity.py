"""Rules R40 and R41: how many tasks an op becomes, and what a grid-wide task must bring along."""

from v2kb.rules.rule_registry import ERROR, Context, Reporter, Rule, spec_rule
from v2kb.rules.spec_view import Missing, SpecView

ROWS = "granularity"
GRID_WIDE_NEEDS = {
    "justification": "a written justification",
    "monotonic_barrier": "a monotonic barrier with need = num_tasks * (iteration + 1), never reset",
    "host_assert": "a host assertion num_tasks == num_workers",
    "skip_after_step0": "skip_after_step0 on the barrier's scratch",
    "task_offset": "an entry in the task_offset list",
}


def _has_rows(view: SpecView, report: Reporter) -> bool:
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
    formula="num_tasks evaluates to the listed count; per tile unless justified",
    inputs=("granularity[].num_tasks", "granularity[].listed"),
)
def r40(view: SpecView, report: Reporter, context: Context) -> None:
    if not _has_rows(view, report):
        return
    for row in view.tasks:
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
    if not _has_rows(view, report):
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


GRANULARITY_RULES: tuple[Rule, ...] = (r40, r41)


def total_tasks(view: SpecView) -> int | None:
    """Sum of the evaluated task counts, or None while one has no value."""
    counts = [row.values["num_tasks"] for row in view.tasks]
    return sum(counts) if counts and all(isinstance(count, int) for count in counts) else None
