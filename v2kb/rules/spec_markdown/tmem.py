"""Section 2: objects in tensor memory, who allocates them, and the barrier that publishes their address."""

import re
from itertools import groupby

from v2kb.rules.spec_markdown.blocks import Block
from v2kb.rules.spec_markdown.draft import Draft
from v2kb.rules.spec_markdown.phrases import ARROW, role_in

_OBJECTS = re.compile(r"\b([A-Z][A-Za-z_]*?)_?([0-9]*)\s*\[\s*([0-9]{1,12})\s*\.\.\s*([0-9]{1,12})\s*\]")
_ALLOC = re.compile(r"\btcgen05\.alloc\s+([0-9]{1,12})(?:\s*cols?(?:umns)?)?", re.I)
_DTYPE = re.compile(r"\b([A-Z][A-Z0-9_]*)\b[^,;.\[\]]{0,24},\s*(f32|f16|bf16|fp32|fp16|float32|u32|s32)\b")
_CACHED = re.compile(r"\bt?addr\w*\s+(?:is\s+)?cached\s+in\s+registers|\bcache\s+taddr\s+in\s+registers", re.I)
_PUBLISHED = re.compile(r"\barrives?\s+(?:on\s+)?([a-z][a-z0-9_]*)", re.I)
_WRITES = re.compile(rf"(?:UMMA|UTCCP|tcgen05\.(?:mma|cp))[^→;.]{{0,60}}{ARROW}\s*([A-Z][A-Za-z0-9_/ ]*)")
_READS = re.compile(r"read path\s*:\s*(.*)", re.I | re.S)


def mark_tmem(draft: Draft) -> None:
    """Blocks that follow a line `TMEM ...` inside the plan of shared memory belong to tensor memory."""
    for section in draft.sections:
        inside = section.place == "tmem"
        for block in section.blocks:
            inside = inside or (section.place == "smem" and bool(re.match(r"TMEM\b|Tensor memory\b", block.plain)))
            if inside:
                block.place = "tmem"


def read_tmem(draft: Draft) -> None:
    """Objects by their layout, columns, who allocates, and the barrier that publishes the address."""
    for block in draft.blocks("smem", "tmem"):
        if block.place == "tmem":
            _tmem(draft, block)


def _tmem(draft: Draft, block: Block) -> None:
    text = block.plain
    if "tmem.objects" not in draft.lines:
        _objects(draft, block)
    if match := _ALLOC.search(text):
        draft.put("tmem.alloc_columns", match[1], block.line_at(match.start()), block)
    for match in _WRITES.finditer(text):
        for name in re.split(r"[/, ]+", match[1]):
            _set_object(draft, block, name, "writer", "mma", match.start())
    if match := _READS.search(text):
        readers = roles_before_load(match[1])
        named = [o.get("name", "") for o in draft.rows("tmem.objects")]
        for name in [n for n in named if n.startswith("ACC")] or named[:1]:
            _set_object(draft, block, name, "reader", readers, match.start())
    if re.match(r"Lifecycle\b", text, re.I):
        _lifecycle(draft, block)


def roles_before_load(text: str) -> str:
    """The role that issues the load."""
    return role_in(text.split("tcgen05.ld")[0]) or role_in(text)


def _objects(draft: Draft, block: Block) -> None:
    text = block.plain
    layout = re.search(r"Layout\s*:", text, re.I)
    found = [(m[1], int(m[3]), int(m[4]), m.start()) for m in _OBJECTS.finditer(text, layout.end() if layout else 0)]
    dtypes = {m[1]: m[2] for m in _DTYPE.finditer(text)}
    for name, group in groupby(found, key=lambda item: item[0]):
        spans = list(group)
        width = spans[0][2] - spans[0][1] + 1
        even = all(s[2] - s[1] + 1 == width and s[1] == spans[0][1] + n * width for n, s in enumerate(spans))
        for position, (_, first, last, start) in enumerate([spans[0]] if even else spans):
            values = {
                "name": name if even else f"{name}{position}",
                "slots": str(len(spans)) if even else "1",
                "columns": str(last - first + 1),
                "start": str(first),
                "dtype": dtypes.get(name, ""),
            }
            draft.row("tmem.objects", values, block.line_at(start), block)


def _set_object(draft: Draft, block: Block, name: str, field: str, value: str, position: int) -> None:
    for index, row in enumerate(draft.rows("tmem.objects")):
        if row.get("name") == name and value:
            draft.put(f"tmem.objects[{index}].{field}", value, block.line_at(position), block)


def _lifecycle(draft: Draft, block: Block) -> None:
    """`launcher ... alloc`, `launcher ... dealloc`, `lane 0 arrives tmem_ready`, `taddr cached in registers`."""
    text = block.plain
    for field, word in (("alloc_role", r"\balloc\b"), ("dealloc_role", r"\bdealloc\b")):
        match = re.search(word, text)
        roles = roles_near(text[: match.start()]) if match else ""
        if roles:
            draft.put(f"tmem.{field}", roles, block.line_at(match.start()), block)
    if match := _CACHED.search(text):
        draft.put("tmem.address_cached", "yes", block.line_at(match.start()), block)
    if match := _PUBLISHED.search(text):
        draft.put("tmem.published_by", match[1], block.line_at(match.start()), block)


def roles_near(text: str) -> str:
    """The role that is named last."""
    words = re.findall(r"[A-Za-z0-9_]+", text)
    return next((role for word in reversed(words) if (role := role_in(word))), "")
