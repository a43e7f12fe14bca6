"""Services on specs: drafts that are saved while typing, immutable revisions, submission."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Max

from evidence.models import CodeSeries, EvidenceRevision, EvidenceRow
from evidence.selectors import is_slug_of_lever, resolve_lever
from kernels import policies
from kernels.models import Citation, Op, Spec, SpecDraft, SpecOp, SpecRevision, Submission
from kernels.selectors.checks import blocking_now, checks_document, lacking_op, report_of
from references.selectors import cited_section
from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict, Missing, Refusal, refuse_problems
from v2kb.core.service import service
from v2kb.core.values import check_document, check_text, check_values, plain_copy
from v2kb.rules import pinning
from v2kb.rules.canonical import content_hash
from v2kb.rules.code_citation import code_text
from v2kb.rules.names import SPEC_SERIES
from v2kb.rules.problem import Problem
from v2kb.rules.rule_registry import DOCUMENT_RULE, MISSING_INPUT
from v2kb.rules.spec_document import empty_spec, normalise

MAX_DRAFT_BYTES = 1024 * 1024


@service("kernels.create_spec")
def create_spec(actor: Actor, *, title: str, ops: list[Op], content: dict[str, Any] | None = None) -> Spec:
    """Begin a spec over one or several ops, with a draft of the author. The server issues its code (S1, S2, ...)."""
    policies.may_design(actor)
    if not title.strip():
        raise Refusal("spec.title_missing", "Give the spec a title.", field="title")
    if not ops:
        raise Refusal("spec.ops_missing", "A spec covers at least one op.", field="ops")
    check_values(Spec, title=title.strip())
    check_document(content or {}, "content", MAX_DRAFT_BYTES)
    series, _ = CodeSeries.objects.select_for_update().get_or_create(prefix=SPEC_SERIES)
    series.last += 1
    series.save(update_fields=["last"])
    spec = Spec.objects.create(code=f"{SPEC_SERIES}{series.last}", title=title.strip(), created_by=actor.user)
    SpecOp.objects.bulk_create(SpecOp(spec=spec, op=op) for op in ops)
    document = plain_copy(content) if content else empty_spec()
    document["title"] = title.strip()
    document["ops"] = covering(document.get("ops"), ops)
    SpecDraft.objects.create(spec=spec, user=actor.user, content=document)
    record(
        actor,
        "kernels.create_spec",
        spec,
        f"{spec.code} begun",
        after={"title": spec.title, "ops": [o.slug for o in ops]},
    )
    return spec


def covering(rows: Any, ops: list[Op]) -> list[dict[str, Any]]:
    """The rows of a document's ops with the newest contracts of `ops`, and a row for each op that has none."""
    return pinning.covering(rows, {op.slug: op.head.content_hash if op.head else "" for op in ops})


@service("kernels.open_draft", silent=True)
def open_draft(actor: Actor, *, spec: Spec) -> SpecDraft:
    """The actor's own draft of a spec, begun from its newest revision when there is none yet."""
    policies.may_design(actor)
    if spec.archived_at is not None:
        raise Conflict("spec.archived", f"{spec.code} is archived.")
    spec = Spec.objects.select_for_update(of=("self",)).select_related("head").get(pk=spec.pk)
    draft, _ = SpecDraft.objects.get_or_create(
        spec=spec,
        user=actor.user,
        defaults={
            "base": spec.head,
            "content": spec.head.content if spec.head else {**empty_spec(), "title": spec.title},
        },
    )
    return draft


@service("kernels.save_draft", silent=True)
def save_draft(actor: Actor, *, spec: Spec, content: dict[str, Any], version: int) -> SpecDraft:
    """Store what was typed, as typed. Raises Conflict when another tab saved since `version` was read."""
    policies.may_design(actor)
    draft = _draft(actor, spec)
    check_document(content, "content", MAX_DRAFT_BYTES)
    if draft.version != version:
        raise Conflict(
            "spec.draft_moved",
            "Another tab saved this draft in the meantime; yours was not stored.",
            fix="Compare the two, then save again on top of the newer one.",
            facts={"version": draft.version, "sent": version},
        )
    draft.content = content
    draft.version += 1
    draft.save(update_fields=["content", "version", "updated_at"])
    return draft


@service("kernels.discard_draft")
def discard_draft(actor: Actor, *, spec: Spec) -> None:
    """Throw one's own draft away."""
    policies.may_design(actor)
    draft = _draft(actor, spec)
    draft.delete()
    record(actor, "kernels.discard_draft", spec, f"draft of {actor.name} discarded")


def _draft(actor: Actor, spec: Spec) -> SpecDraft:
    draft = SpecDraft.objects.select_for_update().filter(spec=spec, user=actor.user).first()
    if draft is None:
        raise Missing("spec.no_draft", f"You have no draft of {spec.code}.", fix="Open the editor first.")
    return draft


@service("kernels.save_revision")
def save_revision(actor: Actor, *, spec: Spec, version: int, reason: str = "") -> SpecRevision:
    """Make an immutable revision of the actor's draft. The same content as the head gives the head again.

    Citations without a pinned revision are pinned to the head of their row or document; a section that nobody has
    imported yet stays unpinned, and a part may name no op yet; neither can be handed in. Raises Refusal
    (spec.unreadable, with every field named) or Conflict (spec.stale_base, spec.draft_moved).
    """
    policies.may_design(actor)
    check_text(reason, "reason")
    spec = Spec.objects.select_for_update(of=("self",)).select_related("head").get(pk=spec.pk)
    draft = _draft(actor, spec)
    if draft.version != version:
        raise Conflict(
            "spec.draft_moved", "Another tab saved this draft in the meantime.", facts={"version": draft.version}
        )
    if draft.base_id != spec.head_id:
        raise Conflict(
            "spec.stale_base",
            f"{spec.code} has a newer revision than the one you began from.",
            fix="Compare your draft with it, then base the draft on it.",
            facts={"base": draft.base.number if draft.base else 0, "head": spec.head.number},
        )
    document, problems = normalise(pin_citations(draft.content))
    refuse_problems("spec.unreadable", problems + _unknown_rows_and_ops(document))
    digest = content_hash(document)
    if spec.head is not None and spec.head.content_hash == digest:
        draft.delete()
        record(actor, "kernels.save_revision", spec, f"nothing changed since revision {spec.head.number}")
        return spec.head
    number = (spec.revisions.aggregate(last=Max("number"))["last"] or 0) + 1
    revision = SpecRevision.objects.create(
        spec=spec,
        number=number,
        content=document,
        content_hash=digest,
        checks=checks_document(report_of(document, spec)),
        author=actor.user,
        reason=reason,
    )
    _index_citations(revision)
    _index_ops(spec, document)
    before = spec.head
    spec.head = revision
    spec.title = document["title"] or spec.title
    spec.save(update_fields=["head", "title"])
    draft.delete()
    record(
        actor,
        "kernels.save_revision",
        spec,
        f"revision {number} saved" + (f": {reason}" if reason else ""),
        before={"revision": before.content_hash} if before else None,
        after={"revision": digest},
    )
    return revision


@service("kernels.rebase_draft")
def rebase_draft(actor: Actor, *, spec: Spec) -> SpecDraft:
    """Base one's draft on the newest revision, its content kept: the person has compared the two."""
    policies.may_design(actor)
    spec = Spec.objects.select_for_update().get(pk=spec.pk)
    draft = _draft(actor, spec)
    draft.base = spec.head
    draft.version += 1
    draft.save(update_fields=["base", "version"])
    record(actor, "kernels.rebase_draft", spec, f"draft of {actor.name} based on the newest revision")
    return draft


@service("kernels.submit_spec")
def submit_spec(actor: Actor, *, revision: SpecRevision) -> Submission:
    """Hand the newest revision in for review. Findings that block must be gone first."""
    policies.may_design(actor)
    spec = Spec.objects.select_for_update().get(pk=revision.spec_id)
    if spec.head_id != revision.pk:
        raise Conflict(
            "spec.not_newest", "Only the newest revision can be handed in.", facts={"head": spec.head.number}
        )
    if Submission.objects.filter(revision=revision).exists():
        raise Conflict(
            "spec.submitted",
            f"Revision {revision.number} was handed in before, and nothing has changed since.",
            fix="Change the spec first. Where evidence moved on, pin its newest revision in the choice that cites it.",
        )
    errors = blocking_now(revision)
    findings = [
        Problem(f["path"], f"{f['rule']}: {f['message']}".removeprefix(f"{DOCUMENT_RULE}: "), f["fix"]) for f in errors
    ]
    refuse_problems("spec.findings", findings + _unknown_sections(revision.content))
    submission = Submission.objects.create(revision=revision, user=actor.user)
    record(actor, "kernels.submit_spec", spec, f"revision {revision.number} handed in for review")
    return submission


def pin_citations(content: dict[str, Any]) -> dict[str, Any]:
    """A copy of `content` with names resolved by what is known now (`v2kb.rules.pinning`), contracts too."""
    document, known = plain_copy(content), _Known()
    pinning.pin_citations(document, known)
    pinning.pin_contracts(document.get("ops"), known)
    return document


class _Known(pinning.Known):
    """Names as the database has them."""

    def lever(self, name: str) -> str:
        lever = resolve_lever(name)
        return lever.slug if lever and not is_slug_of_lever(name, lever) else ""

    def contract(self, op: Any) -> str:
        found = Op.objects.select_related("head").filter(slug=op).first()
        return found.head.content_hash if found and found.head else ""

    def row(self, code: Any) -> str:
        found = EvidenceRow.objects.select_related("head").filter(code=code).first()
        return found.head.content_hash if found and found.head else ""

    def section(self, document: str, name: str, start: str) -> tuple[str, str]:
        section = cited_section(document, name, start)
        return (section.anchor, section.revision.content_hash) if section else ("", "")


def _citations(document: dict[str, Any], kind: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(path, how a sentence names its choice, citation) of each citation of a kind."""
    for i, choice in enumerate(document["choices"]):
        for j, citation in enumerate(choice["citations"]):
            if citation["kind"] == kind:
                yield f"choices[{i}].citations[{j}]", f"Choice {choice['id'] or f'#{i + 1}'}", citation


def _unknown_sections(document: dict[str, Any]) -> list[Problem]:
    return [
        Problem(
            f"{path}.anchor",
            f"{choice} cites {citation['document']}#{citation['anchor']}, and there is no such section.",
            "Copy the citation from the section's page, or import the document and save the spec again.",
        )
        for path, choice, citation in _citations(document, "section")
        if not (citation["revision"] and cited_section(*_place(citation)))
    ]


def _unknown_rows_and_ops(document: dict[str, Any]) -> list[Problem]:
    problems = [
        Problem(
            f"{path}.code",
            f"{choice} cites {citation['code'] or 'no row'}, and there is no such row or no revision with this hash.",
            "Cite an existing row; leave the revision empty to pin its head.",
        )
        for path, choice, citation in _citations(document, "evidence")
        if _evidence(citation) is None
    ]
    wrong = [found for found in lacking_op(document) if found.kind != MISSING_INPUT]
    return problems + [Problem(found.path, found.message, found.fix) for found in wrong]


def _evidence(citation: dict[str, Any]) -> EvidenceRevision | None:
    return EvidenceRevision.objects.filter(row__code=citation["code"], content_hash=citation["revision"]).first()


def _place(citation: dict[str, Any]) -> tuple[str, str, str]:
    return citation["document"], citation["anchor"], citation["revision"]


def _index_citations(revision: SpecRevision) -> None:
    rows = []
    for choice in revision.content["choices"]:
        for citation in choice["citations"]:
            kind = citation["kind"]
            target = {
                "evidence": lambda c: c["code"],
                "section": lambda c: f"{c['document']}#{c['anchor']}",
                "code": lambda c: code_text({**c, "commit": c["commit"][:12]}),
            }[kind](citation)
            rows.append(
                Citation(
                    revision=revision,
                    choice_id=choice["id"],
                    kind=kind,
                    stance=citation["stance"],
                    evidence=_evidence(citation) if kind == "evidence" else None,
                    section=cited_section(*_place(citation)) if kind == "section" else None,
                    target=target[:400],
                )
            )
    Citation.objects.bulk_create(rows)


def _index_ops(spec: Spec, document: dict[str, Any]) -> None:
    wanted = {named["op"] for named in document["ops"]}
    SpecOp.objects.filter(spec=spec).exclude(op__slug__in=wanted).delete()
    for op in Op.objects.filter(slug__in=wanted):
        SpecOp.objects.get_or_create(spec=spec, op=op)
