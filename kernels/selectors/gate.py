"""Gathering what the anti-loop gate looks at. The rule itself is v2kb.rules.antiloop."""

from typing import Any

from django.db.models import Prefetch
from django.utils import timezone

from evidence.models import CodeSeries, EvidenceRevision, EvidenceRow, Flag, Lever
from evidence.selectors import SUPERSEDING
from evidence.vocabulary import scope_aliases
from kernels.models import MechanismMark, OpContract, Spec
from references.models import DocumentRevision, Section
from v2kb.rules.antiloop import GateResult, evaluate


def _dicts(value: Any) -> list[dict[str, Any]]:
    """The entries of a list that are records; a draft may hold anything."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _cited(document: dict[str, Any], kind: str, field: str) -> set[str]:
    return {
        citation[field]
        for choice in _dicts(document.get("choices"))
        for citation in _dicts(choice.get("citations"))
        if citation.get("kind") == kind and isinstance(citation.get(field), str)
    }


def evidence_snapshot(document: dict[str, Any], *, lock: bool = False) -> dict[str, Any]:
    """The evidence as it stands now, for judging `document`: all rows, levers, cited documents, op contracts.

    Archived rows are among them: archiving disarms nothing. Of each row it holds the head and the cited revisions.
    With `lock` the rows and the series of codes are locked first, so that no revision and no new row can come in
    before the transaction ends.
    """
    if lock:
        list(CodeSeries.objects.select_for_update().order_by("pk"))
        list(EvidenceRow.objects.select_for_update().order_by("pk").values_list("pk", flat=True))
    hashes = _cited(document, "evidence", "revision")
    rows = (
        EvidenceRow.objects.filter(head__isnull=False)
        .select_related("head")
        .prefetch_related(
            Prefetch("revisions", EvidenceRevision.objects.filter(content_hash__in=hashes), to_attr="cited_revisions"),
            Prefetch(
                "flags", Flag.objects.filter(confirmed_at__isnull=False, cleared_at__isnull=True), to_attr="confirmed"
            ),
            "superseded_by__newer",
        )
    )
    levers = Lever.objects.select_related("parent", "merged_into").prefetch_related("aliases")
    return {
        "rows": {row.code: _row(row) for row in rows},
        "levers": {
            lever.slug: {
                "name": lever.name,
                "aliases": [alias.name for alias in lever.aliases.all()],
                "parent": lever.parent.slug if lever.parent else "",
                "merged_into": lever.merged_into.slug if lever.merged_into else "",
            }
            for lever in levers
        },
        "aliases": scope_aliases(),
        "documents": _documents(document),
        "contracts": {
            contract.content_hash: contract.content.get("scope", {})
            for contract in OpContract.objects.filter(
                content_hash__in=[str(op.get("contract", "")) for op in _dicts(document.get("ops"))]
            )
        },
    }


def _row(row: EvidenceRow) -> dict[str, Any]:
    revisions = {revision.content_hash: revision.content for revision in row.cited_revisions}
    revisions[row.head.content_hash] = row.head.content
    return {
        "head_hash": row.head.content_hash,
        "revisions": revisions,
        "flagged": bool(row.confirmed),
        "superseded_by": [edge.newer.code for edge in row.superseded_by.all() if edge.kind in SUPERSEDING],
    }


def _documents(document: dict[str, Any]) -> dict[str, Any]:
    slugs = _cited(document, "section", "document")
    hashes = _cited(document, "section", "revision")
    found: dict[str, dict[str, list[str]]] = {}
    if not slugs:
        return found
    revisions = DocumentRevision.objects.filter(document__slug__in=slugs).select_related("document")
    for revision in revisions.filter(content_hash__in=hashes):
        anchors = Section.objects.filter(revision=revision).values_list("anchor", flat=True)
        found.setdefault(revision.document.slug, {})[revision.content_hash] = list(anchors)
    for slug in revisions.values_list("document__slug", flat=True):
        found.setdefault(slug, {})
    return found


def gate_context(spec: Spec) -> dict[str, Any]:
    """Who wrote the spec, which mechanisms were signed as new, and today's date."""
    marks = MechanismMark.objects.filter(revision__spec=spec).values("choice_id", "choice_hash", "user__username")
    return {
        "authors": sorted(set(spec.revisions.values_list("author__username", flat=True))),
        "new_mechanism_marks": [
            {"choice_id": mark["choice_id"], "choice_hash": mark["choice_hash"], "by": mark["user__username"]}
            for mark in marks
        ],
        "today": timezone.localdate().isoformat(),
    }


def gate_preview(spec: Spec, document: dict[str, Any]) -> GateResult:
    """What the gate says of `document` now; stores nothing."""
    return evaluate(document, evidence_snapshot(document), gate_context(spec))


def inputs_document(document: dict[str, Any], snapshot: dict[str, Any], context: dict[str, Any]) -> dict[str, Any]:
    """What a stored gate result looked at: heads and cited revisions by hash, vocabulary, contributors, signatures."""
    return {
        "rows": {
            code: {
                "head": row["head_hash"],
                "revisions": sorted(row["revisions"]),
                "flagged": row["flagged"],
                "superseded_by": row["superseded_by"],
            }
            for code, row in snapshot["rows"].items()
        },
        "levers": snapshot["levers"],
        "aliases": snapshot["aliases"],
        "documents": {slug: sorted(revisions) for slug, revisions in snapshot["documents"].items()},
        "contracts": sorted(snapshot["contracts"]),
        "context": context,
    }
