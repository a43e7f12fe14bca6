"""The lines of the snapshot that a repository keeps: what is known now, for reading and checking without the server."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Prefetch
from django.utils import timezone

from evidence.models import EvidenceChange, EvidenceRow, Lever
from evidence.selectors import states_of
from evidence.services.facts import words_of_cells
from evidence.vocabulary import added_causes, scope_aliases, unit_spellings
from kernels.models import Op, Spec
from references.models import Document, DocumentRevision, Section
from v2kb.core.search.entries import BATCH, batched
from v2kb.rules.antiloop_rules import GATE_RULES
from v2kb.rules.row_facts import RowStates
from v2kb.rules.rule_list import rule_documents
from v2kb.rules.snapshot import Line, sealed

SHARED_PARTS = ("symbols", "engine", "smem", "granularity", "amendments")
"""What a spec that shares an SM with another one needs of it."""


def snapshot_text() -> Iterator[str]:
    """The snapshot of now, line by line; its head comes first."""
    change = EvidenceChange.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    return sealed(_lines(), made_at=timezone.now().isoformat(timespec="seconds"), change=change)


def _lines() -> Iterator[Line]:
    yield {
        "kind": "vocabulary",
        "aliases": scope_aliases(),
        "causes": added_causes(),
        "units": unit_spellings(),
    }
    for rule in [*rule_documents(), *({"id": rule.id, "version": rule.version} for rule in GATE_RULES)]:
        yield {"kind": "rule", "id": rule["id"], "version": str(rule["version"])}
    yield from _levers()
    yield from _rows()
    yield from _documents()
    for op in Op.objects.filter(head__isnull=False).select_related("head").order_by("pk"):
        yield {"kind": "op", "slug": op.slug, "contract": op.head.content_hash, "content": op.head.content}
    for spec in Spec.objects.filter(head__isnull=False).select_related("head").order_by("pk"):
        parts = {name: spec.head.content[name] for name in SHARED_PARTS if name in spec.head.content}
        yield {"kind": "spec", "code": spec.code, "title": spec.title, "content": parts}


def _levers() -> Iterator[Line]:
    for lever in Lever.objects.select_related("parent", "merged_into").prefetch_related("aliases").order_by("pk"):
        yield {
            "kind": "lever",
            "slug": lever.slug,
            "name": lever.name,
            "aliases": [alias.name for alias in lever.aliases.all()],
            "parent": lever.parent.slug if lever.parent else "",
            "merged_into": lever.merged_into.slug if lever.merged_into else "",
            "archived": lever.archived_at is not None,
            "description": lever.description,
        }


def _rows() -> Iterator[Line]:
    heads = EvidenceRow.objects.filter(head__isnull=False)
    for ids in batched(heads.order_by("pk").values_list("pk", flat=True), BATCH):
        rows = heads.filter(pk__in=ids).select_related("head").prefetch_related("revisions").order_by("pk")
        states, cells = states_of(ids), words_of_cells(ids)
        for row in rows:
            yield _row(row, states[row.pk], cells[row.pk])


def _row(row: EvidenceRow, standing: RowStates, cells: set[str]) -> Line:
    head = row.head
    return {
        "kind": "row",
        "code": row.code,
        "revision": head.number,
        "head_hash": head.content_hash,
        "content": head.content,
        "older": {r.content_hash: r.verdict for r in row.revisions.all() if r.content_hash != head.content_hash},
        "archived": row.archived_at is not None,
        "flags": standing.flags,
        "confirmed": standing.confirmed,
        "proposals": standing.proposals,
        "superseded_by": list(standing.superseded_by),
        "cells": sorted(cells),
    }


def _documents() -> Iterator[Line]:
    anchors = Prefetch("sections", Section.objects.only("anchor", "revision"))
    revisions = Prefetch("revisions", DocumentRevision.objects.defer("text").prefetch_related(anchors))
    documents = Document.objects.filter(head__isnull=False).select_related("head").prefetch_related(revisions)
    for document in documents.order_by("pk"):
        yield {
            "kind": "document",
            "slug": document.slug,
            "title": document.title,
            "path": document.path,
            "head_hash": document.head.content_hash,
            "archived": document.archived_at is not None,
            "revisions": {r.content_hash: [s.anchor for s in r.sections.all()] for r in document.revisions.all()},
        }
    live = {"revision__head_of__isnull": False, "revision__head_of__archived_at__isnull": True}
    sections = Section.objects.filter(**live).select_related("revision__document").order_by("pk")
    for section in sections.defer("blocks", "revision__text"):
        yield _section(section)


def _section(section: Section) -> dict[str, Any]:
    return {
        "kind": "section",
        "document": section.revision.document.slug,
        "anchor": section.anchor,
        "order": section.order,
        "level": section.level,
        "number": section.number,
        "title": section.title,
        "text": section.text,
        "hash": section.content_hash,
    }
