"""Pipe tables as the field writes them: header and rows of cell texts, with the line each row stands on. Pure."""

import re
from dataclasses import dataclass, field

from v2kb.rules.words import counted

_DELIMITER_CELL = re.compile(r":?-+:?")


@dataclass(frozen=True)
class Row:
    """One row. `line` is counted from 1 in the document; `cells` holds markdown texts with `\\|` unescaped."""

    line: int
    cells: list[str]


@dataclass(frozen=True)
class Table:
    """A table. `problems` names every row whose cell count differs from the header's; such a row keeps its cells."""

    header: list[str]
    rows: list[Row]
    start_line: int
    end_line: int
    problems: list[str] = field(default_factory=list)

    @property
    def kind(self) -> str:
        return "table"

    def to_dict(self) -> dict:
        """JSON form: kind, header, rows [{line, cells}], start_line, end_line, problems."""
        return {
            "kind": "table",
            "header": self.header,
            "rows": [{"line": row.line, "cells": row.cells} for row in self.rows],
            "start_line": self.start_line,
            "end_line": self.end_line,
            "problems": self.problems,
        }

    def records(self) -> list[dict[str, str]]:
        """Rows by header cell; a row that is short or long is left out (it is named in `problems`)."""
        width = len(self.header)
        return [dict(zip(self.header, row.cells, strict=True)) for row in self.rows if len(row.cells) == width]


def _code_spans(text: str) -> list[tuple[int, int]]:
    """Half-open ranges of inline code, backticks included. A run of backticks closes at the next equal run."""
    runs = [(match.start(), match.end()) for match in re.finditer(r"`+", text)]
    nearest_closer: dict[int, int] = {}
    closer_of: list[int | None] = [None] * len(runs)
    for index in range(len(runs) - 1, -1, -1):
        length = runs[index][1] - runs[index][0]
        closer_of[index] = nearest_closer.get(length)
        nearest_closer[length] = index
    spans, index = [], 0
    while index < len(runs):
        closer = closer_of[index]
        if closer is None:
            index += 1
            continue
        spans.append((runs[index][0], runs[closer][1]))
        index = closer + 1
    return spans


def _bars(text: str, protect_code: bool) -> list[int]:
    """Positions of the pipes that separate cells: not escaped, and not inside inline code where that is asked."""
    spans = iter(_code_spans(text) if protect_code else [])
    span = next(spans, None)
    bars, position, length = [], 0, len(text)
    while position < length:
        if span is not None and position >= span[0]:
            position, span = max(position, span[1]), next(spans, None)
            continue
        if text[position] == "\\":
            position += 2
            continue
        if text[position] == "|":
            bars.append(position)
        position += 1
    return bars


def split_row(line: str, width: int | None = None) -> list[str]:
    """Cells of one table line.

    Pipes split as in GitHub's tables, `\\|` does not. Where that gives another count than `width` and pipes stand in
    inline code (`(kind `warp|tma`)`), the split that leaves code whole is taken if it fits `width`.
    """
    text = line.strip()
    plain = _cells(text, _bars(text, protect_code=False))
    if width is None or len(plain) == width or "`" not in text:
        return plain
    guarded = _cells(text, _bars(text, protect_code=True))
    return guarded if len(guarded) == width else plain


def _cells(text: str, bars: list[int]) -> list[str]:
    pieces, start = [], 0
    for bar in bars:
        pieces.append(text[start:bar])
        start = bar + 1
    pieces.append(text[start:])
    if len(pieces) > 1 and bars[0] == 0:
        pieces = pieces[1:]
    if len(pieces) > 1 and bars[-1] == len(text) - 1:
        pieces = pieces[:-1]
    return [piece.replace("\\|", "|").strip() for piece in pieces]


def is_delimiter(line: str) -> bool:
    """Whether the line is the `|---|:--:|` under a table's header."""
    text = line.strip()
    if "-" not in text or "|" not in text:
        return False
    return all(_DELIMITER_CELL.fullmatch(cell) for cell in split_row(text))


def read_table(lines: list[str], start: int, end: int) -> Table | None:
    """Read lines[start:end] (0-based, half-open) as a table, or None where they are no table.

    The first line is the header, the second the delimiter row, whose cell count is the table's width.
    """
    if end - start < 2 or not is_delimiter(lines[start + 1]):
        return None
    width = len(split_row(lines[start + 1]))
    header = split_row(lines[start], width)
    if len(header) != width:
        return None
    rows, problems = [], []
    for index in range(start + 2, end):
        if not lines[index].strip():
            continue
        cells = split_row(lines[index], width)
        rows.append(Row(line=index + 1, cells=cells))
        if len(cells) != width:
            problems.append(f"line {index + 1}: {counted(len(cells), 'cell')} where the header has {width}")
    return Table(header=header, rows=rows, start_line=start + 1, end_line=end, problems=problems)
