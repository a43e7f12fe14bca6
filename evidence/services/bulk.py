"""Accepting many proposals of one kind: each in a transaction of its own, with an answer of its own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from django.utils import timezone

from evidence.models import Proposal
from evidence.policies import require_curator
from evidence.selectors import get_proposals
from evidence.services.decisions import accept_proposal, judged
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict, Refusal
from v2kb.core.policies import require_user

MAX_BULK = 50
ACCEPTED, NEEDS_SECOND, REFUSED = "accepted", "needs_second_acceptor", "refused"


@dataclass(frozen=True)
class BulkLine:
    """What became of one proposal, or would. `code` and `message` say why it was refused."""

    proposal: Proposal
    outcome: str
    code: str = ""
    message: str = ""


def preview_bulk(actor: Actor, ids: Sequence[int]) -> list[BulkLine]:
    """What `accept_many` would answer, without writing anything. Raises what it raises."""

    def look(proposal: Proposal) -> str:
        return ACCEPTED if judged(actor, proposal).completes else NEEDS_SECOND

    return _each(actor, ids, look)


def accept_many(actor: Actor, ids: Sequence[int], *, conflict: str = "", reason: str = "") -> list[BulkLine]:
    """Accept up to 50 open proposals of one kind, one after the other; what is refused stops no other.

    A proposal that another curator claimed is left to them. Raises Forbidden core.role; Refusal evidence.bulk_size,
    evidence.bulk_kinds; Missing evidence.no_proposal.
    """

    def accept(proposal: Proposal) -> str:
        done = accept_proposal(actor, proposal.pk, conflict=conflict, reason=reason)
        return ACCEPTED if done.state == Proposal.State.ACCEPTED else NEEDS_SECOND

    lines = _each(actor, ids, accept)
    now = {proposal.pk: proposal for proposal in get_proposals([line.proposal.pk for line in lines])}
    return [replace(line, proposal=now[line.proposal.pk]) for line in lines]


def _each(actor: Actor, ids: Sequence[int], act: Callable[[Proposal], str]) -> list[BulkLine]:
    require_curator(actor)
    require_user(actor)
    wanted = list(dict.fromkeys(ids))
    if not 1 <= len(wanted) <= MAX_BULK:
        raise Refusal(
            "evidence.bulk_size",
            f"{len(wanted)} proposals are chosen; 1 to {MAX_BULK} can be accepted at once.",
            field="ids",
            fix="Choose some." if not wanted else "Choose fewer.",
        )
    proposals = get_proposals(wanted)
    kinds = sorted({proposal.get_kind_display() for proposal in proposals})
    if len(kinds) > 1:
        raise Refusal(
            "evidence.bulk_kinds",
            f"These are of several kinds: {', '.join(kinds)}.",
            field="ids",
            fix="Filter by one kind first.",
        )
    return [_one(actor, proposal, act) for proposal in proposals]


def _one(actor: Actor, proposal: Proposal, act: Callable[[Proposal], str]) -> BulkLine:
    claim = getattr(proposal, "claim", None)
    try:
        if claim is not None and claim.user_id != actor.user.pk and claim.until > timezone.now():
            raise Conflict("evidence.claimed", f"{claim.user.display_name} looks at it now.")
        return BulkLine(proposal, act(proposal))
    except Refusal as refusal:
        return BulkLine(proposal, REFUSED, refusal.code, refusal.message)
