"""Choices with their citations and predictions, anchors, and how the result will be measured."""

from typing import Any

from v2kb.rules import document_shape as shape
from v2kb.rules.scope import read_scope
from v2kb.rules.spec_fields.parts import DATE, IDENTIFIER, LINE, NAME, PROSE, YES_OR_NO, rows_of
from v2kb.rules.spec_words import FLOORS, POLARITIES, STANCES, STATISTICS, TIMERS

_CHOICE_ID = shape.matching(r"[A-Za-z][A-Za-z0-9_-]{0,23}", 24, "Use a short id such as C1.")
_HASH = shape.matching(r"[0-9a-f]{64}", 64, "Use the 64 hexadecimal digits of a sha256.")
_STANCE = shape.one_of(*STANCES, blank="context")


def _scope(value: Any, path: str, problems: shape.Problems) -> dict[str, Any]:
    scope, found = read_scope(value)
    for problem in found:
        inner = problem.under(path)
        shape.add_problem(problems, inner.field, inner.message, inner.fix)
    return scope


CITATION = {
    "evidence": {"code": IDENTIFIER, "revision": IDENTIFIER, "stance": _STANCE},
    "section": {"document": IDENTIFIER, "anchor": LINE, "revision": IDENTIFIER, "stance": _STANCE},
    "code": {
        "tree": IDENTIFIER,
        "commit": IDENTIFIER,
        "path": LINE,
        "lines": shape.matching(r"[0-9]+(?:-[0-9]+)?", 20, "Write lines as 10 or 10-20."),
        "sha256": _HASH,
        "stance": _STANCE,
    },
}
BAND = {"what": NAME, "low": shape.decimal(), "high": shape.decimal(), "unit": NAME}
_PREDICTION_TEXTS = {"row": IDENTIFIER, "metric": NAME, "unit": NAME, "anchor": NAME, "kill_event": LINE}
_PREDICTION_NUMBERS = (
    "gain_percent",
    "gain_high_percent",
    "gain_absolute",
    "rounds",
    "looks",
    "delta_percent",
    "kill_percent",
    "kill_absolute",
    "budget_runs",
    "park_percent",
)
PREDICTION = {
    **_PREDICTION_TEXTS,
    "direction": shape.one_of("lower", "higher"),
    "tier": shape.one_of("1", "2", "3"),
    "cases": shape.rows(NAME, 200),
    "bands": rows_of(BAND, 16),
    "deadline": DATE,
    "park_metric": NAME,
    **{name: shape.decimal() for name in _PREDICTION_NUMBERS},
}
ACKNOWLEDGED = {"code": IDENTIFIER, "revision": IDENTIFIER, "reason": LINE}
CHOICE = {
    "id": _CHOICE_ID,
    "title": shape.text(200),
    "lever": IDENTIFIER,
    # An unstated polarity is the one that the gate asks most of.
    "polarity": shape.one_of(*POLARITIES, blank="adopts"),
    "rationale": PROSE,
    "scope": _scope,
    "citations": shape.rows(shape.variant("kind", CITATION), 50),
    "new_mechanism": PROSE,
    "acknowledged": rows_of(ACKNOWLEDGED),
    "prediction": shape.optional(shape.record(PREDICTION)),
    "wave_quant": shape.optional(
        shape.record({name: shape.formula() for name in ("items", "tasks", "old_warps", "new_warps")})
    ),
}
ANCHOR = {"name": NAME, "metric": NAME, "method": LINE}
TARGET = {"what": NAME, "now": shape.decimal(), "target": shape.decimal(), "ratio": shape.decimal()}
MEASUREMENT = {
    "metric": NAME,
    "tier": shape.one_of("1", "2", "3"),
    "timer": shape.one_of(*TIMERS),
    "grid": shape.formula(),
    "launches": shape.formula(),
    "statistic": shape.one_of(*STATISTICS),
    "body_us": shape.decimal(),
    "cold": YES_OR_NO,
    "weight_bytes": shape.formula(),
    "layers": shape.formula(),
    "floor": shape.one_of(*FLOORS),
    "adds_block_maxima": YES_OR_NO,
    "reads_block_sum": YES_OR_NO,
    "targets": rows_of(TARGET, 16),
}
