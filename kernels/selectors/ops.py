"""Reading ops: the evidence that touches them and where they stand in the loop."""

from typing import Any

from evidence.models import EvidenceRow, Lever
from kernels.models import Op
from kernels.selectors.specs import SpecStatus
from v2kb.rules.evidence import blocking_kind
from v2kb.rules.numbers import format_number
from v2kb.rules.scope import DISJOINT, describe, relation

LANES = ("DEAD", "WIN", "UNTESTED")
STAGES = ("0 load", "1 spec", "2 implement", "4 validate", "5 perf", "6 review")


def evidence_touching(op: Op) -> list[dict[str, Any]]:
    """Rows in three lanes whose lever the op names, or whose scope meets the op's; disjoint scopes are left out."""
    if op.head is None:
        return []
    contract = op.head.content
    named = set(Lever.objects.filter(slug__in=contract["levers"]).values_list("slug", flat=True))
    rows = EvidenceRow.objects.filter(head__isnull=False, archived_at__isnull=True).select_related("head__lever")
    cards: dict[str, list[dict[str, Any]]] = {lane: [] for lane in LANES}
    for row in rows:
        how = relation(contract["scope"], row.head.content["scope"])
        is_named = row.head.lever.slug in named
        if how == DISJOINT or (named and not is_named):
            continue
        cards[row.head.verdict].append(_card(row, how))
    return [{"verdict": lane, "cards": cards[lane]} for lane in LANES]


def _card(row: EvidenceRow, how: str) -> dict[str, Any]:
    content = row.head.content
    numbers = [format_number(number) for number in content["numbers"][:2]]
    return {
        "code": row.code,
        "url": row.get_absolute_url(),
        "title": row.head.title,
        "verdict": row.head.verdict,
        "note": {"full": "blocks", "weak": "blocks weakly"}.get(blocking_kind(content), ""),
        "figure": ", ".join(numbers),
        "mechanism": content["mechanism"] or content["bound"],
        "scope": [f"scope {how}", describe(content["scope"])],
    }


def op_stage(op: Op, statuses: dict[int, SpecStatus]) -> str:
    """The stage that an op has reached, by what exists."""
    if op.stops.exists() and not any(
        status.state in ("approved to build", "verdict-ready") for status in statuses.values()
    ):
        return "stopped"
    runs = op.runs.filter(state="finished")
    if runs.filter(kind="perf", judgements__isnull=False).exists():
        return STAGES[4]
    if runs.filter(kind="validate").exists():
        return STAGES[3]
    if op.kernels.filter(basis="spec").exists():
        return STAGES[2]
    return STAGES[1] if statuses else STAGES[0]
