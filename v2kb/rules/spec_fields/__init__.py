"""The fields of a spec document: what each part holds, and which words a field may take.

Sizes and counts are expression strings over the document's `symbols`. Sources: house-style sections 2 to 7 and the
domain page's sections 2.1 to 2.16 for the tables; evidence-and-gate section 3 for choices and citations.
"""

from v2kb.rules import document_shape as shape
from v2kb.rules.spec_fields.barriers import CHANNEL, ONE_SHOT, SEM, SEMS
from v2kb.rules.spec_fields.delivery import FILE, GATE, SCALE_PACK, WIRED_TASK, WIRING
from v2kb.rules.spec_fields.evidence import ANCHOR, BAND, CHOICE, MEASUREMENT, PREDICTION, TARGET
from v2kb.rules.spec_fields.memory import REGION, SLICE, SMEM, TMEM, TMEM_OBJECT
from v2kb.rules.spec_fields.overview import CLAIM, ENGINE, OP
from v2kb.rules.spec_fields.parts import PROSE, rows_of
from v2kb.rules.spec_fields.record import AMENDED_FIELD, AMENDMENT, AUDIT, QUESTION, REVIEW, REVIEWS
from v2kb.rules.spec_fields.work import GRANULARITY, ROLE, ROLES_PART
from v2kb.rules.spec_words import NOTE_PLACES

MAX_SYMBOLS = 100
DOCUMENT = {
    "title": shape.text(200),
    "summary": PROSE,
    "ops": rows_of(OP, 16),
    "symbols": shape.named(
        r"[A-Za-z_][A-Za-z0-9_]{0,63}", shape.formula(), MAX_SYMBOLS, "Name symbols such as STAGES or W13_N."
    ),
    "claims": rows_of(CLAIM, 16),
    "engine": shape.record(ENGINE),
    "smem": shape.record(SMEM),
    "tmem": shape.record(TMEM),
    "sems": shape.record(SEMS),
    "roles": shape.record(ROLES_PART),
    "granularity": rows_of(GRANULARITY, 32),
    "choices": rows_of(CHOICE),
    "anchors": rows_of(ANCHOR),
    "measurement": shape.record(MEASUREMENT),
    "scale_packs": rows_of(SCALE_PACK, 16),
    "gates": rows_of(GATE, 32),
    "wiring": shape.record(WIRING),
    "open_questions": rows_of(QUESTION, 100),
    "reviews": shape.record(REVIEWS),
    "self_audit": rows_of(AUDIT, 32),
    "amendments": rows_of(AMENDMENT, 32),
    "notes": shape.record(dict.fromkeys(NOTE_PLACES, PROSE)),
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
