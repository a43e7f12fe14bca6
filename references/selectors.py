"""Reading references."""

import re
from dataclasses import dataclass

from django.db.models import Case, Count, F, IntegerField, Q, QuerySet, Subquery, Value, When
from django.urls import reverse

from references.models import Document, DocumentRevision, Family, Guideline, Section, UpstreamSnapshot
from v2kb.core.errors import Missing
from v2kb.rules.pinning import MIN_PIN

_CITATION = re.compile(
    r"^(?:\[\[doc:)?(?P<document>[-\w]+)#(?P<anchor>[^@\s\[\]#|]+)(?:@(?P<revision>[0-9a-f]{8,64}))?(?:\]\])?$",
    re.ASCII,
)

MAX_WORDS = 8
SNIPPET_CHARS = 160


@dataclass(frozen=True)
class Citation:
    """A section as its page offers it for citing."""

    document: str
    anchor: str
    revision: str
    title: str
    number: str
    url: str

    @property
    def markdown(self) -> str:
        """The link that every markdown text of the site resolves."""
        return f"[[doc:{self.document}#{self.anchor}]]"


def words_of(query: str) -> list[str]:
    """The words to look for, at most MAX_WORDS."""
    return query.split()[:MAX_WORDS]


def match_documents(documents: QuerySet[Document], query: str) -> QuerySet[Document]:
    """Documents where every word stands in the title, the slug or the head's text."""
    for word in words_of(query):
        documents = documents.filter(Q(title__icontains=word) | Q(slug__icontains=word) | Q(head__text__icontains=word))
    return documents


def match_sections(sections: QuerySet[Section], query: str) -> QuerySet[Section]:
    """Sections where every word stands in the title or the text."""
    for word in words_of(query):
        sections = sections.filter(Q(title__icontains=word) | Q(text__icontains=word))
    return sections


def list_documents() -> QuerySet[Document]:
    """All documents with their head (without its text), `section_count` and `revision_count`."""
    return (
        Document.objects.filter(head__isnull=False)
        .select_related("head__imported_by")
        .defer("head__text")
        .annotate(section_count=Count("head__sections"), revision_count=F("head__number"))
        .order_by("title", "slug")
    )


def search_sections(query: str, limit: int = 50) -> list[Section]:
    """Head sections of documents that are not archived, in which every word stands; hits in the title come first."""
    words = words_of(query)
    if not words:
        return []
    heads = Section.objects.filter(revision__head_of__archived_at__isnull=True, revision__head_of__isnull=False)
    in_title = Q()
    for word in words:
        in_title &= Q(title__icontains=word)
    rank = Case(When(in_title, then=Value(0)), default=Value(1), output_field=IntegerField())
    return list(
        match_sections(heads, query)
        .annotate(rank=rank)
        .select_related("revision__document")
        .defer("blocks", "revision__text")
        .order_by("rank", "revision__document__title", "order")[:limit]
    )


def snippet(text: str, query: str) -> str:
    """About SNIPPET_CHARS of `text` round the first word that is found, on one line."""
    flat = " ".join(text.split())
    lower = flat.lower()
    at = min((place for place in (lower.find(word.lower()) for word in words_of(query)) if place >= 0), default=0)
    start = max(0, at - SNIPPET_CHARS // 3)
    piece = flat[start : start + SNIPPET_CHARS]
    return ("…" if start else "") + piece + ("…" if start + SNIPPET_CHARS < len(flat) else "")


def get_document(slug: str) -> Document:
    """The document, archived or not. Raises Missing."""
    document = Document.objects.select_related("head__imported_by").filter(slug=slug, head__isnull=False).first()
    if document is None:
        raise Missing("references.no_document", f"There is no document {slug}.", fix="Look it up in the list.")
    return document


def get_revision(document: Document, number: int | None = None) -> DocumentRevision:
    """The revision of that number, or the head. Raises Missing."""
    if number is None or (document.head and document.head.number == number):
        return document.head
    revision = document.revisions.select_related("imported_by").filter(number=number).first()
    if revision is None:
        raise Missing(
            "references.no_revision",
            f"{document.slug} has no revision {number}.",
            fix=f"It has revisions 1 to {document.head.number}.",
        )
    return revision


def revisions_of(document: Document) -> QuerySet[DocumentRevision]:
    """All revisions, newest first, without their texts."""
    return document.revisions.select_related("imported_by").defer("text")


def sections_of(revision: DocumentRevision) -> list[Section]:
    """All sections in order."""
    return list(revision.sections.order_by("order"))


def get_section(revision: DocumentRevision, anchor: str) -> Section:
    """The section at this anchor, or with this number ("4", "§4", "10.5") where no anchor matches. Raises Missing."""
    section = _section_named(revision.sections.order_by("order"), anchor.replace("\x00", ""))
    if section is None:
        raise Missing(
            "references.no_section", f"There is no section {anchor} here.", fix="Pick it from the document's contents."
        )
    return section


def _section_named(sections: QuerySet[Section], name: str) -> Section | None:
    """The first of `sections` at this anchor, or with this number where no anchor matches."""
    number = name.removeprefix("§")
    return sections.filter(anchor=name).first() or (sections.filter(number=number).first() if number else None)


def section_changes(revision: DocumentRevision, sections: list[Section]) -> tuple[dict[str, str], list[str]]:
    """What differs from the revision before: anchor -> "new" or "changed", and the anchors that are gone."""
    if revision.number == 1:
        return {}, []
    before = dict(
        Section.objects.filter(
            revision__document_id=revision.document_id, revision__number=revision.number - 1
        ).values_list("anchor", "content_hash")
    )
    states = {
        section.anchor: "changed" if section.anchor in before else "new"
        for section in sections
        if before.get(section.anchor) != section.content_hash
    }
    here = {section.anchor for section in sections}
    return states, [anchor for anchor in before if anchor not in here]


def section_url(document_slug: str, anchor: str, number: int | None = None) -> str:
    """Address of the section's own page, of the head or of a numbered revision."""
    if number is None:
        return reverse("references:section_detail", args=[document_slug, anchor])
    return reverse("references:section_of_revision", args=[document_slug, number, anchor])


def parse_citation(text: str) -> tuple[str, str, str] | None:
    """(document, anchor, revision or "") of "slug#anchor@hash" or "slug#anchor", as pages offer it, or None."""
    match = _CITATION.match(text.strip())
    return (match["document"], match["anchor"], match["revision"] or "") if match else None


def cited_section(document: str, anchor: str, revision: str = "") -> Section | None:
    """The section at this anchor or with this number, with its revision: of the newest whose content hash begins with
    `revision`, or of the head.

    None where there is no such document, revision or section, or `revision` has less than MIN_PIN characters.
    """
    if "\x00" in document + anchor + revision or 0 < len(revision) < MIN_PIN:
        return None
    sections = Section.objects.filter(revision__document__slug=document).select_related("revision")
    if revision:
        sections = sections.filter(revision__content_hash__startswith=revision)
    else:
        sections = sections.filter(revision__head_of__isnull=False)
    newest_first = sections.defer("blocks", "text", "revision__text").order_by("-revision__number", "order")
    return _section_named(newest_first, anchor)


def cite(section: Section, *, is_head: bool) -> Citation:
    """The citation of a section whose revision and document are loaded."""
    revision = section.revision
    return Citation(
        document=revision.document.slug,
        anchor=section.anchor,
        revision=revision.content_hash,
        title=section.title,
        number=section.number,
        url=section_url(revision.document.slug, section.anchor, None if is_head else revision.number),
    )


def list_snapshots() -> QuerySet[UpstreamSnapshot]:
    """Snapshots, newest study first, with their counts of kernels and families."""
    return (
        UpstreamSnapshot.objects.select_related("document_revision__document")
        .defer("document_revision__text")
        .annotate(kernel_count=Count("kernels", distinct=True), family_count=Count("families", distinct=True))
        .order_by("-studied_on", "-id")
    )


def get_snapshot(pk: int) -> UpstreamSnapshot:
    """A snapshot with its families and kernels. Raises Missing."""
    snapshot = list_snapshots().prefetch_related("families", "kernels").filter(pk=pk).first()
    if snapshot is None:
        raise Missing("references.no_snapshot", "There is no such snapshot.", fix="Pick it from the list.")
    return snapshot


def current_snapshot() -> UpstreamSnapshot | None:
    """The newest snapshot read from the head of a document that is not archived; families come from it."""
    heads = Document.objects.filter(archived_at__isnull=True).values("head_id")
    return (
        UpstreamSnapshot.objects.filter(document_revision_id__in=Subquery(heads))
        .prefetch_related("families", "kernels")
        .first()
    )


def cited_families() -> QuerySet[Family]:
    """Families that have a section of their own in the head of a document that is not archived."""
    heads = Document.objects.filter(archived_at__isnull=True).values("head_id")
    found = Family.objects.filter(snapshot__document_revision_id__in=Subquery(heads)).exclude(anchor="")
    return found.select_related("snapshot__document_revision__document")


def list_guidelines(kind: str = "") -> QuerySet[Guideline]:
    """Guidelines of documents that are not archived, in the order of their documents."""
    guidelines = Guideline.objects.filter(document__archived_at__isnull=True).select_related("document")
    return guidelines.filter(kind=kind) if kind else guidelines
