"""Claiming a proposal: a soft lock with an end, so that two curators don't look at the same one."""

from datetime import timedelta

from django.utils import timezone

from evidence.models import Proposal, ProposalClaim
from evidence.policies import require_curator
from evidence.services.proposals import locked_proposal, require_open
from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict
from v2kb.core.policies import require_user
from v2kb.core.service import service

CLAIM_MINUTES = 15


@service("evidence.claim_proposal")
def claim_proposal(actor: Actor, proposal_id: int) -> ProposalClaim:
    """Say that the actor looks at an open proposal now; for 15 minutes, renewed by claiming again. Whoever accepts
    meanwhile is asked to confirm it.

    Raises Forbidden core.role; Conflict evidence.proposal_closed, evidence.claimed while another's holds.
    """
    require_curator(actor)
    require_user(actor)
    proposal = locked_proposal(proposal_id)
    require_open(proposal)
    refuse_claimed(actor, proposal)
    until = timezone.now() + timedelta(minutes=CLAIM_MINUTES)
    claim, _ = ProposalClaim.objects.update_or_create(proposal=proposal, defaults={"user": actor.user, "until": until})
    record(actor, "evidence.claim_proposal", proposal, f"{proposal} claimed until {until:%H:%M} UTC")
    return claim


def refuse_claimed(actor: Actor, proposal: Proposal) -> None:
    """Raises Conflict evidence.claimed while another curator's claim on the proposal holds."""
    held = ProposalClaim.objects.select_related("user").filter(proposal=proposal, until__gt=timezone.now()).first()
    if held is not None and held.user_id != actor.user.pk:
        raise Conflict(
            "evidence.claimed",
            f"{held.user.display_name} looks at {proposal} until {held.until:%H:%M} UTC.",
            field="over_claim",
            fix="Take another one or ask them. To accept all the same, confirm that you know of it.",
            facts={"by": held.user.username, "until": held.until.isoformat()},
        )


@service("evidence.release_claim")
def release_claim(actor: Actor, proposal_id: int) -> Proposal:
    """Let go of one's claim. Raises Forbidden core.role, Conflict evidence.not_claimed."""
    require_curator(actor)
    require_user(actor)
    proposal = locked_proposal(proposal_id)
    if not ProposalClaim.objects.filter(proposal=proposal, user=actor.user).delete()[0]:
        raise Conflict("evidence.not_claimed", "You hold no claim on this proposal.", fix="Nothing is left to do.")
    record(actor, "evidence.release_claim", proposal, f"claim on {proposal} released")
    return proposal
