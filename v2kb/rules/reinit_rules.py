"""Rules R24 to R28: who re-initialises a barrier at task start, and in which order."""

from v2kb.rules.barriers import (
    NO_ROLE,
    arriver,
    has_barriers,
    has_former_task,
    has_owner,
    is_async,
    need_answer,
    need_word,
    waiter,
)
from v2kb.rules.rule_registry import ERROR, WARNING, Context, Reporter, Rule, spec_rule
from v2kb.rules.spec_view import Row, SpecView


def _tail_rows(view: SpecView, report: Reporter) -> list[Row]:
    """Thread-arrived rows whose arrivals land at the task's tail; reports those that don't say when."""
    threads = [row for row in view.sems if not is_async(row)]
    return [row for row in threads if need_word(report, row, "arrives") == "task_tail"]


@spec_rule(
    "R24",
    severity=ERROR,
    title="Owner of a barrier that hardware arrives at",
    source="house-style section 2 names the arriver; the reference linear also the first toucher",
    formula="TMA, commit and noinc rows: the owner is the arriving or the waiting role, with a sentence on the order",
    inputs=("sems.rows[].kind", "sems.rows[].reinit_owner", "sems.rows[].reinit_order"),
)
def r24(view: SpecView, report: Reporter, context: Context) -> None:
    if not has_former_task(view, report):
        return
    for row in view.sems:
        if not need_word(report, row, "kind") or not is_async(row):
            continue
        owner = need_word(report, row, "reinit_owner")
        if owner in NO_ROLE:
            report.add(
                row.cell("reinit_owner"),
                f"{row.label()} is arrived by hardware, but no role re-initialises it at task start: a stray arrival "
                "of the former task can flip the fresh phase.",
                f"Let {arriver(row)} (it arrives) or {waiter(row)} (it waits first) own it.",
                owner=owner,
            )
        elif owner and owner not in (arriver(row), waiter(row)):
            report.add(
                row.cell("reinit_owner"),
                f"{row.label()} is re-initialised by {owner}, which neither arrives at it nor waits for it first.",
                f"Let {arriver(row)} or {waiter(row)} own it; a third role has no order with its arrivals.",
                owner=owner,
            )
        elif owner:
            need_word(report, row, "reinit_order")


@spec_rule(
    "R25",
    severity=ERROR,
    title="Owner of a barrier at the task's tail",
    source="house-style section 3 (the incident of consumer_done)",
    formula="a thread-arrived row whose arrivals land at the tail has an owner, or a proof that none is late",
    inputs=("sems.rows[].arrives", "sems.rows[].reinit_owner", "sems.rows[].proof"),
)
def r25(view: SpecView, report: Reporter, context: Context) -> None:
    if not has_former_task(view, report):
        return
    for row in _tail_rows(view, report):
        owner = need_word(report, row, "reinit_owner")
        if owner in NO_ROLE and not row.source["proof"]:
            report.add(
                row.cell("reinit_owner"),
                f"{row.label()} is arrived at the task's tail, and only the controller initialises it: late arrivals "
                "of the former task can flip the fresh phase of the reused slot, and its waiter hangs.",
                f"Let {waiter(row)} re-initialise it at task start, before the publish that lets {arriver(row)} start, "
                "or write why no arrival can be late.",
                owner=owner,
            )


@spec_rule(
    "R26",
    severity=WARNING,
    title="No re-init under a waiter",
    source="house-style section 3; the reference linear's channel table",
    formula="a thread-arrived one-shot that is waited while the task starts has no owner",
    inputs=("sems.rows[].waited_at_start", "sems.rows[].arrives", "sems.rows[].reinit_owner"),
)
def r26(view: SpecView, report: Reporter, context: Context) -> None:
    if not has_former_task(view, report):
        return
    for row in view.sems:
        if is_async(row) or row.source["pair"] or not has_owner(row):
            continue
        slots = report.need(row, "slots")
        if slots is None or slots[0] != 1 or _waits_later(row):
            continue
        if need_word(report, row, "waited_at_start") == "yes":
            owner = row.source["reinit_owner"]
            report.add(
                row.cell("reinit_owner"),
                f"{row.label()} is waited while the task starts, and {owner} re-initialises it then: the re-init would "
                "race the waiter.",
                "Give it no owner; it is arrived early, so nothing of the former task can be late.",
                owner=owner,
            )


def _waits_later(row: Row) -> bool:
    """True when the answer follows from the row: it says so, or its arrivals land at the tail."""
    return row.source["waited_at_start"] == "no" or row.source["arrives"] == "task_tail"


@spec_rule(
    "R27",
    severity=ERROR,
    title="Order of a tail barrier's re-init",
    source="house-style section 3 (load-bearing order)",
    formula="a tail barrier is re-initialised before the publish that unlocks its arrivers, and its row says so",
    inputs=("sems.protocol.tail_before_publish", "sems.rows[].arrives", "sems.rows[].reinit_order"),
)
def r27(view: SpecView, report: Reporter, context: Context) -> None:
    if not has_former_task(view, report):
        return
    owned = [row for row in _tail_rows(view, report) if has_owner(row)]
    if not owned:
        report.skip("No role re-initialises a barrier that is arrived at the tail.")
        return
    for row in owned:
        need_word(report, row, "reinit_order")
    names = ", ".join(row.label() for row in owned)
    question = f"It isn't said whether {names} is re-initialised before the publish that unlocks its arrivers."
    if need_answer(view, report, "tail_before_publish", question) == "no":
        report.add(
            "sems.protocol.tail_before_publish",
            f"{names} is re-initialised after the publish that unlocks its arrivers: a fresh arrival can be wiped.",
            "Re-initialise it first, then publish; the order is load-bearing.",
        )


@spec_rule(
    "R28",
    severity=ERROR,
    title="Fence after re-init",
    source="house-style sections 2 and 3",
    formula="every re-init block ends with fence.mbarrier_init.release.cluster",
    inputs=("sems.protocol.reinit_fenced",),
)
def r28(view: SpecView, report: Reporter, context: Context) -> None:
    if not has_barriers(view, report):
        return
    if not any(has_owner(row) for row in view.sems):
        report.skip("No role re-initialises a barrier.")
        return
    question = "It isn't said whether every re-init block ends with fence.mbarrier_init."
    if need_answer(view, report, "reinit_fenced", question) == "no":
        report.add(
            "sems.protocol.reinit_fenced",
            "A re-init block doesn't end with fence.mbarrier_init: TMA and commits may see the barrier as it was.",
            "End each block with fence.mbarrier_init.release.cluster.",
        )


REINIT_RULES: tuple[Rule, ...] = (r24, r25, r26, r27, r28)
