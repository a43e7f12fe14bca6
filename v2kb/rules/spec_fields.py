"""The fields of a spec document: what each part holds, and which words a field may take.

Sizes and counts are expression strings over the document's `symbols`. Sources: house-style sections 2 to 7 and the
domain page's sections 2.1 to 2.16 for the tables; evidence-and-gate section 3 for choices and citations.
"""

from typing import Any

from v2kb.rules import document_shape as shape
from v2kb.rules.scope import read_scope
from v2kb.rules.spec_words import (
    ARRIVAL_KINDS,
    ARRIVERS,
    ARRIVES,
    AUDIT_ANSWERS,
    BLOCKS,
    DATA_PATHS,
    DEPENDENCIES,
    FAMILIES,
    FLOORS,
    HANDSHAKES,
    INDEXED_BY,
    MODES,
    NOTE_PLACES,
    PARITY_WAITS,
    POLARITIES,
    PUBLICATIONS,
    QUESTION_STATES,
    REINIT_OWNERS,
    RELEASE_OWNERS,
    REVIEW_VERDICTS,
    ROLES,
    ROUTES,
    RUNGS,
    SEM_FORMS,
    STANCES,
    STATISTICS,
    TAGS,
    TIMERS,
    YES_NO,
)

MAX_ROWS = 64
MAX_SEM_ROWS = 128
MAX_SYMBOLS = 100

_NAME = shape.text(100)
_LINE = shape.text(500)
_PROSE = shape.text(20_000, lines=True)
_IDENTIFIER = shape.matching(
    r"[A-Za-z0-9][A-Za-z0-9._:/+-]*", 120, "Use letters, digits and . _ : / + - without spaces."
)
_SYMBOL = shape.matching(r"[A-Za-z_][A-Za-z0-9_]{0,63}", 64, "Name a symbol such as STAGES or W13_N.")
_CHOICE_ID = shape.matching(r"[A-Za-z][A-Za-z0-9_-]{0,23}", 24, "Use a short id such as C1.")
_QUESTION_ID = shape.matching(r"[A-Za-z][A-Za-z0-9_-]{0,23}", 24, "Use a short id such as Q1.")
_DATE = shape.matching(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", 10, "Write the date as 2026-12-31.")
_HASH = shape.matching(r"[0-9a-f]{64}", 64, "Use the 64 hexadecimal digits of a sha256.")
_FIELD_PATH = shape.matching(
    r"[a-z_]+(?:\[[0-9]{1,3}\])?(?:\.[A-Za-z_][A-Za-z0-9_]*(?:\[[0-9]{1,3}\])?)*",
    160,
    "Name a field of the spec, such as roles.release.owners.",
)
_YES_NO = shape.one_of(*YES_NO)
_ROLE_NAME = shape.one_of(*ROLES)


def _scope(value: Any, path: str, problems: shape.Problems) -> dict[str, Any]:
    scope, found = read_scope(value)
    for problem in found:
        inner = problem.under(path)
        shape.add_problem(problems, inner.field, inner.message, inner.fix)
    return scope


def _rows(fields: dict[str, shape.Shape], limit: int = MAX_ROWS) -> shape.Shape:
    return shape.rows(shape.record(fields), limit)


OP = {
    "name": _NAME,
    "op": _IDENTIFIER,
    "contract": _IDENTIFIER,
    "math": _LINE,
    "weights": _LINE,
    "scales": _LINE,
    "output": _LINE,
}
ROUTING = {
    "route": shape.one_of(*ROUTES),
    "first_bring_up": _YES_NO,
    "wired": _YES_NO,
    "frozen_gate": _YES_NO,
    "numeric_target": _YES_NO,
    "campaign_verdict": _YES_NO,
    "wedge_rounds": shape.formula(),
}
ENGINE = {
    "family": shape.one_of(*FAMILIES),
    "idiom": shape.text(200),
    "why": _PROSE,
    "source": _LINE,
    "m": shape.formula(),
    "tile_m": shape.formula(),
    "tiles_per_task": shape.formula(),
    "routing": shape.record(ROUTING),
}
CLAIM = {"symbol": _SYMBOL, "low": shape.formula(), "high": shape.formula(), "text": _LINE}
SLICE = {
    "name": _NAME,
    "slots": shape.formula(blank="1"),
    "offset_bytes": shape.formula(),
    "size_bytes": shape.formula(),
    "alignment": shape.formula(blank="1"),
    "contents": _LINE,
}
REGION = {
    "ordinal": shape.formula(),
    "slots": shape.formula(blank="1"),
    "name": _NAME,
    "size_bytes": shape.formula(),
    "alignment": shape.formula(),
    "page_count": shape.formula(blank="-1"),
    "can_pack": shape.flag(),
    "release_step": shape.formula(blank="0"),
    "contiguous": shape.flag(blank=True),
    "tma_dst": shape.flag(),
    "owner": _NAME,
    "contents": _LINE,
    "slices": _rows(SLICE, 32),
}
SMEM = {
    "regions": _rows(REGION),
    "queue": shape.rows(_IDENTIFIER, MAX_ROWS),
    "ignores_offsets": _YES_NO,
    "static_shared_bytes": shape.formula(),
    "overlap_claim": _YES_NO,
    "double_buffered": _YES_NO,
}
TMEM_OBJECT = {
    "name": _NAME,
    "slots": shape.formula(blank="1"),
    "columns": shape.formula(),
    "start": shape.formula(),
    "dtype": _NAME,
    "writer": _ROLE_NAME,
    "reader": _ROLE_NAME,
    "contents": _LINE,
}
TMEM = {
    "objects": _rows(TMEM_OBJECT, 32),
    "alloc_columns": shape.formula(),
    "alloc_role": _ROLE_NAME,
    "dealloc_role": _ROLE_NAME,
    "address_cached": _YES_NO,
    "published_by": _NAME,
}
SEM = {
    "ordinal": shape.formula(),
    "slots": shape.formula(),
    "name": _NAME,
    "count": shape.formula(),
    "arrivers": shape.one_of(*ARRIVERS),
    "producer": _NAME,
    "consumer": _NAME,
    "meaning": _LINE,
    "kind": shape.one_of(*ARRIVAL_KINDS),
    "arrives": shape.one_of(*ARRIVES),
    "data": shape.one_of(*DATA_PATHS),
    "publication": shape.one_of(*PUBLICATIONS),
    "storage": _NAME,
    "tx_bytes": shape.formula(),
    "pair": _NAME,
    "first_phase": shape.one_of("0", "1"),
    "waited_at_start": _YES_NO,
    "reinit_owner": shape.one_of(*REINIT_OWNERS),
    "reinit_order": _LINE,
    "proof": _LINE,
    "releases": _LINE,
}
# A blank cell of a channel means what the form itself says: a ring is arrived in each iteration, its reader waits first
# for a filled slot and its writer finds every slot free.
CHANNEL = {
    "name": _NAME,
    "depth": shape.formula(),
    "producer": _NAME,
    "producer_kind": shape.one_of(*ARRIVAL_KINDS),
    "consumer": _NAME,
    "consumer_kind": shape.one_of(*ARRIVAL_KINDS),
    "full_base": shape.formula(),
    "empty_base": shape.formula(),
    "full_arrivals": shape.formula(),
    "empty_arrivals": shape.formula(),
    "full_arrivers": shape.one_of(*ARRIVERS),
    "empty_arrivers": shape.one_of(*ARRIVERS),
    "full_arrives": shape.one_of(*ARRIVES, blank="per_iteration"),
    "empty_arrives": shape.one_of(*ARRIVES, blank="per_iteration"),
    "full_phase": shape.one_of("0", "1", blank="0"),
    "empty_phase": shape.one_of("0", "1", blank="1"),
    "data": shape.one_of(*DATA_PATHS),
    "publication": shape.one_of(*PUBLICATIONS),
    "tx_bytes": shape.formula(),
    "storage": _NAME,
    "shares_empty_with": _NAME,
    "empty_name": _NAME,
    "reinit_full_by": shape.one_of(*REINIT_OWNERS),
    "reinit_empty_by": shape.one_of(*REINIT_OWNERS),
    "reinit_full_order": _LINE,
    "reinit_empty_order": _LINE,
    "full_proof": _LINE,
    "empty_proof": _LINE,
    "releases": _LINE,
    "meaning": shape.text(500, blank="slot is filled"),
    "empty_meaning": shape.text(500, blank="slot is free again"),
}
ONE_SHOT = {
    "name": _NAME,
    "ordinal": shape.formula(),
    "arrivals": shape.formula(),
    "producer": _NAME,
    "consumer": _NAME,
    "kind": shape.one_of(*ARRIVAL_KINDS),
    "reinit_by": shape.one_of(*REINIT_OWNERS),
    **{
        name: SEM[name]
        for name in (
            "arrivers",
            "arrives",
            "data",
            "publication",
            "storage",
            "tx_bytes",
            "first_phase",
            "waited_at_start",
            "reinit_order",
            "proof",
            "releases",
            "meaning",
        )
    },
}
PROTOCOL = {
    "handshake": shape.one_of(*HANDSHAKES),
    "tags": shape.one_of(*TAGS),
    "parity_wait": shape.one_of(*PARITY_WAITS),
    "reinit_fenced": _YES_NO,
    "tail_before_publish": _YES_NO,
    "exit_snapshot": _YES_NO,
}
SEMS = {
    "form": shape.one_of(*SEM_FORMS, blank="rows"),
    "rows": _rows(SEM, MAX_SEM_ROWS),
    "channels": _rows(CHANNEL, 32),
    "one_shots": _rows(ONE_SHOT, 31),
    "num_op_sems": shape.formula(),
    "protocol": shape.record(PROTOCOL),
}
ROLE = {
    "role": _ROLE_NAME,
    "empty": shape.flag(),
    "dependency": shape.one_of(*DEPENDENCIES),
    "duty": _PROSE,
    "pages": _LINE,
    "handshake": _LINE,
    "bounds_fail": _PROSE,
    "bounds_fail_pages": _LINE,
    "bounds_fail_handshake": _LINE,
    "inactive": _PROSE,
    "inactive_pages": _LINE,
    "inactive_handshake": _LINE,
    "reinit_before_bail": _YES_NO,
    "waits_when_inactive": _YES_NO,
    "named_barriers": _LINE,
}
RELEASE = {
    "owners": shape.rows(shape.one_of(*RELEASE_OWNERS), 3),
    "alternative": shape.one_of(*RELEASE_OWNERS),
    "auto_consumer_finish": _YES_NO,
    "only_used_pages": _YES_NO,
    "unvisited_stages": _YES_NO,
}
ROLES_PART = {"stages": shape.formula(), "rows": _rows(ROLE, 32), "release": shape.record(RELEASE)}
GRANULARITY = {
    "task": _NAME,
    "op": _NAME,
    "type": _NAME,
    "mode": shape.one_of(*MODES, blank="per_tile"),
    "num_tasks": shape.formula(),
    "listed": shape.formula(),
    "iterations": shape.formula(),
    "active_low": shape.formula(),
    "active_high": shape.formula(),
    "can_be_inactive": _YES_NO,
    "justification": _PROSE,
    "monotonic_barrier": shape.flag(),
    "host_assert": shape.flag(),
    "skip_after_step0": shape.flag(),
    "task_offset": shape.flag(),
    "grid_barrier": shape.flag(),
}
_STANCE = shape.one_of(*STANCES, blank="context")
CITATION = {
    "evidence": {"code": _IDENTIFIER, "revision": _IDENTIFIER, "stance": _STANCE},
    "section": {"document": _IDENTIFIER, "anchor": _LINE, "revision": _IDENTIFIER, "stance": _STANCE},
    "code": {
        "tree": _IDENTIFIER,
        "commit": _IDENTIFIER,
        "path": _LINE,
        "lines": shape.matching(r"[0-9]+(?:-[0-9]+)?", 20, "Write lines as 10 or 10-20."),
        "sha256": _HASH,
        "stance": _STANCE,
    },
}
BAND = {"what": _NAME, "low": shape.decimal(), "high": shape.decimal(), "unit": _NAME}
_PREDICTION_TEXTS = {"row": _IDENTIFIER, "metric": _NAME, "unit": _NAME, "anchor": _NAME, "kill_event": _LINE}
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
    "cases": shape.rows(_NAME, 200),
    "bands": _rows(BAND, 16),
    "deadline": _DATE,
    "park_metric": _NAME,
    **{name: shape.decimal() for name in _PREDICTION_NUMBERS},
}
ACKNOWLEDGED = {"code": _IDENTIFIER, "revision": _IDENTIFIER, "reason": _LINE}
CHOICE = {
    "id": _CHOICE_ID,
    "title": shape.text(200),
    "lever": _IDENTIFIER,
    # An unstated polarity is the one that the gate asks most of.
    "polarity": shape.one_of(*POLARITIES, blank="adopts"),
    "rationale": _PROSE,
    "scope": _scope,
    "citations": shape.rows(shape.variant("kind", CITATION), 50),
    "new_mechanism": _PROSE,
    "acknowledged": _rows(ACKNOWLEDGED),
    "prediction": shape.optional(shape.record(PREDICTION)),
    "wave_quant": shape.optional(
        shape.record({name: shape.formula() for name in ("items", "tasks", "old_warps", "new_warps")})
    ),
}
ANCHOR = {"name": _NAME, "metric": _NAME, "method": _LINE}
TARGET = {"what": _NAME, "now": shape.decimal(), "target": shape.decimal(), "ratio": shape.decimal()}
MEASUREMENT = {
    "metric": _NAME,
    "tier": shape.one_of("1", "2", "3"),
    "timer": shape.one_of(*TIMERS),
    "grid": shape.formula(),
    "launches": shape.formula(),
    "statistic": shape.one_of(*STATISTICS),
    "body_us": shape.decimal(),
    "cold": _YES_NO,
    "weight_bytes": shape.formula(),
    "layers": shape.formula(),
    "floor": shape.one_of(*FLOORS),
    "adds_block_maxima": _YES_NO,
    "reads_block_sum": _YES_NO,
    "targets": _rows(TARGET, 16),
}
SCALE_PACK = {
    "name": _NAME,
    "positive": shape.flag(),
    "finite": shape.flag(),
    "power_of_two": shape.flag(),
    "exponent_in_range": shape.flag(),
    "where": _LINE,
}
GATE = {"rung": shape.one_of(*RUNGS), "bar": _LINE, "cases": _LINE, "reason": _LINE}
WIRED_TASK = {
    "type": _NAME,
    "enum": _NAME,
    "id": shape.formula(),
    "tree": _NAME,
    "tma": _YES_NO,
    "descriptor_entries": _YES_NO,
    "indexed_by": shape.one_of(*INDEXED_BY),
    "in_offset_list": _YES_NO,
    "literal_elsewhere": _YES_NO,
    "inputs": shape.formula(),
    "outputs": shape.formula(),
    "register_split": shape.formula(),
    "graph_tuple": _NAME,
    "wrapper_inputs": shape.formula(),
    "parameters": shape.rows(_NAME, 32),
    "variant_parameters": shape.rows(_NAME, 32),
    "descriptor_rank": shape.formula(),
    "instruction_dimensions": shape.formula(),
}
FILE = {"path": _LINE, "what": _LINE}
WIRING = {
    "tasks": _rows(WIRED_TASK, 32),
    "files": _rows(FILE, 32),
    "flag": _NAME,
    "default_off": _YES_NO,
    "placeholders": shape.named(r"[A-Za-z_][A-Za-z0-9_]{0,63}", shape.formula(), 64, "Name the enum."),
}
QUESTION = {
    "id": _QUESTION_ID,
    "text": _PROSE,
    "blocks": shape.one_of(*BLOCKS),
    "state": shape.one_of(*QUESTION_STATES, blank="OPEN"),
    "resolution": _PROSE,
}
REVIEW = {
    "engine": _NAME,
    "thread": _NAME,
    "date": _DATE,
    "item": _LINE,
    "verdict": shape.one_of(*REVIEW_VERDICTS),
    "condition": _LINE,
    "fixed_where": _LINE,
}
REVIEWS = {"rows": _rows(REVIEW), "missing_engine": _LINE}
AUDIT = {"item": _LINE, "answer": shape.one_of(*AUDIT_ANSWERS), "where": _LINE}
AMENDED_FIELD = {"field": _FIELD_PATH, "value": _PROSE}
AMENDMENT = {
    "id": _QUESTION_ID,
    "date": _DATE,
    "by": _NAME,
    "section": _NAME,
    "resolves": shape.rows(_QUESTION_ID, 32),
    "text": _PROSE,
    "fields": _rows(AMENDED_FIELD, 32),
}
DOCUMENT = {
    "title": shape.text(200),
    "summary": _PROSE,
    "ops": _rows(OP, 16),
    "symbols": shape.named(
        r"[A-Za-z_][A-Za-z0-9_]{0,63}", shape.formula(), MAX_SYMBOLS, "Name symbols such as STAGES or W13_N."
    ),
    "claims": _rows(CLAIM, 16),
    "engine": shape.record(ENGINE),
    "smem": shape.record(SMEM),
    "tmem": shape.record(TMEM),
    "sems": shape.record(SEMS),
    "roles": shape.record(ROLES_PART),
    "granularity": _rows(GRANULARITY, 32),
    "choices": _rows(CHOICE),
    "anchors": _rows(ANCHOR),
    "measurement": shape.record(MEASUREMENT),
    "scale_packs": _rows(SCALE_PACK, 16),
    "gates": _rows(GATE, 32),
    "wiring": shape.record(WIRING),
    "open_questions": _rows(QUESTION, 100),
    "reviews": shape.record(REVIEWS),
    "self_audit": _rows(AUDIT, 32),
    "amendments": _rows(AMENDMENT, 32),
    "notes": shape.record(dict.fromkeys(NOTE_PLACES, _PROSE)),
}
# Tables that can get a new row, by their path in the document.
ROW_FIELDS: dict[str, dict[str, shape.Shape]] = {
    "ops": OP,
    "claims": CLAIM,
    "smem.regions": REGION,
    "smem.regions.slices": SLICE,
    "tmem.objects": TMEM_OBJECT,
    "sems.rows": SEM,
    "sems.channels": CHANNEL,
    "sems.one_shots": ONE_SHOT,
    "roles.rows": ROLE,
    "granularity": GRANULARITY,
    "choices": CHOICE,
    "choices.prediction": PREDICTION,
    "choices.prediction.bands": BAND,
    "anchors": ANCHOR,
    "measurement.targets": TARGET,
    "scale_packs": SCALE_PACK,
    "gates": GATE,
    "wiring.tasks": WIRED_TASK,
    "wiring.files": FILE,
    "open_questions": QUESTION,
    "reviews.rows": REVIEW,
    "self_audit": AUDIT,
    "amendments": AMENDMENT,
    "amendments.fields": AMENDED_FIELD,
}
