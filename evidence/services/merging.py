"""Taking one row into another: a proposal on the row that stays; with its acceptance the other row is archived, cited
and readable as before, and points at its successor."""

from django.utils import timezone

from evidence.models import EvidenceRow, Proposal, Supersession
from evidence.policies import require_proposer
from evidence.services.proposals import open_proposal
from evidence.services.revisions import checked_reason, locked_row
from evidence.services.supersession import add_edge
from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict, Refusal
from v2kb.core.policies import require_user
from v2kb.core.service import service
from v2kb.rules.evidence_change import joined


@service("evidence.propose_merge")
def propose_merge(actor: Actor, *, into: str, taken: str, reason: str) -> Proposal:
    """Propose that row `into` takes in row `taken` (codes): its numbers, approaches and sources are added, its runs are
    shown, and it is archived as merged. Words can be changed by revising the proposal.

    Two must accept where the rules ask for it on either row. Raises Forbidden core.role; Missing evidence.no_row;
    Refusal evidence.merge_self, evidence.content; Conflict evidence.row_archived, evidence.proposals_open,
    evidence.proposal_open.
    """
    require_proposer(actor)
    require_user(actor)
    reason = checked_reason(reason)
    if into == taken:
        raise Refusal("evidence.merge_self", "A row can't be merged into itself.", field="taken", fix="Name another.")
    rows = {code: locked_row(code) for code in sorted({into, taken})}
    _refuse_busy(rows[taken])
    row, head = rows[into], rows[into].head
    proposal = Proposal(row=row, reason=reason, author=actor.user, merges=rows[taken].head)
    return open_proposal(actor, proposal, joined(head.content, rows[taken].head.content), base_hash=head.content_hash)


def refuse_merge(proposal: Proposal) -> None:
    """Refuse an acceptance whose other row has moved on. Raises Conflict evidence.merge_moved, evidence.row_archived,
    evidence.proposals_open."""
    taken = proposal.merges.row
    _refuse_busy(taken)
    if taken.head_id != proposal.merges_id:
        raise Conflict(
            "evidence.merge_moved",
            f"{taken.code} has moved on to revision {taken.head.number} since the merge was proposed.",
            fix="Let its author revise the proposal; look again at what is taken over.",
        )


def _refuse_busy(taken: EvidenceRow) -> None:
    if taken.archived_at:
        raise Conflict("evidence.row_archived", f"{taken.code} is archived.", fix="Restore it first.")
    if taken.proposals.filter(state=Proposal.State.OPEN).exists():
        raise Conflict("evidence.proposals_open", f"{taken.code} has open proposals.", fix="Decide those first.")


def take_in(actor: Actor, proposal: Proposal) -> None:
    """Record that the proposal's row merges the other one, and archive that."""
    taken = proposal.merges.row
    add_edge(actor, newer=proposal.row, older=taken, kind=Supersession.Kind.MERGES, reason=proposal.reason)
    taken.archived_at = timezone.now()
    taken.save(update_fields=["archived_at"])
    record(
        actor, "evidence.merge_row", taken, f"{taken.code} merged into {proposal.row.code}: {proposal.reason}"[:2000]
    )
