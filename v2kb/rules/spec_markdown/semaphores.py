"""Section 3: the semaphore table as a comment block or as a table, who re-initialises what, and the protocol."""

import re
from dataclasses import dataclass
from typing import Any

from v2kb.rules.spec_markdown.blocks import FENCE, TABLE, Block, plain
from v2kb.rules.spec_markdown.draft import Draft
from v2kb.rules.spec_markdown.memory import ring_symbol, sum_of
from v2kb.rules.spec_markdown.phrases import (
    ARROW,
    as_number,
    bare_name,
    cell,
    columns,
    folded,
    formula,
    one_line,
    role_in,
    roles_in,
    span_of,
)

_ENTRY = re.compile(
    r"^\s*(?://|#|\*|--)?\s*\[\s*\+?([0-9]{1,12})\s*(?:(?:\.\.\.?|…|-)\s*\+?\s*([0-9]{1,12})\s*)?\]\s*(.*)$"
)
_NAMED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\s*(?:\((.*))?$", re.S)
_COUNT = re.compile(r"count\s*=\s*([0-9*·× ]+)", re.I)
_ARROW = re.compile(rf"([A-Za-z0-9_ ]+?)\s*{ARROW}\s*([A-Za-z0-9_ ]+)")
_QUOTED = re.compile(r"[\"“]([^\"”]+)[\"”]")
_TX = re.compile(r"\btx\s*=\s*([0-9,]+)\s*B?", re.I)
_TOTAL = re.compile(r"\bNUM_(?:OP_)?SEMS?\s*=\s*([0-9]{1,12})")
_COMMENT = re.compile(r"^\s*(?://|#(?!\w)|\*)\s?")
MAX_MEANING = 160
_SEM = {
    "name": ("name", "semaphore", "barrier", "mbar", "sem"),
    "ordinal": ("ordinal", "ordinals", "ord", "slots", "index"),
    "count": ("count", "arrivals", "expected"),
    "producer": ("producer", "from", "arriver", "arrived by"),
    "consumer": ("consumer", "to", "waiter", "waited by"),
    "meaning": ("meaning", "what", "says", "note", "notes"),
    "kind": ("kind", "arrival kind"),
    "reinit_owner": ("re init owner", "reinit owner", "owner"),
}
_REINIT = {
    "name": ("mbar", "name", "semaphore", "barrier"),
    "arriver": ("async arriver", "arriver", "arrives"),
    "owner": ("re init owner at task start", "re init owner", "reinit owner", "owner"),
    "placement": ("placement guarantee", "placement", "order", "where"),
}
_EMPTY_EDGE = re.compile(r"\b(?:refill|drained|free|empty|reusable|consumed|released)\b", re.I)


@dataclass(frozen=True, slots=True)
class _Entry:
    first: int
    last: int
    name: str
    count: str
    said: str
    line: int


def read_sems(draft: Draft) -> None:
    """Rows with their slots, counts and directions; owners of re-initialisation; what concerns all barriers."""
    blocks = draft.blocks("sems")
    for block in blocks:
        if block.kind == FENCE:
            _comment_block(draft, block)
        elif block.kind == TABLE:
            _table(draft, block)
    for block in blocks:
        found = columns(block, _REINIT) if block.kind == TABLE and not block.used else {}
        if {"name", "owner"} <= found.keys() and draft.rows("sems.rows"):
            _owners(draft, block, found)
    _pairs(draft)
    for block in blocks:
        _protocol(draft, block)


def _comment_block(draft: Draft, block: Block) -> None:
    entries: list[_Entry] = []
    parts: list[tuple[int, int, list[str], int]] = []
    for number, raw in enumerate(block.lines):
        text = plain(raw)
        if total := _TOTAL.search(text):
            draft.put("sems.num_op_sems", total[1], block.first + number, block)
        elif start := _ENTRY.match(text):
            last = int(start[2]) if start[2] else int(start[1])
            parts.append((int(start[1]), last, [start[3]], block.first + number))
        elif parts and _COMMENT.match(text):
            parts[-1][2].append(_COMMENT.sub("", text))
    for first, last, said, line in parts:
        if entry := _entry(first, last, one_line(" ".join(said)), line):
            entries.append(entry)
        else:
            draft.doubt(line, "This line of the semaphore block has no name that can be read.")
    _write(draft, block, entries)
    block.whole = bool(entries) and len(entries) == len(parts) and not any(len(e.said) > MAX_MEANING for e in entries)


def _entry(first: int, last: int, text: str, line: int) -> _Entry | None:
    named = _NAMED.match(text)
    if not named or last < first:
        return None
    said = (named[2] or "").strip()
    said = said[:-1].strip() if said.endswith(")") else said
    count = _COUNT.search(said)
    return _Entry(first, last, bare_name(named[1]), formula(count[1]) if count else "", said, line)


def _write(draft: Draft, block: Block, entries: list[_Entry]) -> None:
    expected = 0
    for entry in entries:
        slots = entry.last - entry.first + 1
        ring = ring_symbol(draft, slots) or str(slots)
        before = [row.get("slots", "1") for row in draft.rows("sems.rows")]
        ordinal = sum_of(before) if entry.first == expected else str(entry.first)
        path = draft.row("sems.rows", {"ordinal": ordinal, "slots": ring, **_facts(entry)}, entry.line, block)
        if path and ring != str(slots):
            draft.checked(
                entry.line, f"{entry.name} has {slots} slots, and {ring} is {slots}: its row follows it.", path
            )
        expected = entry.last + 1


def _facts(entry: _Entry) -> dict[str, Any]:
    """Columns of a row that its own words state."""
    said = entry.said
    head = _COUNT.sub("", said, count=1).lstrip(" ,")
    arrow = _ARROW.search(head)
    quoted = _QUOTED.search(head)
    rest = head[arrow.end() :].lstrip(" ,;") if arrow else head
    values: dict[str, Any] = {
        "name": entry.name,
        "count": entry.count,
        "producer": (role_in(arrow[1]) or arrow[1].strip()) if arrow else "",
        "consumer": (role_in(arrow[2]) or arrow[2].strip()) if arrow else "",
        "meaning": quoted[1] if quoted else brief(rest),
    }
    return {**values, **_arrival(said, entry)}


def brief(text: str) -> str:
    """The beginning of a long explanation, cut between two parts of it."""
    if len(text) <= MAX_MEANING:
        return text
    ends = (". ", "; ", ", ") if any(end in text[:MAX_MEANING] for end in (". ", "; ", ", ")) else (" (",)
    cut = max(text.rfind(end, 0, MAX_MEANING) for end in ends)
    return text[: cut if cut > 0 else MAX_MEANING].rstrip(" .;,(")


def _arrival(said: str, entry: _Entry) -> dict[str, str]:
    low = said.lower()
    ring = entry.last > entry.first
    if tx := _TX.search(said):
        return {
            "kind": "tma",
            "arrivers": "tma",
            "data": "tma",
            "tx_bytes": tx[1].replace(",", ""),
            "arrives": "per_iteration",
        }
    if "commit-arrived" in low or "commit arrive" in low:
        data = {"data": "tmem"} if "acc" in low else {"data": "none"}
        return {"kind": "mma", "arrivers": "commit", "arrives": "per_iteration", **data}
    values: dict[str, str] = {"kind": "warp"}
    if re.fullmatch(r"4\*32", entry.count):
        values["arrivers"] = "four_warps"
    elif re.search(r"\barrives once\b|\belected\b|\blane 0\b", low):
        values["arrivers"] = "elected"
    if "cp.async" in low or "cpasync" in low:
        values["data"] = "cp_async"
        if entry.count == "1" and "fence.proxy.async" in low:
            values["publication"] = "fence_then_arrive"
        elif entry.count == "2" and "noinc" in low:
            values["publication"] = "noinc"
    tail = re.search(r"\bno longer\b|\bat task end\b|\btask tail\b", low)
    if "data" not in values and (tail or _EMPTY_EDGE.search(low)):
        values["data"] = "none"
    if re.search(r"\b(?:address|addr|taddr) (?:is )?published\b", low):
        values.update({"data": "stores", "arrives": "early"})
    elif tail:
        values["arrives"] = "task_tail"
    elif ring:
        values["arrives"] = "per_iteration"
    return values


def _table(draft: Draft, block: Block) -> None:
    """Semaphores written as a table."""
    found = columns(block, _SEM)
    if not {"name", "count"} <= found.keys() or draft.rows("sems.rows"):
        return
    for row in block.rows:
        span = span_of(cell(row.cells, found, "ordinal"))
        name = bare_name(cell(row.cells, found, "name"))
        if not name or re.match(r"total|sum\b", name, re.I):
            block.left.append(row.line)
            continue
        first, last = span or (0, 0)
        ends = {side: cell(row.cells, found, side) for side in ("producer", "consumer")}
        values = {
            "ordinal": str(first) if span else formula(cell(row.cells, found, "ordinal")),
            "slots": ring_symbol(draft, last - first + 1) or str(last - first + 1),
            "name": name,
            "count": formula(cell(row.cells, found, "count")),
            **{side: role_in(text) or text for side, text in ends.items()},
            "meaning": cell(row.cells, found, "meaning"),
            "kind": _kind(cell(row.cells, found, "kind")),
            "reinit_owner": _owner(cell(row.cells, found, "reinit_owner"))[0],
        }
        draft.row("sems.rows", values, row.line, block)
    block.whole = len(found) == len(block.header)


def _kind(text: str) -> str:
    word = text.lower()
    return next((kind for kind in ("tma", "mma", "warp") if kind in word), "")


def _owners(draft: Draft, block: Block, found: dict[str, int]) -> None:
    rows = {folded(row.get("name", "")): index for index, row in enumerate(draft.rows("sems.rows"))}
    for row in block.rows:
        names = [part for part in re.split(r",(?![^\[(]*[\])])", cell(row.cells, found, "name")) if part.strip()]
        known = [rows[folded(name)] for name in names if folded(name) in rows]
        if not known or len(known) != len(names):
            block.left.append(row.line)
        owner, order = _owner(cell(row.cells, found, "owner"))
        placement = cell(row.cells, found, "placement")
        words = "; ".join(part for part in (order, placement) if part)
        for index in known:
            path = f"sems.rows[{index}]"
            if owner:
                draft.put(f"{path}.reinit_owner", owner, row.line, block)
            if words:
                draft.put(f"{path}.reinit_order", words[:500], row.line, block)
        if not owner:
            draft.doubt(row.line, "The owner of this re-initialisation could not be read.")
    block.whole = {"name", "owner", "placement"} <= found.keys()


def _owner(text: str) -> tuple[str, str]:
    """(owner, what the cell says besides). Initialisation by the controller alone is no owner."""
    said = text.strip(" .")
    if re.match(r"(?:controller init|init(?:ialised)?[ _]semaphores?) only|none\b|no one|nobody", said, re.I):
        return "none", said
    owners = roles_in(said)
    if not owners:
        return "", said
    rest = re.sub(r"^(?:the\s+)?[A-Za-z]+(?:\s+lane\s+[0-9]{1,12})?\s*[,:(—–-]*\s*", "", said, count=1)
    return owners[0], rest[:-1].strip() if rest.endswith(")") and rest.count("(") < rest.count(")") else rest


def _pairs(draft: Draft) -> None:
    """A ring whose words hand a slot back is the empty edge of the rings of as many slots that run the other way."""
    rows = draft.rows("sems.rows")
    for index, empty in enumerate(rows):
        if empty.get("slots", "1") == "1" or not _EMPTY_EDGE.search(empty.get("meaning", "")):
            continue
        back = [
            number
            for number, full in enumerate(rows)
            if number != index
            and full.get("slots") == empty.get("slots")
            and (full.get("producer"), full.get("consumer")) == (empty.get("consumer"), empty.get("producer"))
            and not _EMPTY_EDGE.search(full.get("meaning", ""))
        ]
        for number in back:
            draft.put(f"sems.rows[{number}].pair", empty["name"], draft.lines.get(f"sems.rows[{number}]", 1))
        if back:
            draft.put(f"sems.rows[{index}].pair", rows[back[0]]["name"], draft.lines.get(f"sems.rows[{index}]", 1))


def _protocol(draft: Draft, block: Block) -> None:
    text = block.plain
    if match := re.search(r"each re-?init block ends with\s+fence\.mbarrier_init", text, re.I):
        draft.put("sems.protocol.reinit_fenced", "yes", block.line_at(match.start()), block)
    if match := re.search(r"\bno tag-?flags\b|\bnot tag-?flags\b", text, re.I):
        draft.put("sems.protocol.handshake", "mbarrier", block.line_at(match.start()), block)
    elif match := re.search(r"\bhandshakes? (?:is|are|ride on|by) (?:salted )?tag-?flags\b", text, re.I):
        draft.put("sems.protocol.handshake", "tag_flags", block.line_at(match.start()), block)
    if match := re.search(r"\b([0-9]{1,12})\s+used\b", text):
        total = sum(_slots(draft, row) for row in draft.rows("sems.rows"))
        if total and int(match[1]) == total:
            draft.checked(block.line_at(match.start()), f"{total} used agrees with the rows.", "sems.rows")
        elif total:
            line = block.line_at(match.start())
            draft.doubt(line, f"The text says {match[1]} used; the rows add up to {total}.", "sems.rows")


def _slots(draft: Draft, row: dict[str, Any]) -> int:
    slots = row.get("slots", "1")
    return as_number(slots) or as_number(str(draft.value(f"symbols.{slots}"))) or 0


def read_storage(draft: Draft) -> None:
    """A barrier is bound to the one region whose name it begins with, or shares."""
    regions = {folded(r.get("name", "")): r for r in draft.rows("smem.regions") if folded(r.get("name", ""))}
    for index, row in enumerate(draft.rows("sems.rows")):
        if row.get("data") not in ("tma", "cp_async"):
            continue
        name = folded(row.get("name", ""))
        fits = [key for key in regions if key == name] or [key for key in regions if name.startswith(key)]
        if len(fits) == 1:
            line = draft.lines.get(f"sems.rows[{index}]", 1)
            draft.put(f"sems.rows[{index}].storage", regions[fits[0]]["name"], line)
