"""Archiving rows. Nothing is deleted; what is cited, or blocks, stays in view."""

from evidence.hooks import citations_of
from evidence.models import EvidenceRow, Supersession
from evidence.policies import require_curator
from evidence.services.revisions import checked_reason, locked_row
from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.archiving import archive, restore
from v2kb.core.errors import Conflict, Refusal
from v2kb.core.service import service


@service("evidence.archive_row")
def archive_row(actor: Actor, code: str, *, reason: str) -> EvidenceRow:
    """Take a row off the lists. Raises Forbidden core.role, Refusal evidence.archive_blocking for a row that blocks,
    Conflict evidence.row_cited, evidence.proposals_open, evidence.row_archived."""
    require_curator(actor)
    reason = checked_reason(reason)
    row = locked_row(code)
    if row.head.blocking:
        raise Refusal(
            "evidence.archive_blocking",
            f"{row.code} blocks re-proposals of its lever.",
            fix="Propose another verdict or cause class first; two people accept that.",
        )
    citations = citations_of(row)
    if citations:
        raise Conflict(
            "evidence.row_cited",
            f"{row.code} is cited by {', '.join(str(citation['title']) for citation in citations[:5])}.",
            fix="Supersede the row instead.",
            facts={"citations": len(citations)},
        )
    if row.proposals.filter(state="open").exists():
        raise Conflict("evidence.proposals_open", f"{row.code} has open proposals.", fix="Decide those first.")
    archive(row, row.code, "evidence.row_archived")
    record(actor, "evidence.archive_row", row, f"{row.code} archived: {reason}"[:2000])
    return row


@service("evidence.restore_row")
def restore_row(actor: Actor, code: str) -> EvidenceRow:
    """Put an archived row back on the lists; one that another row took in stays. Raises Conflict
    evidence.not_archived, evidence.row_merged."""
    require_curator(actor)
    row = locked_row(code)
    if edge := row.superseded_by.filter(kind=Supersession.Kind.MERGES).select_related("newer").first():
        raise Conflict(
            "evidence.row_merged",
            f"{row.code} was merged into {edge.newer.code}, which speaks in its place.",
            fix="Propose a new row for what should stand apart.",
        )
    restore(row, row.code, "evidence.not_archived")
    record(actor, "evidence.restore_row", row, f"{row.code} restored")
    return row
