"""The records of a log: lines of a pipe table, of slash-separated text, of CSV or of JSON lines. Pure; streams.

A record has as many cells as the log has columns. What can't be read is a record with a problem, never left out.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from evidence.importers.map_tables import is_map_header
from references.importers.markdown import plain_text
from references.importers.tables import is_delimiter, split_row
from v2kb.rules.words import counted

MAP, TABLE, SLASHES, CSV, JSONL = FORMATS = ("map", "table", "slashes", "csv", "jsonl")
LABELS = {
    MAP: "evidence map",
    TABLE: "markdown table",
    SLASHES: "lines with slashes",
    CSV: "CSV",
    JSONL: "JSON lines",
}
SAMPLE_LINES = 2000
MAX_COLUMNS = 60
MAX_CELL_CHARS = 100_000
SLASH_HEADER = ["Date", "Env", "Verdict", "Why", "Trace", "Commit"]
# JSON can name NUL and halves of a pair, which no database stores.
_NO_TEXT = re.compile("[\x00\ud800-\udfff]")
_BULLET = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")
_DATED = re.compile(r"\s*(?:(?:[-*+]|\d+[.)])\s+)?[*_`]*\d{4}[-/.]\d{1,2}[-/.]\d{1,2}[^/]*\s/\s")
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_HASH = re.compile(r"`?(?:commit\s+)?(?:[\w./-]+@)?(?=[0-9a-f]*\d)[0-9a-f]{7,40}`?", re.ASCII | re.IGNORECASE)
_TRACE = re.compile(r"`?(?:trace[s:]*\s+)?[\w.@+-]*/[\w./@+-]*`?", re.ASCII | re.IGNORECASE)
_TAIL = re.compile(r"\s*\(([^()]*)\)[.\s]*$")


@dataclass(frozen=True, slots=True)
class Record:
    """One record. `line` is where it begins; `problem` says why its cells can't be read, `fix` what to do."""

    line: int
    cells: list[str]
    problem: str = ""
    fix: str = ""
    column: str = ""


@dataclass
class Layout:
    """What a log looks like. `others` collects the first lines of tables with other columns, while it is read."""

    format: str
    header: list[str]
    delimiter: str = ""
    others: list[int] = field(default_factory=list)


class NoLog(Exception):
    """The file is none of the formats. `message` and `fix` are for people."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


# --- finding the format ---


def find_layout(lines: list[str]) -> Layout:
    """The format and the columns, from the first `SAMPLE_LINES` lines. Raises NoLog."""
    full = [line for line in lines if line.strip()]
    if not full:
        raise NoLog("The file is empty.", "Choose another.")
    if full[0].lstrip().startswith("{"):
        return Layout(JSONL, _json_keys(lines))
    if full[0].lstrip().startswith("["):
        raise NoLog("The file is one JSON list, not JSON lines.", "Write one object per line, without the brackets.")
    if (tables := _headers(lines)) and any(is_map_header(header) for header in tables):
        return Layout(MAP, [])
    if tables:
        return Layout(TABLE, _named(tables[0]))
    if any(_DATED.match(line) for line in lines):
        return Layout(SLASHES, list(SLASH_HEADER))
    layout = _csv_layout(full)
    if layout is None:
        raise NoLog(
            "No table, no dated lines with slashes, no CSV and no JSON lines were found.",
            "Give it a header line with at least two columns.",
        )
    return layout


def _headers(lines: list[str]) -> list[list[str]]:
    """The headers of the pipe tables, in order."""
    return [row.cells for row in _table_rows(lines) if row.is_header]


def _named(header: list[str]) -> list[str]:
    """Column names, each different and none empty."""
    names: list[str] = []
    for index, cell in enumerate(header[:MAX_COLUMNS], start=1):
        name = " ".join(plain_text(cell).split())[:80] or f"column {index}"
        same = [taken for taken in names if taken == name or taken.startswith(f"{name} (")]
        names.append(f"{name} ({len(same) + 1})" if same else name)
    return names


def _csv_layout(lines: list[str]) -> Layout | None:
    best: tuple[int, str, list[str]] | None = None
    for delimiter in ",;\t|":
        try:
            rows = [row for row in csv.reader([f"{line}\n" for line in lines[:50]], delimiter=delimiter) if row]
        except csv.Error:
            continue
        width = len(rows[0]) if rows else 0
        same = sum(len(row) == width for row in rows)
        if width > 1 and (best is None or same * width > best[0]):
            best = same * width, delimiter, rows[0]
    return Layout(CSV, _named(best[2]), best[1]) if best else None


def _json_keys(lines: list[str]) -> list[str]:
    keys: dict[str, None] = {}
    for line in lines:
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            keys |= dict.fromkeys(str(key)[:80] for key in found if not _NO_TEXT.search(key))
    return list(keys)[:MAX_COLUMNS]


# --- reading ---


def read_records(lines: Iterable[str], layout: Layout) -> Iterator[Record]:
    """Every record of the file, in order."""
    readers = {TABLE: _read_table, SLASHES: _read_slashes, CSV: _read_csv, JSONL: _read_json}
    yield from readers[layout.format](lines, layout)


@dataclass(frozen=True, slots=True)
class _TableRow:
    line: int
    cells: list[str]
    is_header: bool = False


def _table_rows(lines: Iterable[str]) -> Iterator[_TableRow]:
    """Header and body lines of all pipe tables outside fenced code."""
    width, fence, before = 0, "", ""
    for number, line in enumerate(chain(lines, [""]), start=1):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence, width, before = ("" if fence else mark[1][:3]), 0, ""
            continue
        if fence:
            continue
        if "|" not in line:
            width, before = 0, ""
        elif width:
            yield _TableRow(number, split_row(line, width))
        elif (
            before
            and is_delimiter(line)
            and len(header := split_row(before, len(split_row(line)))) == len(split_row(line))
        ):
            width = len(header)
            yield _TableRow(number - 1, header, is_header=True)
        else:
            before = line


def _read_table(lines: Iterable[str], layout: Layout) -> Iterator[Record]:
    wanted, reading = len(layout.header), False
    for row in _table_rows(lines):
        if row.is_header:
            reading = _named(row.cells) == layout.header
            if not reading:
                layout.others.append(row.line)
        elif reading:
            yield _sized(row.line, row.cells, wanted, "A pipe inside a cell is written \\|.")


def _sized(line: int, cells: list[str], wanted: int, fix: str) -> Record:
    if len(cells) != wanted:
        fix = fix if len(cells) > wanted else "Add those that are missing; they may be empty."
        return Record(line, cells[:MAX_COLUMNS], f"{counted(len(cells), 'cell')} where the header has {wanted}.", fix)
    for index, cell in enumerate(cells):
        if len(cell) > MAX_CELL_CHARS:
            return Record(line, [], f"Cell {index + 1} has {len(cell):,} characters.", "Shorten it.")
        if _NO_TEXT.search(cell):
            return Record(line, [], f"Cell {index + 1} holds characters that are not text.", "Remove them.")
    return Record(line, cells)


def _read_slashes(lines: Iterable[str], layout: Layout) -> Iterator[Record]:
    """Bullets and dated lines; an indented line goes on with the one before."""
    pending: tuple[int, str] | None = None
    for number, line in enumerate(lines, start=1):
        begins = _DATED.match(line) or _BULLET.match(line)
        if pending and line.strip() and not begins and line[:1] in (" ", "\t"):
            pending = pending[0], f"{pending[1]} {line.strip()}"
            continue
        if pending:
            yield _slash_record(*pending)
            pending = None
        if begins:
            pending = number, line
    if pending:
        yield _slash_record(*pending)


def _slash_record(number: int, line: str) -> Record:
    text = _BULLET.sub("", line, count=1).strip()
    parts = [part.strip() for part in re.split(r"\s/\s", text)]
    if len(parts) < 4:
        fix = "Write date / environment / verdict / why, with spaces around the slashes."
        return Record(
            number, [text], f"{counted(len(parts), 'part')} where date, environment, verdict and why are wanted.", fix
        )
    head, rest = parts[:3], parts[3:]
    trace = commit = ""
    if len(rest) > 1 and _HASH.fullmatch(rest[-1]):
        commit = _bare(rest.pop(), "commit")
    if len(rest) > 1 and _TRACE.fullmatch(rest[-1]):
        trace = _bare(rest.pop(), "trace")
    why = " / ".join(rest)
    if not trace and not commit:
        why, trace, commit = _tail(why)
    return _sized(number, [*head, why, trace, commit], len(SLASH_HEADER), "")


def _tail(why: str) -> tuple[str, str, str]:
    """(why, trace, commit) of `... (outputs/x/, commit ab12cd34)`; a parenthesis with other words stays."""
    found = _TAIL.search(why)
    trace = commit = ""
    for part in re.split(r"[,;]", found[1]) if found else []:
        part = part.strip().lstrip("+").strip()
        if _HASH.fullmatch(part) and not commit:
            commit = _bare(part, "commit")
        elif _TRACE.fullmatch(part) and not trace:
            trace = _bare(part, "trace")
        else:
            return why, "", ""
    return (why[: found.start()].strip(), trace, commit) if found and (trace or commit) else (why, "", "")


def _bare(text: str, word: str) -> str:
    return re.sub(rf"^{word}s?:?\s+", "", text.strip("` "), flags=re.IGNORECASE).strip("` ")


def _read_csv(lines: Iterable[str], layout: Layout) -> Iterator[Record]:
    csv.field_size_limit(10 * MAX_CELL_CHARS)
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=layout.delimiter)
    wanted, past_header, start = len(layout.header), False, 1
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Record(start, [], f"The line can't be read: {error}.", "Check its quotation marks.")
            start = reader.line_num + 1
            continue
        if row and not past_header:
            past_header = True
        elif row:
            cells = [unguarded(cell.removesuffix("\n")) for cell in row]
            yield _sized(start, cells, wanted, "Put a cell that holds the delimiter in quotation marks.")
        start = reader.line_num + 1


# What a spreadsheet would take for a formula gets an apostrophe in front when we write CSV.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'")


def guarded(cell: str) -> str:
    """A cell that no spreadsheet runs: an apostrophe stands before a sign that would begin a formula."""
    return f"'{cell}" if cell.startswith(FORMULA) else cell


def unguarded(cell: str) -> str:
    """The cell without the apostrophe of `guarded`."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(FORMULA) else cell


def _read_json(lines: Iterable[str], layout: Layout) -> Iterator[Record]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            found = json.loads(line, parse_float=str, parse_int=str, object_pairs_hook=_once)
        except json.JSONDecodeError as error:
            yield Record(number, [], f"No JSON from column {error.colno} on: {error.msg}.", "Correct it there.")
            continue
        except (_TwiceError, RecursionError) as error:
            yield Record(number, [], f"{error}.", "Give each field once, and nest less deeply.")
            continue
        if not isinstance(found, dict):
            yield Record(number, [], "The line is no object.", "Write {...} with one value per column.")
            continue
        strange = [key for key in found if key not in layout.header]
        if strange:
            yield Record(
                number, [], f"The field {strange[0][:40]!r} is no column of this log.",
                "Columns are taken from the first lines: name it there too.",
                _NO_TEXT.sub("\N{REPLACEMENT CHARACTER}", strange[0][:80]),
            )  # fmt: skip
            continue
        yield _sized(number, [_json_text(found.get(key)) for key in layout.header], len(layout.header), "")


class _TwiceError(Exception):
    pass


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _TwiceError("A field stands twice")
    return found


def _json_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return (
        {True: "true", False: "false"}.get(value) if isinstance(value, bool) else json.dumps(value, ensure_ascii=False)
    )
