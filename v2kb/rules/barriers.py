"""What the rules ask of a row of the semaphore table: who arrives and who waits, and whether there are rows at all."""

import re

from v2kb.rules.field_words import to_enter
from v2kb.rules.rule_registry import Reporter
from v2kb.rules.spec_view import Missing, Row, SpecView
from v2kb.rules.spec_words import ROLES

NO_FAMILY = Missing("engine.family", "The family of the engine is not chosen.", "Choose one of A to E.")
# An owner that re-initialises nothing at task start: nobody, or the controller at each publish.
NO_ROLE = ("none", "controller")
# Trees name the roles differently; these are the other names of the five.
_ROLE_WORDS = {
    **{role: role for role in ROLES},
    "launcher": "mma",
    "compute": "consumer",
    "consumers": "consumer",
    "dispatcher": "controller",
}
_BLANKS = {
    "producer": "who arrives",
    "consumer": "who waits",
    "meaning": "what an arrival means",
    "kind": "how it is arrived (warp, tma or mma)",
    "reinit_owner": "who re-initialises it (none is an answer)",
    "arrivers": "who makes the arrivals of one phase",
    "arrives": "when its arrivals land (early, per iteration or at the task's tail)",
    "data": "how the data that it announces gets there (none is an answer)",
    "publication": "how cp.async data is published to tcgen05",
    "reinit_order": "why its re-initialisation comes before the first arrival",
    "waited_at_start": "whether it is waited while the task starts",
    "storage": "which region its bytes land in",
}


def role_in(text: str) -> str:
    """Return the first of the five roles that `text` names, in either tree's words, or "" for none."""
    for word in re.findall(r"[a-z]+", text.lower()):
        if word in _ROLE_WORDS:
            return _ROLE_WORDS[word]
    return ""


def arriver(row: Row) -> str:
    """The role that arrives, or the text that stands there."""
    return role_in(row.source["producer"]) or row.source["producer"]


def waiter(row: Row) -> str:
    """The role that waits, or the text that stands there."""
    return role_in(row.source["consumer"]) or row.source["consumer"]


def is_async(row: Row) -> bool:
    """True when hardware arrives: a stray arrival of the former task can land after the controller's initialisation."""
    return row.source["kind"] in ("tma", "mma") or row.source["publication"] == "noinc"


def has_owner(row: Row) -> bool:
    """True when a role re-initialises the barrier at task start."""
    return row.source["reinit_owner"] not in ("", *NO_ROLE)


def blank_cell(row: Row, name: str) -> Missing:
    """What is missing where one cell of a row is blank; the same words from every rule."""
    return Missing(row.cell(name), f"{row.label()} doesn't say {_BLANKS[name]}.", to_enter(name, "Answer yes or no."))


def need_word(report: Reporter, row: Row, name: str) -> str:
    """Return one cell of `row`, after reporting it as missing where it is blank."""
    if not row.source[name]:
        report.missing(blank_cell(row, name))
    return row.source[name]


def sem_table(view: SpecView) -> str:
    """Path of the table in use."""
    return f"sems.{view.doc['sems']['form']}"


def without_barriers(view: SpecView) -> bool:
    """True when the family has no barriers of its own and the spec claims none."""
    return not view.sems and view.family in ("B", "C", "D", "E") and view.doc["sems"]["num_op_sems"] in ("", "0")


def has_barriers(view: SpecView, report: Reporter) -> bool:
    """True when there are barriers to judge; else say why there are none, or that they are missing."""
    if without_barriers(view):
        report.skip(f"Family {view.family} lists no semaphores of its own.")
    elif not view.sems:
        fix = "List them, or choose a family that has none."
        report.missing(Missing(sem_table(view), "The spec lists no semaphores.", fix))
    return bool(view.sems)


def has_former_task(view: SpecView, report: Reporter) -> bool:
    """True when a task before may have used the same barriers; else say why none has."""
    if not has_barriers(view, report):
        return False
    if not view.in_megakernel:
        report.skip("The op is launched alone, so no former task can arrive late.")
    return view.in_megakernel


def has_roles(view: SpecView, report: Reporter) -> bool:
    """True when roles of the spec wait for each other in the megakernel; else say that they don't, or that the family
    is missing.
    """
    if without_barriers(view):
        report.skip(f"In family {view.family} without semaphores no role waits for another.")
    elif not view.in_megakernel:
        report.skip("The op is launched alone, so no other task waits for its pages.")
    elif not view.sems and not view.family:
        report.missing(NO_FAMILY)
    else:
        return True
    return False


def need_answer(view: SpecView, report: Reporter, name: str, message: str) -> str:
    """Return an answer of `sems.protocol`, after reporting `message` as missing where there is none."""
    answer = view.doc["sems"]["protocol"][name]
    if not answer:
        report.missing(Missing(f"sems.protocol.{name}", message, "Answer it for all barriers."))
    return answer
