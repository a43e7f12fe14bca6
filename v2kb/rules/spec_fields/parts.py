"""What the fields of several sections are made of."""

from v2kb.rules import document_shape as shape
from v2kb.rules.spec_words import ROLES, YES_NO

MAX_ROWS = 64
NAME = shape.text(100)
LINE = shape.text(500)
PROSE = shape.text(20_000, lines=True)
IDENTIFIER = shape.matching(
    r"[A-Za-z0-9][A-Za-z0-9._:/+-]*", 120, "Use letters, digits and . _ : / + - without spaces."
)
DATE = shape.matching(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", 10, "Write the date as 2026-12-31.")
YES_OR_NO = shape.one_of(*YES_NO)
ROLE_NAME = shape.one_of(*ROLES)


def rows_of(fields: dict[str, shape.Shape], limit: int = MAX_ROWS) -> shape.Shape:
    """Return the shape of a table with at most `limit` rows of these fields."""
    return shape.rows(shape.record(fields), limit)
