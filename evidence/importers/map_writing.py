"""Writing an evidence map: the cells of a row, and the document with the cells of edited rows renewed. Pure.

Lines that nobody edited stay as they are, to the letter. A row whose verdict moved goes to the table of its verdict,
new rows to the end of it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evidence.importers.cells import CellDate, read_source_cell
from evidence.importers.map_tables import MapTable, find_tables
from references.importers.markdown import parse_markdown, plain_text
from references.importers.tables import Row, split_row
from v2kb.rules.evidence import DEAD, UNTESTED, WIN
from v2kb.rules.numbers import format_number

TITLES = {DEAD: "Dead levers", WIN: "Wins", UNTESTED: "Untested cells"}
HEADERS = {
    DEAD: ["#", "Lever", "Verdict + number", "Mechanism (one line)", "Date / source"],
    WIN: ["#", "Win", "Number", "Mechanism (corrected)", "Source"],
    UNTESTED: ["#", "Cell", "Status", "Bound / caveat"],
}
DEAD_WORDS = re.compile(
    r"\b(dead|killed|regress\w*|exhausted|flat|ruled out|excluded|refuted|no headroom)\b", re.ASCII | re.IGNORECASE
)
_OTHER_VERDICT = re.compile(r"\W*(DEAD|WIN|UNTESTED)\b", re.ASCII)
_SAME = re.compile(r"(?:^|;)\s*(?:same|ditto|as above)\W*(?:$|;)", re.IGNORECASE)
# Cell -> the fields of a row that it feeds. The source cell may hold words beside its date, which end the note.
FEEDS = {
    "name": ("title",),
    "figure": ("measured_note",),
    "source": ("measured_on", "sources"),
    "mechanism": ("mechanism",),
    "status": ("mechanism",),
    "bound": ("bound",),
}


@dataclass(frozen=True)
class MapRow:
    """A row as it stands. `imported` is the content that its line in the document gave it, or None."""

    code: str
    content: dict[str, Any]
    imported: dict[str, Any] | None = None
    is_archived: bool = False


def cells_of(content: dict[str, Any]) -> dict[str, str]:
    """The cells of a row by role, as the table of its verdict has them."""
    name = {"name": content["title"]}
    if content["verdict"] == UNTESTED:
        return name | {"status": content["mechanism"], "bound": content["bound"]}
    figure = content["measured_note"] or "; ".join(
        format_number(number) for number in content["numbers"] if number["role"] == "verdict"
    )
    other = _OTHER_VERDICT.match(plain_text(figure))
    if content["verdict"] == DEAD and (not DEAD_WORDS.search(plain_text(figure)) or (other and other[1] != DEAD)):
        figure = f"DEAD: {figure}" if figure else "DEAD"
    elif other and other[1] != content["verdict"]:
        figure = f"now {figure}"
    return name | {"figure": figure, "mechanism": content["mechanism"], "source": _source_cell(content)}


def _source_cell(content: dict[str, Any]) -> str:
    return "; ".join([*filter(None, [content["measured_on"]]), *_source_texts(_as_spelt(content)["sources"])])


def _source_texts(sources: Sequence[dict[str, str]]) -> list[str]:
    parts = []
    for source in sources:
        text = source["text"].replace(";", ",")
        if source["kind"] in ("commit", "run") and not text.startswith(source["kind"]):
            text = f"{source['kind']} {text}"
        parts.append(text)
    return parts


def escaped(text: str) -> str:
    """A text as one cell of a pipe table: line breaks as `<br>`, pipes escaped."""
    flat = "<br>".join(" ".join(line.split()) for line in text.strip().split("\n"))
    return flat.replace("\\|", "\\&#124;").replace("|", "\\|")


def table_line(cells: Sequence[str]) -> str:
    """One line of a pipe table."""
    return "| " + " | ".join(map(escaped, cells)) + " |"


def as_read(cell: str) -> str:
    """What a reader of the table gets back from a cell that was written."""
    return split_row(table_line(["x", cell]), 2)[-1]


@dataclass
class _Edit:
    """What becomes of the document's lines, counted from 1: a new text or none; `added` goes behind a line."""

    changed: dict[int, str | None] = field(default_factory=dict)
    added: dict[int, list[str]] = field(default_factory=dict)


def write_map(text: str, rows: Mapping[str, MapRow]) -> str:
    """The document `text` with `rows` as they stand now; without a text, a document of its own.

    Rows that the document does not have, and that are not archived, are added.
    """
    document = parse_markdown(text)
    tables = find_tables(document.sections).tables
    edit, placed, moved = _Edit(), set(), []
    for table in tables:
        moved += _edit_table(table, rows, edit, placed)
    extra = [rows[code] for code in moved]
    extra += [row for code, row in rows.items() if code not in placed and not row.is_archived]
    lines = list(document.lines) if text else ["# Evidence map"]
    tail: list[str] = []
    for verdict in TITLES:
        mine = [row for row in extra if row.content["verdict"] == verdict]
        last = next((table for table in reversed(tables) if table.verdict == verdict), None)
        if mine and last:
            edit.added.setdefault(last.table.end_line, []).extend(_new_line(row, last) for row in mine)
        elif mine:
            tail += [
                "",
                f"## {TITLES[verdict]}",
                "",
                table_line(HEADERS[verdict]),
                "|---" * len(HEADERS[verdict]) + "|",
            ]
            tail += [table_line([row.code, *cells_of(row.content).values()]) for row in mine]
    written: list[str] = []
    for number, line in enumerate(lines, start=1):
        new = edit.changed.get(number, line)
        written += [] if new is None else [new]
        written += edit.added.get(number, [])
    while tail and written and not written[-1].strip():
        written.pop()
    written += tail
    return "\n".join(written).rstrip("\n") + "\n" if tail or not text.endswith("\n\n") else "\n".join(written)


def _edit_table(table: MapTable, rows: Mapping[str, MapRow], edit: _Edit, placed: set[str]) -> list[str]:
    """Plan the changes of one table. Returns the codes that leave it for the table of another verdict."""
    moved, above_changed = [], False
    for line in table.table.rows:
        code = plain_text(table.cell(line.cells, "code"))
        row = rows.get(code) if len(line.cells) == len(table.table.header) and code not in placed else None
        if row is None:
            above_changed = False
            continue
        placed.add(code)
        if row.is_archived or row.content["verdict"] != table.verdict:
            moved += [] if row.is_archived else [code]
            edit.changed[line.line] = None
            above_changed = True
            continue
        source = table.cell(line.cells, "source")
        says_same = bool(_SAME.search(source))
        roles = _stale_roles(row) | ({"source"} if above_changed and says_same else set())
        more = [] if says_same else _added_sources(row)
        roles -= {"source"} if more else set()
        beside = "" if says_same else read_source_cell(source, CellDate("", "", ""), [])[0].note
        content, keeps_note = _without_note(row.content, beside)
        if "source" in roles or ("figure" in roles and (says_same or not keeps_note)):
            content, roles = row.content, roles | {"figure", "source"}
        if "source" in roles:
            more = []
        if roles or more:
            edit.changed[line.line] = _renewed(table, line, content, roles, more)
        above_changed = "source" in roles or bool(more) or (above_changed and says_same)
    return moved


def _without_note(content: dict[str, Any], beside: str) -> tuple[dict[str, Any], bool]:
    """(the content without the words beside the date at the end of its note, whether they stand there)."""
    note, end = content["measured_note"], f"; {beside}" if beside else ""
    return content | {"measured_note": note.removesuffix(end)}, note.endswith(end)


def _stale_roles(row: MapRow) -> set[str]:
    if row.imported is None:
        return set()
    before, now = _as_spelt(row.imported), _as_spelt(row.content)
    differs = {name for name, value in now.items() if before.get(name) != value}
    return {role for role, fields in FEEDS.items() if differs.intersection(fields)}


def _as_spelt(content: dict[str, Any]) -> dict[str, Any]:
    """The content without documents as sources: a cell does not name them, and a reader adds the map itself."""
    return content | {"sources": [source for source in content["sources"] if source["kind"] != "document"]}


def _added_sources(row: MapRow) -> list[str]:
    """What goes behind the source cell of a row whose date stands and whose sources only grew; else nothing."""
    before, now = _as_spelt(row.imported or row.content), _as_spelt(row.content)
    if before["measured_on"] != now["measured_on"] or any(source not in now["sources"] for source in before["sources"]):
        return []
    return _source_texts([source for source in now["sources"] if source not in before["sources"]])


def _renewed(table: MapTable, line: Row, content: dict[str, Any], roles: set[str], more: Sequence[str]) -> str:
    cells, fresh = list(line.cells), cells_of(content)
    for role in roles.intersection(table.columns, fresh):
        cells[table.columns[role][0]] = fresh[role]
    if more and "source" in table.columns:
        place = table.columns["source"][0]
        cells[place] = "; ".join([*filter(None, [cells[place].rstrip(" ;")]), *more])
    return table_line(cells)


def _new_line(row: MapRow, table: MapTable) -> str:
    cells = [""] * len(table.table.header)
    for role, text in {"code": row.code, **cells_of(row.content)}.items():
        if role in table.columns:
            cells[table.columns[role][0]] = text
    return table_line(cells)


def codes_in(text: str) -> list[str]:
    """The codes of the rows that a map's tables hold, in order."""
    tables = find_tables(parse_markdown(text).sections).tables
    return [plain_text(table.cell(line.cells, "code")) for table in tables for line in table.table.rows]


def read_back(content: dict[str, Any]) -> tuple[dict[str, str], CellDate, list[dict[str, str]]]:
    """(cells, date, sources) as a reader gets them back from the cells of a row."""
    cells = {role: as_read(cell) for role, cell in cells_of(content).items()}
    date, sources = read_source_cell(cells.get("source", ""), CellDate("", "", ""), [])
    return cells, date, sources
