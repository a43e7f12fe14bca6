"""What was tried before: the board of a planned design in at most 40 lines, and a receipt of the search."""

import argparse
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from v2kb.cli.atomic import write_whole
from v2kb.cli.board import Board, BoardRow, Design, NoLever, board_of
from v2kb.cli.checkout import RECEIPTS, Checkout, age, find_checkout, is_old, said_age
from v2kb.cli.exits import BLOCKED, CLEAR, TOO_OLD, WARNINGS, CliError
from v2kb.cli.index import Index
from v2kb.cli.terminal import Terminal
from v2kb.rules.canonical import content_hash
from v2kb.rules.evidence import DEAD, VERDICTS
from v2kb.rules.numbers import format_number
from v2kb.rules.scope import DIMENSIONS, LABELS, describe, read_scope
from v2kb.rules.search_query import QueryError

EXAMPLE = 'v2kb prior "w13 per-tile tcgen05" --scope M=1,dtype=fp8'
MAX_LINES = 40
_WHAT_THE_GATE_ASKS = """\
A design that adopts a lever which a row above blocks must cite that row, say what is new in its mechanism,
and predict a number with a kill threshold; otherwise the gate refuses it."""
_BLOCKS = "BLOCKS"
_COLOURS = {"DEAD": "red", "WIN": "green", "UNTESTED": "yellow"}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", nargs="?", default="", help="words in the query language of the search")
    parser.add_argument("--lever", action="append", default=[], metavar="NAME", help="a lever that the design adopts")
    parser.add_argument("--scope", default="", metavar="M=1,dtype=fp8", help="what the design is for")
    parser.add_argument("--all", action="store_true", help="every row, however many lines")
    parser.add_argument("--format", choices=("text", "prompt"), default="text",
                        help="prompt: a block to paste into a prompt, with the codes to cite")  # fmt: skip
    parser.add_argument("--no-receipt", action="store_true", help="do not keep a receipt of the search")


def run(read: argparse.Namespace, terminal: Terminal) -> int:
    """0: nothing blocks, 1: rows were found that a design should answer, 2: some row blocks, 4: the snapshot is old."""
    scope = scope_of(read.scope)
    if not (read.query.strip() or read.lever or scope):
        raise CliError("Nothing was asked for.", "Give words, --lever or --scope.")
    checkout = find_checkout()
    index = checkout.index()
    design = Design(read.query, tuple(read.lever), scope if read.scope else None)
    board = _board(index, design)
    receipt = "" if read.no_receipt else _keep(terminal, checkout, index, design, board)
    if terminal.json:
        terminal.document(_document(index, design, board, receipt))
    elif read.format == "prompt":
        _prompt(terminal, index, design, board)
    else:
        _text(terminal, index, board, receipt, MAX_LINES if not read.all else 10**9)
    if any(row.standing.blocks for row in board.rows):
        return BLOCKED
    if is_old(checkout, index):
        return TOO_OLD
    return WARNINGS if any(row.verdict == DEAD for row in board.rows) else CLEAR


def _board(index: Index, design: Design) -> Board:
    try:
        return board_of(index, design)
    except QueryError as error:
        raise CliError(f"{error.message}\n{error.caret(design.text)}\n", error.fix) from None
    except NoLever as error:
        raise CliError(str(error), "`v2kb lever NAME` shows names that come near.") from None


def scope_of(text: str) -> dict[str, Any]:
    """A scope as typed: `M=1,dtype=fp8,bf16`. Raises CliError."""
    names = {word.casefold().replace(" ", "_"): name for name in DIMENSIONS for word in (name, LABELS[name])}
    raw: dict[str, list[str]] = {}
    name = ""
    for part in filter(None, (part.strip() for part in text.split(","))):
        said, sign, value = part.partition("=")
        if sign:
            name = names.get(said.strip().casefold().replace(" ", "_"), "")
        if not name:
            known = ", ".join(DIMENSIONS)
            raise CliError(
                f"--scope: {part!r} names no dimension.", f"Write for example M=1,dtype=fp8. Known: {known}."
            )
        raw.setdefault(name, []).append((value if sign else part).strip())
    scope, problems = read_scope({name: ",".join(values) for name, values in raw.items()})
    if problems:
        raise CliError(f"--scope: {problems[0].message}", problems[0].fix)
    return scope


def _text(terminal: Terminal, index: Index, board: Board, receipt: str, most: int) -> None:
    """The three lanes in at most `most` lines, the rows that block first of all."""
    blocking = [row for row in board.rows if row.standing.blocks]
    counts = ", ".join(f"{len(board.of(verdict))} {verdict}" for verdict in VERDICTS)
    block = f"{len(blocking)} block this design" if blocking else "none blocks"
    terminal.line(terminal.style(f"{counts}; {block}. Snapshot {said_age(age(index))}.", "bold"))
    readings = _readings(board)
    for typed, known in readings:
        terminal.line(f"{typed} was read as {known}.")
    lanes = {verdict: sorted(board.of(verdict), key=lambda row: _aside(row)) for verdict in VERDICTS}
    room = most - 1 - len(readings) - sum(bool(rows) for rows in lanes.values()) - 2
    shares = _shares([len(rows) for rows in lanes.values()], room // 2)
    for (verdict, rows), share in zip(lanes.items(), shares, strict=True):
        if rows:
            more = f", {len(rows) - share} more with --all" if share < len(rows) else ""
            terminal.line(terminal.style(f"{verdict} ({len(rows)}{more})", "bold", _COLOURS[verdict]))
        for row in rows[:share]:
            _card(terminal, row)
    if not board.rows:
        terminal.line("Nothing is known of it. Other words, fewer of them, or a lever may find more.")
    if receipt:
        terminal.line(terminal.style(f"Receipt {receipt}", "faint"))


def _readings(board: Board) -> list[tuple[str, str]]:
    """(typed, read as) of comparisons that are fields, and of words that were taken for misspelt ones."""
    return [*board.found.query.readings, *board.found.corrections]


def _aside(row: BoardRow) -> tuple[bool, bool]:
    return not row.standing.blocks, bool(row.standing.aside)


def _shares(counts: Iterable[int], room: int) -> list[int]:
    """How many cards of each lane fit: a third each, and what one does not need goes to the others, DEAD first."""
    left = list(counts)
    shares = [0] * len(left)
    while room > 0 and any(left):
        for lane in [lane for lane, count in enumerate(left) if count][:room]:
            shares[lane] += 1
            left[lane] -= 1
            room -= 1
    return shares


def _card(terminal: Terminal, row: BoardRow) -> None:
    """Two lines: code, title and figure; then whether it blocks, how the scopes stand, and why it was found."""
    seen, content = row.standing, row.row["content"]
    number = next((format_number(n) for n in content["numbers"] if n["readable"] and n["role"] != "related"), "")
    head = terminal.cut(" · ".join(filter(None, [content["title"], number])), len(row.row["code"]) + 4)
    terminal.line(f"  {terminal.style(row.row['code'], 'bold', _COLOURS[row.verdict])}  {head}")
    first = [f"{_BLOCKS}: {seen.why}"] if seen.blocks else [seen.why, seen.aside]
    said = "; ".join(filter(None, [*first, row.why and f"found by {row.why}"]))
    plain = terminal.cut(said or f"scope {describe(content['scope'])}", 6)
    marked = terminal.style(_BLOCKS, "red", "bold") + plain.removeprefix(_BLOCKS) if seen.blocks else plain
    terminal.line(f"      {marked}")


def _prompt(terminal: Terminal, index: Index, design: Design, board: Board) -> None:
    """A block for a prompt: every row of the board with its code and hash to cite, and what the gate will ask."""
    asked = "; ".join(filter(None, [design.text, ", ".join(design.levers), design.scope and describe(design.scope)]))
    terminal.line(f"## What was tried before: {asked}")
    terminal.line(f"Evidence of change {index.head.change}, {index.head.made_at}. Cite a row as CODE@HASH.")
    for verdict in VERDICTS:
        for row in board.of(verdict):
            content = row.row["content"]
            cite = f"{row.row['code']}@{row.row['head_hash'][:12]}"
            terminal.line(f"- {verdict} {cite} {content['title']}{' [BLOCKS]' if row.standing.blocks else ''}")
            said = {
                "numbers": "; ".join(number["text"] for number in content["numbers"]),
                "why": content["mechanism"],
                "not checked": content["not_checked"],
                "scope": describe(content["scope"]),
            }
            for name, text in said.items():
                if text:
                    terminal.line(f"  {name}: {' '.join(text.split())}")
    if any(row.standing.blocks for row in board.rows):
        terminal.line(_WHAT_THE_GATE_ASKS)
    if not board.rows:
        terminal.line("Nothing is known of it.")


def _document(index: Index, design: Design, board: Board, receipt: str) -> dict[str, Any]:
    rows = [
        row.as_document()
        | {
            "title": row.row["content"]["title"],
            "found_by": row.why,
            "relation": row.standing.relation,
            "aside": row.standing.aside,
            "why_blocks": row.standing.why,
        }
        for row in board.rows
    ]
    return {
        "snapshot": {"made_at": index.head.made_at, "change": index.head.change, "sha256": index.head.sha256},
        "search": _search(design, board),
        "rows": rows,
        "left_out": board.left_out,
        "corrections": [{"typed": typed, "read_as": known} for typed, known in _readings(board)],
        "receipt": receipt,
    }


def _search(design: Design, board: Board) -> dict[str, Any]:
    scope = None if design.scope is None else dict(design.scope)
    return {"query": design.text, "levers": list(board.levers), "scope": scope, "filters": {}}


def _keep(terminal: Terminal, checkout: Checkout, index: Index, design: Design, board: Board) -> str:
    """Keep what was asked and found, as a receipt of the app holds it; returns its path inside the checkout, or nothing
    where it can't be written, which is said: the answer stands without it.
    """
    content = {"search": _search(design, board), "rows": [row.as_document() for row in board.rows]}
    path = checkout.folder / RECEIPTS / f"{content_hash(content)[:16]}.json"
    receipt = {
        "content": content,
        "change": index.head.change,
        "snapshot": index.head.sha256,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    try:
        path.parent.mkdir(exist_ok=True)
        write_whole(path, json.dumps(receipt, ensure_ascii=False, indent=1, sort_keys=True) + "\n")
    except OSError as error:
        terminal.say(f"note: The receipt can't be written: {error}. Make .v2kb writable, or give --no-receipt.")
        return ""
    return str(Path(path).relative_to(checkout.root))
