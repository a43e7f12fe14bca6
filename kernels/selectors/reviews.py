"""Reading reviews: the positions that count, and what is missing for an approval, in sentences."""

from kernels.models import Approval, Position, SpecRevision, Submission
from kernels.selectors.checks import blocking_findings
from kernels.selectors.gate import gate_preview
from v2kb.rules.antiloop import GateResult


def current_positions(revision: SpecRevision) -> list[Position]:
    """The newest position of each person and aspect."""
    newest: dict[tuple[int, str], Position] = {}
    for position in revision.positions.select_related("user").order_by("id"):
        newest[(position.user_id, position.aspect)] = position
    return list(newest.values())


def what_is_missing(revision: SpecRevision, gate: GateResult | None = None) -> list[str]:
    """What stands between this revision and its approval, as plain sentences; empty when it is approved.

    `gate` is what the gate says of the revision now, where the caller has asked already.
    """
    if Approval.objects.filter(revision=revision).exists():
        return []
    missing = []
    if not Submission.objects.filter(revision=revision).exists():
        missing.append("The designer has not handed this revision in for review.")
    broken = sorted({finding["rule"] for finding in blocking_findings(revision.checks)})
    if broken:
        missing.append(f"Spec rules that fail or lack an input: {', '.join(broken)}.")
    positions = current_positions(revision)
    if not any(p.aspect == "correctness" and p.position == Position.Kind.APPROVE for p in positions):
        missing.append("Needs 1 approval for correctness by a reviewer who did not write any revision.")
    for position in positions:
        if position.position == Position.Kind.DISCUSS:
            missing.append(f"{position.user.display_name} wants to discuss {position.aspect}: {position.note}")
    gate = gate or gate_preview(revision.spec, revision.content)
    for line in gate.blocking_lines:
        where = "" if line.choice == "spec" else f"Choice {line.choice}: "
        missing.append(f"Gate {line.rule}: {where}{line.message} {line.fix}".strip())
    return missing
