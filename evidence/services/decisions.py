"""Deciding proposals: the head is compared inside the transaction, nobody accepts their own, some changes need two."""

from collections.abc import Sequence

from django.db.models import Q

from evidence.hooks import open_spec_authors
from evidence.models import EvidenceRow, Proposal, ProposalDecision, RunReceipt
from evidence.policies import require_curator
from evidence.services.proposals import closed, locked_proposal
from evidence.services.revisions import checked_content, checked_reason, next_code, write_revision
from evidence.stale import stale_base
from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict, Forbidden
from v2kb.core.policies import require_user
from v2kb.core.service import service
from v2kb.rules.evidence_change import Reason, acceptors_needed, may_accept, weakens

Decision = ProposalDecision.Decision


@service("evidence.accept_proposal")
def accept_proposal(actor: Actor, proposal_id: int, *, reason: str = "") -> Proposal:
    """Accept a proposal. With the last acceptance that it needs, its content becomes the row's head; a new row gets
    its code.

    A change between WIN and DEAD, or one that lifts a blocking DEAD row, needs two acceptors; after the first the
    proposal stays open. Raises Forbidden core.role, evidence.own_proposal, evidence.author, evidence.already_accepted,
    evidence.interested; Conflict evidence.proposal_closed, evidence.row_archived, evidence.stale_base; Refusal
    evidence.content (incomplete for its verdict).
    """
    require_curator(actor)
    require_user(actor)
    proposal = locked_proposal(proposal_id)
    if proposal.state != Proposal.State.OPEN:
        raise closed(proposal)
    row, head = proposal.row, proposal.row.head if proposal.row else None
    if row is not None and row.archived_at:
        raise Conflict("evidence.row_archived", f"{row.code} is archived.", fix="Restore it first.")
    if head is not None and proposal.base_id != head.pk:
        raise stale_base(head, proposal.base, proposal.content)
    decided = list(proposal.decisions.all())
    _refuse(obstacles(actor.user.pk, proposal, decided))
    content = checked_content(proposal.content, base=head.content if head else None)
    ProposalDecision.objects.create(
        proposal=proposal, user=actor.user, decision=Decision.ACCEPT, reason=reason.strip()[:4000]
    )
    needed = acceptors_needed(head.content if head else None, content)
    given = len(decided) + 1
    if given < needed:
        record(actor, "evidence.accept_proposal", proposal, f"{proposal} accepted by {given} of {needed}")
        return proposal
    if row is None:
        row = EvidenceRow.objects.create(code=next_code(content["verdict"]))
        proposal.row = row
    revision = write_revision(
        actor, row, content, author_id=proposal.author_id, reason=proposal.reason, proposal=proposal
    )
    proposal.state = Proposal.State.ACCEPTED
    proposal.save(update_fields=["state", "row", "updated_at"])
    record(
        actor,
        "evidence.accept_proposal",
        proposal,
        f"{proposal} accepted: {row.code} is at revision {revision.number}",
        before={"head": head.content_hash} if head else None,
        after={"row": row.code, "head": revision.content_hash, "acceptors": given},
    )
    record(
        actor,
        "evidence.revise_row",
        row,
        f"{row.code}: revision {revision.number}, {revision.verdict}. {proposal.reason}"[:2000],
        before={"head": head.content_hash, "verdict": head.verdict} if head else None,
        after={"head": revision.content_hash, "verdict": revision.verdict},
    )
    return proposal


@service("evidence.reject_proposal")
def reject_proposal(actor: Actor, proposal_id: int, *, reason: str) -> Proposal:
    """Reject an open proposal of somebody else, with a reason.

    Raises Forbidden core.role, evidence.own_proposal; Conflict evidence.proposal_closed; Refusal
    evidence.reason_missing.
    """
    require_curator(actor)
    require_user(actor)
    reason = checked_reason(reason)
    proposal = locked_proposal(proposal_id)
    if proposal.state != Proposal.State.OPEN:
        raise closed(proposal)
    if proposal.author_id == actor.user.pk:
        raise Forbidden("evidence.own_proposal", "Nobody rejects their own proposal.", fix="Withdraw it instead.")
    if proposal.decisions.filter(user=actor.user).exists():
        raise Conflict(
            "evidence.already_accepted",
            "You accepted this proposal already.",
            fix="A second curator decides; tell them your doubt.",
        )
    ProposalDecision.objects.create(proposal=proposal, user=actor.user, decision=Decision.REJECT, reason=reason)
    proposal.state = Proposal.State.REJECTED
    proposal.save(update_fields=["state", "updated_at"])
    record(actor, "evidence.reject_proposal", proposal, f"{proposal} rejected: {reason}"[:2000])
    return proposal


def obstacles(user_id: int, proposal: Proposal, decided: Sequence[ProposalDecision]) -> list[Reason]:
    """Why this user may not accept an open proposal, roles left aside; empty when nothing stands against it."""
    head = proposal.row.head if proposal.row else None
    disarms = weakens(head.content if head else None, proposal.content)
    return may_accept(
        user_id,
        proposer=proposal.author_id,
        authors_since_head=authors_of(proposal),
        accepted_by=[decision.user_id for decision in decided],
        open_spec_authors=open_spec_authors(head.content["lever"]) if disarms and head else (),
        disarms=disarms,
    )


def authors_of(proposal: Proposal) -> set[int]:
    """Who wrote what this proposal holds, since the row's last accepted head: earlier authors of a revised proposal,
    and those whose runs joined it."""
    authors: set[int] = set()
    receipts = Q(proposal=proposal)
    older = proposal.replaces
    while older is not None:
        authors.add(older.author_id)
        receipts |= Q(proposal=older)
        older = older.replaces
    runs = RunReceipt.objects.filter(receipts, submitted_by__isnull=False)
    return authors | set(runs.values_list("submitted_by_id", flat=True))


def _refuse(reasons: list[Reason]) -> None:
    if reasons:
        raise Forbidden(
            f"evidence.{reasons[0].code}",
            " ".join(reason.sentence for reason in reasons),
            fix="Ask another curator.",
            facts={"reasons": [reason.code for reason in reasons]},
        )
