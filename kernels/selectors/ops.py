"""Reading ops: the evidence that touches them and where they stand in the loop."""

from collections.abc import Sequence
from typing import Any

from evidence.families import lever_families
from evidence.models import EvidenceRow, Lever
from evidence.vocabulary import scope_aliases
from kernels.models import Kernel, Op, OpStop, Run, Spec
from kernels.selectors.specs import MAY_BUILD, spec_statuses
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
    own = Lever.objects.filter(slug__in=contract["levers"]).values_list("pk", flat=True)
    named = lever_families().merged_with(own)
    rows = EvidenceRow.objects.filter(head__isnull=False, archived_at__isnull=True).select_related("head__lever")
    cards: dict[str, list[dict[str, Any]]] = {lane: [] for lane in LANES}
    aliases = scope_aliases()
    for row in rows:
        how = relation(contract["scope"], row.head.content["scope"], aliases)
        is_named = row.head.lever_id in named
        if how == DISJOINT or (named and not is_named):
            continue
        cards[row.head.verdict].append(_card(row, how))
    return [{"verdict": lane, "count": len(cards[lane]), "cards": cards[lane]} for lane in LANES]


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


def op_stages(ops: Sequence[Op]) -> dict[int, str]:
    """The stage that each op has reached, by what exists; a constant number of queries for any number of ops."""
    keys = [op.pk for op in ops]
    links = list(Spec.ops.through.objects.filter(op__in=keys).select_related("spec__head"))
    statuses = spec_statuses({link.spec for link in links})
    states: dict[int, set[str]] = {}
    for link in links:
        states.setdefault(link.op_id, set()).add(statuses[link.spec_id].state)
    stopped = set(OpStop.objects.filter(op__in=keys).values_list("op_id", flat=True))
    finished = Run.objects.filter(op__in=keys, state="finished").order_by()
    judged = set(finished.filter(kind="perf", judgements__isnull=False).values_list("op_id", flat=True))
    validated = set(finished.filter(kind="validate").values_list("op_id", flat=True))
    built = set(Kernel.objects.filter(op__in=keys, basis="spec").values_list("op_id", flat=True))

    def stage(key: int) -> str:
        if key in stopped and states.get(key, set()).isdisjoint(MAY_BUILD):
            return "stopped"
        reached = ((judged, 4), (validated, 3), (built, 2), (states, 1))
        return STAGES[next((index for keys, index in reached if key in keys), 0)]

    return {key: stage(key) for key in keys}


def op_stage(op: Op) -> str:
    """The stage that an op has reached."""
    return op_stages([op])[op.pk]
