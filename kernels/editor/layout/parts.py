"""The building blocks of the editor: inputs, tables of rows, sections, and the cells that show them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

YES_NO = ("", "yes", "no")


def anchor_of(path: str) -> str:
    """A path of the document as the end of an element's id: smem.regions[0].name -> smem-regions-0-name."""
    return path.replace("[", "-").replace("]", "").replace(".", "-")


@dataclass(frozen=True)
class Input:
    """One field. `kind` is text, list (text with commas), area, check, select, several (ticked words) or hidden;
    `options` are the words of a select or of several; `suggest` is the id of a list of suggestions.
    """

    name: str
    label: str
    kind: str = "text"
    options: tuple[str, ...] = ()
    help: str = ""
    short: bool = False
    suggest: str = ""

    @property
    def long(self) -> bool:
        """A line of text; in a table of many columns it gets a line of its own."""
        return self.kind in ("text", "list") and not self.short


def size(name: str, label: str, help: str = "") -> Input:
    """A number or a formula."""
    return Input(name, label, help=help, short=True)


def yes_no(name: str, label: str, help: str = "") -> Input:
    """A question that has to be answered: empty is neither yes nor no."""
    return Input(name, label, "select", YES_NO, help)


def word(name: str, label: str, options: tuple[str, ...], help: str = "") -> Input:
    """One of a list of words, or none yet."""
    return Input(name, label, "select", ("", *options), help)


@dataclass(frozen=True)
class Matrix:
    """Fields of one row that stand as a small table: `lines` maps a line's title to the fields under `columns`."""

    columns: tuple[str, ...]
    lines: tuple[tuple[str, tuple[Input, ...]], ...]


@dataclass(frozen=True)
class Table:
    """Rows at `path`, each with `inputs` in sight and `more` folded under it; `tables` are rows inside a row.

    `named` stores names and values as one mapping. `ordinals`: the rows have `ordinal` and `slots`, so that they can
    be numbered anew. `when` shows the table only where a field of the document has a value.
    """

    path: str
    title: str
    row: str
    inputs: tuple[Input, ...]
    help: str = ""
    more: tuple[Input, ...] = ()
    more_title: str = "More fields"
    matrix: Matrix | None = None
    tables: tuple["Table", ...] = ()
    named: bool = False
    ordinals: bool = False
    when: tuple[str, str] | None = None

    @property
    def anchor(self) -> str:
        """The end of the element's id that findings about the whole table link to."""
        return anchor_of(self.path)

    @property
    def all_inputs(self) -> tuple[Input, ...]:
        """Every field of a row, wherever it stands."""
        lines = self.matrix.lines if self.matrix else ()
        return (*self.inputs, *self.more, *(i for _, inputs in lines for i in inputs))

    @property
    def explained(self) -> tuple[Input, ...]:
        """Columns whose head needs a word more."""
        return tuple(i for i in self.inputs if i.help)

    @property
    def wide(self) -> bool:
        """Too many columns for long texts to stand among them."""
        return len(self.inputs) > 6

    @property
    def tools_below(self) -> bool:
        """True where the buttons of a row stand on its folded line, so that they take no width from the columns."""
        return self.wide and bool(self.more or self.tables)


@dataclass(frozen=True)
class Fields:
    """Fields of the document that stand together under a title."""

    inputs: tuple[Input, ...]
    title: str = ""
    help: str = ""
    columns: int = 1

    @property
    def anchor(self) -> str:
        """Where findings about the part lead that these fields belong to."""
        return self.inputs[0].name.rpartition(".")[0].replace(".", "-")


@dataclass(frozen=True)
class Section:
    """One page of the editor. `covers` are the parts of the document whose findings lead here."""

    slug: str
    title: str
    help: str
    parts: tuple[Fields | Table, ...] = ()
    covers: tuple[str, ...] = ()

    @property
    def inputs(self) -> tuple[Input, ...]:
        return tuple(i for part in self.parts if isinstance(part, Fields) for i in part.inputs)

    @property
    def tables(self) -> tuple[Table, ...]:
        return tuple(part for part in self.parts if isinstance(part, Table))


def every_table(tables: tuple[Table, ...], above: str = "") -> Iterator[tuple[str, Table]]:
    """(path without row numbers, table) for tables and the tables inside their rows."""
    for table in tables:
        path = f"{above}{table.path}"
        yield path, table
        yield from every_table(table.tables, f"{path}.")


@dataclass
class Cell:
    """One input with its value, its path and what the rules say about it."""

    input: Input
    path: str
    value: Any
    findings: list = field(default_factory=list)

    @property
    def id(self) -> str:
        """An id for the element, made of its path."""
        return "f-" + anchor_of(self.path)

    @property
    def invalid(self) -> bool:
        """True where something here blocks: an error, or an input that is missing."""
        return any(finding["level"] in ("error", "missing") for finding in self.findings)
