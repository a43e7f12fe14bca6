"""Deciding proposals: the head is compared inside the transaction, nobody accepts their own, some changes need two."""

from dataclasses import dataclass
from typing import Any

from evidence.deciding import acceptances_needed, accepting, interested_in, obstacles, recused_from
from evidence.models import EvidenceRow, Proposal, ProposalClaim, ProposalDecision
from evidence.policies import require_curator
from evidence.services.claims import refuse_claimed
from evidence.services.merging import refuse_merge, take_in
from evidence.services.proposals import close, locked_proposal, require_open
from evidence.services.revisions import checked_content, checked_reason, checked_remark, next_code, write_revision
from evidence.stale import stale_base
from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict, Forbidden
from v2kb.core.policies import require_user
from v2kb.core.service import service
from v2kb.rules.evidence_change import Reason

Decision = ProposalDecision.Decision


@dataclass(frozen=True)
class Acceptance:
    """What accepting would do: the content as it is stored, how many acceptances it takes, and which stand so far."""

    content: dict[str, Any]
    needed: int
    standing: tuple[int, ...]

    @property
    def completes(self) -> bool:
        """Whether one more acceptance is the last one."""
        return len(self.standing) + 1 >= self.needed


def judged(actor: Actor, proposal: Proposal) -> Acceptance:
    """What the actor's acceptance would do, without doing it. Raises what `accept_proposal` raises.

    Nobody who accepted may have begun a spec on the lever since: such an acceptance no longer counts.
    """
    require_curator(actor)
    require_user(actor)
    require_open(proposal)
    row, head = proposal.row, proposal.row.head if proposal.row else None
    if row is not None and row.archived_at:
        raise Conflict("evidence.row_archived", f"{row.code} is archived.", fix="Restore it first.")
    if head is not None and proposal.base_id != head.pk:
        raise stale_base(head, proposal.base, proposal.content)
    if proposal.merges is not None:
        refuse_merge(proposal)
    decided = list(proposal.decisions.all())
    _refuse(obstacles(actor.user.pk, proposal, decided))
    content = checked_content(
        proposal.content, base=head.content if head else None, complete=proposal.reverts_to_id is None
    )
    interested = interested_in(proposal)
    standing = tuple(decision.user_id for decision in accepting(decided) if decision.user_id not in interested)
    return Acceptance(content, acceptances_needed(proposal), standing)


@service("evidence.accept_proposal")
def accept_proposal(
    actor: Actor, proposal_id: int, *, conflict: str = "", reason: str = "", over_claim: bool = False
) -> Proposal:
    """Accept a proposal. With the last acceptance that it needs, its content becomes the row's head; a new row gets
    its code, a row that is merged is archived.

    `conflict` names the acceptor's conflict of interest; empty states that there is none. It is kept and shown, and
    the acceptance counts: who must not decide is told by authorship and open specs, who would rather not stands aside.
    While another curator's claim holds, `over_claim` confirms that it is known. A change between WIN and DEAD, or one
    that lifts a blocking DEAD row, needs two acceptors; after the first the proposal stays open. Raises Forbidden
    core.role, evidence.own_proposal, evidence.author, evidence.already_accepted, evidence.recused, evidence.interested;
    Conflict evidence.proposal_closed, evidence.row_archived, evidence.stale_base, evidence.merge_moved,
    evidence.proposals_open, evidence.claimed; Refusal evidence.content (incomplete for its verdict),
    evidence.reason_too_long.
    """
    require_curator(actor)
    proposal = locked_proposal(proposal_id)
    acceptance = judged(actor, proposal)
    if not over_claim:
        refuse_claimed(actor, proposal)
    ProposalDecision.objects.create(
        proposal=proposal,
        user=actor.user,
        decision=Decision.ACCEPT,
        reason=checked_remark(reason, "reason"),
        conflict=checked_remark(conflict, "conflict"),
    )
    ProposalClaim.objects.filter(proposal=proposal).delete()
    given = len(acceptance.standing) + 1
    if not acceptance.completes:
        record(
            actor,
            "evidence.accept_proposal",
            proposal,
            f"{proposal} accepted by {given} of {acceptance.needed}",
            after={"conflict": conflict.strip()},
        )
        return proposal
    _apply(actor, proposal, acceptance, conflict.strip())
    return proposal


def _apply(actor: Actor, proposal: Proposal, acceptance: Acceptance, conflict: str) -> None:
    """Make the accepted content the row's head."""
    row, content = proposal.row, acceptance.content
    head = row.head if row else None
    if row is None:
        row = EvidenceRow.objects.create(code=next_code(content["verdict"]))
        proposal.row = row
    revision = write_revision(
        actor, row, content, author_id=proposal.author_id, reason=proposal.reason, proposal=proposal
    )
    if proposal.merges is not None:
        take_in(actor, proposal)
    close(proposal, Proposal.State.ACCEPTED)
    proposal.save(update_fields=["state", "row", "updated_at"])
    record(
        actor,
        "evidence.accept_proposal",
        proposal,
        f"{proposal} accepted: {row.code} is at revision {revision.number}",
        before={"head": head.content_hash} if head else None,
        after={
            "row": row.code,
            "head": revision.content_hash,
            "acceptors": len(acceptance.standing) + 1,
            "conflict": conflict,
        },
    )
    back = f", back to revision {proposal.reverts_to.number}" if proposal.reverts_to else ""
    record(
        actor,
        "evidence.revise_row",
        row,
        f"{row.code}: revision {revision.number}, {revision.verdict}{back}. {proposal.reason}"[:2000],
        before={"head": head.content_hash, "verdict": head.verdict} if head else None,
        after={"head": revision.content_hash, "verdict": revision.verdict},
    )


@service("evidence.recuse")
def recuse(actor: Actor, proposal_id: int, *, reason: str) -> Proposal:
    """Stand aside from an open proposal: it leaves the curator's turns, and they no longer decide it. As many others
    must accept as before.

    Raises Forbidden core.role, evidence.own_proposal; Conflict evidence.proposal_closed, evidence.already_accepted,
    evidence.recused; Refusal evidence.reason_missing.
    """
    own = "Nobody stands aside from their own proposal."
    proposal, reason = _decided(actor, proposal_id, Decision.RECUSE, reason, own)
    ProposalClaim.objects.filter(proposal=proposal, user=actor.user).delete()
    record(actor, "evidence.recuse", proposal, f"{actor.name} stands aside from {proposal}: {reason}"[:2000])
    return proposal


@service("evidence.reject_proposal")
def reject_proposal(actor: Actor, proposal_id: int, *, reason: str) -> Proposal:
    """Reject an open proposal of somebody else, with a reason.

    Raises Forbidden core.role, evidence.own_proposal; Conflict evidence.proposal_closed, evidence.already_accepted,
    evidence.recused; Refusal evidence.reason_missing.
    """
    proposal, reason = _decided(actor, proposal_id, Decision.REJECT, reason, "Nobody rejects their own proposal.")
    ProposalClaim.objects.filter(proposal=proposal).delete()
    close(proposal, Proposal.State.REJECTED)
    proposal.save(update_fields=["state", "updated_at"])
    record(actor, "evidence.reject_proposal", proposal, f"{proposal} rejected: {reason}"[:2000])
    return proposal


def _decided(actor: Actor, proposal_id: int, decision: Decision, reason: str, own: str) -> tuple[Proposal, str]:
    """Keep the decision of a curator who neither wrote the open proposal nor decided about it; `own` says that nobody
    does so to their own. Returns the proposal, locked, and the reason as it is kept.
    """
    require_curator(actor)
    require_user(actor)
    reason = checked_reason(reason)
    proposal = locked_proposal(proposal_id)
    require_open(proposal)
    if proposal.author_id == actor.user.pk:
        raise Forbidden("evidence.own_proposal", own, fix="Withdraw it instead.")
    if actor.user.pk in recused_from(proposal):
        raise Conflict("evidence.recused", "You stand aside from this proposal.", fix="Leave it to the other curators.")
    if proposal.decisions.filter(user=actor.user).exists():
        raise Conflict(
            "evidence.already_accepted",
            "You accepted this proposal already.",
            fix="A second curator decides; tell them your doubt.",
        )
    ProposalDecision.objects.create(proposal=proposal, user=actor.user, decision=decision, reason=reason)
    return proposal, reason


def _refuse(reasons: list[Reason]) -> None:
    if reasons:
        raise Forbidden(
            f"evidence.{reasons[0].code}",
            " ".join(reason.sentence for reason in reasons),
            fix="Ask another curator.",
            facts={"reasons": [reason.code for reason in reasons]},
        )
