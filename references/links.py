"""Links to documents in every markdown text: [[doc:slug#anchor]] and [x](other.md#anchor)."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import PurePosixPath

from django.urls import reverse

from references.importers.anchors import heading_slugs
from references.importers.archive import same_place
from references.models import Document, Section
from references.selectors import section_url
from v2kb.core.markdown import FILE, Found, links_in, remember
from v2kb.core.registry import LINKS

DOC = "doc"


def resolve_document_link(target: str) -> Found:
    """(url, label) of "slug", "slug#anchor" or "slug#§4"; None where there is no such document or section."""
    return _documents([target])[target]


def resolve_file_link(target: str) -> Found:
    """(url, label) of the document imported from this path, with "#place" of its section; None where there is none.

    A place that the document lacks leads to the document.
    """
    return _files([target])[target]


def look_up_links(texts: Iterable[tuple[str, str]]) -> None:
    """Look the document links of (text, path of its file) up together: four queries in all."""
    wanted: dict[str, set[str]] = defaultdict(set)
    for text, base in texts:
        for kind, target in links_in(text, base):
            wanted[kind].add(target)
    for kind, look_up in ((DOC, _documents), (FILE, _files)):
        if wanted[kind]:
            remember(kind, look_up(wanted[kind]))


def _split(target: str) -> tuple[str, str]:
    name, _, place = target.partition("#")
    return name.replace("\x00", "").strip(), place.replace("\x00", "").strip()


def _documents(targets: Iterable[str]) -> dict[str, Found]:
    wanted = {target: _split(target) for target in targets}
    titles = dict(_imported().filter(slug__in={slug for slug, _ in wanted.values()}).values_list("slug", "title"))
    places = _places({slug for slug, place in wanted.values() if place and slug in titles})
    found: dict[str, Found] = {}
    for target, (slug, place) in wanted.items():
        if slug not in titles or (place and place not in places[slug]):
            found[target] = None
        else:
            found[target] = _link(slug, titles[slug], places[slug].get(place))
    return found


def _files(targets: Iterable[str]) -> dict[str, Found]:
    wanted = {target: _split(target) for target in targets}
    named: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for path, slug, title in _imported().values_list("path", "slug", "title"):
        named[PurePosixPath(path).name].append((path, slug, title))
    meant = {path: _document_at(path, named[PurePosixPath(path).name]) for path, _ in wanted.values()}
    places = _places({document[0] for path, place in wanted.values() if place and (document := meant[path])})
    found: dict[str, Found] = {}
    for target, (path, place) in wanted.items():
        document = meant[path]
        found[target] = _link(*document, places[document[0]].get(place)) if document else None
    return found


def _imported():
    return Document.objects.filter(head__isnull=False)


def _document_at(path: str, named_alike: list[tuple[str, str, str]]) -> tuple[str, str] | None:
    """(slug, title) of the document imported from this path, else of the only one whose path ends alike.

    Folders may be lost on the way: a file that was sent alone has only its name.
    """
    if not path:
        return None
    exact = [(slug, title) for known, slug, title in named_alike if known == path]
    alike = exact or [(slug, title) for known, slug, title in named_alike if same_place(known, path)]
    return alike[0] if len(alike) == 1 else None


def _places(slugs: set[str]) -> dict[str, dict[str, tuple[str, str]]]:
    """Document -> every name of a section (anchor, "4", "§4", the slug of its heading) -> (anchor, title)."""
    places: dict[str, dict[str, tuple[str, str]]] = defaultdict(dict)
    if not slugs:
        return places
    sections: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    rows = Section.objects.filter(revision__head_of__slug__in=slugs).order_by("revision_id", "order")
    for slug, *section in rows.values_list("revision__document__slug", "anchor", "number", "title"):
        sections[slug].append(tuple(section))
    for slug, found in sections.items():
        names = places[slug]
        names.update({anchor: (anchor, title) for anchor, _, title in found})
        numbered = [(number, section) for section in found if (number := section[1])]
        written = zip(heading_slugs([(number, title) for _, number, title in found]), found, strict=True)
        for name, (anchor, _, title) in (*numbered, *((f"§{name}", each) for name, each in numbered), *written):
            names.setdefault(name, (anchor, title))
    return places


def _link(slug: str, title: str, section: tuple[str, str] | None) -> tuple[str, str]:
    if section is None:
        return reverse("references:document_detail", args=[slug]), title
    anchor, section_title = section
    return section_url(slug, anchor), f"{title}: {section_title}"


def register() -> None:
    """Fill the registries of core."""
    LINKS.add(DOC, resolve_document_link)
    LINKS.add(FILE, resolve_file_link)
