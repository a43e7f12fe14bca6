"""Reading reviews: the positions that count, and what is missing for an approval, in sentences."""

from typing import Any

from kernels.models import Approval, Position, SpecRevision, Submission
from kernels.policies import REVIEWER_OF
from kernels.selectors.checks import blocking_now
from kernels.selectors.gate import gate_preview
from v2kb.core.models import User
from v2kb.rules.antiloop import GateResult
from v2kb.rules.rule_registry import DOCUMENT_RULE


def still_reviews(position: Position) -> bool:
    """Whether the one who took a position is active and has the role for its aspect now."""
    user = position.user
    return user.is_active and REVIEWER_OF[position.aspect] in {group.name for group in user.groups.all()}


def current_positions(revision: SpecRevision) -> list[Position]:
    """The newest position of each person and aspect."""
    newest: dict[tuple[int, str], Position] = {}
    positions = revision.positions.select_related("user").prefetch_related("user__groups").order_by("id")
    for position in positions:
        newest[(position.user_id, position.aspect)] = position
    return list(newest.values())


def approver_of(positions: list[Position]) -> User | None:
    """Who approved on correctness and may still review; None while nobody did."""
    wanted = (p for p in positions if p.aspect == "correctness" and p.position == Position.Kind.APPROVE)
    return next((p.user for p in wanted if still_reviews(p)), None)


def what_is_missing(
    revision: SpecRevision, gate: GateResult | None = None, blocking: list[dict[str, Any]] | None = None
) -> list[str]:
    """What stands between this revision and its approval, as plain sentences; empty when it is approved.

    `gate` and `blocking` are what gate and spec rules say of the revision now, where the caller has asked already.
    """
    if Approval.objects.filter(revision=revision).exists():
        return []
    missing = []
    if not Submission.objects.filter(revision=revision).exists():
        missing.append("The designer has not handed this revision in for review.")
    blocking = blocking_now(revision) if blocking is None else blocking
    missing += [f"{found['message']} {found['fix']}" for found in blocking if found["rule"] == DOCUMENT_RULE]
    broken = sorted({finding["rule"] for finding in blocking} - {DOCUMENT_RULE})
    if broken:
        missing.append(f"Spec rules that fail or lack an input: {', '.join(broken)}.")
    positions = current_positions(revision)
    if approver_of(positions) is None:
        missing.append("Needs 1 approval for correctness by a reviewer who did not write any revision.")
    for position in positions:
        if position.position == Position.Kind.DISCUSS:
            missing.append(f"{position.user.display_name} wants to discuss {position.aspect}: {position.note}")
    gate = gate or gate_preview(revision.spec, revision.content)
    for line in gate.blocking_lines:
        missing.append(f"Gate {line.rule}: {line.message} {line.fix}".strip())
    return missing
