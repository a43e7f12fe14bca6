"""An evidence map (markdown) to rows, guidelines and problems. Pure: no database, no files.

The source's words are kept: the verdict or number cell goes to `measured_note`, the status of an untested cell to
`mechanism`, its bound to `bound`. What no column says (lever, scope, cause class, approaches, what was not checked)
comes from a typing file or stays empty; an empty cause class blocks, an empty scope covers any case.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from evidence.baseline import UNSAID, BaselineRow
from evidence.importers.cells import CellDate, read_date, read_source_cell
from evidence.importers.log_cells import with_breaks
from evidence.importers.map_tables import MapProblem, MapTable, find_tables
from evidence.importers.map_writing import DEAD_WORDS, read_back
from evidence.importers.typing_file import Typing
from references.importers.markdown import Document, Section, plain_text
from references.importers.tables import Row
from v2kb.rules.evidence import DEAD, UNTESTED
from v2kb.rules.names import ROW_CODE, ROW_CODE_FIX, lever_slug
from v2kb.rules.number_reading import parse_numbers
from v2kb.rules.numbers import SPELLINGS
from v2kb.rules.words import counted

MAX_TITLE_CHARS = 300
MAX_GUIDELINE_TITLE = 160
MAX_NAMED = 10
_OTHER_VERDICT = re.compile(r"\W*(DEAD|WIN|UNTESTED)\b", re.ASCII)
_PARENTHESIS = re.compile(r"\s*\([^()]*\)")
_LEAD = re.compile(r"^\*\*(.+?)\*\*", re.DOTALL)
GUIDELINE_SECTIONS = {
    "measurement_rule": re.compile(r"\bmeasurement rules?\b", re.IGNORECASE),
    "contract_step": re.compile(r"\banti-?loop contract\b", re.IGNORECASE),
    "known_gap": re.compile(r"^known gaps?\b", re.IGNORECASE),
}


@dataclass(frozen=True)
class EvidenceMap:
    """What was read. `guidelines`: kind -> items {title, text, anchor, line}; `other_tables`: first lines of other
    tables; `notes`: what else could not be read as it was meant, and blocks nothing.
    """

    title: str
    rows: list[BaselineRow]
    guidelines: dict[str, list[dict[str, Any]]]
    problems: list[MapProblem]
    other_tables: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_map(
    document: Document, *, slug: str = "", typing: Typing | None = None, units: Mapping[str, str] = SPELLINGS
) -> EvidenceMap:
    """Read a parsed document. `slug` is what the document is called among the references; rows name it as their source.
    `units` as for `parse_numbers`.

    Never raises on content: what can't be taken over stands in `problems` with its line, column and fix.
    """
    typing = typing or Typing()
    found = find_tables(document.sections)
    problems = list(found.problems)
    rows: list[BaselineRow] = []
    for table in found.tables:
        rows += _rows(document, table, slug, typing, problems, units)
    rows = _without_twins(rows, problems)
    if not found.tables and not problems:
        problems.append(
            MapProblem(
                1,
                "",
                "evidence.import.no_tables",
                "No table of this document has the shape of an evidence table.",
                "Give it the columns # | Lever | Verdict + number | Mechanism | Date / source, "
                "# | Win | Number | Mechanism | Source or # | Cell | Status | Bound / caveat.",
            )
        )
    problems.sort(key=lambda problem: problem.line)
    notes = _notes(document, found.tables, typing)
    return EvidenceMap(document.title, rows, _guidelines(document.sections), problems, found.other, notes)


def _notes(document: Document, tables: list[MapTable], typing: Typing) -> list[str]:
    """What was written and is not taken over, though it stops nothing."""
    notes = [document.front_matter.problem] if document.front_matter.problem else []
    lines = [(table, line) for table in tables for line in table.table.rows]
    for table, line in lines:
        date = read_date(table.cell(line.cells, "source"))
        if date.note and not date.newest:
            notes.append(f"line {line.line}: {date.note} is no date of a calendar; the row has none")
    strangers = sorted(set(typing.rows) - {plain_text(table.cell(line.cells, "code")) for table, line in lines})
    if strangers:
        more = f" and {len(strangers) - MAX_NAMED} more" if len(strangers) > MAX_NAMED else ""
        notes.append(f"the typing file speaks of codes that no table has: {', '.join(strangers[:MAX_NAMED])}{more}")
    return notes


def _rows(
    document: Document,
    table: MapTable,
    slug: str,
    typing: Typing,
    problems: list[MapProblem],
    units: Mapping[str, str],
) -> list[BaselineRow]:
    rows: list[BaselineRow] = []
    above = CellDate("", "", ""), []
    width = len(table.table.header)
    for line in table.table.rows:
        if len(line.cells) != width:
            message = f"{counted(len(line.cells), 'cell')} where the header has {width}."
            fix = "Write every cell between pipes; a pipe inside a cell is written \\|."
            problems.append(MapProblem(line.line, "", "evidence.import.cells", message, fix))
            continue
        problem = _row_problem(table, line)
        if problem:
            problems.append(problem)
            continue
        date, sources = read_source_cell(table.cell(line.cells, "source"), *above)
        above = date, sources
        rows.append(_row(document, table, line, slug, typing, date, sources, units))
    return rows


def _row_problem(table: MapTable, line: Row) -> MapProblem | None:
    code, name = plain_text(table.cell(line.cells, "code")), plain_text(table.cell(line.cells, "name"))
    if not ROW_CODE.fullmatch(code):
        message = f"{code[:40]!r} is no code of a row." if code else "The row has no code."
        return MapProblem(line.line, table.header("code"), "evidence.import.code", message, ROW_CODE_FIX)
    if not name:
        fix = "Name the lever or the cell."
        return MapProblem(line.line, table.header("name"), "evidence.import.empty_cell", f"{code} has no name.", fix)
    if not lever_slug(_lever_name(name)):
        message = f"{code}: {name[:40]!r} holds no letter and no digit of ASCII, so no lever can be made of it."
        fix = "Name the lever in words."
        return MapProblem(line.line, table.header("name"), "evidence.import.empty_cell", message, fix)
    role = "figure" if table.verdict != UNTESTED else "status"
    said = plain_text(table.cell(line.cells, role))
    other = _OTHER_VERDICT.match(said)
    contradicts = other is not None and other.group(1) != table.verdict
    if contradicts or (table.verdict == DEAD and not DEAD_WORDS.search(said)):
        shown = f"{said[:60]!r}" if said else "an empty cell"
        return MapProblem(
            line.line,
            table.header(role),
            "evidence.import.verdict",
            f"{code}: {shown} is no verdict of the {table.verdict} table.",
            "Begin the cell with DEAD, or move the row to the table of its verdict."
            if table.verdict == DEAD
            else "Move the row to the table of its verdict.",
        )
    return None


def _lever_name(name: str) -> str:
    """The name without what stands in parentheses, unless nothing else stands there."""
    return _PARENTHESIS.sub("", name).strip() or name


def _row(
    document: Document,
    table: MapTable,
    line: Row,
    slug: str,
    typing: Typing,
    date: CellDate,
    sources: list[dict[str, str]],
    units: Mapping[str, str],
) -> BaselineRow:
    cells = {role: table.cell(line.cells, role) for role in table.columns}
    code, name = plain_text(cells["code"]), plain_text(cells["name"])
    lever_name = _lever_name(name)
    own_source = _document_source(document, table.section, slug)
    plain = _said(table.verdict, cells, date, [own_source, *sources], units)
    content: dict[str, Any] = {
        "lever": lever_slug(lever_name),
        "verdict": table.verdict,
        "scope": {},
        "cause_class": "",
        "approaches": [],
        "not_checked": "",
        "structural": False,
    } | plain
    typed = typing.rows.get(code, {})
    content |= {name: value for name, value in typed.items() if value or name == "structural"}
    if typed.get("measured_note"):
        content["measured_note"] = "; ".join(part for part in (cells.get("figure", ""), typed["measured_note"]) if part)
    said = frozenset(name for name in UNSAID if name in typed)
    lever = typing.levers.get(content["lever"])
    name = lever.name if lever else lever_name
    return BaselineRow(code, line.line, content, name, said, reread=partial(_reread, own_source, units), plain=plain)


def _said(
    verdict: str, cells: dict[str, str], date: CellDate, sources: list[dict[str, str]], units: Mapping[str, str]
) -> dict[str, Any]:
    """The fields that the cells of a row give."""
    name = plain_text(cells["name"])
    figure = with_breaks(cells.get("figure", ""))
    return {
        "title": name if len(name) <= MAX_TITLE_CHARS else f"{name[: MAX_TITLE_CHARS - 1]}…",
        "numbers": _numbers(verdict, cells, units),
        "mechanism": with_breaks(cells["mechanism"] if "mechanism" in cells else cells["status"]),
        "bound": with_breaks(cells.get("bound", "")),
        "measured_on": date.newest,
        "measured_note": "; ".join(part for part in (figure, date.note) if part),
        "sources": sources,
    }


def _reread(own_source: dict[str, str], units: Mapping[str, str], content: dict[str, Any]) -> dict[str, Any]:
    """The fields that the cells give back when a row with this content is written to its table."""
    cells, date, sources = read_back(content)
    return _said(content["verdict"], cells, date, [own_source, *sources], units)


def _numbers(verdict: str, cells: dict[str, str], units: Mapping[str, str]) -> list[dict[str, Any]]:
    """Numbers of the verdict cell, then data points of the mechanism; those of an untested cell are bounds or data
    points.
    """
    untested = {"status": "data_point", "bound": "bound"}
    roles = untested if verdict == UNTESTED else {"figure": "verdict", "mechanism": "data_point"}
    return [number for name, role in roles.items() for number in parse_numbers(cells[name], role=role, units=units)]


def _document_source(document: Document, section: Section, slug: str) -> dict[str, str]:
    text = document.title if document.title == section.title else f"{document.title}, {section.title}"
    return {"kind": "document", "text": text[:MAX_TITLE_CHARS], "document": slug, "anchor": section.anchor}


def _without_twins(rows: list[BaselineRow], problems: list[MapProblem]) -> list[BaselineRow]:
    lines: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        lines[row.code].append(row.line)
    for row in rows:
        others = [line for line in lines[row.code] if line != row.line]
        if others:
            message = f"{row.code} stands in line {' and '.join(map(str, others))} too."
            fix = "Keep one of them, or give the other its own code."
            problems.append(MapProblem(row.line, "#", "evidence.import.duplicate_code", message, fix))
    return [row for row in rows if len(lines[row.code]) == 1]


def _guidelines(sections: list[Section]) -> dict[str, list[dict[str, Any]]]:
    """The top-level list items of the sections that state rules, contract steps and gaps."""
    found: dict[str, list[dict[str, Any]]] = {kind: [] for kind in GUIDELINE_SECTIONS}
    for section in sections:
        if section.level < 2:
            continue
        for kind, pattern in GUIDELINE_SECTIONS.items():
            if pattern.search(section.title):
                found[kind] += [
                    {
                        "title": _guideline_title(item.text),
                        "text": item.text,
                        "anchor": section.anchor,
                        "line": item.line,
                    }
                    for block in section.blocks
                    if block.kind in ("list", "checklist")
                    for item in block.items
                    if item.depth == 0 and item.text.strip()
                ]
    return found


def _guideline_title(text: str) -> str:
    """The bold words in front, else the first sentence, at most MAX_GUIDELINE_TITLE characters."""
    lead = _LEAD.match(text)
    flat = " ".join(plain_text(lead.group(1) if lead else text).split())
    if not lead:
        flat = re.split(r"(?<=[.;:])\s", flat, maxsplit=1)[0]
    flat = flat.rstrip(" .,:;")
    return flat if len(flat) <= MAX_GUIDELINE_TITLE else f"{flat[: MAX_GUIDELINE_TITLE - 1].rsplit(' ', 1)[0]}…"
