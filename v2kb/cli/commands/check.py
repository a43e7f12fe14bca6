"""A spec in a file against all spec rules, line by line, with what the snapshot knows of its ops and rows."""

import argparse

from v2kb.cli.exits import UNREADABLE
from v2kb.cli.facts import facts_at_hand, say_notes
from v2kb.cli.files import read_text
from v2kb.cli.terminal import Terminal
from v2kb.rules.spec_check import FileCheck, check_file, finding_line

EXAMPLE = "v2kb check specs/w13.md"
_COLOURS = {"E": "red", "W": "yellow", "I": "faint"}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="a spec in markdown or JSON; - reads standard input")
    parser.add_argument("--op", action="append", default=[], metavar="SLUG", help="an op that the spec is for")
    parser.add_argument("--placements", action="store_true", help="also what became of each part of the file")
    parser.add_argument("--sarif", action="store_true", help="the findings as SARIF 2.1.0")


def run(read: argparse.Namespace, terminal: Terminal) -> int:
    """0: clear, 1: warnings, 2: errors or missing inputs, 3: unreadable, 4: nothing blocks, but the snapshot is old."""
    facts = facts_at_hand(read.op)
    check = check_file(read_text(read.file), facts.report)
    if terminal.json:
        terminal.document(check.as_document())
    elif check.reading.unreadable:
        terminal.say(check.why_unreadable(read.file))
    elif read.sarif:
        from v2kb.cli.sarif import sarif  # its words are needed by nobody else

        terminal.document(sarif(read.file, check.findings))
    else:
        _text(terminal, read.file, check, placements=read.placements)
    if check.exit_code != UNREADABLE:
        say_notes(terminal, facts)
    return facts.exit_code(check.exit_code)


def _text(terminal: Terminal, file: str, check: FileCheck, *, placements: bool) -> None:
    for finding in check.findings:
        place, rule, said = finding_line(file, finding).partition(f" {finding['rule']} ")
        terminal.line(f"{place}{terminal.style(rule, _COLOURS[finding['severity']])}{said}")
    for line in check.placement_lines(file) if placements else ():
        terminal.line(terminal.style(line, "faint"))
    terminal.line(check.totals_line(file))
    terminal.line(terminal.style(check.sentence(), "bold"))
