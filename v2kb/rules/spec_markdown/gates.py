"""Section 7: gates by rung, how the verdict is measured, and what scale packs must be."""

import re
from decimal import Decimal

from v2kb.rules.spec_markdown.blocks import ITEM, PARAGRAPH, TABLE, Block
from v2kb.rules.spec_markdown.draft import Draft
from v2kb.rules.spec_markdown.phrases import cell, clauses, columns, one_line, sentences

_RUNGS = (
    ("G0", re.compile(r"\bbyte-identical\b|\bclang-format\b|\bsyntax compile\b", re.I)),
    ("G1", re.compile(r"\bcos\s*[≥>]|\btest-mode numeric\b", re.I)),
    ("G2", re.compile(r"\bstatic audit\b|\bprotocol audit", re.I)),
    ("G3", re.compile(r"--layers\s+0-3|\bin-MPK\b[^.;]{0,40}\bprobe\b", re.I)),
    ("G4", re.compile(r"\biter\s*[≥>]=?\s*[0-9]|\bmulti-step\b", re.I)),
    ("G5", re.compile(r"\bpoison\b|\bcanary\b", re.I)),
    ("G6", re.compile(r"\bcollectives?\b[^.;]{0,40}\bbit-exact\b", re.I)),
    ("G7", re.compile(r"\bnum_active\b[^.;]{0,40}\bevery step\b", re.I)),
    ("G8", re.compile(r"\bcross-model\b|\bregression untouched\b", re.I)),
)
_PERF = re.compile(r"^perf(?:ormance)? verdict\b", re.I)
_CASES = re.compile(r"\bcases?\s*:\s*(.+?)(?:\.\s|\.?$)", re.I | re.S)
_TABLE = {
    "rung": ("rung", "gate"),
    "bar": ("bar", "threshold", "criterion"),
    "cases": ("cases",),
    "reason": ("reason", "note"),
}
_VOLUMES = re.compile(r"weight[- ]stream volumes?\b.*?(?=\.\s|$)", re.I | re.S)
_TOTAL = re.compile(r"(?:≈|=|~)\s*([0-9]{1,6}(?:\.[0-9]{1,3})?)\s?([KMG]B)\b")
_UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9}
_PACK = re.compile(r"\b([A-Za-z0-9]+_scale)\b")
_PACK_WORDS = {
    "positive": re.compile(r"\bpositive\b", re.I),
    "finite": re.compile(r"\bfinite\b", re.I),
    "power_of_two": re.compile(r"\bpow2\b|\bpowers? of two\b", re.I),
    "exponent_in_range": re.compile(
        r"\bexponent\b[^.;]{0,40}\b(?:range|in)\b|\brange\b[^.;]{0,40}\bexponent\b", re.I | re.S
    ),
}
_BANDWIDTH = r"[0-9.]{1,6}\s*(?:-|–|to)\s*[0-9.]{1,6}\s*TB/s"
_FLOORS = (
    ("same_grid_xor_consumer", re.compile(r"\bfloor\b[^.;]{0,80}\bxor[- ]consumer\b", re.I)),
    ("same_grid_load_only", re.compile(r"\bfloor\b[^.;]{0,80}\bload[- ]only\b", re.I)),
    ("achievable_bandwidth", re.compile(rf"\bachievable\s+{_BANDWIDTH}", re.I)),
)
_COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6}


def read_gates(draft: Draft) -> None:
    """Each item of the list goes to every rung whose bar it states."""
    for block in draft.blocks("gates"):
        found = columns(block, _TABLE) if block.kind == TABLE else {}
        if {"rung", "bar"} <= found.keys():
            _table(draft, block, found)
        elif block.kind == ITEM:
            _item(draft, block)
        elif block.kind == PARAGRAPH and _PERF.match(block.plain):
            text = one_line(block.plain)
            draft.row("gates", {"rung": "G9", "bar": text[:500]}, block.first, block)
            block.whole = len(text) <= 500
    for block in draft.blocks("gates", "evidence", "questions"):
        _measurement(draft, block)
    for block in draft.blocks("contract", "gates"):
        _weights(draft, block)
    _floor(draft)


def _floor(draft: Draft) -> None:
    """What the least time is derived from: a probe wins over a range of bandwidth."""
    blocks = draft.blocks("contract", "gates")
    for word, pattern in _FLOORS:
        for block in blocks:
            if (match := pattern.search(block.plain)) and not draft.value("measurement.floor"):
                draft.put("measurement.floor", word, block.line_at(match.start()), block)


def _item(draft: Draft, block: Block) -> None:
    text = block.plain
    rungs = sorted((match.start(), rung) for rung, pattern in _RUNGS if (match := pattern.search(text)))
    if not rungs:
        draft.doubt(block.first, "This gate fits no rung of the ladder; it is kept as text.")
        return
    said = one_line(text)
    cases = _CASES.search(text)
    for _, rung in rungs:
        bar = said if len(rungs) == 1 else _part(text, rung) or said
        values = {"rung": rung, "bar": bar[:500], "cases": one_line(cases[1])[:500] if cases else ""}
        draft.row("gates", values, block.first, block)
    block.whole = len(said) <= 500


def _part(text: str, rung: str) -> str:
    """The sentences of a list item that state one rung."""
    pattern = dict(_RUNGS)[rung]
    parts = [part for s in sentences(text) for c in clauses(s) for part in re.split(r",\s+then\s+", c)]
    return " ".join(part for part in parts if pattern.search(part))


def _table(draft: Draft, block: Block, found: dict[str, int]) -> None:
    for row in block.rows:
        rung = re.search(r"\bG(?:1b|[0-9])\b", cell(row.cells, found, "rung"))
        if not rung:
            block.left.append(row.line)
            continue
        values = {name: cell(row.cells, found, name) for name in found}
        draft.row("gates", {**values, "rung": rung[0]}, row.line, block)
    block.whole = len(found) == len(block.header)


def _measurement(draft: Draft, block: Block) -> None:
    text = block.plain
    facts = (
        ("metric", re.search(r"\b(slowCTA)\b", text)),
        ("tier", re.search(r"\bTIER-?\s?([123])\b", text)),
        ("grid", re.search(r"\bgrid\s*(?:=|\()\s*([0-9]{1,4})\b", text)),
        ("launches", re.search(r"\bn\s*[≥>]=?\s*([0-9]{1,4})\b", text)),
    )
    decides = bool(_PERF.match(text)) or bool(re.search(r"\bmeasurement\b", text, re.I)) or "slowCTA" in text
    for name, match in facts if decides else ():
        if match and not draft.value(f"measurement.{name}"):
            draft.put(f"measurement.{name}", match[1], block.line_at(match.start()), block)
    for name, value, pattern in (
        ("timer", "globaltimer", r"%?globaltimer\b"),
        ("timer", "cupti", r"\bCUPTI\b"),
        ("cold", "yes", r"\bcold[- ]L2\b|\bcold cache"),
    ):
        if decides and (match := re.search(pattern, text, re.I)) and not draft.value(f"measurement.{name}"):
            draft.put(f"measurement.{name}", value, block.line_at(match.start()), block)


def _weights(draft: Draft, block: Block) -> None:
    """Bytes of weights: the sum of the totals that a sentence on weight-stream volumes rounds to."""
    said = _VOLUMES.match(block.plain)
    totals = _TOTAL.findall(said[0]) if said else []
    if totals:
        terms = [f"{int(Decimal(size) * _UNITS[unit])}" for size, unit in totals]
        draft.put("measurement.weight_bytes", " + ".join(terms), block.first, block)


def read_scale_packs(draft: Draft) -> None:
    """Packs that the ops name, with the conditions that a question says must be asserted for all of them."""
    names = list(dict.fromkeys(n for op in draft.rows("ops") for n in _PACK.findall(op.get("scales", ""))))
    if not names:
        return
    for block in draft.blocks("questions", "gates"):
        text = block.plain
        counted = re.search(r"\ball (two|three|four|five|six) scale packs\b", text, re.I)
        if not counted:
            continue
        if _COUNTS[counted[1].lower()] != len(names):
            why = f"{counted[0]} are asserted, but the ops name {', '.join(names)}."
            draft.doubt(block.line_at(counted.start()), why, "scale_packs")
            return
        met = {name: True for name, pattern in _PACK_WORDS.items() if pattern.search(text)}
        where = re.search(r"\bat\s+((?:harness|build|weight|model)\s+load|build time)\b", text)
        for name in names:
            values = {"name": name, **met, "where": where[1] if where else ""}
            draft.row("scale_packs", values, block.line_at(counted.start()), block)
        return
