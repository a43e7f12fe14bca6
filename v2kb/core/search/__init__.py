"""One search interface over all kinds of things, with two backends: SQLite's FTS5 and PostgreSQL's tsvector.

Apps put their things in (`put`), and ask `index()` for the ids that match an expression, or for the best of them. Both
backends store the same words and give the same hits; the order may differ within a tier.
"""

from v2kb.core.search.backends import SearchIndex, index
from v2kb.core.search.entries import Document, Kind, drop, put
from v2kb.core.search.expression import All, Either, Expression, Phrase, Whole, expression_of, of_word

__all__ = [
    "All",
    "Document",
    "Either",
    "Expression",
    "Kind",
    "Phrase",
    "SearchIndex",
    "Whole",
    "drop",
    "expression_of",
    "index",
    "of_word",
    "put",
]
