"""Ops, claims and the engine."""

from v2kb.rules import document_shape as shape
from v2kb.rules.spec_fields.parts import IDENTIFIER, LINE, NAME, PROSE, YES_OR_NO
from v2kb.rules.spec_words import FAMILIES, ROUTES

_SYMBOL = shape.matching(r"[A-Za-z_][A-Za-z0-9_]{0,63}", 64, "Name a symbol such as STAGES or W13_N.")
OP = {
    "name": NAME,
    "op": IDENTIFIER,
    "contract": IDENTIFIER,
    "math": LINE,
    "weights": LINE,
    "scales": LINE,
    "output": LINE,
}
ROUTING = {
    "route": shape.one_of(*ROUTES),
    "first_bring_up": YES_OR_NO,
    "wired": YES_OR_NO,
    "frozen_gate": YES_OR_NO,
    "numeric_target": YES_OR_NO,
    "campaign_verdict": YES_OR_NO,
    "wedge_rounds": shape.formula(),
}
ENGINE = {
    "family": shape.one_of(*FAMILIES),
    "idiom": shape.text(200),
    "why": PROSE,
    "source": LINE,
    "m": shape.formula(),
    "tile_m": shape.formula(),
    "tiles_per_task": shape.formula(),
    "routing": shape.record(ROUTING),
}
CLAIM = {"symbol": _SYMBOL, "low": shape.formula(), "high": shape.formula(), "text": LINE}
