"""What a curator needs before deciding: which approved specs a proposal would reopen, and how the map has moved."""

from collections.abc import Sequence
from typing import Any

from django.db.models import BooleanField, Case, Count, DateField, F, Q, Value, When
from django.db.models.functions import TruncDate

from evidence.hooks import RowChange, reopened_by
from evidence.models import EvidenceRevision, EvidenceRow, Flag, Proposal, Verdict


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


def effects_of_flag(row: EvidenceRow) -> list[dict[str, Any]]:
    """What approved specs would see if a flag on the row were confirmed."""
    return reopened_by([RowChange(row.pk, row.head.content, flagged=True)])[0]


def effects_of_confirming(flag: Flag) -> list[dict[str, Any]]:
    """What approved specs would see if this flag were confirmed; nothing where it is confirmed or cleared."""
    return [] if flag.confirmed_at or flag.cleared_at else effects_of_flag(flag.row)


def verdicts_over_time() -> dict[str, Any]:
    """How many live rows had each verdict at the end of each day on which one changed: {"unit", "days", "series",
    "measured", "arrived"}.

    Every revision takes its row from the verdict before to its own. It counts on the day on which it was measured where
    that is known and lies between the revision before it and its own; else on the day on which it came in. `measured`
    and `arrived` say of how many revisions. An archived row leaves on its day.
    """
    steps: dict[Any, dict[str, int]] = {}
    placed = {True: 0, False: 0}

    def step(day: Any, verdict: str, by: int) -> None:
        steps.setdefault(day, dict.fromkeys(Verdict.values, 0))[verdict] += by

    revisions = EvidenceRevision.objects.annotate(came=TruncDate("created_at"), before=TruncDate("base__created_at"))
    in_between = Q(measured_on__lte=F("came")) & (Q(base__isnull=True) | Q(measured_on__gte=F("before")))
    day = Case(When(in_between, then=F("measured_on")), default=F("came"), output_field=DateField())
    by_measure = Case(When(in_between, then=Value(True)), default=Value(False), output_field=BooleanField())
    placing = revisions.annotate(day=day, by_measure=by_measure).order_by()
    told = placing.values_list("day", "by_measure", "verdict", "base__verdict")
    for day_of, is_measured, verdict, before, count in told.annotate(Count("id")):
        placed[is_measured] += count
        step(day_of, verdict, count)
        if before:
            step(day_of, before, -count)
    archived = EvidenceRow.objects.filter(archived_at__isnull=False, head__isnull=False)
    left = archived.annotate(day=TruncDate("archived_at")).order_by().values_list("day", "head__verdict")
    for day_of, verdict, count in left.annotate(Count("id")):
        step(day_of, verdict, -count)
    return _counted(steps) | {"measured": placed[True], "arrived": placed[False]}


def _counted(steps: dict[Any, dict[str, int]]) -> dict[str, Any]:
    """The running counts at the end of each day."""
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
