"""The [[doc:slug#anchor]] link of every markdown text, and the references in the site's search."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.db.models import Q
from django.urls import reverse

from references.models import Document, Section
from references.selectors import search_sections, section_url, snippet
from v2kb.core.registry import LINKS, SEARCHES

Found = tuple[str, str] | None

_TARGET = re.compile(r"\[\[doc:([^\]\[|]{1,200})\]\]")
_known: ContextVar[dict[str, Found] | None] = ContextVar("known_document_links", default=None)


def resolve_document_link(target: str) -> Found:
    """(url, label) of "slug", "slug#anchor" or "slug#§4"; None where there is no such document or section."""
    known = _known.get()
    if known is not None and target in known:
        return known[target]
    return _look_up([target])[target]


@contextmanager
def document_links(texts: Iterable[str]) -> Iterator[None]:
    """Within this context all document links of `texts` are known, looked up with two queries in all."""
    targets = {match[1].strip() for text in texts for match in _TARGET.finditer(text)}
    token = _known.set(_look_up(targets) if targets else {})
    try:
        yield
    finally:
        _known.reset(token)


def _split(target: str) -> tuple[str, str]:
    slug, _, place = target.partition("#")
    return slug.replace("\x00", "").strip(), place.replace("\x00", "").strip()


def _look_up(targets: Iterable[str]) -> dict[str, Found]:
    wanted = {target: _split(target) for target in targets}
    documents = dict(
        Document.objects.filter(slug__in={slug for slug, _ in wanted.values()}, head__isnull=False).values_list(
            "slug", "title"
        )
    )
    places = {(slug, place) for slug, place in wanted.values() if place}
    sections: dict[tuple[str, str], tuple[str, str]] = {}
    if places:
        names = {place for _, place in places} | {place.removeprefix("§") for _, place in places}
        rows = list(
            Section.objects.filter(
                Q(anchor__in=names) | Q(number__in=names - {""}),
                revision__head_of__slug__in={slug for slug, _ in places},
            )
            .order_by("-order")
            .values_list("revision__document__slug", "anchor", "number", "title")
        )
        for slug, anchor, number, title in rows:
            if number:
                sections[slug, number] = sections[slug, f"§{number}"] = (anchor, title)
        sections.update({(slug, anchor): (anchor, title) for slug, anchor, _, title in rows})
    found: dict[str, Found] = {}
    for target, (slug, place) in wanted.items():
        if slug not in documents or (place and (slug, place) not in sections):
            found[target] = None
        elif place:
            anchor, title = sections[slug, place]
            found[target] = (section_url(slug, anchor), _label(f"{documents[slug]}: {title}"))
        else:
            found[target] = (reverse("references:document_detail", args=[slug]), _label(documents[slug]))
    return found


def _label(text: str) -> str:
    """Plain text that stays one link label in markdown."""
    return re.sub(r"([\\\[\]`*_<>])", r"\\\1", text)


def search_references(query: str, limit: int) -> list[dict]:
    """Sections for the site's search: title, url, snippet, kind, why."""
    return [
        {
            "title": f"{section.revision.document.title} § {section.number or section.title}".strip(),
            "url": section_url(section.revision.document.slug, section.anchor),
            "snippet": snippet(section.text, query),
            "kind": "section",
            "why": "words in the title" if section.rank == 0 else "words in the text",
        }
        for section in search_sections(query, limit)
    ]


def register() -> None:
    """Fill the registries of core."""
    LINKS.add("doc", resolve_document_link)
    SEARCHES.add("References", search_references)
