"""Section 5: which tasks the spec becomes, how many, over how many K iterations, and what is said of a grid barrier."""

import re

from v2kb.rules.spec_markdown.blocks import ITEM, PARAGRAPH, TABLE, Block
from v2kb.rules.spec_markdown.draft import Draft
from v2kb.rules.spec_markdown.phrases import ARROW, NUMBER, as_number, cell, columns, folded, formula

_TASKS = re.compile(rf"{ARROW}\s*({NUMBER})\s+tasks\b|^[^:\n]+:\s*({NUMBER})\s+tasks\b|\bnum_tasks\s*=\s*({NUMBER})\b")
_NAME = re.compile(r"^([A-Za-z][^:\n]{0,80}):")
_RANGE = re.compile(r"∈\s*([0-9]{1,12})\s*\.\.\s*([0-9]{1,12})")
_N = re.compile(r"\bN\s*=\s*([0-9]{1,12})\b")
_ITERATIONS = re.compile(r"^(.{1,60}?)\s+tasks?\b", re.S)
_STAGES = re.compile(r"\b([0-9]{1,12})\s+K-(?:stages|iters|iterations|steps)\b")
_ACTIVE = re.compile(
    r"([0-9]{1,12}\s*[·*×]?\s*active(?:_count)?(?:\s*[+-]\s*[0-9]{1,12})?)\s*(?:∈\s*\[?\s*([0-9]{1,12})\s*\.\.\s*([0-9]{1,12}))?"
)
_ACTIVE_RANGE = re.compile(r"\bactive(?:_count)?\s*∈\s*([0-9]{1,12})\s*\.\.\s*([0-9]{1,12})")
_TOTAL = re.compile(rf"\btotal\s+(?:of\s+)?({NUMBER})\b", re.I)
_PER_TILE = re.compile(r"[—–:-]\s*per[- ]tile\b(?!\s+(?:or|and)\b)", re.I)
_SAME_TYPE = re.compile(r"\b(?:second|another|third) instance of the same task type\b|\bsame task type\b", re.I)
_TABLE = {
    "task": ("task", "op", "name", "instance"),
    "type": ("type", "task type"),
    "num_tasks": ("num tasks", "formula", "tasks"),
    "listed": ("listed", "count", "total"),
    "iterations": ("iterations", "k iterations", "k stages"),
    "justification": ("justification", "why"),
}


def read_tasks(draft: Draft) -> None:
    """One row per instance of a task type."""
    blocks = draft.blocks("granularity")
    for block in blocks:
        found = columns(block, _TABLE) if block.kind == TABLE else {}
        if "task" in found and found.keys() & {"num_tasks", "listed"}:
            _table(draft, block, found)
        elif block.kind == ITEM and _NAME.match(block.plain) and _TASKS.search(block.plain):
            _instance(draft, block)
    _types(draft)
    active = next((m for block in draft.blocks() if (m := _ACTIVE_RANGE.search(block.plain))), None)
    for block in draft.blocks("roles", "granularity"):
        if block.kind == ITEM:
            _iterations(draft, block, active)
    for block in draft.blocks("roles", "granularity"):
        _activity(draft, block)
    for block in blocks:
        _whole_grid(draft, block)
    for section in draft.sections:
        if section.place == "granularity" and draft.rows("granularity") and _PER_TILE.search(section.title):
            draft.put("engine.tiles_per_task", "1", section.line)


def _instance(draft: Draft, block: Block) -> None:
    text = block.plain
    name = " ".join(_NAME.match(text)[1].split())
    match = _TASKS.search(text)
    listed = next(part for part in match.groups() if part).replace(",", "")
    before = text[: match.start()] if match.start() else text
    ranges = [(int(low), int(high)) for low, high in _RANGE.findall(before)]
    line = block.line_at(match.start())
    values = {"task": name, "op": _op(draft, name), "listed": listed, "num_tasks": _product(draft, ranges, before)}
    path = draft.row("granularity", values, block.first, block)
    if not path:
        return
    if not values["num_tasks"]:
        draft.doubt(line, f"{name}: {listed} tasks are listed without a formula.", f"{path}.num_tasks")
    if "ALWAYS_ACTIVE" in text:
        draft.put(f"{path}.can_be_inactive", "no", block.first, block)
    if "task_offset" in text:
        draft.put(f"{path}.task_offset", True, block.first, block)


def _product(draft: Draft, ranges: list[tuple[int, int]], text: str) -> str:
    """The number of tiles: the product of index ranges, or N over the rows of a tile."""
    if ranges:
        return "*".join(str(high - low + 1) for low, high in ranges)
    if (found := _N.search(text)) and draft.value("symbols.BLOCK_M"):
        return f"{found[1]}/BLOCK_M"
    return ""


def _op(draft: Draft, name: str) -> str:
    names = [op.get("name", "") for op in draft.rows("ops")]
    exact = [n for n in names if folded(n) == folded(name)]
    near = [n for n in names if folded(n).startswith(folded(name)) or folded(name).startswith(folded(n))]
    found = exact or near
    return found[0] if len(found) == 1 else ""


def _types(draft: Draft) -> None:
    """An instance "of the same task type" shares the words that its name and the row before have in common."""
    rows = draft.rows("granularity")
    for block in draft.blocks("granularity"):
        if not _SAME_TYPE.search(block.plain) or not block.used:
            continue
        index = next((n for n, row in enumerate(rows) if f"granularity[{n}]" in block.used), 0)
        if index:
            words = rows[index]["task"].split(), rows[index - 1]["task"].split()
            common = [a for a, b in zip(*words, strict=False) if a == b]
            for number in (index - 1, index) if common else ():
                draft.put(f"granularity[{number}].type", " ".join(common), block.first, block)
    for index, row in enumerate(rows):
        if not row.get("type") and row.get("task"):
            draft.put(f"granularity[{index}].type", row["task"], draft.lines.get(f"granularity[{index}]", 1))


def _iterations(draft: Draft, block: Block, stated: re.Match[str] | None) -> None:
    text = block.plain
    named = _ITERATIONS.match(text)
    if not named or not re.search(r"\bK-(?:stages|iters|iterations|steps)\b", text):
        return
    rows = [(n, row) for n, row in enumerate(draft.rows("granularity")) if _concerns(named[1], row)]
    active, plain_count = _ACTIVE.search(text), _STAGES.search(text)
    for index, _ in rows:
        path = f"granularity[{index}]"
        if active:
            spelled = formula(re.sub(r"active_count", "active", active[1]))
            draft.put(f"{path}.iterations", spelled, block.line_at(active.start()), block)
            if stated:
                _active_range(draft, block, path, spelled, active, stated)
        elif plain_count:
            draft.put(f"{path}.iterations", plain_count[1], block.line_at(plain_count.start()), block)


def _concerns(name: str, row: dict[str, str]) -> bool:
    return folded(name) in {folded(row.get(key, "")) for key in ("task", "type", "op")}


def _active_range(
    draft: Draft, block: Block, path: str, spelled: str, match: re.Match[str], stated: re.Match[str]
) -> None:
    """How many may be active, as the file says it; compared with the range of iterations that it gives."""
    line = block.line_at(match.start())
    for name, value in (("active_low", stated[1]), ("active_high", stated[2])):
        draft.put(f"{path}.{name}", value, line, block)
    terms = re.fullmatch(r"([0-9]{1,12})\s*\*?\s*active\s*(?:([+-])\s*([0-9]{1,12}))?", spelled)
    if terms and match[2]:
        rest = int(terms[3] or 0) * (-1 if terms[2] == "-" else 1)
        ends = [int(terms[1]) * int(end) + rest for end in stated.groups()]
        said = [int(match[2]), int(match[3])]
        if ends == said:
            draft.checked(line, f"{spelled} runs from {ends[0]} to {ends[1]}, as the file says.", f"{path}.iterations")
        else:
            draft.doubt(
                line,
                f"{spelled} runs from {ends[0]} to {ends[1]}; the file says {said[0]} to {said[1]}.",
                f"{path}.iterations",
            )


def _activity(draft: Draft, block: Block) -> None:
    for match in re.finditer(r"\b([A-Za-z0-9_]+)\s+tasks\s+are\s+never\s+inactive", block.plain):
        _set_inactive(draft, block, match[1], "no", match.start())
    for match in re.finditer(r"\ba\s+routed\s+([A-Za-z0-9_]+)\s+task\s+whose\b", block.plain):
        _set_inactive(draft, block, f"{match[1]} routed", "yes", match.start())


def _set_inactive(draft: Draft, block: Block, name: str, value: str, position: int) -> None:
    for index, row in enumerate(draft.rows("granularity")):
        if folded(row.get("task", "")) == folded(name):
            draft.put(f"granularity[{index}].can_be_inactive", value, block.line_at(position), block)


def _whole_grid(draft: Draft, block: Block) -> None:
    """Statements on all tasks: the total, the index of a tile, a grid barrier or its absence."""
    text = block.plain
    rows = draft.rows("granularity")
    if block.kind not in (ITEM, PARAGRAPH) or not rows:
        return
    indexed = all(row.get("task_offset") for row in rows)
    if not indexed and re.search(r"\b(?:both|all)\s+(?:new\s+)?enums\b", text, re.I) and "task_offset" in text:
        for index in range(len(rows)):
            draft.put(f"granularity[{index}].task_offset", True, block.first, block)
    listed = [row.get("listed", "") for row in rows]
    if (match := _TOTAL.search(text)) and all(as_number(count) is not None for count in listed):
        stated, total, line = int(match[1].replace(",", "")), sum(map(int, listed)), block.line_at(match.start())
        if stated == total:
            draft.checked(line, f"The total of {total:,} tasks agrees with the rows.", "granularity")
        else:
            draft.doubt(line, f"The file says {stated:,} tasks in all; its rows add up to {total:,}.", "granularity")
    if re.search(r"\bno\s+(?:monotonic\s+)?grid\s+barrier\b|\bgrid-wide-fused\s+is\s+not\s+used\b", text, re.I):
        draft.checked(block.first, "No grid barrier: the tasks stay per tile.", "granularity")
    elif match := re.search(r"\bgrid[- ]wide\b|\bgrid barrier\b", text, re.I):
        why = "A grid barrier is mentioned; whether a task is grid-wide was not decided."
        draft.doubt(block.line_at(match.start()), why, "granularity")


def _table(draft: Draft, block: Block, found: dict[str, int]) -> None:
    for row in block.rows:
        values = {name: cell(row.cells, found, name) for name in found}
        if not values.get("task") or re.match(r"total|sum\b", values["task"], re.I):
            block.left.append(row.line)
            continue
        for name in ("num_tasks", "listed", "iterations"):
            values[name] = formula(re.sub(r"\s*tasks?$", "", values.get(name, "")))
        values["listed"] = values["listed"] or (values["num_tasks"] if as_number(values["num_tasks"]) else "")
        values["op"] = _op(draft, values["task"])
        draft.row("granularity", values, row.line, block)
    block.whole = len(found) == len(block.header)
