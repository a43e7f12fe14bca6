"""The three-way view of a stale proposal: base, the head that others wrote (theirs), and what the proposal says
(mine).
"""

from dataclasses import asdict
from typing import Any

from evidence.models import EvidenceRevision
from v2kb.core.errors import Conflict
from v2kb.rules.evidence_change import CONFLICT, SAME, MergedField, three_way


def stale_base(head: EvidenceRevision, base: EvidenceRevision | None, mine: dict[str, Any]) -> Conflict:
    """The conflict evidence.stale_base with every field that differs. A base that is no revision of the row counts
    as the head.
    """
    view = three_way(base.content if base else head.content, head.content, mine)
    clashes = [part.label for part in view if part.state == CONFLICT]
    message = f"{head.row.code} moved on to revision {head.number} in the meantime."
    if clashes:
        message += f" Both sides changed: {', '.join(clashes)}."
    return Conflict(
        "evidence.stale_base",
        message,
        fix="Compare the three versions and propose the merged one on the newest revision.",
        facts={
            "head": head.content_hash,
            "head_number": head.number,
            "base": base.content_hash if base else "",
            "conflicts": [part.field for part in view if part.state == CONFLICT],
            "fields": [asdict(part) for part in differing(view)],
        },
    )


def differing(view: list[MergedField]) -> list[MergedField]:
    """The fields of a three-way view in which not all sides agree."""
    return [part for part in view if part.state != SAME]
