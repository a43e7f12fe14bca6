"""Sections and families in the search: what is indexed, what keeps it in step, their hits in the top bar."""

import re
from typing import Any

from references.models import Document, Family, Section
from references.selectors import cited_section, current_snapshot, parse_citation, section_url
from v2kb.core.registry import SEARCHES, follow
from v2kb.core.search import INDEXED, Indexed, Kind, find, hash_starts, shown
from v2kb.core.search import Document as Entry

_MARKUP = re.compile(r"^#{1,6} |\*\*|`|^\s*\|[ |:-]*$|^\s*\||\|\s*$", re.M)
_LETTER = re.compile(r"\s*(?:family\s+)?([A-E])\s*", re.IGNORECASE | re.ASCII)
_CELLS = re.compile(r"[ ]*\|[ ]*")
LIVE = {"revision__head_of__isnull": False, "revision__head_of__archived_at__isnull": True}


def _all_sections() -> list[int]:
    return list(Section.objects.filter(**LIVE).order_by("pk").values_list("pk", flat=True))


def _sections(ids: list[int]) -> list[Entry]:
    sections = Section.objects.filter(pk__in=ids, **LIVE).select_related("revision__document").defer("blocks")
    return [Entry(Kind.SECTION, section.pk, _title(section), _section_text(section)) for section in sections]


def _title(section: Section) -> str:
    number = f"§{section.number} " if section.number else ""
    title = "" if section.title == section.revision.document.title else section.title
    return f"{section.revision.document.title} {number}{title}".strip()


def _section_text(section: Section) -> str:
    document = section.revision.document
    hashes = [section.content_hash] + ([section.revision.content_hash] if section.order == 0 else [])
    return "\n".join([section.text, document.slug, document.path, *hashes])


def _all_families() -> list[int]:
    snapshot = current_snapshot()
    return sorted(family.pk for family in snapshot.families.all()) if snapshot else []


def _families(ids: list[int]) -> list[Entry]:
    snapshot = current_snapshot()
    found = [family for family in snapshot.families.all() if family.pk in ids] if snapshot else []
    return [Entry(Kind.FAMILY, family.pk, f"Family {family}", _family_text(family)) for family in found]


def _family_text(family: Family) -> str:
    kernels = [kernel for kernel in family.snapshot.kernels.all() if kernel.family == family.letter]
    said = [" ".join([kernel.name, *kernel.files, kernel.task_type, kernel.note]) for kernel in kernels]
    return "\n".join([family.idiom, family.when_to_copy, *said])


SECTIONS = Indexed(Kind.SECTION, _all_sections, _sections)
FAMILIES = Indexed(Kind.FAMILY, _all_families, _families)


def follow_documents(documents: list[Document]) -> None:
    """Sections of new heads come in, those of the heads before go; the newest snapshot's families likewise."""
    for document in documents:
        newest = document.head.number if document.head else 0
        revisions = document.revisions.filter(number__gte=newest - 1)
        SECTIONS.refresh(Section.objects.filter(revision__in=revisions).values_list("pk", flat=True))
    FAMILIES.refresh(Family.objects.values_list("pk", flat=True))


def find_sections(query: str, limit: int) -> list[dict[str, Any]]:
    """Sections for the top bar: "slug#anchor" and commits of snapshots first, then by their words."""
    hits = find(Kind.SECTION, query, limit, _exact_sections(query))
    sections = Section.objects.select_related("revision__document").defer("blocks", "revision__text")
    found = sections.in_bulk([hit.object_id for hit in hits])
    return [
        shown(
            hit,
            title=_title(section),
            url=section_url(section.revision.document.slug, section.anchor),
            text=_CELLS.sub(" · ", _MARKUP.sub("", section.text)),
            kind="section",
        )
        for hit in hits
        if (section := found.get(hit.object_id))
    ]


def _exact_sections(query: str) -> list[tuple[int, str]]:
    """(id, why) of a cited section, and of the beginnings of catalogues that describe a commit."""
    citation = parse_citation(query)
    cited = cited_section(*citation) if citation else None
    live = Section.objects.filter(pk=cited.pk, **LIVE).exists() if cited else False
    exact = [(cited.pk, "the section")] if live else []
    for start in hash_starts(query):
        begun = Section.objects.filter(order=0, revision__snapshots__commit__startswith=start, **LIVE)
        exact += [(pk, "the commit of a snapshot") for pk in begun.values_list("pk", flat=True)[:20]]
    return exact


def find_families(query: str, limit: int) -> list[dict[str, Any]]:
    """Families of the newest upstream snapshot for the top bar: by letter (`family A`), by words."""
    letter, snapshot = _LETTER.fullmatch(query), current_snapshot()
    named = snapshot.families.all() if letter and snapshot else ()
    exact = [(family.pk, "the letter") for family in named if family.letter == letter[1].upper()]
    hits = find(Kind.FAMILY, query, limit, exact)
    found = Family.objects.select_related("snapshot").prefetch_related("snapshot__kernels")
    families = found.in_bulk([hit.object_id for hit in hits])
    return [
        shown(
            hit,
            title=f"Family {family}",
            url=f"{family.snapshot.get_absolute_url()}#family-{family.letter}",
            text=_family_text(family),
            kind="family",
        )
        for hit in hits
        if (family := families.get(hit.object_id))
    ]


def register() -> None:
    """Fill the hooks of core; called once when the app is ready."""
    INDEXED.add("sections", SECTIONS)
    INDEXED.add("families", FAMILIES)
    follow("references.document", follow_documents)
    SEARCHES.add("sections", find_sections)
    SEARCHES.add("families", find_families)
