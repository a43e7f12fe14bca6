"""Rules R36 to R38: what waiting relies on, in answers that concern all barriers of a spec."""

from v2kb.rules.barriers import NO_FAMILY, arriver, has_barriers, need_answer, waiter, without_barriers
from v2kb.rules.granularity import Iterations, iterations
from v2kb.rules.rule_registry import ERROR, WARNING, Context, Reporter, Rule, spec_rule
from v2kb.rules.spec_view import SpecView


@spec_rule(
    "R36",
    severity=ERROR,
    title="Waiting on a parity",
    source="house-style section 3 (race 2)",
    formula="a waiter on mod-2 parity observes every sequence, or one warp group owns claim, body and release",
    inputs=("sems.protocol.parity_wait",),
)
def r36(view: SpecView, report: Reporter, context: Context) -> None:
    if not has_barriers(view, report):
        return
    question = "It isn't said what makes waiting on a parity sound."
    if need_answer(view, report, "parity_wait", question) == "neither":
        report.add(
            "sems.protocol.parity_wait",
            "A waiter that skips sequences can't tell no release from two: it passes two occupants early.",
            "Let it observe every sequence, or let one warp group own claim, body and release in program order.",
        )


@spec_rule(
    "R37",
    severity=WARNING,
    title="Values that decide a loop's exit",
    source="house-style section 3 (race 3)",
    formula="where iterations vary, the value that decides the exit is read before the barrier is arrived",
    inputs=("sems.protocol.exit_snapshot", "granularity[].iterations"),
)
def r37(view: SpecView, report: Reporter, context: Context) -> None:
    if not has_barriers(view, report):
        return
    if _fixed_loops(view) and not view.doc["sems"]["protocol"]["exit_snapshot"]:
        report.skip("All loops have a fixed number of iterations.")
        return
    question = "It isn't said whether values that decide a loop's exit are read before the barrier is arrived."
    if need_answer(view, report, "exit_snapshot", question) == "no":
        report.add(
            "sems.protocol.exit_snapshot",
            "A value that decides the loop's exit is read after the barrier was arrived: the next iteration's producer "
            "may have changed it, and a straggler leaves one iteration early.",
            "Read it into a register before arriving.",
        )


def _fixed_loops(view: SpecView) -> bool:
    """True when each task's number of iterations is known and the same in every run."""
    counts = [iterations(view, row) for row in view.tasks]
    return bool(counts) and all(isinstance(count, Iterations) and count.by_active is None for count in counts)


@spec_rule(
    "R38",
    severity=WARNING,
    title="Tag flags in the consumer-only idiom",
    source="m1-decode-evidence, row W4; house-style section 3",
    formula="a handshake between roles of a consumer-only body uses salted 64-bit tags, never mbarriers from phase 0",
    inputs=("engine.family", "sems.protocol.handshake", "sems.protocol.tags"),
)
def r38(view: SpecView, report: Reporter, context: Context) -> None:
    protocol = view.doc["sems"]["protocol"]
    tagged = protocol["handshake"] == "tag_flags"
    if not tagged and view.family == "A":
        report.skip("The barriers of a pipeline are initialised by the controller.")
    elif not tagged and without_barriers(view):
        report.skip(f"Family {view.family} lists no semaphores of its own.")
    elif not tagged and not view.family:
        report.missing(NO_FAMILY)
    elif tagged:
        question = "It isn't said what the tag flags carry."
        if need_answer(view, report, "tags", question) == "plain":
            report.add(
                "sems.protocol.tags",
                "Plain tags repeat: a flag of the former task or iteration reads as this one's.",
                "Use 64-bit tags salted with task and iteration.",
            )
    elif _between_roles(view):
        question = "It isn't said by what the roles shake hands."
        if need_answer(view, report, "handshake", question) == "mbarrier":
            report.add(
                "sems.protocol.handshake",
                "A consumer-only registration has no init_semaphores, so mbarriers that start from phase 0 wedge when "
                "the ring slot is used again.",
                "Use salted 64-bit tag flags (row W4), or register a pipeline.",
            )
    else:
        report.skip("No barrier runs between two roles.")


def _between_roles(view: SpecView) -> bool:
    return any(arriver(row) != waiter(row) for row in view.sems)


PROTOCOL_RULES: tuple[Rule, ...] = (r36, r37, r38)
