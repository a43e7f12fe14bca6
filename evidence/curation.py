"""What a curator needs before deciding: which approved specs a proposal would reopen, and how the map has moved."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Count
from django.db.models.functions import TruncDate

from evidence.hooks import RowChange, reopened_by
from evidence.models import EvidenceRevision, EvidenceRow, Proposal, Verdict


def effects_of(proposals: Sequence[Proposal]) -> dict[int, list[dict[str, Any]]]:
    """Proposal id -> what accepting it would do to approved specs: {"title", "url", "effect", "sentences"} each.

    A fixed number of queries for any number of proposals.
    """
    asked: list[tuple[int, RowChange]] = []
    for proposal in proposals:
        if proposal.row_id:
            asked.append((proposal.pk, RowChange(proposal.row_id, proposal.content)))
        if proposal.merges is not None:
            taken = proposal.merges.row
            asked.append((proposal.pk, RowChange(taken.pk, taken.head.content, superseded=True)))
    found: dict[int, list[dict[str, Any]]] = {proposal.pk: [] for proposal in proposals}
    for (pk, _), lines in zip(asked, reopened_by([change for _, change in asked]), strict=True):
        found[pk] += lines
    return found


def effects_of_content(row: EvidenceRow, content: dict[str, Any]) -> list[dict[str, Any]]:
    """What approved specs would see if the row said `content`."""
    return reopened_by([RowChange(row.pk, content)])[0]


def verdicts_over_time() -> dict[str, Any]:
    """How many live rows had each verdict at the end of each day on which one changed: {"unit", "days", "series"}.

    Every revision takes its row from the verdict before to its own; an archived row leaves on its day.
    """
    steps: dict[Any, dict[str, int]] = {}

    def step(day: Any, verdict: str, by: int) -> None:
        steps.setdefault(day, dict.fromkeys(Verdict.values, 0))[verdict] += by

    revisions = EvidenceRevision.objects.annotate(day=TruncDate("created_at")).order_by()
    for day, verdict, before, count in revisions.values_list("day", "verdict", "base__verdict").annotate(Count("id")):
        step(day, verdict, count)
        if before:
            step(day, before, -count)
    archived = EvidenceRow.objects.filter(archived_at__isnull=False, head__isnull=False)
    left = archived.annotate(day=TruncDate("archived_at")).order_by().values_list("day", "head__verdict")
    for day, verdict, count in left.annotate(Count("id")):
        step(day, verdict, -count)
    days = sorted(steps)
    now, series = dict.fromkeys(Verdict.values, 0), {verdict: [] for verdict in Verdict.values}
    for day in days:
        for verdict, by in steps[day].items():
            now[verdict] += by
            series[verdict].append(now[verdict])
    return {
        "unit": "rows",
        "days": [day.isoformat() for day in days],
        "series": [{"name": verdict, "values": values} for verdict, values in series.items()],
    }
