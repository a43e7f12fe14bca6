"""Stable anchors of sections: the slug of the heading, kept when other sections come, go or are renumbered. Pure."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

MAX_ANCHOR_CHARS = 70

_NUMBER = re.compile(
    r"""^(?:§\s*(?P<section>\d+(?:\.\d+)*)[.):]?      # §4, §1.1
         |(?P<dotted>\d+(?:\.\d+)+)[.):]?             # 2.1
         |(?P<plain>\d+)[.):]                         # 4.
        )(?:\s+|$)(?P<title>.*)$""",
    re.VERBOSE | re.DOTALL,
)
_LINK = re.compile(r"!?\[([^\]\[]*)\]\([^)(]*\)")


@dataclass(frozen=True)
class Heading:
    """What anchors need of a section: its title without the number, its number, and the index of its parent or None."""

    title: str
    number: str
    parent: int | None
    is_document_title: bool = False


def split_number(heading: str) -> tuple[str, str]:
    """("4", "SMEM") of "§4 SMEM" or "4. SMEM"; ("2.1", ...) of "2.1 Text"; ("", heading) where there is no number.

    A bare number ("3 ways to hang") is text, not a section number. A heading of a number alone keeps it as its title.
    """
    match = _NUMBER.match(heading)
    if not match:
        return "", heading
    number = match["section"] or match["dotted"] or match["plain"]
    title = match["title"].strip()
    return (number, title) if title else ("", heading)


def slugify(text: str) -> str:
    """Lower-case ASCII words joined by hyphens, at most MAX_ANCHOR_CHARS; "section" where nothing is left."""
    plain = _LINK.sub(r"\1", text)
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(sign)).lower()
    slug = re.sub(r"[^a-z0-9_]+", "-", plain).strip("-")
    if len(slug) > MAX_ANCHOR_CHARS:
        slug = slug[:MAX_ANCHOR_CHARS].rsplit("-", 1)[0] if "-" in slug[:MAX_ANCHOR_CHARS] else slug[:MAX_ANCHOR_CHARS]
    return slug or "section"


def heading_slugs(headings: list[tuple[str, str]]) -> list[str]:
    """The slug that markdown hosts make of each heading of (number, title), for links written for them.

    Lower case, signs left out, a hyphen for each space ("2.1 A & b" is "21-a--b"); equal ones get a number.
    """
    seen: dict[str, int] = {}
    slugs = []
    for number, title in headings:
        text = f"{number} {title}".strip().lower()
        slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        turn = seen.get(slug, 0)
        seen[slug] = turn + 1
        slugs.append(f"{slug}-{turn}" if turn else slug)
    return slugs


PathKey = tuple[tuple[str, ...], int]


def heading_paths(headings: list[Heading]) -> list[PathKey]:
    """For each heading its path of slugs from the top (the document title left out) and its turn among equal paths."""
    paths: list[tuple[str, ...]] = []
    seen: dict[tuple[str, ...], int] = {}
    keys = []
    for heading in headings:
        above = () if heading.parent is None else paths[heading.parent]
        path = () if heading.is_document_title else (*above, slugify(heading.title))
        paths.append(path)
        turn = seen.get(path, 0)
        seen[path] = turn + 1
        keys.append((path, turn))
    return keys


def assign_anchors(headings: list[Heading], previous: Iterable[tuple[PathKey, str]] = ()) -> list[str]:
    """One anchor per heading, all different.

    A heading that was there before (same path, same turn) keeps its anchor from `previous`. A new one gets the slug of
    its title; if that is taken, the slug with its parent's ("tests--loader"); if that too is taken, a number.
    """
    known = dict(previous)
    keys = heading_paths(headings)
    anchors: list[str | None] = [known.get(key) for key in keys]
    taken = {anchor for anchor in anchors if anchor}
    counters: dict[str, int] = {}
    for index, heading in enumerate(headings):
        if anchors[index]:
            continue
        slug = slugify(heading.title)
        candidate = slug
        if candidate in taken and heading.parent is not None and not headings[heading.parent].is_document_title:
            candidate = f"{slug}--{slugify(headings[heading.parent].title)}"
        base = candidate
        while candidate in taken:
            counters[base] = counters.get(base, 1) + 1
            candidate = f"{base}-{counters[base]}"
        taken.add(candidate)
        anchors[index] = candidate
    return [anchor or "section" for anchor in anchors]
