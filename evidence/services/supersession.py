"""Edges between rows: the newer one replaces, narrows, contradicts, merges or splits the older. Never a circle."""

from evidence.deciding import is_above
from evidence.models import EvidenceRow, Supersession
from evidence.policies import require_curator
from evidence.selectors import SUPERSEDING
from evidence.services.revisions import checked_reason, locked_row
from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict, Refusal
from v2kb.core.policies import require_user
from v2kb.core.service import service
from v2kb.rules.evidence_change import acceptors_needed, weakens


@service("evidence.supersede_row")
def supersede_row(actor: Actor, *, newer: str, older: str, kind: str, reason: str) -> Supersession:
    """Record that `newer` stands in some relation (`Supersession.Kind`) to `older`; both are codes.

    A blocking row is only replaced by one that blocks at least as much, for the same lever (or one above it) and in no
    less scope, and no WIN by a DEAD row or the other way: else a single person could do what needs two.
    Raises Forbidden core.role; Missing evidence.no_row; Refusal evidence.supersession_kind, evidence.supersession_self,
    evidence.supersession_disarms, evidence.supersession_turns; Conflict evidence.supersession_cycle,
    evidence.supersession_exists.
    """
    require_curator(actor)
    require_user(actor)
    reason = checked_reason(reason)
    if kind not in Supersession.Kind.values:
        raise Refusal(
            "evidence.supersession_kind",
            f"{kind[:40]!r} is no relation between rows.",
            field="kind",
            fix=f"Use one of {', '.join(Supersession.Kind.values)}.",
        )
    if newer == older:
        raise Refusal(
            "evidence.supersession_self", "A row can't supersede itself.", field="older", fix="Name another row."
        )
    locked = {code: locked_row(code) for code in sorted({newer, older})}
    new_row, old_row = locked[newer], locked[older]
    _refuse_disarming(new_row, old_row, kind)
    return add_edge(actor, newer=new_row, older=old_row, kind=kind, reason=reason)


def add_edge(actor: Actor, *, newer: EvidenceRow, older: EvidenceRow, kind: str, reason: str) -> Supersession:
    """Record one edge between two locked rows. Raises Conflict evidence.supersession_cycle,
    evidence.supersession_exists."""
    if Supersession.objects.filter(newer=newer, older=older, kind=kind).exists():
        raise Conflict("evidence.supersession_exists", f"{newer} {kind} {older} already.", fix="Nothing is left to do.")
    edge = Supersession.objects.create(newer=newer, older=older, kind=kind, reason=reason, author=actor.user)
    # Recording takes the lock that all writers share, so that the edges read below are complete.
    record(
        actor,
        "evidence.supersede_row",
        older,
        f"{newer} {kind} {older}: {reason}"[:2000],
        after={"newer": newer.code, "kind": kind},
    )
    if _reaches(older, newer):
        raise Conflict(
            "evidence.supersession_cycle",
            f"{older} supersedes {newer} already, directly or through other rows.",
            field="older",
            fix="Turn the relation round, or name another row.",
        )
    return edge


def _refuse_disarming(newer: EvidenceRow, older: EvidenceRow, kind: str) -> None:
    if kind not in SUPERSEDING:
        return
    content = newer.head.content
    if is_above(newer.head.lever.slug, older.head.lever):  # a row of a lever counts for the levers below it
        content = {**content, "lever": older.head.content["lever"]}
    if acceptors_needed(older.head.content, content) < 2:
        return
    if not weakens(older.head.content, content):
        raise Refusal(
            "evidence.supersession_turns",
            f"{older.code} is {older.head.verdict} and {newer.code} is {newer.head.verdict}: no one person turns it.",
            field="newer",
            fix=f"Propose the change of {older.code} itself, or a merge: two people accept that.",
        )
    raise Refusal(
        "evidence.supersession_disarms",
        f"{older.code} blocks and {newer.code} blocks less, in less scope, for another lever, or not at all.",
        field="newer",
        fix=f"Propose the change of {older.code} itself: two people accept that.",
    )


def _reaches(start: EvidenceRow, goal: EvidenceRow) -> bool:
    """Whether edges from newer to older lead from `start` to `goal`."""
    edges: dict[int, list[int]] = {}
    for newer_id, older_id in Supersession.objects.values_list("newer_id", "older_id"):
        edges.setdefault(newer_id, []).append(older_id)
    open_ids, seen = [start.pk], set()
    while open_ids:
        current = open_ids.pop()
        if current == goal.pk:
            return True
        if current not in seen:
            seen.add(current)
            open_ids += edges.get(current, [])
    return False
