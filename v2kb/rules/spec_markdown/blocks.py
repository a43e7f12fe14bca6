"""Markdown as sections of blocks with line numbers: as much of it as design specs use.

A block is a table, a fence, a list item with all that is indented under it, or a paragraph. Nothing is evaluated here.
"""

import re
from dataclasses import dataclass, field
from functools import cached_property

MAX_BYTES = 2 * 1024 * 1024
MAX_LINES = 20_000
# A longer line of a table is kept as text.
MAX_ROW = 8_000
# A block longer than this is prose: facts are looked for in its beginning alone.
MAX_READ = 20_000

TABLE, FENCE, ITEM, PARAGRAPH, HEADING = "table", "fence", "item", "paragraph", "heading"

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_ITEM = re.compile(r"( {0,3})([-*+•]|[0-9]{1,3}[.)])[ \t]+(?=\S)")
_RULE = re.compile(r" {0,3}(?:-[ \t]*){3,}$|^ {0,3}(?:\*[ \t]*){3,}$|^ {0,3}(?:_[ \t]*){3,}$")
_DELIMITER = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_MARKS = re.compile(r"\*\*|`|(?<![\w*])\*(?=[^\s*`])|(?<=[^\s*`])\*(?![\w*])")


@dataclass(frozen=True, slots=True)
class TableRow:
    """One line of a table: its cells without their marks, and as they stand."""

    line: int
    cells: tuple[str, ...]
    raw: str


@dataclass
class Block:
    """`first` and `last` are line numbers of the file, counted from 1; `lines` the text as it stands."""

    kind: str
    first: int
    last: int
    lines: tuple[str, ...]
    header: tuple[str, ...] = ()
    rows: tuple[TableRow, ...] = ()
    # The part that it belongs to where that isn't its section's.
    place: str = ""
    # Paths of the document that were read from it; `whole` when nothing else is in it.
    used: list[str] = field(default_factory=list)
    whole: bool = False
    # Lines of a table that were not read.
    left: list[int] = field(default_factory=list)

    @cached_property
    def plain(self) -> str:
        """The text without marks of emphasis, bullets and indentation; as many lines as the block has."""
        return plain(self.source[:MAX_READ])

    @cached_property
    def source(self) -> str:
        """The text as markdown, without its bullet, its indentation and marks of a quotation."""
        lines = [line.strip() for line in self.lines]
        if all(line.startswith(">") for line in lines):
            lines = [line[1:].strip() for line in lines]
        if self.kind == ITEM and lines:
            lines[0] = _ITEM.sub("", lines[0], count=1)
        return "\n".join(lines)

    @property
    def raw(self) -> str:
        return "\n".join(self.lines)

    def line_at(self, position: int) -> int:
        """Line number of a position of `plain`."""
        return self.first + self.plain.count("\n", 0, position)


@dataclass
class Section:
    """What stands under one heading. `place` is the part of a spec that its title names, or ""."""

    title: str
    line: int
    level: int = 2
    blocks: list[Block] = field(default_factory=list)
    place: str = ""


def plain(text: str) -> str:
    """Text without marks of emphasis and code."""
    return _MARKS.sub("", text)


def lines_of(text: str) -> list[str]:
    """Lines of a file: a byte order mark and carriage returns don't count."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def sections_of(lines: list[str], skip: frozenset[int] = frozenset()) -> list[Section]:
    """Sections in order; the first holds what comes before any heading. Lines numbered in `skip` are not read."""
    sections = [Section("", 0, 0)]
    position = 0
    while position < len(lines):
        if position + 1 in skip or not lines[position].strip() or _RULE.match(lines[position]):
            position += 1
            continue
        heading = _HEADING.match(lines[position])
        if heading:
            sections.append(Section(plain(heading[2]).strip(), position + 1, len(heading[1])))
            position += 1
            continue
        block = _block(lines, position, skip)
        sections[-1].blocks.append(block)
        position = block.last
    return sections


def _block(lines: list[str], start: int, skip: frozenset[int]) -> Block:
    fence = _FENCE.match(lines[start])
    if fence:
        return _fence(lines, start, fence[1])
    if (
        "|" in lines[start]
        and start + 1 < len(lines)
        and "|" in lines[start + 1]
        and _DELIMITER.match(lines[start + 1])
    ):
        return _table(lines, start)
    item = _ITEM.match(lines[start])
    end = start + 1
    while end < len(lines) and end + 1 not in skip and not _ends(lines, end, item is not None):
        end += 1
    while not lines[end - 1].strip():
        end -= 1
    return Block(ITEM if item else PARAGRAPH, start + 1, end, tuple(lines[start:end]))


def _ends(lines: list[str], index: int, in_item: bool) -> bool:
    line = lines[index]
    if not line.strip():
        # Indented text after a blank line still belongs to its item.
        following = lines[index + 1] if index + 1 < len(lines) else ""
        return not (in_item and following[:2].isspace() and following.strip() and not _FENCE.match(following))
    if _HEADING.match(line) or _RULE.match(line) or _FENCE.match(line) or _ITEM.match(line):
        return True
    return line.lstrip().startswith("|") and index + 1 < len(lines) and bool(_DELIMITER.match(lines[index + 1]))


def _fence(lines: list[str], start: int, mark: str) -> Block:
    closing = re.compile(rf"[ \t]*{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$")
    end = start + 1
    while end < len(lines) and not closing.match(lines[end]):
        end += 1
    end = min(end + 1, len(lines))
    return Block(FENCE, start + 1, end, tuple(lines[start:end]))


def _table(lines: list[str], start: int) -> Block:
    end = start + 2
    while end < len(lines) and "|" in lines[end] and lines[end].strip() and not _HEADING.match(lines[end]):
        end += 1
    header = tuple(plain(cell).strip() for cell in cells_of(lines[start]))
    rows = tuple(
        TableRow(number + 1, tuple(cell.strip() for cell in _row_cells(lines[number])), lines[number])
        for number in range(start + 2, end)
    )
    return Block(TABLE, start + 1, end, tuple(lines[start:end]), header, rows)


def _row_cells(line: str) -> list[str]:
    return cells_of(line) if len(line) <= MAX_ROW else []


def cells_of(line: str) -> list[str]:
    """Cells of a table line as they stand; a bar after a backslash parts nothing."""
    text = line.strip()
    cells, start, position = [], 0, 0
    while position < len(text):
        if text[position] == "\\":
            position += 2
            continue
        if text[position] == "|":
            cells.append(text[start:position])
            start = position + 1
        position += 1
    cells.append(text[start:])
    if text.startswith("|"):
        cells = cells[1:]
    if cells and len(text) > 1 and not cells[-1].strip():
        cells = cells[:-1]
    return cells
