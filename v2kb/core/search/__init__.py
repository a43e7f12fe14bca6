"""One search interface over all kinds of things, with two backends: SQLite's FTS5 and PostgreSQL's tsvector.

Apps put their things in (`Indexed`), and ask `find` for ranked hits with why, or `index()` for the ids that match an
expression. Both backends store the same words, give the same hits and rank them alike (`v2kb.rules.search_rank`).
"""

from v2kb.core.search.backends import SearchIndex, index
from v2kb.core.search.entries import Document, Kind, drop, put
from v2kb.core.search.finder import Hit, find, hash_starts, shown, titles_of
from v2kb.core.search.upkeep import INDEXED, Indexed

__all__ = [
    "INDEXED",
    "Document",
    "Hit",
    "Indexed",
    "Kind",
    "SearchIndex",
    "drop",
    "find",
    "hash_starts",
    "index",
    "put",
    "shown",
    "titles_of",
]
