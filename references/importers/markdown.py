"""Markdown text to a document: a section tree with stable anchors, and blocks (tables, checklists, code, lists). Pure.

Line numbers count from 1 and both ends are included. The sections' own ranges, in order, cover every line after the
front matter exactly once.
"""

import codecs
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from references.importers.anchors import Heading, PathKey, assign_anchors, split_number
from references.importers.front_matter import FrontMatter, read_front_matter
from references.importers.tables import Table, read_table
from v2kb.rules.file_refused import FileRefused
from v2kb.rules.sizes import too_much_text

MAX_DOCUMENT_BYTES = 5 * 1024 * 1024
MAX_DOCUMENT_LINES = 50_000
MAX_SECTIONS = 2_000
_MAX_CONTROL_SHARE = 0.01
_SAVE = "Save the file as UTF-8 and send it again."

_TASK = re.compile(r"^\[([ xX])\](?:\s+|$)")
_INLINE_LINK = re.compile(r"!?\[([^\]\[]*)\]\([^)(]*\)")
_CONTROL = re.compile(r"[\x01-\x08\x0e-\x1a\x1c-\x1f]")


class DocumentRefused(FileRefused):
    """A file can't be read as a markdown document."""


@dataclass(frozen=True)
class Item:
    """One list item. `depth` counts from 0; `checked` is None where the item has no checkbox."""

    line: int
    depth: int
    text: str
    checked: bool | None = None


@dataclass(frozen=True)
class Block:
    """A block of kind paragraph, list, checklist, code, quote, html or rule; lists have items."""

    kind: str
    start_line: int
    end_line: int
    text: str = ""
    language: str = ""
    ordered: bool = False
    items: list[Item] = field(default_factory=list)

    def to_dict(self) -> dict:
        """JSON form; `items` and `ordered` only for lists, `language` only for code."""
        result: dict = {"kind": self.kind, "start_line": self.start_line, "end_line": self.end_line}
        if self.kind in ("list", "checklist"):
            result["ordered"] = self.ordered
            result["items"] = [
                {"line": item.line, "depth": item.depth, "text": item.text, "checked": item.checked}
                for item in self.items
            ]
        else:
            result["text"] = self.text
        if self.kind == "code":
            result["language"] = self.language
        return result


@dataclass(frozen=True)
class Section:
    """One section. `parent` is an index into the document's sections, or None; `level` 0 is text before any heading.

    `text` is the section's own markdown, with its heading, without its subsections; `body` leaves the heading out.
    """

    level: int
    number: str
    title: str
    anchor: str
    parent: int | None
    start_line: int
    end_line: int
    text: str
    body: str
    blocks: list[Block | Table]

    @property
    def tables(self) -> list[Table]:
        return [block for block in self.blocks if isinstance(block, Table)]

    @property
    def checklists(self) -> list[Block]:
        return [block for block in self.blocks if block.kind == "checklist"]


@dataclass(frozen=True)
class Document:
    """A parsed document: title, its lines, its sections in order, and the front matter above them."""

    title: str
    lines: list[str]
    sections: list[Section]
    front_matter: FrontMatter

    @property
    def problems(self) -> list[str]:
        """What could not be read as it was meant: the front matter, table rows with a missing or extra cell."""
        tables = (table for section in self.sections for table in section.tables)
        front_matter = [self.front_matter.problem] if self.front_matter.problem else []
        return front_matter + [problem for table in tables for problem in table.problems]

    def section(self, anchor: str) -> Section | None:
        """The section with this anchor, or None."""
        return next((section for section in self.sections if section.anchor == anchor), None)


def decode_document(name: str, data: bytes) -> str:
    """A markdown file's text, its line ends newlines. Raises DocumentRefused: too_large, empty, binary, not_utf8."""
    if len(data) > MAX_DOCUMENT_BYTES:
        raise DocumentRefused(
            "document.too_large",
            too_much_text(name, len(data), "a document", MAX_DOCUMENT_BYTES),
            "Split the document, or leave out what is not text.",
        )
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DocumentRefused("document.not_utf8", f"{name} is UTF-16, not UTF-8.", _SAVE)
    if b"\x00" in data:
        raise DocumentRefused("document.binary", f"{name} is not text: it holds NUL bytes.", "Send markdown text.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise DocumentRefused("document.not_utf8", f"{name} is not UTF-8: line {line} can't be read.", _SAVE) from error
    if len(_CONTROL.findall(text)) > len(text) * _MAX_CONTROL_SHARE:
        raise DocumentRefused(
            "document.binary", f"{name} is not text: it is full of control characters.", "Send markdown text."
        )
    text = normalise_newlines(text)
    if not text.strip():
        raise DocumentRefused("document.empty", f"{name} is empty.", "Send a file with text, or leave it out.")
    if text.count("\n") > MAX_DOCUMENT_LINES:
        raise DocumentRefused(
            "document.too_large",
            f"{name} has {text.count(chr(10)):,} lines; a document may have {MAX_DOCUMENT_LINES:,}.",
            "Split the document.",
        )
    return text


def normalise_newlines(text: str) -> str:
    """The text with every line end as one newline."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def plain_text(markdown: str) -> str:
    """A heading or cell without backticks, double asterisks and link targets."""
    return _INLINE_LINK.sub(r"\1", markdown).replace("`", "").replace("**", "").strip()


def parse_markdown(text: str, fallback_title: str = "", previous: Iterable[tuple[PathKey, str]] = ()) -> Document:
    """Parse any text; never raises on text.

    The title is that of the first top-level heading of level 1, else of the front matter, else `fallback_title`.
    `previous` holds (path key, anchor) of the sections of the last revision, so that anchors stay (see anchors.py).
    """
    lines = _split_lines(normalise_newlines(text))
    front_matter = read_front_matter(lines)
    masked = [""] * front_matter.end + lines[front_matter.end :]
    tokens = _block_tokens("\n".join(masked))
    marks = _heading_marks(tokens)
    title, title_mark = _title(marks, front_matter, fallback_title)
    starts = _section_starts(marks, lines, 0 if front_matter.problem else front_matter.end)
    has_own_heading = any(mark.level == 1 and plain_text(mark.text) for mark in marks)
    headings = _headings(starts, "" if has_own_heading else title, title_mark)
    anchors = assign_anchors(headings, previous)
    blocks = _blocks(tokens, lines, front_matter)
    sections = []
    for index, (mark, start) in enumerate(starts):
        end = starts[index + 1][1] if index + 1 < len(starts) else len(lines)
        body_start = mark.body_line if mark else start
        sections.append(
            Section(
                level=mark.level if mark else 0,
                number=headings[index].number,
                title=headings[index].title,
                anchor=anchors[index],
                parent=headings[index].parent,
                start_line=start + 1,
                end_line=end,
                text="\n".join(lines[start:end]),
                body="\n".join(lines[body_start:end]).strip("\n"),
                blocks=[block for block in blocks if start < block.start_line <= end],
            )
        )
    return Document(title=title, lines=lines, sections=sections, front_matter=front_matter)


@dataclass(frozen=True)
class _Mark:
    line: int  # 0-based line of the heading
    body_line: int  # 0-based line after the heading
    level: int
    text: str


def _split_lines(text: str) -> list[str]:
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _block_tokens(text: str) -> list[Token]:
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser.parse(text)


def _heading_marks(tokens: list[Token]) -> list[_Mark]:
    marks = []
    for token, content in pairwise(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            text = content.content if content.type == "inline" else ""
            marks.append(_Mark(token.map[0], token.map[1], int(token.tag[1]), " ".join(text.split())))
    return marks


def _title(marks: list[_Mark], front_matter: FrontMatter, fallback: str) -> tuple[str, _Mark | None]:
    """The document's title, and the mark that gives it where that is the first heading."""
    first = next((mark for mark in marks if mark.level == 1 and plain_text(mark.text)), None)
    if first:
        return plain_text(first.text), first if first is marks[0] else None
    return front_matter.value("title", "name") or fallback, None


def _section_starts(marks: list[_Mark], lines: list[str], begin: int) -> list[tuple[_Mark | None, int]]:
    """(heading or None, 0-based first line) of every section from line `begin`.

    Blank lines at the top belong to the first one.
    """
    first = marks[0].line if marks else len(lines)
    starts: list[tuple[_Mark | None, int]] = [(mark, mark.line) for mark in marks]
    if any(line.strip() for line in lines[begin:first]):
        return [(None, begin), *starts]
    if starts:
        starts[0] = (marks[0], begin)
    return starts


def _headings(starts: list[tuple[_Mark | None, int]], opening: str, title_mark: _Mark | None) -> list[Heading]:
    """Numbers, titles and parents. A level that is skipped does not matter: the parent is the nearest lower level.

    `opening` is what text before the first heading is called: the document's title, unless a heading gives that.
    """
    headings: list[Heading] = []
    open_levels: list[tuple[int, int]] = []
    for index, (mark, _) in enumerate(starts):
        if mark is None:
            headings.append(Heading(title=opening or "Opening", number="", parent=None, is_document_title=True))
            continue
        number, section_title = split_number(plain_text(mark.text))
        while open_levels and open_levels[-1][0] >= mark.level:
            open_levels.pop()
        parent = open_levels[-1][1] if open_levels else None
        headings.append(Heading(section_title or "Untitled", number, parent, mark is title_mark))
        open_levels.append((mark.level, index))
    return headings


def _blocks(tokens: list[Token], lines: list[str], front_matter: FrontMatter) -> list[Block | Table]:
    blocks: list[Block | Table] = []
    if front_matter.problem and front_matter.end:
        kept = "\n".join(lines[: front_matter.end])
        blocks.append(Block("code", 1, front_matter.end, kept, language="yaml"))
    for index, token in enumerate(tokens):
        if token.level != 0 or token.nesting == -1 or not token.map or token.type == "heading_open":
            continue
        start, end = token.map
        while end > start + 1 and not lines[end - 1].strip():
            end -= 1
        blocks.append(_block(token, tokens, index, lines, start, end))
    return blocks


def _block(token: Token, tokens: list[Token], index: int, lines: list[str], start: int, end: int) -> Block | Table:
    raw = "\n".join(lines[start:end])
    first, last = start + 1, end
    if token.type in ("bullet_list_open", "ordered_list_open"):
        items = _items(tokens, index, lines)
        kind = "checklist" if any(item.checked is not None for item in items) else "list"
        return Block(kind, first, last, raw, ordered=token.type == "ordered_list_open", items=items)
    if token.type in ("fence", "code_block"):
        language = token.info.strip().split(" ")[0] if token.info else ""
        return Block("code", first, last, token.content, language=language)
    if token.type in ("table_open", "paragraph_open"):
        table = read_table(lines, start, end)
        if table is not None:
            return table
    kinds = {"blockquote_open": "quote", "hr": "rule", "html_block": "html"}
    return Block(kinds.get(token.type, "paragraph"), first, last, raw)


def _items(tokens: list[Token], start: int, lines: list[str]) -> list[Item]:
    """Items of the list that opens at tokens[start], nested ones included, in the order of their lines."""
    found: list[tuple[int, int, list[str]]] = []
    open_items: list[int] = []
    depth = skip_until = 0
    for token in tokens[start:]:
        if token.type in ("bullet_list_open", "ordered_list_open"):
            depth += 1
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            depth -= 1
            if depth == 0:
                break
        elif token.type == "list_item_open" and token.map:
            open_items.append(len(found))
            found.append((token.map[0] + 1, depth - 1, []))
        elif token.type == "list_item_close":
            open_items.pop()
        elif open_items:
            if token.map and token.map[0] < skip_until:
                continue
            if token.type == "table_open" and token.map:
                skip_until = token.map[1]
                found[open_items[-1]][2].append("\n".join(line.strip() for line in lines[slice(*token.map)]))
            elif token.type == "inline" or token.type == "html_block":
                found[open_items[-1]][2].append(token.content)
            elif token.type in ("fence", "code_block"):
                found[open_items[-1]][2].append(f"```{token.info}\n{token.content}```")
    return [_item(line, item_depth, "\n\n".join(parts)) for line, item_depth, parts in found]


def _item(line: int, depth: int, text: str) -> Item:
    match = _TASK.match(text)
    if not match:
        return Item(line, depth, text)
    return Item(line, depth, text[match.end() :], checked=match[1] != " ")
