"""Failures that look like this one: rows of the documents' tables of symptoms, best first, with the section to cite."""

import argparse

from v2kb.cli.checkout import find_checkout, read_ended
from v2kb.cli.exits import CliError
from v2kb.cli.index import SECTION
from v2kb.cli.terminal import Terminal
from v2kb.rules.signatures import Fit, ranked, signatures_of
from v2kb.rules.snapshot import Line

EXAMPLE = 'v2kb signature "iter 0 fine, iter 1 hangs"'
MOST = 3


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("symptom", help="what is seen, in words")
    parser.add_argument("--all", action="store_true", help="every row that has a word of it")


def run(read: argparse.Namespace, terminal: Terminal) -> int:
    """0: rows were found, 3: none, 4: rows of an old snapshot."""
    checkout = find_checkout()
    index = checkout.index()
    known = [(one, section) for section in index.lines(SECTION) for one in signatures_of(section["text"])]
    found = ranked(read.symptom, [one for one, _ in known])
    if not found:
        many = f"none of the {len(known)} signatures of the documents has a word of {read.symptom!r}"
        raise CliError(f"Nothing fits: {many}.", "`v2kb doc WORDS` finds sections.")
    shown = [(fit, known[fit.place][1]) for fit in (found if read.all or terminal.json else found[:MOST])]
    if terminal.json:
        terminal.document([_document(fit, section) for fit, section in shown])
    else:
        for fit, section in shown:
            _text(terminal, fit, section)
        if len(found) > len(shown):
            terminal.line(f"… {len(found) - len(shown)} more with --all")
    return read_ended(checkout, index, terminal)


def _document(fit: Fit, section: Line) -> dict:
    return {
        "symptom": fit.signature.symptom,
        "said": dict(fit.signature.said),
        "words": list(fit.words),
        "fit_percent": round(100 * fit.share),
        "cite": _cite(section),
        "number": section["number"],
        "title": section["title"],
    }


def _cite(section: Line) -> str:
    return f"{section['document']}#{section['anchor']}"


def _text(terminal: Terminal, fit: Fit, section: Line) -> None:
    terminal.line(terminal.style(terminal.cut(fit.signature.symptom), "bold"))
    for name, text in fit.signature.said.items():
        terminal.wrapped(f"{name}: {text}")
    number = f" §{section['number']}" if section["number"] else ""
    terminal.line(terminal.style(f"  cite {_cite(section)}{number} {section['title']}", "faint"))
