"""A revision's design as the page of the spec shows it: every part of the document that holds something, in the words
of the editor, with what an amendment changed beside what was written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kernels.editor.cells import shown_tables
from kernels.editor.forms import at
from kernels.editor.layout import BY_SLUG, Fields, Input, Section, Table
from kernels.editor.places import label_of
from v2kb.rules.spec_view import SpecView

# Sections that are read without a click.
OPEN = ("overview", "smem", "granularity")


@dataclass(frozen=True)
class Value:
    """A field as text. Where an amendment set it, `by` names it and `written` is what the section says."""

    label: str
    text: str
    written: str = ""
    by: str = ""


@dataclass(frozen=True)
class ReadRow:
    """A row: its first columns, its other fields that hold something, the tables inside it, and the lines of its small
    table that hold something, each with its title.
    """

    values: list[Value]
    more: list[Value]
    inner: list["ReadTable"]
    paths: list[tuple[str, list[Value]]]


@dataclass(frozen=True)
class ReadTable:
    """A table with the columns in which some row holds something."""

    title: str
    row: str
    columns: list[str]
    rows: list[ReadRow]


@dataclass
class ReadSection:
    """A section with the parts that hold something."""

    slug: str
    title: str
    open: bool
    fields: list[Value] = field(default_factory=list)
    tables: list[ReadTable] = field(default_factory=list)

    @property
    def count(self) -> str:
        """How much there is to read, for the folded line."""
        return ", ".join(f"{len(table.rows)} {table.row}{'' if len(table.rows) == 1 else 's'}" for table in self.tables)


def design_of(written: Mapping[str, Any]) -> dict[str, Any]:
    """{sections, amended, stands} of a revision's content: what stands, and which fields an amendment set."""
    view = SpecView(written)
    reader = _Reader(view)
    read = [reader.section(section) for slug, section in BY_SLUG.items() if slug != "choices"]
    amended = [
        Value(label_of(path), _text(_at(view.doc, path)), _text(_at(view.written, path)), setting.by)
        for path, setting in view.amended.items()
    ]
    return {"sections": [s for s in read if s.fields or s.tables], "amended": amended, "stands": view.doc}


class _Reader:
    def __init__(self, view: SpecView) -> None:
        self.view = view

    def section(self, section: Section) -> ReadSection:
        read = ReadSection(section.slug, section.title, section.slug in OPEN)
        for part in shown_tables(section, self.view.doc):
            if isinstance(part, Fields):
                read.fields += self._filled(part.inputs, self.view.doc, "")
            elif section.slug != "ledger":
                rows = at(self.view.doc, part.path)
                if part.named and rows:
                    rows = [{"name": name, "value": value} for name, value in rows.items()]
                if rows:
                    read.tables.append(self._table(part, rows, part.path))
        read.fields = [value for value in read.fields if value.label not in ("Title", "Summary")]
        return read

    def _table(self, table: Table, rows: Sequence[Mapping[str, Any]], path: str) -> ReadTable:
        shown = [i for i in table.inputs if any(row.get(i.name) for row in rows)]
        return ReadTable(
            table.title,
            table.row,
            [i.label for i in shown],
            [self._row(table, row, f"{path}[{n}]", shown) for n, row in enumerate(rows)],
        )

    def _row(self, table: Table, row: Mapping[str, Any], path: str, shown: Sequence[Input]) -> ReadRow:
        lines = table.matrix.lines if table.matrix else ()
        more = self._filled(table.more, row, f"{path}.")
        paths = [(title, self._filled(inputs, row, f"{path}.")) for title, inputs in lines]
        inner = [self._table(t, row[t.path], f"{path}.{t.path}") for t in table.tables if row.get(t.path)]
        values = [self._value(i, row, f"{path}.") for i in shown]
        return ReadRow(values, more, inner, [(title, found) for title, found in paths if found])

    def _filled(self, inputs: Sequence[Input], source: Mapping[str, Any], path: str) -> list[Value]:
        values = [self._value(i, source, path) for i in inputs]
        return [value for value in values if value.text or value.by]

    def _value(self, wanted: Input, source: Mapping[str, Any], path: str) -> Value:
        place = f"{path}{wanted.name}"
        setting = self.view.amended.get(place)
        by = setting.by if setting else ""
        written = _text(_at(self.view.written, place)) if by else ""
        return Value(wanted.label, _text(at(source, wanted.name)), written, by)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value or "")


def _at(document: Any, path: str) -> Any:
    """The value at a path with indexes of a canonical document."""
    for part in path.replace("[", ".").replace("]", "").split("."):
        document = document[int(part)] if isinstance(document, list) else document[part]
    return document
