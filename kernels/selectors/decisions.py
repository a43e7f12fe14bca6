"""What a branch of the family tree rests on: the rows that speak for it and against it, and the files to start from."""

from dataclasses import dataclass

from django.db.models import Q

from evidence.models import EvidenceRow, Lever
from evidence.selectors import by_code, live_rows
from references.models import UpstreamKernel, UpstreamSnapshot
from references.selectors import current_snapshot
from v2kb.rules.decision_tree import Decision
from v2kb.rules.evidence import DEAD


@dataclass(frozen=True)
class Branch:
    """A branch with its evidence. `levers` are those of the branch that the vocabulary knows; `snapshot` is the newest
    catalogue, None while none was imported.
    """

    speaks_for: tuple[EvidenceRow, ...]
    speaks_against: tuple[EvidenceRow, ...]
    levers: tuple[Lever, ...]
    snapshot: UpstreamSnapshot | None
    kernels: tuple[UpstreamKernel, ...]


def branch_of(decision: Decision) -> Branch | None:
    """The branch that a decision reached, or None while a question is open."""
    guidance = decision.guidance
    if guidance is None:
        return None
    adopted, avoided = _rows_below(guidance.adopts), _rows_below(guidance.avoids)
    snapshot = current_snapshot()
    kernels = snapshot.kernels.all() if snapshot else ()
    return Branch(
        speaks_for=_sorted(adopted, dead=False) + _sorted(avoided, dead=True),
        speaks_against=_sorted(adopted, dead=True) + _sorted(avoided, dead=False),
        levers=tuple(Lever.objects.filter(slug__in=(*guidance.adopts, *guidance.avoids), archived_at__isnull=True)),
        snapshot=snapshot,
        kernels=tuple(kernel for kernel in kernels if kernel.family == decision.family),
    )


def _rows_below(slugs: tuple[str, ...]) -> list[EvidenceRow]:
    """Live rows of these levers and of the ones directly below them."""
    if not slugs:
        return []
    return by_code(live_rows().filter(Q(head__lever__slug__in=slugs) | Q(head__lever__parent__slug__in=slugs)))


def _sorted(rows: list[EvidenceRow], *, dead: bool) -> tuple[EvidenceRow, ...]:
    return tuple(row for row in rows if (row.head.verdict == DEAD) == dead)
