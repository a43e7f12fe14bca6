"""A section of a document: `house-rules §3`, `house-rules#anchor`, or words."""

import argparse
import re

from v2kb.cli.checkout import find_checkout, read_ended
from v2kb.cli.exits import CliError
from v2kb.cli.index import SECTION, Index
from v2kb.cli.terminal import Terminal
from v2kb.rules.names import lever_key
from v2kb.rules.search_expression import any_of, expression_of
from v2kb.rules.search_query import QueryError, parse_query
from v2kb.rules.snapshot import Line

EXAMPLE = 'v2kb doc "house rules §3"'
MOST = 20
_NUMBERED = re.compile(r"(?P<document>.*?)[ ,]*(?:§|\bsection )\s*(?P<number>[0-9A-Za-z.]+)\s*")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", help="document and section number, document#anchor, or words")
    parser.add_argument("--list", action="store_true", help="the headings that fit, without their texts")


def run(read: argparse.Namespace, terminal: Terminal) -> int:
    checkout = find_checkout()
    index = checkout.index()
    found = sections_named(index, read.what) or _sections_with(index, read.what)
    if not found:
        raise CliError(f"No section fits {read.what!r}.", "Give fewer words, or the document's slug and a number.")
    if terminal.json:
        terminal.document(found)
    elif len(found) == 1 and not read.list:
        _text(terminal, found[0])
    else:
        for section in found[:MOST]:
            number = f"§{section['number']} " if section["number"] else ""
            terminal.line(f"{section['document']}#{section['anchor']}  {number}{section['title']}")
        if len(found) > MOST:
            terminal.line(f"… and {len(found) - MOST} more")
    return read_ended(checkout, index, terminal)


def sections_named(index: Index, what: str) -> list[Line]:
    """The sections that a citation names: `slug#anchor`, or part of a document's name and a number.

    Raises CliError where no document is called so, and for a document without such a section.
    """
    slug, hash_mark, anchor = what.strip().partition("#")
    if hash_mark:
        section = index.line(SECTION, f"{slug.strip()}#{anchor.partition('@')[0].strip()}")
        return [section] if section else []
    numbered = _NUMBERED.fullmatch(what.strip())
    if not numbered:
        return []
    key = lever_key(numbered["document"])
    documents = index.lines("document")
    named = [d["slug"] for d in documents if key in lever_key(d["slug"]) or key in lever_key(d["title"])]
    if not named:
        known = ", ".join(d["slug"] for d in documents)
        raise CliError(f"No document is called {numbered['document']!r}.", f"The snapshot has {known or 'none'}.")
    number = numbered["number"].rstrip(".")
    sections = [section for slug in named for section in index.sections_of(slug)]
    found = [section for section in sections if section["number"].rstrip(".") == number]
    if sections and not found:
        known = ", ".join(dict.fromkeys(f"§{section['number']}" for section in sections if section["number"]))
        raise CliError(f"{', '.join(sorted(named))} has no section {number}.", f"It has {known}.")
    return found


def _sections_with(index: Index, what: str) -> list[Line]:
    """Sections with every word, best first; with some of them where none has all."""
    try:
        query = parse_query(what, of_rows=False)
    except QueryError as error:
        raise CliError(error.message, error.fix) from None
    for wanted in (expression_of(query.wanted), any_of(query.wanted)):
        places = index.match(SECTION, wanted) if wanted is not None else []
        if places:
            fits = index.scores(SECTION, wanted, places)
            return index.sections(sorted(places, key=lambda place: -fits[place]))
    return []


def _text(terminal: Terminal, section: Line) -> None:
    number = f"§{section['number']} " if section["number"] else ""
    terminal.line(terminal.style(f"{section['document']} {number}{section['title']}", "bold"))
    terminal.line(section["text"])
    terminal.line(terminal.style(f"cite {section['document']}#{section['anchor']}", "faint"))
