"""What runs say about rows: a receipt always, a proposal only where the run's grade decides. A run never sets a
verdict.
"""

from dataclasses import dataclass
from typing import Any

from evidence.models import EvidenceRow, Lever, Proposal, RunReceipt
from evidence.services.proposals import close
from evidence.services.revisions import checked_content, locked_row
from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.errors import Missing, Refusal
from v2kb.core.models import User
from v2kb.core.policies import require_role
from v2kb.core.service import service
from v2kb.rules.canonical import content_hash

GRADES = ("decides", "corroborates", "diagnostic")
DECIDES = "decides"
ADDED = ("numbers", "sources", "approaches")
RUN_ROLES = ("validator", "curator")


@dataclass(frozen=True)
class RunOutcome:
    """`proposal` is None when the run left a receipt only; `opened` says whether this run opened it or joined it."""

    receipt: RunReceipt
    proposal: Proposal | None
    opened: bool


@service("evidence.propose_from_run", silent=True)
def propose_from_run(
    actor: Actor,
    *,
    author: User,
    row_code: str | None,
    run_id: str,
    result_hash: str,
    judgement: str,
    grade: str,
    sentence: str,
    content_change: dict[str, Any] | None,
) -> RunOutcome:
    """Let a finished, judged run speak about a row (or, without `row_code`, about a row that does not exist yet).

    With grade "decides" and a `content_change` it opens a proposal of origin run, or joins the row's open one. The
    change holds fields of the row's content: `numbers`, `sources` and `approaches` are added to what the row has,
    others replace it; for a new row it is the whole content. The run itself is added as a source. Any other grade,
    an archived row or a change that changes nothing leaves a receipt only. The same run and result hash twice
    changes nothing.

    Fields that the new verdict still lacks do not stop the proposal; they stop its acceptance. Raises Forbidden
    core.role, Missing evidence.no_row, Refusal evidence.grade, evidence.content, evidence.no_lever,
    evidence.row_needed.
    """
    _check(actor, grade)
    row = locked_row(row_code) if row_code else None
    if known := RunReceipt.objects.filter(row=row, run_id=run_id, result_hash=result_hash).first():
        return RunOutcome(known, known.proposal, opened=False)
    proposal, opened = None, False
    if grade == DECIDES and content_change and (row is None or not row.archived_at):
        proposal, opened = _proposal(actor, row, author, sentence, _changed(row, content_change, run_id, result_hash))
    elif row is None:
        raise Refusal(
            "evidence.row_needed",
            "Only a run that decides can propose a new row.",
            field="row_code",
            fix="Name the row it speaks about.",
        )
    receipt = _receipt(actor, row, proposal, run_id, result_hash, judgement, grade, sentence, author)
    return RunOutcome(receipt, proposal, opened)


@service("evidence.attach_receipt", silent=True)
def attach_receipt(
    actor: Actor,
    *,
    row_code: str,
    run_id: str,
    result_hash: str,
    judgement: str,
    grade: str,
    sentence: str,
    submitted_by: User | None = None,
) -> RunReceipt:
    """Show a finished run at a row without proposing anything. The same run and result hash twice changes nothing.

    Raises Forbidden core.role, Missing evidence.no_row, Refusal evidence.grade.
    """
    _check(actor, grade)
    row = locked_row(row_code)
    if known := RunReceipt.objects.filter(row=row, run_id=run_id, result_hash=result_hash).first():
        return known
    return _receipt(actor, row, None, run_id, result_hash, judgement, grade, sentence, submitted_by)


def _check(actor: Actor, grade: str) -> None:
    if actor.kind != "worker":
        require_role(actor, *RUN_ROLES)
    if grade not in GRADES:
        raise Refusal(
            "evidence.grade", f"{grade[:40]!r} is no grade.", field="grade", fix=f"Use one of {', '.join(GRADES)}."
        )


def _changed(row: EvidenceRow | None, change: dict[str, Any], run_id: str, result_hash: str) -> dict[str, Any]:
    """The content that the run proposes. Raises Refusal evidence.content, evidence.no_lever."""
    head = row.head.content if row else None
    content = dict(head or {})
    for field, value in change.items():
        if field in ADDED and isinstance(value, list):
            content[field] = [*content.get(field, []), *(item for item in value if item not in content.get(field, []))]
        else:
            content[field] = value
    if head is None or checked_content(content, base=head, complete=False) != head:
        source = {"kind": "run", "text": f"{run_id}, result {result_hash[:12]}", "document": "", "anchor": ""}
        content["sources"] = [*content.get("sources", []), source]
    return checked_content(content, base=head, complete=False)


def _proposal(
    actor: Actor, row: EvidenceRow | None, author: User, sentence: str, content: dict[str, Any]
) -> tuple[Proposal | None, bool]:
    """The open proposal that the run joins, or a new one; (None, False) where the row says the same already."""
    if row is not None and content_hash(content) == row.head.content_hash:
        return None, False
    present = _open_one(row, content)
    if present is not None:
        if row is None or present.base_id == row.head_id:
            return present, False
        close(present, Proposal.State.SUPERSEDED)
        present.save(update_fields=["state", "updated_at"])
        record(actor, "evidence.supersede_proposal", present, f"{present} replaced: {row.code} has moved on")
    proposal = Proposal.objects.create(
        row=row,
        base=row.head if row else None,
        content=content,
        reason=sentence,
        origin=Proposal.Origin.RUN,
        kind=Proposal.Kind.RUN,
        author=author,
        replaces=present,
    )
    record(
        actor,
        "evidence.propose_from_run",
        proposal,
        f"a run proposes {content['verdict']} for {row.code if row else content['title']}",
        after={"row": row.code if row else "", "content": content_hash(content)},
    )
    return proposal, True


def _open_one(row: EvidenceRow | None, content: dict[str, Any]) -> Proposal | None:
    """The run proposal that is open on the row; for a new row the one on the same lever, scope and verdict."""
    open_ones = Proposal.objects.select_for_update().filter(
        state=Proposal.State.OPEN, origin=Proposal.Origin.RUN, row=row
    )
    if row is not None:
        return open_ones.first()
    if not Lever.objects.select_for_update(of=("self",)).filter(slug=content["lever"]).exists():
        raise Missing("evidence.no_lever", f"There is no lever {content['lever']}.")
    same = ("lever", "scope", "verdict")
    return next((found for found in open_ones if all(found.content.get(f) == content[f] for f in same)), None)


def _receipt(
    actor: Actor,
    row: EvidenceRow | None,
    proposal: Proposal | None,
    run_id: str,
    result_hash: str,
    judgement: str,
    grade: str,
    sentence: str,
    submitted_by: User | None,
) -> RunReceipt:
    receipt = RunReceipt.objects.create(
        row=row,
        proposal=proposal,
        run_id=run_id,
        result_hash=result_hash,
        judgement=judgement,
        grade=grade,
        sentence=sentence,
        submitted_by=submitted_by,
    )
    about = row or proposal
    joined = f", joins {proposal}" if proposal else ""
    record(
        actor,
        "evidence.attach_receipt",
        about,
        f"run {run_id}: {judgement or 'no judgement'}, {grade}{joined}",
        after={"run": run_id, "result": result_hash, "judgement": judgement, "grade": grade},
    )
    return receipt
