"""Pages of documents and their sections."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from references import presenters, selectors
from references.filtersets import DocumentFilter
from references.forms import ArchiveForm
from references.models import Document, DocumentRevision, Section
from references.policies import may_import
from references.services.documents import archive_document, restore_document
from v2kb.core.activity import activity_of
from v2kb.core.actor import actor_from_request
from v2kb.core.errors import Missing, Refusal
from v2kb.core.registry import panels_of
from v2kb.core.views import page_of, render_part_or_page

MAX_SECTION_HITS = 20
MAX_REVISION_NUMBER = 10**9


@require_GET
def document_list(request: HttpRequest) -> HttpResponse:
    """Documents that hold the words, and the sections in which they stand."""
    filterset = DocumentFilter(request.GET, queryset=selectors.list_documents())
    query = request.GET.get("q", "")[:200].strip()
    documents = filterset.qs if filterset.is_valid() else selectors.list_documents()
    if request.GET.get("archived") not in ("true", "True"):
        documents = documents.filter(archived_at__isnull=True)
    hits = selectors.search_sections(query, MAX_SECTION_HITS) if query else []
    context = {
        "filter": filterset,
        "query": query,
        "page": page_of(request, documents),
        "hits": [{"section": hit, "snippet": selectors.snippet(hit.text, query)} for hit in hits],
        "may_import": may_import(actor_from_request(request)),
    }
    return render_part_or_page(request, "references/document_list.html", context, part="list")


@require_GET
def document_detail(request: HttpRequest, slug: str, number: int | None = None) -> HttpResponse:
    """One revision of a document: contents, sections, and how it differs from the revision before."""
    document = selectors.get_document(slug)
    revision = _revision(document, number)
    sections = selectors.sections_of(revision)
    is_whole = presenters.is_whole(sections)
    states, gone = selectors.section_changes(revision, sections)
    context = _frame(request, document, revision) | {
        "contents": presenters.contents(sections),
        "sections": _shown(sections if is_whole else sections[:1], document, revision, states),
        "is_whole": is_whole,
        "gone": gone,
        "revisions": list(selectors.revisions_of(document)),
        "activity": list(activity_of(document, 10)),
        "panels": panels_of(request, document),
    }
    return render(request, "references/document_detail.html", context)


@require_GET
def section_detail(request: HttpRequest, slug: str, anchor: str, number: int | None = None) -> HttpResponse:
    """One section with its subsections' titles, the sections before and after it, and how to cite it."""
    document = selectors.get_document(slug)
    revision = _revision(document, number)
    section = selectors.get_section(revision, anchor)
    if section.anchor != anchor:
        return redirect(selectors.section_url(slug, section.anchor, number))
    sections = selectors.sections_of(revision)
    at = next(index for index, each in enumerate(sections) if each.pk == section.pk)
    states, _ = selectors.section_changes(revision, sections)
    context = _frame(request, document, revision) | {
        "shown": _shown([sections[at]], document, revision, states)[0],
        "children": [each for each in sections if each.parent_id == section.pk],
        "before": sections[at - 1] if at else None,
        "after": sections[at + 1] if at + 1 < len(sections) else None,
        "panels": panels_of(request, section),
    }
    return render(request, "references/section_detail.html", context)


@require_POST
def document_archive(request: HttpRequest, slug: str) -> HttpResponse:
    """Take the document off the lists."""
    form = ArchiveForm(request.POST)
    if not form.is_valid():
        messages.error(request, "The reason may have 1000 characters.")
        return redirect("references:document_detail", slug)
    return _act(
        request, slug, lambda actor: archive_document(actor, slug=slug, reason=form.cleaned_data["reason"]), "archived"
    )


@require_POST
def document_restore(request: HttpRequest, slug: str) -> HttpResponse:
    """Put an archived document back."""
    return _act(request, slug, lambda actor: restore_document(actor, slug=slug), "restored")


def _act(request: HttpRequest, slug: str, act, done: str) -> HttpResponse:
    try:
        document = act(actor_from_request(request))
    except Refusal as refusal:
        if refusal.status in (403, 404):
            raise
        messages.error(request, f"{refusal.message} {refusal.fix or ''}".strip())
    else:
        messages.success(request, f"{document.title} is {done}.")
    return redirect("references:document_detail", slug)


def _revision(document: Document, number: int | None) -> DocumentRevision:
    if number is not None and number > MAX_REVISION_NUMBER:
        raise Missing("references.no_revision", f"{document.slug} has no revision {number}.")
    return selectors.get_revision(document, number)


def _frame(request: HttpRequest, document: Document, revision: DocumentRevision) -> dict:
    return {
        "document": document,
        "revision": revision,
        "is_head": revision.pk == document.head_id,
        "may_import": may_import(actor_from_request(request)),
    }


def _shown(
    sections: list[Section], document: Document, revision: DocumentRevision, states: dict[str, str]
) -> list[dict]:
    """Sections with their parts, their citation and what happened to them since the revision before."""
    revision.document = document
    parts = presenters.parts_of_sections(sections, document.path)
    shown = []
    for section in sections:
        section.revision = revision
        shown.append(
            {
                "section": section,
                "parts": parts[section.pk],
                "state": states.get(section.anchor, ""),
                "is_opening": section.order == 0 and section.title == revision.title,
                "cite": selectors.cite(section, is_head=revision.pk == document.head_id),
            }
        )
    return shown
