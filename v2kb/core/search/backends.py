"""The two backends. Both answer: which ids match, which of them are best, which known words look like this one."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from django.db import connections

from v2kb.core.search.entries import Kind
from v2kb.rules.search_expression import All, Either, Expression, Phrase, Whole
from v2kb.rules.search_fts5 import WORD_CANDIDATES, trigram_query, wanted_query
from v2kb.rules.search_rank import ranking
from v2kb.rules.spelling import may_be_misspelt, nearest_words

WORD_SIMILARITY = 0.11
"""A swap in the middle of a word of four letters leaves one of nine trigrams."""
_WORDS = "SELECT id, title, body, whole FROM core_searchentry WHERE id"


class SearchIndex(ABC):
    """The full-text index of one database, for one search: it remembers what matched, since guesses ask again."""

    def __init__(self, using: str) -> None:
        self.using = using
        self._matched: dict[tuple[Kind, Expression, Expression | None, bool], np.ndarray] = {}

    def match(
        self, kind: Kind, wanted: Expression, unwanted: Expression | None = None, *, titles: bool = False
    ) -> np.ndarray:
        """Ids (int64, ascending, shape (n,)) of all things of a kind that match `wanted` and not `unwanted`.

        With `titles` the title alone is asked.
        """
        asked = (kind, wanted, unwanted, titles)
        if asked not in self._matched:
            self._matched[asked] = self._match(*asked)
        return self._matched[asked]

    @abstractmethod
    def _match(self, kind: Kind, wanted: Expression, unwanted: Expression | None, titles: bool) -> np.ndarray: ...

    def scores(self, kind: Kind, wanted: Expression, ids: np.ndarray) -> np.ndarray:
        """The scores (float, more is better, shape (n,)) of some matches; nought for what has no entry.

        Reads the words of each: give at most `search_rank.RANKED_AT_MOST`, the newest.
        """
        if not len(ids):
            return np.zeros(0)
        fit = ranking(wanted)
        entries = self._words_of((ids + kind.entry_id(0)).tolist())
        found = {pk - kind.entry_id(0): fit(title, body, whole) for pk, title, body, whole in entries}
        return np.array([found.get(pk, 0.0) for pk in ids.tolist()])

    @abstractmethod
    def _words_of(self, entry_ids: list[int]) -> list[tuple[int, str, str, str]]:
        """(id, title, body, whole) of these entries; the ids go as one value: hundreds cost milliseconds."""

    @abstractmethod
    def _similar(self, word: str) -> list[str]:
        """Known words that share trigrams with `word`, most alike first."""

    def alike(self, word: str) -> list[str]:
        """Known words that this one may be misspelt for, nearest first."""
        return nearest_words(word, self._similar(word)) if may_be_misspelt(word) else []

    def holds(self, kind: Kind) -> Callable[[Expression], bool]:
        """Whether anything of a kind matches an expression."""
        return lambda wanted: len(self.match(kind, wanted)) > 0

    def _rows(self, sql: str, values: list) -> list[tuple]:
        with connections[self.using].cursor() as cursor:
            cursor.execute(sql, values)
            return cursor.fetchall()


class SqliteIndex(SearchIndex):
    """FTS5 over the entries; trigrams through FTS5's trigram tokeniser."""

    def _match(self, kind, wanted, unwanted, titles):
        table = "core_search_title_fts" if titles else "core_search_fts"
        asked = wanted_query(wanted, unwanted, columns=not titles)
        first, last = kind.ids
        sql = f"SELECT group_concat(rowid - %s) FROM {table} WHERE {table} MATCH %s AND rowid BETWEEN %s AND %s"
        found = self._rows(sql, [first, asked, first, last])[0][0]
        return np.fromstring(found or "", dtype=np.int64, sep=",")

    def _words_of(self, entry_ids):
        return self._rows(f"{_WORDS} IN (SELECT value FROM json_each(%s))", [json.dumps(entry_ids)])

    def _similar(self, word):
        sql = (
            "SELECT trim(word, '_') FROM core_search_word_fts WHERE core_search_word_fts MATCH %s"
            " AND length(word) BETWEEN %s AND %s ORDER BY rank LIMIT %s"
        )
        return [
            found for (found,) in self._rows(sql, [trigram_query(word), len(word) + 1, len(word) + 5, WORD_CANDIDATES])
        ]


class PostgresIndex(SearchIndex):
    """A tsvector that the database builds from the entry, a GIN index, pg_trgm for words.

    Beside each atom (title A, text D, a gap between them) the vector holds what lets GIN answer without a look at the
    vector: wholes as `=cpasync`, neighbours as `+cp.async`, and those of the title again as `^cp` and `^+cp.async`.
    """

    def _match(self, kind, wanted, unwanted, titles):
        asked = self.render(wanted, titles)
        if unwanted is not None:
            asked = f"({asked}) & !({self.render(unwanted)})"
        found = self._rows("SELECT v2kb_search(%s::tsquery, %s, %s)", [asked, *kind.ids])[0][0]
        return np.sort(np.frombuffer(found or b"", dtype=">i8").astype(np.int64) - kind.entry_id(0))

    def _words_of(self, entry_ids):
        return self._rows(f"{_WORDS} = ANY(%s)", [entry_ids])

    def _similar(self, word):
        self._rows("SELECT set_limit(%s)", [WORD_SIMILARITY])
        sql = (
            "SELECT word FROM core_searchword WHERE word %% %s AND length(word) BETWEEN %s AND %s"
            " ORDER BY similarity(word, %s) DESC LIMIT %s"
        )
        return [found for (found,) in self._rows(sql, [word, len(word) - 2, len(word) + 2, word, WORD_CANDIDATES])]

    def render(self, wanted: Expression, titles: bool = False) -> str:
        """A tsquery that finds.

        Only a phrase of three atoms or more sends the database from the index to the vectors, for those entries alone
        that hold all its pairs. In a title, pairs are enough.
        """
        mark = "^" if titles else ""
        match wanted:
            case Phrase((atom,), prefix):
                return _lexeme(mark + atom, prefix)
            case Phrase(atoms, prefix):
                pairs = [f"{mark}+{one}.{two}" for one, two in pairwise(atoms)]
                found = " & ".join(_lexeme(pair, prefix and pair is pairs[-1]) for pair in pairs)
                return found if titles or len(atoms) == 2 else f"{found} & ({_neighbours(atoms, prefix)})"
            case Whole(token, prefix):
                return _lexeme(("^" if titles else "=") + token, prefix)
            case All(parts):
                return " & ".join(f"({self.render(part, titles)})" for part in parts)
            case Either(parts):
                return " | ".join(f"({self.render(part, titles)})" for part in parts)


def _lexeme(word: str, prefix: bool) -> str:
    return f"'{word}':*" if prefix else f"'{word}'"


def _neighbours(atoms: tuple[str, ...], prefix: bool) -> str:
    return " <-> ".join([*(f"'{atom}'" for atom in atoms[:-1]), _lexeme(atoms[-1], prefix)])


def index(using: str = "default") -> SearchIndex:
    """The backend of a database."""
    vendor = connections[using].vendor
    return SqliteIndex(using) if vendor == "sqlite" else PostgresIndex(using)
