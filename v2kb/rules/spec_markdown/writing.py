"""Writing a spec document as markdown in the order of a Stage-1 spec; `v2kb.rules.spec_markdown.marked` says how."""

from typing import Any

from v2kb.rules.spec_document import empty_row, empty_spec, normalise
from v2kb.rules.spec_fields import ROW_FIELDS
from v2kb.rules.spec_markdown.marked import (
    END,
    FIELDS,
    LAYOUT,
    NAMED,
    OF,
    PROSE,
    ROWS,
    TITLE,
    Part,
    encode,
    labels,
    shield,
)


def write_markdown(document: Any) -> str:
    """Return the markdown of a spec document, canonical or raw. Reading it gives the canonical document again."""
    doc, _ = normalise(document)
    pieces: list[str] = []
    for heading, parts in LAYOUT:
        written = [text for part in parts if (text := _part(doc, part))]
        if heading and written:
            pieces.append(f"## {heading}")
        pieces += written
    return "\n\n".join(pieces) + "\n"


def _part(doc: dict[str, Any], part: Part) -> str:
    body = {TITLE: _title, PROSE: _prose, FIELDS: _fields, NAMED: _named, ROWS: _rows}[part.form](doc, part)
    return f"<!-- v2kb: {part.path} -->\n{body}" if body else ""


def _value(doc: dict[str, Any], path: str) -> Any:
    value: Any = doc
    for name in path.split("."):
        value = value[name]
    return value


def _title(doc: dict[str, Any], part: Part) -> str:
    return f"# {doc['title']}"


def _prose(doc: dict[str, Any], part: Part) -> str:
    text = _value(doc, part.path)
    return f"{shield(text)}\n<!-- v2kb: {END} -->" if text else ""


def _fields(doc: dict[str, Any], part: Part) -> str:
    holder, blank = _value(doc, part.path), _value(empty_spec(), part.path)
    rows = [[name, encode(holder[name])] for name in part.columns if holder[name] != blank[name]]
    return _table(["field", "value"], rows) if rows else ""


def _named(doc: dict[str, Any], part: Part) -> str:
    rows = [[name, encode(value)] for name, value in _value(doc, part.path).items()]
    return _table(["name", "value"], rows) if rows else ""


def _rows(doc: dict[str, Any], part: Part) -> str:
    owned = list(_owned(doc, part))
    if not owned:
        return ""
    blank = empty_row(part.path) if part.path in ROW_FIELDS else {}
    used = [
        c
        for c in part.columns
        if any(row.get(c) not in (None, "", [], blank.get(c)) or _differs(row, c, blank) for _, row in owned)
    ]
    columns = used or list(part.columns[:1])
    head = [OF, *columns] if part.parent else columns
    rows = []
    for label, row in owned:
        cells = [encode(row.get(column, "")) for column in columns]
        rows.append([encode(label), *cells] if part.parent else cells)
    return _table(head, rows)


def _differs(row: dict[str, Any], column: str, blank: dict[str, Any]) -> bool:
    return column in blank and row.get(column) != blank[column]


def _owned(doc: dict[str, Any], part: Part) -> list[tuple[str, dict[str, Any]]]:
    """(label of the owner, row) in the order of the document."""
    if not part.parent:
        return [("", row) for row in _value(doc, part.path)]
    owners = _value(doc, part.parent)
    inner = part.path.removeprefix(f"{part.parent}.").split(".")
    found: list[tuple[str, dict[str, Any]]] = []
    for label, owner in zip(labels(owners), owners, strict=True):
        value: Any = owner
        for name in inner:
            value = value[name] if value else None
        if part.single:
            value = [value] if value is not None and (value or part.name != "scope") else []
        found += [(label, row) for row in value or []]
    return found


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
