"""Reading marked tables: what they state is read as it stands, and prose adds nothing to it."""

from typing import Any

from v2kb.rules.spec_markdown.blocks import cells_of
from v2kb.rules.spec_markdown.draft import READ, Draft, Placement
from v2kb.rules.spec_markdown.marked import (
    END,
    FIELDS,
    MARK,
    NAMED,
    OF,
    PARTS,
    PROSE,
    TITLE,
    Part,
    decode,
    decode_list,
    is_flag,
    is_list,
    labels,
    unshield,
)

Row = tuple[int, dict[str, Any]]


def read_exact(draft: Draft, lines: list[str]) -> set[int]:
    """Read every marked part into the draft and return the numbers of their lines."""
    taken: set[int] = set()
    position = 0
    while position < len(lines):
        mark = MARK.match(lines[position])
        part = PARTS.get(mark[1]) if mark else None
        if part is None:
            if mark and mark[1] != END:
                draft.doubt(position + 1, f"{mark[1]} is no part of a spec; what follows is read as text.")
            position += 1
            continue
        end = _read(draft, part, lines, position)
        if end == position + 1:
            draft.doubt(position + 1, f"No table or text of {part.path} follows this mark.")
        else:
            draft.doubts.append(Placement(position + 1, end, READ, (part.path,)))
        taken.update(range(position + 1, end + 1))
        position = end
    return taken


def _read(draft: Draft, part: Part, lines: list[str], mark: int) -> int:
    """Read the part below line index `mark`; return the index behind its last line."""
    if part.form == TITLE:
        if mark + 1 < len(lines) and lines[mark + 1].startswith("# "):
            draft.raw["title"] = lines[mark + 1][2:]
            draft.lines["title"] = mark + 2
            return mark + 2
        return mark + 1
    if part.form == PROSE:
        return _prose(draft, part, lines, mark)
    head, rows, end = _table(lines, mark + 1)
    if not head:
        return mark + 1
    if not part.parent:
        draft.lines.setdefault(part.path, mark + 1)
    if part.form in (FIELDS, NAMED):
        _pairs(draft, part, rows)
    elif part.parent:
        _inner_rows(draft, part, head, rows)
    else:
        target = _holder(draft, part.path)
        target[part.name] = [_row(draft, part, head, cells, line) for line, cells in rows]
        for index, (line, _) in enumerate(rows):
            draft.lines[f"{part.path}[{index}]"] = line
    draft.stated.add(part.path)
    return end


def _prose(draft: Draft, part: Part, lines: list[str], mark: int) -> int:
    for end in range(mark + 1, len(lines)):
        closing = MARK.match(lines[end])
        if closing and closing[1] == END:
            _holder(draft, part.path)[part.name] = unshield("\n".join(lines[mark + 1 : end]))
            draft.lines[part.path] = mark + 2
            return end + 1
    return mark + 1


def _table(lines: list[str], start: int) -> tuple[list[str], list[tuple[int, list[str]]], int]:
    """(header, (line number, cells) of each row, index behind the table)."""
    end = start
    while end < len(lines) and lines[end].startswith("|"):
        end += 1
    if end < start + 2:
        return [], [], start
    head = [cell.strip() for cell in cells_of(lines[start])]
    return head, [(number + 1, cells_of(lines[number])) for number in range(start + 2, end)], end


def _holder(draft: Draft, path: str) -> dict[str, Any]:
    holder: dict[str, Any] = draft.raw
    for name in path.split(".")[:-1]:
        holder = holder.setdefault(name, {})
    return holder


def _pairs(draft: Draft, part: Part, rows: list[tuple[int, list[str]]]) -> None:
    target = _holder(draft, part.path).setdefault(part.name, {})
    for line, cells in rows:
        name = decode(cells[0]) if cells else ""
        if len(cells) < 2 or (part.form == FIELDS and name not in part.columns):
            said = " | ".join(cell.strip() for cell in cells)
            draft.keep(part.path, line, said, f"{name or 'This line'} is no field of {part.path}.")
            continue
        listed = part.form == FIELDS and is_list(part, name)
        target[name] = decode_list(cells[1]) if listed else decode(cells[1])
        draft.lines[f"{part.path}.{name}"] = line


def _row(draft: Draft, part: Part, head: list[str], cells: list[str], line: int) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, cell in zip(head, cells, strict=False):
        if name == OF and part.parent:
            continue
        if name not in part.columns:
            text = f"{part.path}, {name}: {decode(cell)}"
            draft.keep(part.path, line, text, f"{name or 'A column'} is no field of {part.path}.")
        elif is_list(part, name):
            values[name] = decode_list(cell)
        elif is_flag(part, name):
            values[name] = decode(cell).lower() in ("yes", "true")
        elif decode(cell):
            values[name] = decode(cell)
    return values


def _inner_rows(draft: Draft, part: Part, head: list[str], rows: list[tuple[int, list[str]]]) -> None:
    """Rows that belong to the rows of another table, which stands before them in the file."""
    owners = _holder(draft, part.parent).get(part.parent.rpartition(".")[2]) or []
    places = {label: index for index, label in enumerate(labels(owners))}
    column = head.index(OF) if OF in head else -1
    inner = part.path.removeprefix(f"{part.parent}.").split(".")
    for line, cells in rows:
        label = decode(cells[column]) if 0 <= column < len(cells) else ""
        if label not in places:
            said = " | ".join(cell.strip() for cell in cells)
            draft.keep(part.path, line, said, f"{label or 'This line'} is no row of {part.parent}.")
            continue
        holder, path = owners[places[label]], f"{part.parent}[{places[label]}]"
        for name in inner[:-1]:
            if holder.get(name) is None:
                holder[name] = {}
            holder, path = holder[name], f"{path}.{name}"
        values = _row(draft, part, head, cells, line)
        if part.single:
            holder[inner[-1]] = values
            draft.lines[f"{path}.{inner[-1]}"] = line
        else:
            holder.setdefault(inner[-1], []).append(values)
            draft.lines[f"{path}.{inner[-1]}[{len(holder[inner[-1]]) - 1}]"] = line
