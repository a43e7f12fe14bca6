"""Pre-registration prose: what is predicted, what kills the candidate, what parks it."""

import re

from v2kb.rules.spec_markdown.blocks import ITEM, PARAGRAPH, Block
from v2kb.rules.spec_markdown.choices import probing_choice
from v2kb.rules.spec_markdown.draft import Draft
from v2kb.rules.spec_markdown.phrases import ARROW, one_line

_PREDICTED = re.compile(r"^predicted\b|^prediction\b", re.I)
_KILL = re.compile(r"^kill\b", re.I)
_WATCH = re.compile(r"^(?:watch|park)\b", re.I)
_NUM = r"[0-9]{1,12}(?:\.[0-9]{1,12})?"
_BAND = re.compile(
    rf"\b([A-Za-z][A-Za-z0-9]*(?:\s?\([^()]{{1,40}}\))?\s+(?:body|bodies|wall|task|kernel))\s+({_NUM})\s*(?:-|–|\.\.|to)\s*({_NUM})\s*([µμu]s|ms|ns)\b"
)
_CUT = re.compile(rf"[≥>~]=?\s*({_NUM})\s*%\s*(?:cut|gain|faster|reduction|lower|less)", re.I)
_BELOW = re.compile(
    rf"(?:TIER-?\s?([123])\s+)?(?:Δ|delta|gain)?\s*[<≤]\s*({_NUM})\s*%\s*(?:vs\.?|against|of)?\s*(?:the\s+)?([A-Za-z0-9][^,.;→⇒]{{0,60}}?)?(?:\s+anchor)?(?=[,.;→⇒]|\s+OR\b|$)",
    re.I,
)
_EVENT = re.compile(rf"\bOR\s+(?:any\s+)?(.+?)(?:\s*{ARROW}|$)", re.S)
_ABOVE = re.compile(rf"[>≥]\s*({_NUM})\s*%")
_METRIC = re.compile(r"\b(slowCTA|op_wall|task_span|body_span_p50|tpot|iter_wall|wall)\b")
_TIER = re.compile(r"\bTIER-?\s?([123])\b", re.I)
_ROW = re.compile(r"\b(U[0-9]{1,12})\b")
_UNITS = {"µs": "us", "μs": "us"}


def read_prediction(draft: Draft) -> None:
    """The prediction of the choice that probes an untested row."""
    blocks = [b for b in draft.blocks("engine", "evidence") if b.kind in (ITEM, PARAGRAPH)]
    told = [b for b in blocks if _PREDICTED.match(b.plain) or _KILL.match(b.plain) or _WATCH.match(b.plain)]
    if not told:
        return
    index = probing_choice(draft)
    if index < 0:
        index = 0 if draft.rows("choices") else -1
    if index < 0:
        for block in told:
            draft.doubt(block.first, "A prediction is stated, but the file has no choice that it could belong to.")
        return
    path = f"choices[{index}].prediction"
    draft.lines.setdefault(path, told[0].first)
    for block in told:
        if _PREDICTED.match(block.plain):
            _predicted(draft, path, block)
        elif _KILL.match(block.plain):
            _kill(draft, path, block)
        else:
            _watch(draft, path, block)
    row = next(
        (c["code"] for c in draft.rows("choices")[index].get("citations", []) if _ROW.match(c.get("code", ""))), ""
    )
    if row:
        draft.put(f"{path}.row", row, told[0].first)


def _put(draft: Draft, path: str, block: Block, match: re.Match[str] | None, group: int = 1) -> None:
    if match and match[group]:
        draft.put(path, one_line(match[group]), block.line_at(match.start(group)), block)


def _predicted(draft: Draft, path: str, block: Block) -> None:
    text = block.plain
    _put(draft, f"{path}.metric", block, _METRIC.search(text))
    _put(draft, f"{path}.tier", block, _TIER.search(text))
    _put(draft, f"{path}.gain_percent", block, _CUT.search(text))
    unit = ""
    for match in _BAND.finditer(text):
        unit = _UNITS.get(match[4], match[4])
        values = {"what": one_line(match[1]), "low": match[2], "high": match[3], "unit": unit}
        draft.row(f"{path}.bands", values, block.line_at(match.start()), block)
    if unit:
        draft.put(f"{path}.unit", unit, block.first, block)
        draft.put(f"{path}.direction", "lower", block.first, block)


def _kill(draft: Draft, path: str, block: Block) -> None:
    text = block.plain
    below = _BELOW.search(text)
    _put(draft, f"{path}.kill_percent", block, below, 2)
    if below and below[1]:
        _put(draft, f"{path}.tier", block, below, 1)
    if below and below[3]:
        name = one_line(below[3]).removesuffix(" anchor")
        draft.put(f"{path}.anchor", name[:100], block.line_at(below.start(3)), block)
        draft.row("anchors", {"name": name[:100], "metric": draft.value(f"{path}.metric")}, block.first, block)
    if event := _EVENT.search(text):
        draft.put(f"{path}.kill_event", one_line(event[1])[:500], block.line_at(event.start(1)), block)


def _watch(draft: Draft, path: str, block: Block) -> None:
    text = block.plain
    said = re.match(r"[^:]{0,60}:\s*([^.\n]+)", text)
    _put(draft, f"{path}.park_metric", block, said)
    _put(draft, f"{path}.park_percent", block, _ABOVE.search(text))
