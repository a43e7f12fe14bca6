"""What is open, who looked, what an appendix changes, and what the author checked."""

from kernels.editor.layout.parts import Fields, Input, Section, Table, size, word
from v2kb.rules.spec_words import AUDIT_ANSWERS, BLOCKS, NOTE_PLACES, QUESTION_STATES, REVIEW_VERDICTS

QUESTION_ROWS = Table(
    "open_questions",
    "Open questions",
    "question",
    (
        size("id", "id"),
        Input("text", "question", "area"),
        Input("blocks", "blocks", "select", ("", *BLOCKS)),
        Input("state", "state", "select", QUESTION_STATES),
        Input("resolution", "resolution", "area"),
    ),
    "What is not settled, and which stage waits for it.",
)
QUESTIONS = Section(
    "questions", "Open questions", "What is still open, and what it blocks.", (QUESTION_ROWS,), ("open_questions",)
)
REVIEW_ROWS = Table(
    "reviews.rows",
    "Review log",
    "review",
    (
        Input("engine", "engine", short=True),
        Input("thread", "thread", short=True),
        Input("date", "date", short=True),
        word("verdict", "verdict", REVIEW_VERDICTS),
        Input("item", "what was reviewed"),
        Input("condition", "condition"),
        Input("fixed_where", "fixed where"),
    ),
    "What was said of the design while it was written. Positions on a revision are taken on its page.",
)
REVIEWS = Section(
    "reviews",
    "Review log",
    "Two engines look at each conclusion.",
    (
        REVIEW_ROWS,
        Fields((Input("reviews.missing_engine", "Engine that did not review, and why"),)),
    ),
    ("reviews",),
)
AMENDED_FIELDS = Table(
    "fields",
    "Fields that it sets",
    "field",
    (Input("field", "field", short=True), Input("value", "new value", "area")),
    "A field of this document, such as roles.release.owners or smem.regions[0].size_bytes.",
)
AMENDMENT_ROWS = Table(
    "amendments",
    "Amendments",
    "amendment",
    (
        size("id", "id"),
        Input("date", "date", short=True),
        Input("by", "by", short=True),
        Input("section", "section", short=True),
        Input("resolves", "resolves", "list", short=True, help="Ids of open questions, separated by commas."),
        Input("text", "what it says", "area"),
    ),
    "An appendix changes a section without rewriting it. The rules judge what stands; the page of the spec shows both.",
    tables=(AMENDED_FIELDS,),
)
AMENDMENTS = Section(
    "amendments",
    "Amendments",
    "What an appendix changes: the fields it names replace what was written.",
    (AMENDMENT_ROWS,),
    ("amendments",),
)
AUDIT_ROWS = Table(
    "self_audit",
    "Self-audit",
    "item",
    (
        Input("item", "item"),
        word("answer", "answer", AUDIT_ANSWERS),
        Input("where", "where"),
    ),
    "The eight items of the quality bar stand here to begin with.",
)
AUDIT = Section(
    "audit", "Self-audit", "What the author checked before anyone else looks.", (AUDIT_ROWS,), ("self_audit",)
)
NOTES = Section(
    "notes",
    "Notes",
    "Prose that has no field of its own, by the section of the document that it belongs to.",
    (Fields(tuple(Input(f"notes.{place}", place.capitalize(), "area") for place in NOTE_PLACES)),),
    ("notes",),
)
# House-style section 7, in our words.
QUALITY_BAR = (
    "The file header says what the op is, its phases, its warps, and what changed against its source.",
    "The semaphore ordinals are documented in a table and stand as constants in the code.",
    "One header holds regions, ordinals and the capacity check, and asserts every constant that is mirrored elsewhere.",
    "Every barrier with asynchronous arrivals is re-armed at task start by its arriving role.",
    "Paths out of bounds release their pages; every page gets exactly one arrival per task.",
    "No role body waits for the whole block or reads its identity from the block index.",
    "Profiling compiles away: the default build stays the same byte for byte.",
    "The formatter changes nothing.",
)


def audit_to_begin_with() -> list[dict[str, str]]:
    """The rows of a self-audit that nobody has begun: each item, no answer."""
    return [{"item": item, "answer": "", "where": ""} for item in QUALITY_BAR]
