"""Open questions, reviews, the author's audit, and amendments."""

from v2kb.rules import document_shape as shape
from v2kb.rules.spec_fields.parts import DATE, LINE, NAME, PROSE, rows_of
from v2kb.rules.spec_words import AUDIT_ANSWERS, BLOCKS, QUESTION_STATES, REVIEW_VERDICTS

_QUESTION_ID = shape.matching(r"[A-Za-z][A-Za-z0-9_-]{0,23}", 24, "Use a short id such as Q1.")
_FIELD_PATH = shape.matching(
    r"[a-z_]+(?:\[[0-9]{1,3}\])?(?:\.[A-Za-z_][A-Za-z0-9_]*(?:\[[0-9]{1,3}\])?)*",
    160,
    "Name a field of the spec, such as roles.release.owners.",
)
QUESTION = {
    "id": _QUESTION_ID,
    "text": PROSE,
    "blocks": shape.one_of(*BLOCKS),
    "state": shape.one_of(*QUESTION_STATES, blank="OPEN"),
    "resolution": PROSE,
}
REVIEW = {
    "engine": NAME,
    "thread": NAME,
    "date": DATE,
    "item": LINE,
    "verdict": shape.one_of(*REVIEW_VERDICTS),
    "condition": LINE,
    "fixed_where": LINE,
}
REVIEWS = {"rows": rows_of(REVIEW), "missing_engine": LINE}
AUDIT = {"item": LINE, "answer": shape.one_of(*AUDIT_ANSWERS), "where": LINE}
AMENDED_FIELD = {"field": _FIELD_PATH, "value": PROSE}
AMENDMENT = {
    "id": _QUESTION_ID,
    "date": DATE,
    "by": NAME,
    "section": NAME,
    "resolves": shape.rows(_QUESTION_ID, 32),
    "text": PROSE,
    "fields": rows_of(AMENDED_FIELD, 32),
}
