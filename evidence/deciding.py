"""Who decides a proposal: how many acceptances it needs, which count, and what stands against one person's."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import OuterRef, Q, Subquery

from evidence.families import lever_families
from evidence.hooks import open_spec_authors
from evidence.models import EvidenceRevision, Lever, Proposal, ProposalDecision, RunReceipt, Verdict
from v2kb.rules.evidence_change import Reason, acceptors_needed, material_change, may_accept, turns_dead, weakens

Decision = ProposalDecision.Decision
Kind = Proposal.Kind
DECIDED = Subquery(
    EvidenceRevision.objects.filter(row=OuterRef("row"))
    .exclude(verdict=Verdict.UNTESTED)
    .order_by("-number")
    .values("verdict")[:1]
)
"""For lists of proposals, annotated as `decided`: what `last_decided` says of each one's row."""


def kind_of(proposal: Proposal) -> Kind:
    """What a curator has before them. It follows from fields that never change once the proposal is open."""
    if proposal.merges_id:
        return Kind.MERGE
    if proposal.reverts_to_id:
        return Kind.REVERT
    if proposal.origin == Proposal.Origin.RUN:
        return Kind.RUN
    if proposal.base is None:
        return Kind.NEW
    return Kind.CHANGE if material_change(proposal.base.content, proposal.content) else Kind.WORDING


def head_content(proposal: Proposal) -> dict[str, Any] | None:
    """What the row says now; None for a new row."""
    return proposal.row.head.content if proposal.row and proposal.row.head else None


def changes_of(proposal: Proposal) -> list[tuple[dict[str, Any] | None, dict[str, Any]]]:
    """(old, new) of every row whose word this changes: its own and, in a merge, the one that is taken in.

    A row of a lever counts for the levers below it, so one that is taken in by a row above keeps its lever here.
    """
    changes = [(head_content(proposal), proposal.content)]
    if proposal.merges is not None:
        taken = proposal.merges.row.head
        content = proposal.content
        if is_above(content["lever"], taken.lever):
            content = {**content, "lever": taken.lever.slug}
        changes.append((taken.content, content))
    return changes


def is_above(slug: str, lower: Lever) -> bool:
    """Whether rows of the lever called `slug` count for all that rows of `lower` count for: it stands above it, or the
    two were merged.
    """
    return Lever.objects.filter(slug=slug, pk__in=lever_families().above([lower.pk])).exists()


def acceptances_needed(proposal: Proposal) -> int:
    """How many curators must accept: two where a row turns between WIN and DEAD, or a blocking one is disarmed."""
    own = acceptors_needed(head_content(proposal), proposal.content, decided=decided_before(proposal))
    return max(own, *(acceptors_needed(old, new) for old, new in changes_of(proposal)))


def decided_before(proposal: Proposal) -> str:
    """The verdict that the row had before it became UNTESTED, where the proposal gives it another one; else ""."""
    head = proposal.row.head if proposal.row else None
    if head is None or head.verdict != Verdict.UNTESTED or proposal.content["verdict"] == Verdict.UNTESTED:
        return ""
    return proposal.decided or "" if hasattr(proposal, "decided") else last_decided(head)


def last_decided(revision: EvidenceRevision) -> str:
    """The last verdict of the row, up to this revision, that was not UNTESTED; "" where it never had one."""
    earlier = EvidenceRevision.objects.filter(row=revision.row_id, number__lte=revision.number)
    decided = earlier.exclude(verdict=Verdict.UNTESTED).order_by("-number")
    return decided.values_list("verdict", flat=True).first() or ""


def disarms(proposal: Proposal) -> bool:
    """Whether a merge lifts some of what the row that is taken in blocks: another lever, less scope, a weaker cause."""
    return proposal.merges is not None and weakens(*changes_of(proposal)[-1])


def interested_in(proposal: Proposal) -> set[int]:
    """User ids of those whose open spec adopts a lever whose row this turns from or to DEAD."""
    levers = {
        slug
        for old, new in changes_of(proposal)
        if old and turns_dead(old, new)
        for slug in (old["lever"], new["lever"])
    }
    return set().union(*(open_spec_authors(slug) for slug in levers))


def accepting(decisions: Iterable[ProposalDecision]) -> list[ProposalDecision]:
    """The acceptances among these decisions."""
    return [decision for decision in decisions if decision.decision == Decision.ACCEPT]


def obstacles(user_id: int, proposal: Proposal, decided: Sequence[ProposalDecision]) -> list[Reason]:
    """Why this user may not accept an open proposal, roles left aside; empty when nothing stands against it."""
    return may_accept(
        user_id,
        proposer=proposal.author_id,
        authors_since_head=authors_of(proposal),
        accepted_by=[decision.user_id for decision in accepting(decided)],
        recused=recused_from(proposal),
        interested=interested_in(proposal),
    )


def earlier_versions(proposal: Proposal) -> list[Proposal]:
    """The proposals that this one stands in the place of, newest first."""
    found, older = [], proposal.replaces
    while older is not None:
        found.append(older)
        older = older.replaces
    return found


def authors_of(proposal: Proposal) -> set[int]:
    """Who wrote what this proposal holds, since the row's last accepted head: earlier authors of a revised proposal,
    and those whose runs joined it."""
    versions = earlier_versions(proposal)
    receipts = Q(proposal__in=[proposal, *versions])
    runs = RunReceipt.objects.filter(receipts, submitted_by__isnull=False)
    return {older.author_id for older in versions} | set(runs.values_list("submitted_by_id", flat=True))


def recused_from(proposal: Proposal) -> set[int]:
    """Who stands aside from this proposal, or stood aside from one that it revises."""
    versions = [proposal, *earlier_versions(proposal)]
    recusals = ProposalDecision.objects.filter(proposal__in=versions, decision=Decision.RECUSE)
    return set(recusals.values_list("user_id", flat=True))
