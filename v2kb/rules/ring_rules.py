"""Rule R31: rings that close, and the phase with which each side starts."""

from collections.abc import Mapping

from v2kb.rules.barriers import arriver, has_barriers, waiter
from v2kb.rules.channels import is_full
from v2kb.rules.rule_registry import ERROR, Context, Reporter, Rule, spec_rule
from v2kb.rules.spec_view import Missing, Row, SpecView


@spec_rule(
    "R31",
    severity=ERROR,
    title="Closed rings and first phases",
    source="house-style section 3; the barrier audit's ready and free pairs",
    formula="each slot has a full and an empty edge between two roles; readers start with phase 0, writers with 1",
    inputs=("sems.rows[].pair", "sems.rows[].slots", "sems.rows[].first_phase"),
)
def r31(view: SpecView, report: Reporter, context: Context) -> None:
    if not has_barriers(view, report):
        return
    by_name = {row.source["name"]: row for row in reversed(view.sems)}
    named = {row.source["pair"] for row in view.sems}
    for row in view.sems:
        pair_name = row.source["pair"]
        if pair_name == "":
            _check_single(report, row, row.source["name"] in named)
        elif pair_name not in by_name or pair_name == row.source["name"]:
            report.add(
                row.cell("pair"),
                f"{row.label()} names {pair_name} as the other direction, which is no other row.",
                "Name the row by which its slots come back.",
            )
        else:
            pair = by_name[pair_name]
            _check_pair(report, row, pair, by_name)
            _check_phase(report, row, pair)
    _ask_phases(report, [row for row in view.sems if row.source["pair"] in by_name and not row.source["first_phase"]])


def _ask_phases(report: Reporter, rows: list[Row]) -> None:
    """One finding for all edges that don't say with which phase their waiter starts."""
    if rows:
        names = ", ".join(row.label() for row in rows)
        message = f"It isn't said which phase is waited first: {names}."
        report.missing(Missing(rows[0].cell("first_phase"), message, "Write 0 for who reads, 1 for who fills."))


def _check_single(report: Reporter, row: Row, named: bool) -> None:
    slots = report.need(row, "slots")
    if slots is not None and slots[0] > 1 and not named:
        report.add(
            row.cell("pair"),
            f"{row.label()} has {slots[0]} slots but no other direction: nobody says when one is free again.",
            "Name the row by which its slots come back.",
            slots=slots[0],
        )
    if row.source["first_phase"] == "1" and not named:
        report.add(
            row.cell("first_phase"),
            f"{row.label()} is used once, but {waiter(row)} starts with phase 1, which passes at once.",
            "The waiter of a one-shot starts with phase 0.",
        )


def _check_pair(report: Reporter, row: Row, pair: Row, by_name: Mapping[str, Row]) -> None:
    """The two answer each other (or the pair answers another full row of the same writer) and have the same slots."""
    answer = by_name.get(pair.source["pair"])
    shared = answer is not None and answer.source["pair"] == pair.source["name"] and arriver(answer) == arriver(row)
    if answer is not row and not shared:
        report.add(
            pair.cell("pair"),
            f"{row.label()} names {pair.label()} as the other direction, but {pair.label()} names "
            f"{pair.source['pair'] or 'nothing'}.",
            f"Let {pair.label()} name {row.label()}, or a full row that shares it.",
        )
        return
    if (arriver(row), waiter(row)) != (waiter(pair), arriver(pair)) and not is_full(pair.source, row.source):
        report.add(
            row.cell("pair"),
            f"{row.label()} runs from {arriver(row)} to {waiter(row)}, but {pair.label()} from {arriver(pair)} to "
            f"{waiter(pair)}: that is not the way back.",
            "A ring runs between the same two roles in both directions.",
        )
    slots = report.need(row, "slots")
    theirs = report.need(pair, "slots")
    if None not in (slots, theirs) and slots != theirs and not is_full(pair.source, row.source):
        report.add(
            pair.cell("slots"),
            f"{row.label()} has {slots[0]} slots, but {pair.label()} {theirs[0]}.",
            "Each slot needs both edges.",
            slots=slots[0],
            other=theirs[0],
        )


def _check_phase(report: Reporter, row: Row, pair: Row) -> None:
    phase = row.source["first_phase"]
    if not phase or not pair.source["first_phase"]:
        return
    full = is_full(row.source, pair.source)
    if not full and not is_full(pair.source, row.source):
        report.add(
            row.cell("first_phase"),
            f"{row.label()} and {pair.label()} start with the same phase {phase}, and neither alone announces data.",
            "A reader starts with phase 0, a writer with phase 1; say what data the full edge announces.",
        )
    elif phase != ("0" if full else "1"):
        problem = "reads a slot that nobody has filled" if full else "waits for ever for a slot that nobody has used"
        report.add(
            row.cell("first_phase"),
            f"{row.label()}: {waiter(row)} starts with phase {phase}, so in the first round it {problem}.",
            f"Start with phase {'0' if full else '1'}.",
            phase=phase,
        )


RING_RULES: tuple[Rule, ...] = (r31,)
