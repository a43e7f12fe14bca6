"""How sections look on a page: blocks to parts that templates draw, tables and checklists as such."""

from dataclasses import dataclass, field

from django.utils.safestring import SafeString

from references.links import look_up_links
from references.models import Section
from v2kb.core.markdown import render, render_inline

WHOLE_PAGE_BYTES = 300_000
WHOLE_PAGE_SECTIONS = 400


@dataclass(frozen=True)
class Part:
    """One thing to draw. `kind` is html, table, checklist or code; `data` is the stored block with cells rendered."""

    kind: str
    html: SafeString | str = ""
    header: list[SafeString] = field(default_factory=list)
    rows: list[dict] = field(default_factory=list)
    items: list[dict] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    text: str = ""
    language: str = ""
    line: int = 0


def is_whole(sections: list[Section]) -> bool:
    """Whether a document is short enough to stand on one page."""
    size = sum(len(section.text) for section in sections)
    return size <= WHOLE_PAGE_BYTES and len(sections) <= WHOLE_PAGE_SECTIONS


@dataclass
class Node:
    """A section in the contents, with its subsections."""

    section: Section
    children: list["Node"] = field(default_factory=list)


def contents(sections: list[Section]) -> list[Node]:
    """The section tree, from sections in order."""
    nodes: dict[int, Node] = {}
    top: list[Node] = []
    for section in sections:
        node = nodes[section.pk] = Node(section)
        parent = nodes.get(section.parent_id)
        (parent.children if parent else top).append(node)
    return top


def parts_of_sections(sections: list[Section], path: str) -> dict[int, list[Part]]:
    """Section id -> what to draw, with all document links looked up at once. `path` is that of their document."""
    look_up_links((section.text, path) for section in sections)
    return {section.pk: _parts(section, path) for section in sections}


def _parts(section: Section, path: str) -> list[Part]:
    """Parts in order; blocks that need nothing special are drawn together. A section as long as a book stays text."""
    if len(section.text) > WHOLE_PAGE_BYTES:
        return [Part("code", text=section.text, line=section.first_line)]
    lines = section.text.split("\n")
    parts: list[Part] = []
    plain: list[dict] = []

    def flush() -> None:
        if plain:
            first, last = plain[0]["start_line"] - section.first_line, plain[-1]["end_line"] - section.first_line
            html = render("\n".join(lines[first : last + 1]), base=path)
            parts.append(Part("html", html=html, line=plain[0]["start_line"]))
            plain.clear()

    for block in section.blocks:
        special = {"table": _table, "checklist": _checklist, "code": _code}.get(block["kind"])
        if special is None:
            plain.append(block)
            continue
        flush()
        parts.append(special(block, path))
    flush()
    return parts


def _table(block: dict, path: str) -> Part:
    def drawn(cells: list[str]) -> list[SafeString]:
        return [render_inline(cell, base=path) for cell in cells]

    return Part(
        "table",
        header=drawn(block["header"]),
        rows=[{"line": row["line"], "cells": drawn(row["cells"])} for row in block["rows"]],
        problems=block["problems"],
        line=block["start_line"],
    )


def _checklist(block: dict, path: str) -> Part:
    items = [{**item, "html": render_inline(item["text"], base=path)} for item in block["items"]]
    return Part("checklist", items=items, line=block["start_line"])


def _code(block: dict, path: str) -> Part:
    return Part("code", text=block["text"].rstrip("\n"), language=block.get("language", ""), line=block["start_line"])
