"""The anti-loop gate over a spec in a file and the evidence of the snapshot: what it would say, never an approval."""

import argparse
from datetime import date
from typing import Any

from v2kb.cli.exits import BLOCKED, CLEAR, UNREADABLE, CliError
from v2kb.cli.facts import Facts, facts_at_hand, say_notes
from v2kb.cli.files import read_text
from v2kb.cli.index import Index
from v2kb.cli.terminal import Terminal
from v2kb.rules.antiloop import GateResult, Line, evaluate
from v2kb.rules.antiloop_reach import reach_of
from v2kb.rules.antiloop_rules import ERROR, NOT_APPLICABLE, SATISFIED, UNSATISFIED
from v2kb.rules.snapshot import Line as SnapshotLine
from v2kb.rules.snapshot import gate_facts
from v2kb.rules.spec_markdown.draft import Reading
from v2kb.rules.spec_markdown.files import read_file

EXAMPLE = "v2kb gate specs/w13.md --op w13-grouped-gemm-b200"
PROVISIONAL = "provisional: an approval is given in the app alone"
_KINDS = ("vocabulary", "lever", "document", "op")
_COLOURS = {SATISFIED: "green", UNSATISFIED: "red", ERROR: "red", NOT_APPLICABLE: "faint"}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="a spec in markdown or JSON; - reads standard input")
    parser.add_argument("--op", action="append", default=[], metavar="SLUG", help="an op that the spec is for")
    parser.add_argument("--all", action="store_true", help="also the lines that don't apply")


def run(read: argparse.Namespace, terminal: Terminal) -> int:
    """0: the gate passes, 2: it blocks, 3: file or snapshot can't be read, 4: it passes an old snapshot."""
    facts = facts_at_hand(read.op)
    if facts.index is None:
        raise CliError(f"The gate judges by the evidence, and {facts.why_none}.", "Run `v2kb sync` to fetch it.")
    reading = read_file(read_text(read.file))
    if reading.unreadable:
        raise CliError(f"{read.file}:{reading.placements[0].first}: {reading.unreadable}", code=UNREADABLE)
    result = gate_of(reading, facts)
    if terminal.json:
        terminal.document(result.as_document())
    else:
        _text(terminal, read.file, reading, result, everything=read.all)
    say_notes(terminal, facts)
    return facts.exit_code(CLEAR if result.passed else BLOCKED)


def gate_of(reading: Reading, facts: Facts) -> GateResult:
    """What the gate says of a file today: of its document as the app would pin it, without marks and former authors."""
    document = facts.pinned(reading.document)
    known = {kind: facts.index.lines(kind) for kind in _KINDS} | {"row": rows_looked_at(document, facts.index)}
    context = {"authors": [], "new_mechanism_marks": [], "today": date.today().isoformat()}
    return evaluate(document, gate_facts(known), context)


def rows_looked_at(document: dict[str, Any], index: Index) -> list[SnapshotLine]:
    """The rows that the gate looks at, with those that supersede them."""
    reach = reach_of(document, index.levers)
    rows = {row["code"]: row for row in [*index.rows_of(reach.codes), *index.dead_rows(reach.levers)]}
    newer = {code for row in rows.values() for code in row["superseded_by"]} - rows.keys()
    return [*rows.values(), *index.rows_of(newer)]


def _text(terminal: Terminal, file: str, reading: Reading, result: GateResult, *, everything: bool) -> None:
    terminal.line(terminal.style(PROVISIONAL, "bold"))
    paths = {choice["id"]: f"choices[{index}]" for index, choice in enumerate(reading.document["choices"])}
    for line in result.lines:
        if everything or line.status != NOT_APPLICABLE:
            _line(terminal, f"{file}:{reading.line_of(line.field or paths.get(line.choice, ''))}", line)
    hidden = 0 if everything else sum(line.status == NOT_APPLICABLE for line in result.lines)
    counts = f"{len(result.blocking_lines)} of {len(result.lines)} lines block"
    aside = f"; {hidden} that don't apply with --all" if hidden else ""
    terminal.line(terminal.style(f"{result.summary()} {counts}{aside}.", "bold"))


def _line(terminal: Terminal, place: str, line: Line) -> None:
    status = terminal.style(line.status, _COLOURS[line.status])
    where = f" [{line.field}]" if line.field else ""
    terminal.line(f"{place}: {line.rule} {status}: {line.choice}: {line.message}{where}")
    if line.blocks:
        for change in line.what_would_change or (line.fix,):
            terminal.line(f"    would change it: {change}")
