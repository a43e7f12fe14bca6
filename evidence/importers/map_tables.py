"""Finding the tables of an evidence map by the shape of their headers. Pure.

The shapes: `# | Lever | Verdict + number | Mechanism | Date / source`, `# | Win | Number | Mechanism | Source` and
`# | Cell | Status | Bound / caveat`; words after the first, order and case of the header cells do not matter.
"""

import re
from dataclasses import dataclass

from references.importers.markdown import Block, Section, plain_text
from references.importers.tables import Table, is_delimiter, split_row
from v2kb.rules.evidence import DEAD, UNTESTED, WIN
from v2kb.rules.words import counted


@dataclass(frozen=True)
class MapProblem:
    """A line that can't be taken over. `column` is a header cell's text or empty; `fix` says what to do."""

    line: int
    column: str
    code: str
    message: str
    fix: str

    @property
    def place(self) -> str:
        """Line and column in words."""
        return f"line {self.line}, column {self.column}" if self.column else f"line {self.line}"


@dataclass(frozen=True)
class Column:
    """A column that a shape needs: its role, how it is called, and the words its header may begin with or hold."""

    role: str
    label: str
    starts: tuple[str, ...]
    holds: tuple[str, ...] = ()

    def is_called(self, header: str) -> bool:
        """Whether this header cell names the column."""
        text = header.lower()
        first = re.split(r"[^a-z#]+", text, maxsplit=1)[0]
        return first in self.starts or any(word in text for word in self.holds)


_CODE = Column("code", "#", ("#", "id", "code", "row"))
_MECHANISM = Column("mechanism", "Mechanism", ("mechanism",))
_SOURCE = Column("source", "Date / source", ("date", "source"), ("source",))


@dataclass(frozen=True)
class Shape:
    """The columns of one kind of table, its own ones first after the code."""

    verdict: str
    columns: tuple[Column, ...]
    own: tuple[str, ...]


SHAPES = (
    Shape(
        DEAD,
        (
            _CODE,
            Column("name", "Lever", ("lever",)),
            Column("figure", "Verdict + number", ("verdict",)),
            _MECHANISM,
            _SOURCE,
        ),
        ("name", "figure"),
    ),
    Shape(
        WIN,
        (_CODE, Column("name", "Win", ("win",)), Column("figure", "Number", ("number",)), _MECHANISM, _SOURCE),
        ("name", "figure"),
    ),
    Shape(
        UNTESTED,
        (
            _CODE,
            Column("name", "Cell", ("cell",)),
            Column("status", "Status", ("status",)),
            Column("bound", "Bound / caveat", ("bound", "caveat")),
        ),
        ("name", "status", "bound"),
    ),
)


@dataclass(frozen=True)
class MapTable:
    """A table of the map: its verdict, its section, and role -> (index, header text) of its columns."""

    verdict: str
    section: Section
    table: Table
    columns: dict[str, tuple[int, str]]

    def cell(self, cells: list[str], role: str) -> str:
        """The text of the column with this role, or empty."""
        found = self.columns.get(role)
        return cells[found[0]].strip() if found and found[0] < len(cells) else ""

    def header(self, role: str) -> str:
        """The header text of the column with this role."""
        return self.columns[role][1]


@dataclass(frozen=True)
class FoundTables:
    """`other` are the first lines of tables that are no tables of a map."""

    tables: list[MapTable]
    other: list[int]
    problems: list[MapProblem]


def find_tables(sections: list[Section]) -> FoundTables:
    """Take the tables of a map out of a document. A shape that lacks one column is a problem; two make it another
    table.
    """
    found = FoundTables([], [], [])
    for section in sections:
        for block in section.blocks:
            if isinstance(block, Table):
                _read(section, block, found)
            elif problem := _broken(block):
                found.problems.append(problem)
    return found


def _read(section: Section, table: Table, found: FoundTables) -> None:
    best: tuple[int, Shape, dict[str, tuple[int, str]]] | None = None
    for shape in SHAPES:
        columns = _columns(shape, table.header)
        lacking = len(shape.columns) - len(columns)
        if lacking <= 1 and any(role in columns for role in shape.own) and (best is None or lacking < best[0]):
            best = (lacking, shape, columns)
    if best is None:
        found.other.append(table.start_line)
        return
    lacking, shape, columns = best
    if not lacking:
        found.tables.append(MapTable(shape.verdict, section, table, columns))
        return
    missing = next(column.label for column in shape.columns if column.role not in columns)
    wanted = " | ".join(column.label for column in shape.columns)
    found.problems.append(
        MapProblem(
            table.start_line,
            missing,
            "evidence.import.missing_column",
            f"The {shape.verdict} table has no column {missing}.",
            f"Give the table the columns {wanted}.",
        )
    )


def _columns(shape: Shape, header: list[str]) -> dict[str, tuple[int, str]]:
    columns: dict[str, tuple[int, str]] = {}
    taken: set[int] = set()
    for column in shape.columns:
        for index, text in enumerate(header):
            if index not in taken and column.is_called(plain_text(text)):
                columns[column.role] = (index, plain_text(text))
                taken.add(index)
                break
    return columns


def _broken(block: Block) -> MapProblem | None:
    """A paragraph that was meant as a table: its header has another count of cells than the line under it."""
    lines = block.text.split("\n")
    if (
        block.kind != "paragraph"
        or len(lines) < 2
        or not lines[0].lstrip().startswith("|")
        or not is_delimiter(lines[1])
    ):
        return None
    header, width = split_row(lines[0]), len(split_row(lines[1]))
    return MapProblem(
        block.start_line,
        "",
        "evidence.import.broken_table",
        f"The table's header has {counted(len(header), 'cell')}, the line under it {width}.",
        "Give both the same number of cells.",
    )


def is_map_header(header: list[str]) -> bool:
    """Whether a table with this header is one of a map."""
    return any(len(_columns(shape, header)) == len(shape.columns) for shape in SHAPES)
