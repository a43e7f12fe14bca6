"""Section 8: enums, arity, files and the flag of the wiring sketch."""

import re

from v2kb.rules.spec_markdown.blocks import ITEM, PARAGRAPH, TABLE, Block
from v2kb.rules.spec_markdown.draft import Draft
from v2kb.rules.spec_markdown.phrases import ARROW, cell, columns, folded, formula, one_line

ENUM = re.compile(r"\b(TASK_[A-Z0-9_]+)\b(?:\s*=\s*([0-9]{1,12}))?")
FILE = re.compile(
    r"(?<![A-Za-z0-9_./-])((?:[A-Za-z0-9_-]+/)*[A-Za-z0-9_-]+\.(?:cuh|cu|py|hpp|h|cpp|cc))\b(?::[0-9][0-9:,~-]*)?"
)
FLAG = re.compile(r"\b((?:MPK|V2|USE|ENABLE)_[A-Z0-9_]+)(?:\s*=\s*1)?")
_TUPLE = re.compile(r"\b([A-Za-z0-9]+)\s*:\s*([0-9]{1,12})\s+in\b(?:\s*\[[^\]]*\])?\s*\+\s*([0-9]{1,12})\s+out\b")
_PARAMETERS = re.compile(r"\(([A-Z][A-Z_]*=[0-9]{1,12}(?:\s*,\s*[A-Z][A-Z_]*=[0-9]{1,12})*)\)")
_LOAD = re.compile(r"\btma_([1-5])d_load|\bcp\.async\.bulk\.tensor\.([1-5])d\b")
_TABLE = {
    "enum": ("enum", "task enum"),
    "id": ("id", "enum id"),
    "type": ("type", "task", "task type"),
    "inputs": ("inputs", "in"),
    "outputs": ("outputs", "out"),
}


def read_wiring(draft: Draft) -> None:
    """One row per enum; files in the order of the sketch; the flag that turns the path on."""
    for block in draft.blocks("wiring"):
        found = columns(block, _TABLE) if block.kind == TABLE else {}
        if "enum" in found:
            _table(draft, block, found)
        elif block.kind in (PARAGRAPH, ITEM):
            _sketch(draft, block)
    _parameters(draft)
    _copies(draft)


def _copies(draft: Draft) -> None:
    """Dimensions of the TMA load that the duties name, where they name one kind only."""
    loads = [(block, match) for block in draft.blocks("roles") for match in _LOAD.finditer(block.plain)]
    if len({match[1] or match[2] for _, match in loads}) != 1:
        return
    block, match = loads[0]
    for index in range(len(draft.rows("wiring.tasks"))):
        path = f"wiring.tasks[{index}].instruction_dimensions"
        draft.put(path, match[1] or match[2], block.line_at(match.start()), block)


def type_of_enum(draft: Draft, enum: str) -> str:
    """The task type whose name is a part of the enum's; "" when none or several are."""
    types = dict.fromkeys(row.get("type", "") for row in draft.rows("granularity"))
    parts = {folded(part) for part in enum.split("_")}
    fits = [name for name in types if name and (folded(name) in parts or folded(name) in folded(enum))]
    exact = [name for name in fits if folded(name) in parts]
    found = exact or fits
    return found[0] if len(found) == 1 else ""


def _sketch(draft: Draft, block: Block) -> None:
    text = block.plain
    known = [task.get("enum") for task in draft.rows("wiring.tasks")]
    for match in ENUM.finditer(text):
        if match[1] not in known:
            known.append(match[1])
            values = {"type": type_of_enum(draft, match[1]), "enum": match[1], "id": match[2] or ""}
            draft.row("wiring.tasks", values, block.line_at(match.start()), block)
    tasks = draft.rows("wiring.tasks")
    for match in _TUPLE.finditer(text):
        for index, task in enumerate(tasks):
            if folded(task.get("type", "")) == folded(match[1]):
                line = block.line_at(match.start())
                arity = {"inputs": match[2], "outputs": match[3], "graph_tuple": f"{match[2]}, {match[3]}"}
                for name, value in arity.items():
                    draft.put(f"wiring.tasks[{index}].{name}", value, line, block)
    for name, value, pattern in (
        ("literal_elsewhere", "no", r"\bnever\s+hardcode\s+ids\b"),
        ("in_offset_list", "yes", r"\btask_offset\s+list\b"),
        ("tma", "yes", r"\bCUtensorMap\b"),
    ):
        if match := re.search(pattern, text):
            for index in range(len(tasks)):
                draft.put(f"wiring.tasks[{index}].{name}", value, block.line_at(match.start()), block)
    _files(draft, block)
    _flag(draft, block)


def _files(draft: Draft, block: Block) -> None:
    known = {row.get("path") for row in draft.rows("wiring.files")}
    matches = list(FILE.finditer(block.plain))
    for number, match in enumerate(matches):
        if match[1] in known:
            continue
        known.add(match[1])
        end = matches[number + 1].start() if number + 1 < len(matches) else len(block.plain)
        what = one_line(re.split(rf"{ARROW}|[;(]", block.plain[match.end() : end])[0]).strip(" +,.:")[:200]
        draft.row("wiring.files", {"path": match[1], "what": what}, block.line_at(match.start()), block)


def _flag(draft: Draft, block: Block) -> None:
    for match in FLAG.finditer(block.plain):
        draft.put("wiring.flag", match[1], block.line_at(match.start()), block)
        if re.search(r"default-OFF|default off", block.plain, re.I):
            draft.put("wiring.default_off", "yes", block.line_at(match.start()), block)
        return


def _parameters(draft: Draft) -> None:
    """Parameters that tell the instances of a type apart, and whether they are said to be in the variant string."""
    emitted = any(
        re.search(r"\ball\s+behaviou?r(?:al)?\s+params\s+in\s+the\s+emitted\s+string\b", b.plain)
        for b in draft.blocks("wiring")
    )
    tasks = draft.rows("granularity")
    for block in draft.blocks("granularity"):
        row = next((task for index, task in enumerate(tasks) if f"granularity[{index}]" in block.used), None)
        match = _PARAMETERS.search(block.plain)
        if row is None or not match:
            continue
        names = [part.split("=")[0].strip() for part in match[1].split(",")]
        for index, task in enumerate(draft.rows("wiring.tasks")):
            if task.get("type") and task.get("type") == row.get("type"):
                line = block.line_at(match.start())
                draft.put(f"wiring.tasks[{index}].parameters", names, line, block)
                if emitted:
                    draft.put(f"wiring.tasks[{index}].variant_parameters", names, line, block)
    for index in range(len(draft.rows("wiring.tasks"))):
        kind = draft.value(f"wiring.tasks[{index}].type")
        offsets = [row.get("task_offset") for row in tasks if row.get("type") == kind and kind]
        if offsets and all(offsets):
            draft.put(f"wiring.tasks[{index}].indexed_by", "task_offset", draft.lines.get(f"wiring.tasks[{index}]", 1))


def _table(draft: Draft, block: Block, found: dict[str, int]) -> None:
    for row in block.rows:
        values = {name: cell(row.cells, found, name) for name in found}
        if not values["enum"]:
            block.left.append(row.line)
            continue
        for name in ("id", "inputs", "outputs"):
            values[name] = formula(values.get(name, ""))
        values["type"] = values.get("type") or type_of_enum(draft, values["enum"])
        draft.row("wiring.tasks", values, row.line, block)
    block.whole = len(found) == len(block.header)
