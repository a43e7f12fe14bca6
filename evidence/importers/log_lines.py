"""How a line of a log becomes a row of evidence or an entry of the experiment history, under a mapping. Pure."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evidence.importers.log_cells import (
    cell_text,
    is_nothing,
    read_commit,
    read_day,
    read_figures,
    with_unit,
    word_key,
)
from evidence.importers.log_mapping import ENTRY, ROW, SKIP, columns_of
from evidence.importers.records import Record
from evidence.importers.typed_cells import TYPED, read_typed
from v2kb.rules import experiments
from v2kb.rules.canonical import content_hash
from v2kb.rules.evidence import CAUSE_CLASSES, DEAD, NO_CAUSES, UNTESTED, read_content
from v2kb.rules.evidence import FIELDS as ROW_FIELDS
from v2kb.rules.names import ROW_CODE, ROW_CODE_FIX, lever_slug
from v2kb.rules.number_reading import parse_numbers, two_ways, unit_of_heading
from v2kb.rules.numbers import SPELLINGS

# An entry says in one line what a row has fields for.
WHY = ("code", "title", "number", "why", "bound", "not_checked", "cause_class", "source", *TYPED)
MAX_TITLE = 300
MAX_PROBLEM_CHARS = 60


@dataclass
class ReadLine:
    """What one record says. `document` is an entry (v2kb.rules.experiments) or a row's content with `lever_name` and
    `code`; `key` names the line for the next import, empty where only its content does. `problems` are dicts {line,
    column, message, fix}; with one of them the line is not taken over. `notes` stop nothing.
    """

    kind: str
    document: dict[str, Any]
    key: str = ""
    problems: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class _Cells:
    """The cells of a record by field, and the problems that were found on the way."""

    def __init__(
        self,
        record: Record,
        header: list[str],
        mapping: dict[str, Any],
        causes: Mapping[str, str],
        units: Mapping[str, str],
    ) -> None:
        self.record, self.mapping, self.causes, self.units = record, mapping, causes, units
        self.by_column = dict(zip(header, record.cells, strict=True))
        self.problems: list[dict[str, Any]] = []

    def columns(self, name: str) -> list[str]:
        return columns_of(self.mapping, name)

    def raw(self, name: str) -> str:
        """The cell of the first column that is this field."""
        return next((self.by_column[column] for column in self.columns(name)), "")

    def text(self, name: str, joint: str = "; ") -> str:
        """All cells of this field that say something."""
        return joint.join(text for column in self.columns(name) if (text := cell_text(self.by_column[column])))

    def line(self, name: str) -> str:
        """The same, for one line of text: no heading stands above its figures, so they have their column's unit."""
        if name != "number":
            return self.text(name)
        headed = ((cell_text(self.by_column[column]), column) for column in self.columns(name))
        return "; ".join(
            with_unit(text, unit_of_heading(column, self.units), self.units) for text, column in headed if text
        )

    def problem(self, name: str, message: str, fix: str) -> None:
        column = next(iter(self.columns(name)), "")
        self.problems.append({"line": self.record.line, "column": column, "message": message, "fix": fix})

    def one(self, name: str, read: Callable[[str], str | None], wrong: str, fix: str) -> str:
        """What `read` makes of the cell, empty for a cell that says nothing; None of it is a problem."""
        cell = self.raw(name)
        if is_nothing(cell):
            return ""
        value = read(cell)
        if value is None:
            self.problem(name, f"{_short(cell)} {wrong}", fix)
        return value or ""

    def day(self) -> str:
        return self.one("date", read_day, "can't be read as one date.", "Write 2026-07-03.")

    def commit(self) -> str:
        return self.one("commit", read_commit, "is not one commit.", "Write one hash of 7 digits or more.")

    def typed(self, role: str) -> dict[str, Any]:
        """Field -> value of the columns that are typed and say something; typed numbers and sources may be none."""
        found = {}
        for name in TYPED:
            cell = self.raw(name)
            if not self.columns(name) or (is_nothing(cell) and name not in ("numbers", "sources")):
                continue
            found[name], problems = read_typed(name, "" if is_nothing(cell) else cell, role, self.units)
            for problem in problems:
                self.problem(name, problem.message, problem.fix)
        return found


def read_line(
    record: Record,
    header: list[str],
    mapping: dict[str, Any],
    causes: Mapping[str, str] = NO_CAUSES,
    units: Mapping[str, str] = SPELLINGS,
) -> ReadLine:
    """What a record says under a mapping; `causes` are the cause classes that curators added, `units` as for
    `parse_numbers`. Never raises."""
    if record.problem:
        problem = {"line": record.line, "column": record.column, "message": record.problem, "fix": record.fix}
        return ReadLine("", {}, problems=[problem])
    cells = _Cells(record, header, mapping, causes, units)
    said = cells.raw("verdict")
    meaning = mapping["words"].get(word_key(said))
    if meaning is None:
        shown = _short(said) if said.strip() else "An empty verdict"
        cells.problem("verdict", f"{shown} has no meaning yet.", "Say in the mapping what this word means.")
        return ReadLine("", {}, problems=cells.problems)
    if meaning["as"] == SKIP:
        return ReadLine(SKIP, {})
    read = _entry(cells, meaning) if meaning["as"] == ENTRY else _row(cells, meaning)
    read.problems = cells.problems
    named = [cells.by_column[column].strip() for column in cells.columns("key")]
    if any(named):
        read.key = _digest([meaning["as"], *named])
    return read


def _entry(cells: _Cells, meaning: dict[str, str]) -> ReadLine:
    raw = {
        "on": cells.day(),
        "env": cells.text("env") or ("" if cells.columns("env") else "not said"),
        "verdict": meaning["verdict"],
        "why": "; ".join(text for name in WHY if (text := cells.line(name))),
        "trace": cells.text("trace").strip("`"),
        "commit": cells.commit(),
        "lever": cells.text("lever"),
        "links": experiments.split_links(cells.text("links", " ").replace("`", "")),
    }
    entry, problems = experiments.read_entry(raw)
    places = {"on": "date"}
    told = {problem["column"] for problem in cells.problems}
    for problem in problems:
        name = places.get(problem.field, problem.field)
        if next(iter(cells.columns(name)), "") not in told:
            cells.problem(name, problem.message, problem.fix)
    corrects = cells.text("corrects").strip("`")
    return ReadLine(ENTRY, entry | ({"corrects": corrects} if corrects else {}))


def _row(cells: _Cells, meaning: dict[str, str]) -> ReadLine:
    if not is_nothing(cells.raw("document")):
        return _exported_row(cells)
    verdict = meaning["verdict"]
    lever_name = " ".join(cells.text("lever", " ").split()) or " ".join(cells.text("title", " ").split())
    title = " ".join(cells.text("title", " ").split()) or lever_name
    if not lever_slug(lever_name):
        cells.problem("lever" if cells.columns("lever") else "title", "The line names no lever.", "Name it in words.")
    cause = cells.text("cause_class").strip("`").replace(" ", "_").casefold() or meaning["cause_class"]
    known = [*CAUSE_CLASSES, *cells.causes]
    if cause and cause not in known:
        cells.problem("cause_class", f"{_short(cause)} is no cause class.", f"Use one of {', '.join(known)}.")
    role = "bound" if verdict == UNTESTED else "verdict"
    typed = cells.typed(role)
    numbers, notes = ([], []) if "numbers" in typed else _numbers(cells, verdict)
    commit, trace = cells.commit(), cells.text("trace").strip("`")
    sources = [{"kind": "commit", "text": commit}] if commit else []
    texts = (trace, *(cells.text(name) for name in ("source", "links", "corrects")))
    sources += [{"kind": "note", "text": text} for text in texts if text]
    measured = [cells.text("number"), f"environment: {cells.text('env')}" if cells.text("env") else ""]
    content = {
        "lever": lever_slug(lever_name),
        "title": title if len(title) <= MAX_TITLE else f"{title[: MAX_TITLE - 1]}…",
        "verdict": verdict,
        "scope": typed.get("scope", {}),
        "numbers": typed.get("numbers", numbers),
        "mechanism": cells.text("why", "\n"),
        "cause_class": cause if verdict == DEAD else "",
        "approaches": typed.get("approaches", []),
        "not_checked": cells.text("not_checked"),
        "bound": cells.text("bound"),
        "structural": typed.get("structural", False),
        "measured_on": cells.day(),
        "measured_note": "; ".join(text for text in measured if text),
        "sources": [*typed.get("sources", []), *(source | {"document": "", "anchor": ""} for source in sources)],
    }
    code = cells.text("code").strip("`")
    code = code.upper() if code.isascii() else code  # ſ and ı have capitals of ASCII
    if code and not ROW_CODE.fullmatch(code):
        cells.problem("code", f"{_short(code)} is no code of a row.", ROW_CODE_FIX)
    said = [name for name in ("cause_class", "not_checked") if content[name]]
    said += [name for name in ("scope", "approaches", "structural") if name in typed]
    key = _digest([ROW, code] if code else [ROW, title.casefold(), content["measured_on"], cells.text("env")])
    return ReadLine(ROW, {"content": content, "lever_name": lever_name, "code": code, "said": said}, key, notes=notes)


def _numbers(cells: _Cells, verdict: str) -> tuple[list[dict[str, Any]], list[str]]:
    """(numbers in the cells of number and bound, notes about what stays text)."""
    numbers, notes = [], []
    for name, role in (("number", "data_point" if verdict == UNTESTED else "verdict"), ("bound", "bound")):
        for column in cells.columns(name):
            cell = cell_text(cells.by_column[column])
            if name == "number":
                found, texts = read_figures(cell, unit_of_heading(column, cells.units), role, cells.units)
            else:
                found = parse_numbers(cell, role=role, units=cells.units)
                texts = [number["text"] for number in found if not number["readable"]]
            numbers += found
            for text in texts:
                notes.append(f"column {column}: {_short(text)}{two_ways(text)} is kept as text, not read as a number")
    return numbers, notes


def _exported_row(cells: _Cells) -> ReadLine:
    """A row that was exported whole; its hash must fit."""
    try:
        content, problems = read_content(json.loads(cells.raw("document")), cells.causes)
    except (ValueError, RecursionError):
        content, problems = read_content(None)
    code = cells.raw("code").strip()
    if problems:
        cells.problem("document", f"{problems[0].field}: {problems[0].message}", problems[0].fix)
    elif cells.columns("hash") and content_hash(content) != cells.raw("hash").strip():
        cells.problem(
            "hash", "The content is not the one that was exported.", "Export it again, or leave the hash out."
        )
    elif not ROW_CODE.fullmatch(code):
        cells.problem("code", f"{_short(code)} is no code of a row.", ROW_CODE_FIX)
    document = {"content": content, "lever_name": cells.text("lever"), "code": code, "said": list(ROW_FIELDS)}
    return ReadLine(ROW, document, _digest([ROW, code]))


def _digest(parts: list[str]) -> str:
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return repr(flat if len(flat) <= MAX_PROBLEM_CHARS else f"{flat[: MAX_PROBLEM_CHARS - 1]}…")
