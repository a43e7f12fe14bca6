"""Writing one revision of a row: the checked content, its hash, and the columns that lists filter and search by."""

import datetime
from typing import Any

from evidence.families import lever_families
from evidence.models import CodeSeries, EvidenceRevision, EvidenceRow, Lever, Proposal
from evidence.services.levers import find_lever
from evidence.vocabulary import added_causes, unit_spellings
from v2kb.core.actor import Actor
from v2kb.core.errors import Missing, Refusal
from v2kb.core.values import check_text
from v2kb.rules.canonical import content_hash
from v2kb.rules.evidence import blocking_kind, check_revision, missing_fields
from v2kb.rules.names import ROW_CODE, ROW_CODE_FIX
from v2kb.rules.problem import Problem

PREFIXES = {"DEAD": "D", "WIN": "W", "UNTESTED": "U"}
MAX_REASON_CHARS = 4000


def checked_content(raw: Any, *, base: dict[str, Any] | None = None, complete: bool = True) -> dict[str, Any]:
    """`checked_fields`, with a lever that exists. Raises Refusal evidence.content and evidence.no_lever.

    A merged lever gives way to the one that stands for it, unless `base` is about it already: there a new name would
    be a material change, and nothing changed.
    """
    content = checked_fields(raw, base=base, complete=complete)
    lever = find_lever(content["lever"], field="lever")
    if lever.merged_into_id is not None and (base is None or base["lever"] != lever.slug):
        content["lever"] = Lever.objects.get(pk=lever_families().survivor(lever.pk)).slug
    return content


def checked_fields(raw: Any, *, base: dict[str, Any] | None = None, complete: bool = True) -> dict[str, Any]:
    """The content in its one spelling.

    With `complete`, a field that the verdict needs is a refusal, unless `base` (the row's head) has the same verdict
    and lacks the same field: an imported row may be corrected before it is completed. Raises Refusal
    evidence.content with one problem per field (evidence.field or evidence.field_missing).
    """
    check = check_revision(raw, imported=True, causes=added_causes(), units=unit_spellings())
    problems = [_problem("evidence.field", problem) for problem in check.refusals]
    if complete:
        named = {problem["field"] for problem in problems}
        lacking = [problem for problem in newly_missing(check.content, base) if problem.field not in named]
        problems += [_problem("evidence.field_missing", problem) for problem in lacking]
    if problems:
        first = problems[0]
        raise Refusal(
            "evidence.content",
            " ".join(problem["message"] for problem in problems[:3]),
            field=first["field"],
            fix=first["fix"],
            problems=problems,
        )
    return check.content


def newly_missing(content: dict[str, Any], base: dict[str, Any] | None) -> list[Problem]:
    """What `content` lacks for its verdict and `base`, where it has the same verdict, does not lack already."""
    missing = missing_fields(content)
    if base is None or base.get("verdict") != content["verdict"]:
        return missing
    known = {problem.field for problem in missing_fields(base)}
    return [problem for problem in missing if problem.field not in known]


def _problem(code: str, problem: Problem) -> dict[str, Any]:
    return {
        "code": code,
        "message": problem.message,
        "field": problem.field or None,
        "rule": None,
        "fix": problem.fix or None,
    }


def checked_reason(reason: str) -> str:
    """The reason without surrounding space. Raises Refusal evidence.reason_missing, evidence.reason_too_long,
    core.bad_text."""
    reason = checked_remark(reason, "reason")
    if not reason:
        raise Refusal("evidence.reason_missing", "The reason is empty.", field="reason", fix="Say in a sentence why.")
    return reason


def checked_remark(text: str, field: str) -> str:
    """A text that may be empty, without surrounding space. Raises Refusal evidence.reason_too_long, core.bad_text."""
    text = text.replace("\r\n", "\n").strip()
    check_text(text, field)
    if len(text) > MAX_REASON_CHARS:
        raise Refusal(
            "evidence.reason_too_long",
            f"The {field} may have {MAX_REASON_CHARS} characters.",
            field=field,
            fix="Shorten it, or put the detail in a source.",
        )
    return text


def locked_row(code: str | EvidenceRow) -> EvidenceRow:
    """The row, locked until the commit, with its head loaded after the lock. Raises Missing evidence.no_row."""
    wanted = code.code if isinstance(code, EvidenceRow) else code
    row = EvidenceRow.objects.select_for_update().filter(code=wanted).first()
    if row is None or row.head_id is None:
        raise Missing("evidence.no_row", f"There is no evidence row {str(wanted)[:40]}.", fix="Look it up in the list.")
    return row


def next_code(verdict: str) -> str:
    """The next free code for a new row of this verdict (D12, W6, U4). The series is locked; numbers are never
    reused.
    """
    prefix = PREFIXES[verdict]
    CodeSeries.objects.get_or_create(prefix=prefix)
    series = CodeSeries.objects.select_for_update().get(prefix=prefix)
    series.last += 1
    while EvidenceRow.objects.filter(code=f"{prefix}{series.last}").exists():
        series.last += 1
    series.save(update_fields=["last"])
    return f"{prefix}{series.last}"


def code_was_taken(code: str) -> None:
    """Move the series of an imported code past its number, so that the number is never issued again."""
    found = ROW_CODE.fullmatch(code)
    if found is None:
        raise Refusal(
            "evidence.code",
            f"{code[:40]!r} is no code of a row.",
            field="code",
            fix=ROW_CODE_FIX,
        )
    CodeSeries.objects.get_or_create(prefix=found[1])
    series = CodeSeries.objects.select_for_update().get(prefix=found[1])
    if int(found[2]) > series.last:
        series.last = int(found[2])
        series.save(update_fields=["last"])


def write_revision(
    actor: Actor,
    row: EvidenceRow,
    content: dict[str, Any],
    *,
    author_id: int | None,
    reason: str,
    proposal: Proposal | None = None,
) -> EvidenceRevision:
    """Append a revision with `content` (from `checked_content`) and make it the row's head. The row is locked or
    new.
    """
    lever = Lever.objects.get(slug=content["lever"])
    before = row.head
    revision = EvidenceRevision.objects.create(
        row=row,
        number=before.number + 1 if before else 1,
        base=before,
        content=content,
        content_hash=content_hash(content),
        lever=lever,
        title=content["title"],
        verdict=content["verdict"],
        cause_class=content["cause_class"],
        blocking=blocking_kind(content),
        measured_on=datetime.date.fromisoformat(content["measured_on"]) if content["measured_on"] else None,
        author_id=author_id,
        reason=reason,
        proposal=proposal,
    )
    row.head = revision
    row.save(update_fields=["head"])
    return revision
