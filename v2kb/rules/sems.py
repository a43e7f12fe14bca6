"""Rules R20 to R23: the semaphore table of a spec, in rows or in channels."""

from collections import Counter
from dataclasses import dataclass

from v2kb.rules.barriers import blank_cell, has_barriers, need_word, sem_table
from v2kb.rules.rule_registry import ERROR, Context, Reporter, Rule, spec_rule
from v2kb.rules.spec_view import Missing, Row, SpecView
from v2kb.rules.spec_words import ARRIVERS

OP_SEM_BUDGET = 31
_CELLS = ("producer", "consumer", "meaning", "kind", "reinit_owner")
# Who arrives where hardware does; a TMA barrier may also be arrived by the thread that announces its bytes.
_HARDWARE = {"tma": ("tma", "elected"), "mma": ("commit",)}


@dataclass(frozen=True, slots=True)
class Span:
    """Ordinals first..last of one row."""

    row: Row
    first: int
    last: int


def _spans(rows: list[tuple[Row, tuple[int, ...]]]) -> list[Span]:
    spans = [Span(row, first, first + slots - 1) for row, (first, slots) in rows if slots > 0]
    return sorted(spans, key=lambda span: span.first)


@spec_rule(
    "R20",
    version=2,
    severity=ERROR,
    title="Semaphore budget and ordinals",
    source="house-style section 3",
    formula="sum(slots) <= 31 and = NUM_OP_SEMS (R21 for channels); ordinals run from 0 without gap or overlap",
    inputs=("sems.rows[].ordinal", "sems.rows[].slots", "sems.num_op_sems"),
)
def r20(view: SpecView, report: Reporter, context: Context) -> None:
    if not has_barriers(view, report):
        return
    read = [(row, report.need(row, "ordinal", "slots")) for row in view.sems]
    rows = [(row, values) for row, values in read if values is not None]
    for row, (_, slots) in rows:
        if slots < 1:
            report.add(row.cell("slots"), f"{row.label()} has {slots} slots.", "Give it at least one, or remove it.")
    complete = len(rows) == len(view.sems)
    if complete:
        _check_total(view, report, sum(max(0, slots) for _, (_, slots) in rows))
    _check_order(report, _spans(rows), complete)


def _check_total(view: SpecView, report: Reporter, total: int) -> None:
    if total > OP_SEM_BUDGET:
        report.add(
            sem_table(view),
            f"{total} semaphores; a task has {OP_SEM_BUDGET} of its own.",
            "Use fewer stages, let two channels share their empty edge, or use tag flags.",
            total=total,
            over=total - OP_SEM_BUDGET,
        )
    if view.doc["sems"]["form"] == "channels":
        return
    declared = view.field("sems.num_op_sems")
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
        path, name = span.row.cell("ordinal"), span.row.label()
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
    "R21",
    severity=ERROR,
    title="Sum of the channel table",
    source="house-style section 3; the reference linear's channel table",
    formula="sum(depth of full edges) + sum(depth of empty edges that are not shared) + one-shots = NUM_OP_SEMS",
    inputs=("sems.channels[]", "sems.one_shots[]", "sems.num_op_sems"),
)
def r21(view: SpecView, report: Reporter, context: Context) -> None:
    sems = view.doc["sems"]
    if sems["form"] != "channels":
        report.skip("The table lists rows, not channels.")
        return
    if not has_barriers(view, report):
        return
    _check_shared_bases(view, report)
    depths = [report.need(row, "slots") for row in view.sems]
    declared = view.field("sems.num_op_sems")
    if isinstance(declared, Missing):
        report.missing(declared)
    if None in depths or isinstance(declared, Missing):
        return
    total = sum(max(0, slots) for (slots,) in depths)
    if declared != total:
        terms = _channel_terms(view)
        report.add(
            "sems.num_op_sems",
            f"NUM_OP_SEMS is {declared}, but the channel table adds up to {terms} = {total}.",
            f"Write {total}, or correct the depths.",
            declared=declared,
            total=total,
            terms=terms,
        )


def _channel_terms(view: SpecView) -> str:
    """The sum as a reader writes it: (6+6)+(6)+(2+2)+2, one bracket per channel, then the one-shots."""
    by_path: dict[str, list[str]] = {}
    for row in view.sems:
        if row.path.startswith("sems.channels"):
            by_path.setdefault(row.path, []).append(str(row.values["slots"]))
    terms = [f"({'+'.join(depths)})" for depths in by_path.values()]
    return "+".join([*terms, str(len(view.doc["sems"]["one_shots"]))])


def _check_shared_bases(view: SpecView, report: Reporter) -> None:
    channels = view.doc["sems"]["channels"]
    bases = {channel["name"]: channel["empty_base"] for channel in channels}
    for index, channel in enumerate(channels):
        partner = channel["shares_empty_with"]
        if partner in bases and channel["empty_base"] not in ("", bases[partner]):
            report.add(
                f"sems.channels[{index}].empty_base",
                f"{channel['name']} shares the empty edge of {partner}, which starts at {bases[partner] or 'nothing'}, "
                f"but names {channel['empty_base']} itself.",
                "Leave this cell blank: the other channel owns the edge.",
            )


@spec_rule(
    "R22",
    severity=ERROR,
    title="Arrivals of a barrier",
    source="house-style section 3",
    formula="count = arrivals of one phase: 128 for four warps, 1 for an elected thread, a commit or a TMA",
    inputs=("sems.rows[].count", "sems.rows[].arrivers", "sems.rows[].kind"),
)
def r22(view: SpecView, report: Reporter, context: Context) -> None:
    if not has_barriers(view, report):
        return
    for row in view.sems:
        kind, who = row.source["kind"], row.source["arrivers"]
        allowed = _HARDWARE.get(kind, ())
        if allowed and who and who not in allowed:
            report.add(
                row.cell("arrivers"),
                f"{row.label()} is arrived by {kind}, but its arrivers are {_spoken(who)}.",
                f"Use {' or '.join(_spoken(name) for name in allowed)}, or correct how it is arrived.",
            )
            continue
        who = who or (allowed[0] if allowed else need_word(report, row, "arrivers"))
        count = report.need(row, "count")
        if who and count is not None and count[0] != ARRIVERS[who]:
            arrivals = ARRIVERS[who]
            report.add(
                row.cell("count"),
                f"{row.label()}: count {count[0]} but {arrivals} {'arriver' if arrivals == 1 else 'arrivers'} "
                f"({_spoken(who)}).",
                "With fewer arrivals the barrier never flips, with more it flips twice: write "
                f"{arrivals}, or correct who arrives.",
                count=count[0],
                arrivers=arrivals,
            )


def _spoken(arrivers: str) -> str:
    return arrivers.replace("_", " ")


@spec_rule(
    "R23",
    version=2,
    severity=ERROR,
    title="No blank cell in the semaphore table",
    source="house-style section 3",
    formula="each row has its own name, count, producer, consumer, meaning, arrival kind and re-initialising owner",
    inputs=("sems.rows[]",),
)
def r23(view: SpecView, report: Reporter, context: Context) -> None:
    if not has_barriers(view, report):
        return
    names = Counter(row.source["name"] for row in view.sems)
    for row in view.sems:
        for name in _CELLS:
            if not row.source[name]:
                report.missing(blank_cell(row, name))
        _check_name(report, row, names)
        count = report.need(row, "count")
        if count is not None and count[0] < 1:
            report.add(
                row.cell("count"),
                f"{row.label()} expects {count[0]} arrivals.",
                "Write how many arrivals complete a phase: 1 for one elected thread, 128 for four warps.",
                count=count[0],
            )


def _check_name(report: Reporter, row: Row, names: Counter[str]) -> None:
    name = row.source["name"]
    if not name:
        report.missing(Missing(row.cell("name"), "The row has no name.", "Name the barrier."))
    elif names[name] > 1:
        report.add(row.cell("name"), f"{names[name]} barriers are called {name}.", "Give each its own name.")


SEM_RULES: tuple[Rule, ...] = (r20, r21, r22, r23)
