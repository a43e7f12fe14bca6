"""A document's section as cells with the findings beside them, and as the pairs that its form would post."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from kernels.editor.citations import typed_citation
from kernels.editor.forms import at
from kernels.editor.layout import (
    ACKNOWLEDGED,
    BANDS,
    CHOICE,
    CITATIONS,
    PREDICTION,
    SCOPE,
    WAVE_QUANT,
    Cell,
    Fields,
    Input,
    Section,
    Table,
    anchor_of,
)

Pairs = Iterator[tuple[str, str]]


@dataclass
class RowOfCells:
    """One row: its number and path, its cells in sight and folded, its small table, the tables inside it."""

    number: int
    path: str
    cells: list[Cell]
    more: list[Cell]
    matrix: list[tuple[str, list[Cell]]]
    tables: list["TableOfRows"]
    findings: list = field(default_factory=list)

    @property
    def id(self) -> str:
        return "f-" + anchor_of(self.path)

    @property
    def filled(self) -> int:
        """How many of the folded fields hold something."""
        return sum(bool(cell.value) for cell in self.more)

    @property
    def paths(self) -> list[tuple[str, str]]:
        """The lines of the small table in short: what each says of its columns, shortest texts first."""
        said = (
            (title, [f"{cell.input.label}: {cell.value}" for cell in reversed(cells) if cell.value])
            for title, cells in self.matrix
        )
        return [(title, "; ".join(texts)) for title, texts in said]

    @property
    def is_unfolded(self) -> bool:
        """True when the small table has to be seen: it is empty, or something is said of a field in it."""
        cells = [cell for _, cells in self.matrix for cell in cells]
        return not any(cell.value for cell in cells) or any(cell.findings for cell in cells)

    @property
    def troubled(self) -> bool:
        """True when a finding stands at a folded field, so that it has to be seen."""
        inner = [row for table in self.tables for row in table.rows]
        cells = [*self.more, *(cell for row in inner for cell in (*row.cells, *row.more))]
        return any(item.findings for item in (*cells, *self.tables, *inner))


@dataclass
class TableOfRows:
    """A table of the form with its rows."""

    table: Table
    path: str
    rows: list[RowOfCells]
    findings: list = field(default_factory=list)

    @property
    def id(self) -> str:
        return "f-" + anchor_of(self.path)


@dataclass
class PartOfFields:
    """Fields that stand together."""

    fields: Fields
    cells: list[Cell]


def _shown(wanted: Input, value: Any) -> Any:
    if wanted.kind == "several":
        return value if isinstance(value, list) else []
    if isinstance(value, list):
        return ", ".join(map(str, value))
    blank = False if wanted.kind == "check" else ""
    return blank if value is None else value


class Cells:
    """Builds the cells of a page; `say` then puts each finding at the nearest of them. `prefix` + a field's name is
    its place in the document.
    """

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self._places: dict[str, list] = {}

    def cell(self, wanted: Input, path: str, value: Any) -> Cell:
        """One cell; `path` is the form's field name."""
        cell = Cell(wanted, path, _shown(wanted, value))
        if wanted.kind != "hidden":
            self._places[self.prefix + path] = cell.findings
        return cell

    def fields(self, inputs: Sequence[Input], source: Any, path: str = "") -> list[Cell]:
        """Cells of scalar inputs of `source`, named `path` + input name."""
        return [self.cell(i, f"{path}{i.name}", at(source, i.name)) for i in inputs]

    def table(self, table: Table, rows: Any, path: str = "") -> TableOfRows:
        """A table with the tables inside its rows; `rows` are a list, or names and values."""
        path = path or table.path
        if table.named:
            rows = [{"name": n, "value": v} for n, v in rows.items()] if isinstance(rows, Mapping) else []
        built = [
            self._row(table, row, f"{path}[{n}]", n) for n, row in enumerate(rows if isinstance(rows, list) else [])
        ]
        result = TableOfRows(table, path, built)
        self._places[self.prefix + path] = result.findings
        return result

    def _row(self, table: Table, row: Any, path: str, number: int) -> RowOfCells:
        row = row if isinstance(row, Mapping) else {}
        lines = table.matrix.lines if table.matrix else ()
        result = RowOfCells(
            number,
            path,
            self.fields(table.inputs, row, f"{path}."),
            self.fields(table.more, row, f"{path}."),
            [(title, self.fields(inputs, row, f"{path}.")) for title, inputs in lines],
            [self.table(inner, row.get(inner.path), f"{path}.{inner.path}") for inner in table.tables],
        )
        self._places[self.prefix + path] = result.findings
        return result

    def say(self, findings: Sequence[Mapping[str, Any]]) -> None:
        """Put each finding at its `place`, or at the nearest part of the page around it."""
        for finding in findings:
            place = finding["place"]
            while place and place not in self._places:
                place = place[: max(place.rfind("."), place.rfind("["), 0)]
            if place:
                self._places[place].append(finding)


def shown_tables(section: Section, document: Mapping[str, Any]) -> list[Fields | Table]:
    """The parts of a section that the document's answers call for."""
    return [
        part
        for part in section.parts
        if isinstance(part, Fields) or part.when is None or (at(document, part.when[0]) or "rows") == part.when[1]
    ]


def section_parts(cells: Cells, section: Section, document: Mapping[str, Any]) -> list[PartOfFields | TableOfRows]:
    """The parts of a section's page."""
    return [
        PartOfFields(part, cells.fields(part.inputs, document))
        if isinstance(part, Fields)
        else cells.table(part, at(document, part.path))
        for part in shown_tables(section, document)
    ]


def choice_parts(cells: Cells, choice: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a choice's page by name."""
    citations = [typed_citation(citation) for citation in choice.get("citations") or []]
    prediction = choice.get("prediction") or {}
    return {
        "fields": cells.fields(CHOICE, choice),
        "scope": cells.fields(SCOPE, choice.get("scope") or {}, "scope."),
        "citations": cells.table(CITATIONS, citations),
        "prediction": cells.fields(PREDICTION, prediction, "prediction."),
        "bands": cells.table(BANDS, prediction.get("bands")),
        "wave_quant": cells.fields(WAVE_QUANT, choice.get("wave_quant") or {}, "wave_quant."),
        "acknowledged": cells.table(ACKNOWLEDGED, [_typed_acknowledged(a) for a in choice.get("acknowledged") or []]),
    }


def _typed_acknowledged(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "revision": f"{row.get('code', '')}|{row.get('revision', '')}"}


def _cell_pairs(cells: Sequence[Cell]) -> Pairs:
    for cell in cells:
        if cell.input.kind == "check":
            if cell.value:
                yield cell.path, "1"
        elif cell.input.kind == "several":
            yield from ((cell.path, word) for word in ("", *cell.value))
        else:
            yield cell.path, str(cell.value)


def _table_pairs(table: TableOfRows) -> Pairs:
    yield f"{table.path}.total", str(len(table.rows))
    for row in table.rows:
        yield from _cell_pairs([*row.cells, *row.more, *(cell for _, cells in row.matrix for cell in cells)])
        for inner in row.tables:
            yield from _table_pairs(inner)


def posted_form(parts: Sequence[Any]) -> str:
    """What a form of these parts would post if nothing were changed, as a query string."""
    pairs: list[tuple[str, str]] = []
    for part in parts:
        if isinstance(part, TableOfRows):
            pairs += _table_pairs(part)
        else:
            pairs += _cell_pairs(part.cells if isinstance(part, PartOfFields) else part)
    return urlencode(pairs)
