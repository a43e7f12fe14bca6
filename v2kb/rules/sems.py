"""Rules R20 and R23: the semaphore table of a spec, and its picture."""

from dataclasses import dataclass
from typing import Any

from v2kb.rules.rule_registry import ERROR, Context, Reporter, Rule, spec_rule
from v2kb.rules.spec_view import Missing, Row, SpecView

OP_SEM_BUDGET = 31
MAX_DRAWN_SLOTS = 256
ROWS = "sems.rows"
_BLANKS = {
    "producer": "who arrives",
    "consumer": "who waits",
    "meaning": "what an arrival means",
    "kind": "how it is arrived (warp, tma or mma)",
    "reinit_owner": "who re-initialises it (none is an answer)",
}


@dataclass(frozen=True, slots=True)
class Span:
    """Ordinals first..last of one row."""

    row: Row
    first: int
    last: int


def _spans(rows: list[tuple[Row, tuple[int, ...]]]) -> list[Span]:
    spans = [Span(row, first, first + slots - 1) for row, (first, slots) in rows if slots > 0]
    return sorted(spans, key=lambda span: span.first)


def _has_rows(view: SpecView, report: Reporter) -> bool:
    if view.sems:
        return True
    declared = view.doc["sems"]["num_op_sems"]
    if view.family in ("B", "C", "D", "E") and declared in ("", "0"):
        report.skip(f"Family {view.family} lists no semaphores of its own.")
    else:
        report.missing(Missing(ROWS, "The spec lists no semaphores.", "List them, or choose a family that has none."))
    return False


@spec_rule(
    "R20",
    severity=ERROR,
    title="Semaphore budget and ordinals",
    source="house-style section 3",
    formula="sum(slots) <= 31 and = NUM_OP_SEMS; ordinals run from 0 without gap or overlap",
    inputs=("sems.rows[].ordinal", "sems.rows[].slots", "sems.num_op_sems"),
)
def r20(view: SpecView, report: Reporter, context: Context) -> None:
    if not _has_rows(view, report):
        return
    read = [(row, report.need(row, "ordinal", "slots")) for row in view.sems]
    rows = [(row, values) for row, values in read if values is not None]
    for row, (_, slots) in rows:
        if slots < 1:
            report.add(f"{row.path}.slots", f"{row.label()} has {slots} slots.", "Give it at least one, or remove it.")
    complete = len(rows) == len(view.sems)
    if complete:
        _check_total(view, report, sum(max(0, slots) for _, (_, slots) in rows))
    _check_order(report, _spans(rows), complete)


def _check_total(view: SpecView, report: Reporter, total: int) -> None:
    if total > OP_SEM_BUDGET:
        report.add(
            ROWS,
            f"{total} semaphores; a task has {OP_SEM_BUDGET} of its own.",
            "Use fewer stages, let two channels share their empty edge, or use tag flags.",
            total=total,
            over=total - OP_SEM_BUDGET,
        )
    declared = view.number("sems.num_op_sems", view.doc["sems"]["num_op_sems"])
    if isinstance(declared, Missing):
        report.missing(declared)
    elif declared != total:
        report.add(
            "sems.num_op_sems",
            f"NUM_OP_SEMS is {declared}, but the rows add up to {total}.",
            f"Write {total}, or correct the slots.",
            declared=declared,
            total=total,
        )


def _check_order(report: Reporter, spans: list[Span], complete: bool) -> None:
    expected = 0
    holder = ""
    for span in spans:
        path, name = f"{span.row.path}.ordinal", span.row.label()
        if span.first < 0:
            report.add(path, f"{name} starts at {span.first}.", "Start at 0.")
        elif span.first < expected:
            report.add(
                path,
                f"{name} ({span.first}..{span.last}) overlaps {holder}, which reaches {expected - 1}.",
                f"Start it at {expected}.",
                first=span.first,
                expected=expected,
            )
        elif span.first > expected and complete:
            report.add(
                path,
                f"Ordinals {expected}..{span.first - 1} before {name} belong to no row.",
                f"Start it at {expected}; every initialised barrier needs a row.",
                first=span.first,
                expected=expected,
            )
        if span.last + 1 > expected:
            expected, holder = span.last + 1, name


@spec_rule(
    "R23",
    severity=ERROR,
    title="No blank cell in the semaphore table",
    source="house-style section 3",
    formula="each row has count, producer, consumer, meaning, arrival kind and re-initialising owner",
    inputs=("sems.rows[]",),
)
def r23(view: SpecView, report: Reporter, context: Context) -> None:
    if not _has_rows(view, report):
        return
    for row in view.sems:
        for name, what in _BLANKS.items():
            if not row.source[name]:
                report.add(f"{row.path}.{name}", f"{row.label()} doesn't say {what}.", "Fill this cell.", field=name)
        if not row.source["name"]:
            report.add(f"{row.path}.name", "The row has no name.", "Name the barrier.", field="name")
        count = row.values["count"]
        if isinstance(count, Missing):
            report.missing(count)
        elif count < 1:
            report.add(
                f"{row.path}.count",
                f"{row.label()} expects {count} arrivals.",
                "Write how many arrivals complete a phase: 1 for one elected thread, 128 for four warps.",
                count=count,
            )


SEM_RULES: tuple[Rule, ...] = (r20, r23)


def semaphore_map(view: SpecView) -> dict[str, Any]:
    """Return plain values for a picture of the semaphore slots.

    `slots` has one entry per ordinal, at least 31: its state is used, clash, free, or over (past the budget);
    `rows` are the table's rows with their evaluated numbers (None where they have no value).
    """
    rows = []
    holders: dict[int, list[int]] = {}
    used = 0
    for index, row in enumerate(view.sems):
        numbers = {name: v if isinstance(v, int) else None for name, v in row.values.items()}
        first, slots = numbers["ordinal"], numbers["slots"]
        readable = first is not None and slots is not None and slots > 0 and first >= 0
        used += slots if readable else 0
        for ordinal in range(first, min(first + slots, MAX_DRAWN_SLOTS)) if readable else ():
            holders.setdefault(ordinal, []).append(index)
        rows.append(
            {
                "index": index,
                "name": row.label(),
                "first": first if readable else None,
                "last": first + slots - 1 if readable else None,
                "slots": slots,
                "count": numbers["count"],
                "producer": row.source["producer"],
                "consumer": row.source["consumer"],
                "meaning": row.source["meaning"],
                "kind": row.source["kind"],
                "asynchronous": row.source["kind"] in ("tma", "mma"),
                "reinit_owner": row.source["reinit_owner"],
            }
        )
    drawn = max(OP_SEM_BUDGET, max(holders, default=-1) + 1)
    slots_drawn = [
        {"ordinal": ordinal, "rows": holders.get(ordinal, []), "state": _slot_state(ordinal, holders)}
        for ordinal in range(drawn)
    ]
    return {"budget": OP_SEM_BUDGET, "used": used, "free": OP_SEM_BUDGET - used, "rows": rows, "slots": slots_drawn}


def _slot_state(ordinal: int, holders: dict[int, list[int]]) -> str:
    count = len(holders.get(ordinal, ()))
    if count > 1:
        return "clash"
    if count and ordinal >= OP_SEM_BUDGET:
        return "over"
    return "used" if count else "free"
