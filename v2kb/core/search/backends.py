"""The two backends. Both answer: which ids match, which of them are best, which known words look like this one."""

from abc import ABC, abstractmethod

import numpy as np
from django.db import connections
from rapidfuzz.distance import DamerauLevenshtein

from v2kb.core.search.entries import Kind
from v2kb.core.search.expression import All, Either, Expression, Phrase, Whole

TITLE_WEIGHT, WHOLE_WEIGHT, BODY_WEIGHT = 5.0, 3.0, 1.0
WORD_CANDIDATES = 100
WORD_SIMILARITY = 0.18
"""A swap in the middle of a word of five letters leaves two of ten trigrams."""
MIN_TYPO_CHARS = 4
TWO_EDITS_CHARS = 8


class SearchIndex(ABC):
    """The full-text index of one database."""

    ranked_at_most: int
    """Ranking reads the text of every candidate, so that a word of nearly every entry ranks its newest entries only."""

    def __init__(self, using: str) -> None:
        self.using = using

    @abstractmethod
    def match(self, kind: Kind, wanted: Expression, unwanted: Expression | None = None) -> np.ndarray:
        """Ids (int64, ascending, shape (n,)) of all things of a kind that match `wanted` and not `unwanted`."""

    @abstractmethod
    def scores(self, kind: Kind, wanted: Expression, *, titles: bool = False) -> dict[int, float]:
        """Id -> score (more is better) of the newest `ranked_at_most` matches; `titles` asks of titles alone."""

    @abstractmethod
    def _similar(self, word: str) -> list[str]:
        """Known words that share trigrams with `word`, most alike first."""

    def alike(self, word: str) -> list[str]:
        """Known words within one edit (two from eight letters on; a swap is one), nearest first. At most three."""
        if len(word) < MIN_TYPO_CHARS or any(sign.isdigit() for sign in word):
            return []
        limit = 2 if len(word) >= TWO_EDITS_CHARS else 1
        near = [(DamerauLevenshtein.distance(word, other), other) for other in self._similar(word) if other != word]
        return [other for edits, other in sorted(near) if edits <= limit][:3]

    def _rows(self, sql: str, values: list) -> list[tuple]:
        with connections[self.using].cursor() as cursor:
            cursor.execute(sql, values)
            return cursor.fetchall()


def _ids(text: str | None) -> np.ndarray:
    return np.fromstring(text, dtype=np.int64, sep=",") if text else np.empty(0, dtype=np.int64)


def trigrams(word: str) -> list[str]:
    """The trigrams of a word between two marks for its ends, without repeats."""
    padded = f"__{word}_"
    return list(dict.fromkeys(padded[place : place + 3] for place in range(len(padded) - 2)))


class SqliteIndex(SearchIndex):
    """FTS5 over the entries, ranked by bm25; trigrams through FTS5's trigram tokeniser."""

    ranked_at_most = 5000

    def match(self, kind, wanted, unwanted=None):
        asked = self.render(wanted)
        if unwanted is not None:
            asked = f"({asked}) NOT ({self.render(unwanted)})"
        first, last = kind.ids
        sql = (
            "SELECT group_concat(rowid - %s) FROM core_search_fts WHERE core_search_fts MATCH %s"
            " AND rowid BETWEEN %s AND %s"
        )
        return _ids(self._rows(sql, [first, asked, first, last])[0][0])

    def scores(self, kind, wanted, *, titles=False):
        first, last = kind.ids
        asked = f"title : ({self.render(wanted, columns='')})" if titles else self.render(wanted)
        sql = (
            f"SELECT rowid - %s, -bm25(core_search_fts, {TITLE_WEIGHT}, {BODY_WEIGHT}, {WHOLE_WEIGHT})"
            " FROM core_search_fts WHERE core_search_fts MATCH %s AND rowid BETWEEN %s AND %s"
            " ORDER BY rowid DESC LIMIT %s"
        )
        return dict(self._rows(sql, [first, asked, first, last, self.ranked_at_most]))

    def _similar(self, word):
        asked = " OR ".join(f'"{trigram}"' for trigram in trigrams(word))
        sql = (
            "SELECT trim(word, '_') FROM core_search_word_fts WHERE core_search_word_fts MATCH %s"
            " AND length(word) BETWEEN %s AND %s ORDER BY rank LIMIT %s"
        )
        return [found for (found,) in self._rows(sql, [asked, len(word) + 1, len(word) + 5, WORD_CANDIDATES])]

    def render(self, wanted: Expression, columns: str = "{title body} : ") -> str:
        """FTS5's query text. Tokens hold letters, digits and underscores alone, so quoting them is safe."""
        match wanted:
            case Phrase(atoms, prefix):
                return f'{columns}"{" ".join(atoms)}"{" *" if prefix else ""}'
            case Whole(token, prefix):
                return f'{"whole : " if columns else ""}"{token}"{" *" if prefix else ""}'
            case All(parts):
                return " AND ".join(f"({self.render(part, columns)})" for part in parts)
            case Either(parts):
                return " OR ".join(f"({self.render(part, columns)})" for part in parts)


class PostgresIndex(SearchIndex):
    """A tsvector that the database builds from the entry (title A, whole B, text D), a GIN index, pg_trgm for words."""

    ranked_at_most = 2000

    def match(self, kind, wanted, unwanted=None):
        asked = self.render(wanted)
        if unwanted is not None:
            asked = f"({asked}) & !({self.render(unwanted)})"
        first, last = kind.ids
        sql = (
            "SELECT string_agg((id - %s)::text, ',' ORDER BY id) FROM core_searchentry"
            " WHERE vector @@ %s::tsquery AND id BETWEEN %s AND %s"
        )
        return _ids(self._rows(sql, [first, asked, first, last])[0][0])

    def scores(self, kind, wanted, *, titles=False):
        first, last = kind.ids
        asked = self.render(wanted, "A" if titles else "")
        sql = (
            "SELECT id - %s, ts_rank_cd('{0.2, 0.2, 0.6, 1.0}', vector, asked) FROM ("
            " SELECT id, vector, asked FROM core_searchentry, (SELECT %s::tsquery AS asked) AS query"
            " WHERE vector @@ asked AND id BETWEEN %s AND %s ORDER BY id DESC LIMIT %s) AS newest"
        )
        return dict(self._rows(sql, [first, asked, first, last, self.ranked_at_most]))

    def _similar(self, word):
        self._rows("SELECT set_limit(%s)", [WORD_SIMILARITY])
        sql = (
            "SELECT word FROM core_searchword WHERE word %% %s AND length(word) BETWEEN %s AND %s"
            " ORDER BY similarity(word, %s) DESC LIMIT %s"
        )
        return [found for (found,) in self._rows(sql, [word, len(word) - 2, len(word) + 2, word, WORD_CANDIDATES])]

    def render(self, wanted: Expression, weights: str = "") -> str:
        """A tsquery. A phrase stands in the title or in the text, never across."""
        match wanted:
            case Phrase(atoms, prefix):
                places = [weights] if weights else (["A", "D"] if len(atoms) > 1 else ["AD"])
                return " | ".join(f"({_tsphrase(atoms, prefix, place)})" for place in places)
            case Whole(token, prefix):
                return f"'{token}':{'*' if prefix else ''}{weights or 'B'}"
            case All(parts):
                return " & ".join(f"({self.render(part, weights)})" for part in parts)
            case Either(parts):
                return " | ".join(f"({self.render(part, weights)})" for part in parts)


def _tsphrase(atoms: tuple[str, ...], prefix: bool, weights: str) -> str:
    marked = [f"'{atom}':{weights}" for atom in atoms[:-1]]
    return " <-> ".join([*marked, f"'{atoms[-1]}':{'*' if prefix else ''}{weights}"])


def index(using: str = "default") -> SearchIndex:
    """The backend of a database."""
    vendor = connections[using].vendor
    return SqliteIndex(using) if vendor == "sqlite" else PostgresIndex(using)
