"""Writing documents: a new revision with its sections and, for a catalogue, its snapshot; archive and restore."""

import datetime
from dataclasses import dataclass, field

from references.hooks import tell_snapshot
from references.models import Document, DocumentRevision, Family, Section, UpstreamKernel, UpstreamSnapshot
from references.policies import require_import
from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.archiving import archive, restore
from v2kb.core.errors import Conflict, Missing, Refusal
from v2kb.core.service import service
from v2kb.core.values import check_text
from v2kb.rules.words import counted

MAX_TITLE_CHARS = 300
MAX_SOURCE_CHARS = 300


@dataclass(frozen=True)
class PreparedSection:
    """One section to store. `parent` is an index into the document's sections, or None."""

    level: int
    number: str
    title: str
    anchor: str
    parent: int | None
    text: str
    blocks: list[dict]
    first_line: int
    last_line: int
    content_hash: str


@dataclass(frozen=True)
class PreparedSnapshot:
    """What a catalogue document says, with the fields of the models as plain values; `unread` holds sentences."""

    repository: str
    branch: str
    commit: str
    studied_on: datetime.date | None
    merge_base: str
    families: list[dict]
    kernels: list[dict]
    unread: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class PreparedDocument:
    """A document's new text, parsed. `base_id` is the head revision it was compared with, None for a new document."""

    slug: str
    path: str
    title: str
    text: str
    content_hash: str
    base_id: int | None
    sections: list[PreparedSection]
    front_matter: list[dict] = field(default_factory=list)
    snapshot: PreparedSnapshot | None = None


@service("references.save_documents")
def save_documents(actor: Actor, *, documents: list[PreparedDocument], source: str = "") -> list[DocumentRevision]:
    """Store one new revision per prepared document, all or none, and make it the head.

    Raises Refusal `references.nothing_to_import`, Conflict `references.moved` when a head is no longer the one compared
    with, and Conflict `references.archived`.
    """
    require_import(actor)
    if not documents:
        raise Refusal(
            "references.nothing_to_import", "No document is new or changed.", fix="Send files whose text changed."
        )
    if len(source) > MAX_SOURCE_CHARS:
        raise Refusal(
            "references.source_too_long",
            f"The source may have {MAX_SOURCE_CHARS} characters.",
            field="source",
            fix="Name repository, path and licence only.",
        )
    check_text(source, "source")
    return [_save_document(actor, prepared, source) for prepared in documents]


def _save_document(actor: Actor, prepared: PreparedDocument, source: str) -> DocumentRevision:
    document, _ = Document.objects.select_for_update().get_or_create(
        slug=prepared.slug, defaults={"title": prepared.title[:MAX_TITLE_CHARS], "path": prepared.path}
    )
    if document.archived_at:
        raise Conflict("references.archived", f"{prepared.slug} is archived.", fix="Restore it first.")
    if document.head_id != prepared.base_id:
        raise Conflict(
            "references.moved",
            f"{prepared.slug} got another revision in the meantime.",
            fix="Preview the import again.",
            facts={"expected": prepared.base_id, "found": document.head_id},
        )
    before = document.head
    revision = DocumentRevision.objects.create(
        document=document,
        number=before.number + 1 if before else 1,
        title=prepared.title[:MAX_TITLE_CHARS],
        text=prepared.text,
        front_matter=prepared.front_matter,
        content_hash=prepared.content_hash,
        source=source,
        imported_by=actor.user,
    )
    _save_sections(revision, prepared.sections)
    if prepared.snapshot:
        _save_snapshot(revision, prepared.snapshot)
    document.head = revision
    document.title = revision.title
    document.path = prepared.path
    document.save(update_fields=["head", "title", "path"])
    record(
        actor,
        "document.imported",
        document,
        f"{document.slug}: revision {revision.number} with {counted(len(prepared.sections), 'section')}",
        before={"revision": before.number, "hash": before.content_hash} if before else None,
        after={"revision": revision.number, "hash": revision.content_hash, "source": source},
    )
    return revision


def _save_sections(revision: DocumentRevision, sections: list[PreparedSection]) -> None:
    """Insert parents before their children: sections never change, so a parent can't be filled in later."""
    depths: list[int] = []
    for section in sections:
        depths.append(0 if section.parent is None else depths[section.parent] + 1)
    saved: dict[int, Section] = {}
    for depth in range(max(depths, default=-1) + 1):
        indexes = [index for index, found in enumerate(depths) if found == depth]
        rows = Section.objects.bulk_create(
            [_section_row(revision, order, sections[order], saved) for order in indexes], batch_size=500
        )
        saved.update(zip(indexes, rows, strict=True))


def _section_row(
    revision: DocumentRevision, order: int, section: PreparedSection, saved: dict[int, Section]
) -> Section:
    return Section(
        revision=revision,
        parent=saved[section.parent] if section.parent is not None else None,
        order=order,
        level=section.level,
        number=section.number[:20],
        title=section.title[:MAX_TITLE_CHARS],
        anchor=section.anchor,
        text=section.text,
        blocks=section.blocks,
        first_line=section.first_line,
        last_line=section.last_line,
        content_hash=section.content_hash,
    )


def _save_snapshot(revision: DocumentRevision, prepared: PreparedSnapshot) -> UpstreamSnapshot:
    snapshot = UpstreamSnapshot.objects.create(
        document_revision=revision,
        repository=prepared.repository[:200],
        branch=prepared.branch[:120],
        commit=prepared.commit[:40],
        studied_on=prepared.studied_on,
        merge_base=prepared.merge_base[:40],
        unread=prepared.unread,
    )
    Family.objects.bulk_create(Family(snapshot=snapshot, **family) for family in prepared.families)
    UpstreamKernel.objects.bulk_create(
        UpstreamKernel(snapshot=snapshot, order=order, **kernel) for order, kernel in enumerate(prepared.kernels)
    )
    tell_snapshot(snapshot)
    return snapshot


@service("references.archive_document")
def archive_document(actor: Actor, *, slug: str, reason: str = "") -> Document:
    """Take a document off the lists; its revisions stay readable and cited. Raises Missing, Conflict."""
    require_import(actor)
    document = _locked(slug)
    archive(document, slug, "references.archived")
    record(actor, "document.archived", document, reason.strip()[:1000] or f"{slug} archived")
    return document


@service("references.restore_document")
def restore_document(actor: Actor, *, slug: str) -> Document:
    """Put an archived document back on the lists. Raises Missing, Conflict."""
    require_import(actor)
    document = _locked(slug)
    restore(document, slug, "references.not_archived")
    record(actor, "document.restored", document, f"{slug} restored")
    return document


def _locked(slug: str) -> Document:
    try:
        return Document.objects.select_for_update().get(slug=slug)
    except Document.DoesNotExist as error:
        raise Missing(
            "references.no_document", f"There is no document {slug}.", fix="Look it up in the list."
        ) from error
