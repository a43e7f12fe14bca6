"""Section 1: which engine the spec takes, and from where."""

import re

from v2kb.rules.spec_markdown.blocks import ITEM, PARAGRAPH, Block
from v2kb.rules.spec_markdown.draft import Draft
from v2kb.rules.spec_markdown.phrases import ARROW, one_line

_BRANCH = re.compile(r"^(?:branch taken|branch|engine|engine choice|engine decision|family)\s*:\s*(.+)", re.I | re.S)
_SOURCE = re.compile(r"^source(?: engine)?\b[^:\n]{0,80}:\s*(\S+\.(?:cuh?|py|h|hpp|cpp|cc))", re.I)
_M = re.compile(r"\bM\s?=\s?([0-9]{1,6})\b")
_FAMILY = re.compile(r"\b[Ff]amily\s*:?\s*([A-E](?:\s*(?:/|,|or|and)\s*[A-E])*)\b[ ,;:.—–-]*")
# The words of a family's own description, most telling first.
_FAMILY_WORDS = (
    ("A", re.compile(r"\bpipeline\b.{0,80}\b(?:tma|tcgen05)|\btcgen05\b", re.I | re.S)),
    ("E", re.compile(r"\bhelper\b|\binside another (?:kernel|task)", re.I)),
    ("C", re.compile(r"\bmonolith|\bone (?:smem )?block\b|\bsingle region\b", re.I)),
    ("D", re.compile(r"\b(?:no|without) (?:smem|shared memory)|\bregisters only\b", re.I)),
    ("B", re.compile(r"\bconsumer[- ](?:only|idiom)|\bplanned regions\b", re.I)),
)


def read_engine(draft: Draft) -> None:
    """Family and idiom from the branch that the spec takes, its source file, and M."""
    for block in draft.blocks("engine", "contract"):
        if block.kind in (PARAGRAPH, ITEM):
            _read(draft, block)
    tile = draft.value("symbols.BLOCK_M") or draft.value("symbols.MMA_M")
    if tile:
        name = "BLOCK_M" if draft.value("symbols.BLOCK_M") else "MMA_M"
        draft.put("engine.tile_m", tile, draft.lines.get(f"symbols.{name}", 1))
    for block in draft.blocks("contract"):
        if (found := _M.search(block.plain)) and not draft.value("engine.m"):
            draft.put("engine.m", found[1], block.line_at(found.start()), block)
    for section in draft.sections:
        if section.place == "contract" and (found := _M.search(section.title)) and not draft.value("engine.m"):
            draft.put("engine.m", found[1], section.line)


def _read(draft: Draft, block: Block) -> None:
    text = block.plain
    if found := _SOURCE.match(text):
        draft.put("engine.source", found[1].strip("`"), block.line_at(found.start(1)), block)
    found, stated = _BRANCH.match(text), _FAMILY.search(text)
    if not found and not (stated and stated.start() == 0):
        return
    if stated:
        family, branch = stated[1], one_line(text[stated.end() :] if stated.start() == 0 else found[1])
    else:
        branch = one_line(found[1])
        family = next((f for f, words in _FAMILY_WORDS if words.search(branch)), "")
    if len(family) == 1:
        draft.put("engine.family", family, block.first, block)
    else:
        why = f"Families {family} are named, and a spec takes one." if family else "No family (A to E) is named here."
        draft.doubt(block.first, why, "engine.family")
    block.whole = len(family) == 1
    if not branch:
        return
    chosen = re.search(rf"{ARROW}\s*(.+?)(?:\s*\(|\.\s|$)", branch)
    idiom = (chosen[1] if chosen else re.split(r"\.\s| \(", branch)[0]).strip().rstrip(".")
    if idiom and len(idiom) <= 200:
        draft.put("engine.idiom", idiom, block.first, block)
    draft.put("engine.why", branch, block.first, block)
    block.whole = True
