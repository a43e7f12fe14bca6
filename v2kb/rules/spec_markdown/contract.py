"""Section 0: what the spec is, its ops, and its symbols."""

import re

from v2kb.rules.spec_markdown.blocks import ITEM, PARAGRAPH, TABLE, Block
from v2kb.rules.spec_markdown.draft import Draft
from v2kb.rules.spec_markdown.phrases import NUMBER, cell, columns, one_line

_TITLE = re.compile(r"^(?:stage[- ]?1\s+)?(?:design\s+)?spec(?:ification)?\s*[:—–-]+\s*", re.I)
_ABOUT = re.compile(r"^(status|designer|author|date|owner|code)\s*:\s*(.+)$", re.I | re.S)
_DATE = re.compile(r"\b20[0-9]{2}-[0-9]{2}-[0-9]{2}\b")
_OPS = {
    "name": ("op", "sub op", "sub-op", "name", "operation"),
    "math": ("math", "formula", "what", "computes"),
    "weights": ("weights", "weight"),
    "scales": ("scales", "scale"),
    "output": ("out", "output", "outputs", "result"),
}
_SYMBOL = re.compile(rf"(?<![A-Za-z0-9_.:%-])([A-Za-z][A-Za-z0-9_]+)\s?=\s?({NUMBER})(?![A-Za-z0-9_]|\.\.|\.[0-9])")
# Names of the runtime, of files and of flags are no sizes of a design.
_NOT_SYMBOLS = re.compile(r"(?:TASK|MPK|MAX_DYNAMIC|MAX_SMEM|SEM|NUM_OP_SEMS|PLANNER|PAGE|PAGES|BUDGET)(?:_|$)")
_SIZE_NAME = re.compile(r"[A-Z][A-Z0-9_]+|[a-z][A-Z][A-Za-z0-9]*")


def read_head(draft: Draft) -> None:
    """Title, status, designer, date; the tree and commit of the code that the file names."""
    for section in draft.sections:
        if section.level == 1 and section.title:
            draft.put("title", _TITLE.sub("", section.title) or section.title, section.line)
            break
    for block in draft.blocks("preamble"):
        found = _ABOUT.match(block.plain)
        if found:
            word, said = found[1].lower(), one_line(found[2])
            draft.about.setdefault({"author": "designer", "owner": "designer"}.get(word, word), said[:500])
            if word in ("designer", "author", "date") and (date := _DATE.search(said)):
                draft.about.setdefault("date", date[0])


def read_contract(draft: Draft) -> None:
    """The table of ops, and every symbol that the contract and the plan give a number."""
    contract = draft.blocks("contract")
    for block in contract:
        found = columns(block, _OPS) if block.kind == TABLE else {}
        if "name" in found and "math" in found:
            _ops(draft, block, found)
    for block in draft.blocks("contract", "smem", "sems", "roles"):
        if block.kind == PARAGRAPH or (block.kind == ITEM and block in contract):
            _symbols(draft, block)


def _ops(draft: Draft, block: Block, found: dict[str, int]) -> None:
    for row in block.rows:
        values = {name: cell(row.cells, found, name) for name in _OPS}
        if values["name"]:
            draft.row("ops", values, row.line, block)
        else:
            block.left.append(row.line)
    block.whole = len(found) == len(block.header)


def _symbols(draft: Draft, block: Block) -> None:
    """A symbol keeps the first number that the file gives it; a later, different one is no assignment of the design."""
    known = draft.raw.setdefault("symbols", {})
    for match in _SYMBOL.finditer(block.plain):
        name, number = match[1], match[2].replace(",", "")
        if len(known) < 100 and name not in known and _SIZE_NAME.fullmatch(name) and not _NOT_SYMBOLS.match(name):
            draft.put(f"symbols.{name}", number, block.line_at(match.start()), block)
