"""Proposing changes of evidence: of a row, of a new row, revised or withdrawn."""

from typing import Any

from evidence.deciding import kind_of
from evidence.models import EvidenceRevision, EvidenceRow, Proposal
from evidence.policies import require_proposer
from evidence.selectors import get_revision
from evidence.services.revisions import checked_content, checked_reason, locked_row
from evidence.stale import stale_base
from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict, Forbidden, Missing, Refusal
from v2kb.core.moves import move, require_move
from v2kb.core.policies import require_user
from v2kb.core.service import service
from v2kb.rules.canonical import content_hash

State = Proposal.State
ANEW = "Open a new proposal if something is still wrong."


@service("evidence.propose_change")
def propose_change(
    actor: Actor, row: EvidenceRow | str, *, base_hash: str, content: dict[str, Any], reason: str
) -> Proposal:
    """Propose that `row` (or the row of this code) should hold `content`, made from the revision with `base_hash`.

    Raises Forbidden core.role; Missing evidence.no_row; Refusal evidence.content, evidence.no_lever,
    evidence.reason_missing, evidence.no_change; Conflict evidence.row_archived, evidence.proposal_open (one open
    proposal per row and author) and evidence.stale_base (facts hold base, theirs and mine).
    """
    require_proposer(actor)
    require_user(actor)
    reason = checked_reason(reason)
    row = locked_row(row)
    return _open(actor, row, base_hash, content, reason, replaces=None)


@service("evidence.propose_row")
def propose_row(actor: Actor, *, content: dict[str, Any], reason: str) -> Proposal:
    """Propose a new row. Its code (D12, W6, U4) is issued by the server when the proposal is accepted.

    Raises Forbidden core.role; Refusal evidence.content, evidence.no_lever, evidence.reason_missing.
    """
    require_proposer(actor)
    require_user(actor)
    proposal = Proposal.objects.create(
        row=None,
        base=None,
        content=checked_content(content),
        reason=checked_reason(reason),
        author=actor.user,
        kind=Proposal.Kind.NEW,
    )
    record(
        actor,
        "evidence.propose_row",
        proposal,
        f"new row proposed: {proposal.content['title']}",
        after=_document(proposal),
    )
    return proposal


@service("evidence.revise_proposal")
def revise_proposal(
    actor: Actor, proposal_id: int, *, base_hash: str = "", content: dict[str, Any], reason: str
) -> Proposal:
    """Put a new proposal in the place of an open one: the author's own, or one that a run made.

    This is how a stale proposal is brought to the newest revision and how a run's proposal is completed. The author of
    the old one counts as an author of the new one. Raises as `propose_change`, Forbidden evidence.not_author and
    Conflict evidence.proposal_closed.
    """
    require_proposer(actor)
    require_user(actor)
    reason = checked_reason(reason)
    old = locked_proposal(proposal_id)
    close(old, State.SUPERSEDED)
    if old.origin == Proposal.Origin.PERSON and old.author_id != actor.user.pk:
        raise Forbidden(
            "evidence.not_author", "Only its author may revise a person's proposal.", fix="Open a proposal of your own."
        )
    old.save(update_fields=["state", "updated_at"])
    record(actor, "evidence.supersede_proposal", old, f"{old} replaced by a newer one")
    if old.row is not None:
        return _open(actor, old.row, base_hash, content, reason, replaces=old)
    checked = checked_content(content)
    if content_hash(checked) == content_hash(old.content):
        raise Refusal("evidence.no_change", "The proposal says this already.", fix="Change a field.")
    new = Proposal.objects.create(
        row=None, base=None, content=checked, reason=reason, author=actor.user, replaces=old, kind=Proposal.Kind.NEW
    )
    record(actor, "evidence.propose_row", new, f"new row proposed: {checked['title']}", after=_document(new))
    return new


@service("evidence.withdraw_proposal")
def withdraw_proposal(actor: Actor, proposal_id: int) -> Proposal:
    """Take back one's own open proposal. Raises Forbidden evidence.not_author, Conflict evidence.proposal_closed."""
    require_user(actor)
    proposal = locked_proposal(proposal_id)
    if proposal.author_id != actor.user.pk:
        raise Forbidden(
            "evidence.not_author", "Only its author can withdraw a proposal.", fix="Reject it with a reason."
        )
    close(proposal, State.WITHDRAWN)
    proposal.save(update_fields=["state", "updated_at"])
    record(actor, "evidence.withdraw_proposal", proposal, f"{proposal} withdrawn")
    return proposal


def locked_proposal(proposal_id: int) -> Proposal:
    """The proposal, locked after its rows (always in this order, so that two deciders can't wait for each other)."""
    found = Proposal.objects.filter(pk=proposal_id).first()
    if found is None:
        raise Missing("evidence.no_proposal", f"There is no proposal {proposal_id}.", fix="Pick one from the queue.")
    rows = [found.row] if found.row else []
    rows += [found.merges.row] if found.merges else []
    locked = {code: locked_row(code) for code in sorted(row.code for row in rows)}
    proposal = Proposal.objects.select_for_update().get(pk=proposal_id)
    proposal.row = locked[found.row.code] if found.row else None
    if found.merges:
        proposal.merges.row = locked[found.merges.row.code]
    return proposal


def require_open(proposal: Proposal) -> None:
    """Raise Conflict evidence.proposal_closed unless the proposal, locked, may still be accepted."""
    require_move(proposal, State.ACCEPTED, "evidence.proposal_closed", ANEW)


def close(proposal: Proposal, wanted: str) -> None:
    """End a proposal as `wanted`; the caller saves it. Raises Conflict evidence.proposal_closed."""
    move(proposal, wanted, "evidence.proposal_closed", ANEW)


def _open(
    actor: Actor, row: EvidenceRow, base_hash: str, raw: dict[str, Any], reason: str, *, replaces: Proposal | None
) -> Proposal:
    """A change of a row. One that revises a merge stays a merge, of the other row as it stands now; one that revises a
    revert stays a revert while its content is the old one."""
    proposal = Proposal(row=row, reason=reason, author=actor.user, replaces=replaces)
    content = checked_content(raw, base=row.head.content, complete=False)
    if replaces is not None:
        proposal.merges = replaces.merges and locked_row(replaces.merges.row).head
        reverted = replaces.reverts_to
        proposal.reverts_to = reverted if reverted and content_hash(content) == reverted.content_hash else None
    return open_proposal(actor, proposal, content, base_hash=base_hash)


def open_proposal(actor: Actor, proposal: Proposal, content: dict[str, Any], *, base_hash: str) -> Proposal:
    """Open `proposal` on its locked row with `content`, made from the revision with `base_hash`. Raises what
    `propose_change` raises."""
    row, head = proposal.row, proposal.row.head
    if row.archived_at:
        raise Conflict("evidence.row_archived", f"{row.code} is archived.", fix="Restore it first.")
    content = checked_content(content, base=head.content, complete=proposal.reverts_to is None)
    if base_hash != head.content_hash:
        base = EvidenceRevision.objects.filter(row=row, content_hash=base_hash).first() if base_hash else None
        raise stale_base(head, base, content)
    if content_hash(content) == head.content_hash and proposal.merges is None:
        raise Refusal("evidence.no_change", f"{row.code} says this already.", fix="Change a field.")
    mine = Proposal.objects.filter(row=row, author=actor.user, state=State.OPEN, origin=Proposal.Origin.PERSON).first()
    if mine is not None:
        raise Conflict(
            "evidence.proposal_open",
            f"You have an open proposal on {row.code} already.",
            fix="Revise or withdraw that one.",
            facts={"proposal": mine.pk},
        )
    proposal.base, proposal.content = head, content
    proposal.kind = kind_of(proposal)
    proposal.save(force_insert=True)
    record(
        actor, "evidence.propose_change", proposal, f"{_named(proposal)} {row.code} proposed", after=_document(proposal)
    )
    return proposal


def _named(proposal: Proposal) -> str:
    if proposal.merges is not None:
        return f"merge of {proposal.merges.row.code} into"
    if proposal.reverts_to is not None:
        return f"return to revision {proposal.reverts_to.number} of"
    return "change of"


@service("evidence.propose_revert")
def propose_revert(actor: Actor, code: str, number: int, *, reason: str) -> Proposal:
    """Propose that a row says again what its revision `number` said. It is decided like any other change, and what the
    old revision lacked for its verdict it may lack again.

    Raises as `propose_change`, and Missing evidence.no_revision.
    """
    require_proposer(actor)
    require_user(actor)
    reason = checked_reason(reason)
    row = locked_row(code)
    earlier = get_revision(row, number)
    proposal = Proposal(row=row, reason=reason, author=actor.user, reverts_to=earlier)
    return open_proposal(actor, proposal, earlier.content, base_hash=row.head.content_hash)


def _document(proposal: Proposal) -> dict[str, Any]:
    return {
        "row": proposal.row.code if proposal.row else "",
        "base": proposal.base.content_hash if proposal.base else "",
        "content": content_hash(proposal.content),
        "reason": proposal.reason,
    }
