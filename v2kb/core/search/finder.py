"""Ranked hits of one kind, each with why: what the apps' parts of the top bar's search are made of."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from v2kb.core.models.search import SearchEntry
from v2kb.core.search.backends import SearchIndex, index
from v2kb.core.search.entries import Kind
from v2kb.rules.names import exact_hashes
from v2kb.rules.search_expression import Expression, any_of, expression_of
from v2kb.rules.search_marks import cut, marks, snippet
from v2kb.rules.search_mending import mend
from v2kb.rules.search_query import SearchQuery, Text, least_words, parse_query
from v2kb.rules.search_rank import RANKED_AT_MOST
from v2kb.rules.search_tiers import ENOUGH, MAX_HASHES, held_words, read_as
from v2kb.rules.search_why import why_found
from v2kb.rules.search_words import Word, words


@dataclass(frozen=True)
class Hit:
    """A thing that was found, why, and the words to mark in its text."""

    object_id: int
    why: str
    words: tuple[Word, ...]
    is_guess: bool = False


def find(kind: Kind, query: str, limit: int, exact: Iterable[tuple[int, str]] = ()) -> list[Hit]:
    """The best `limit` things of a kind: `exact` ones (id, why) first, then those with every word, then guesses.

    A word is a typing error when nothing of any kind holds it. Fields of the query language are of rows alone, so a
    query with fields finds nothing; comparisons are words. Raises QueryError.
    """
    parsed = parse_query(query, of_rows=False)
    if not parsed.wanted or parsed.filters:
        return []
    found = dict(exact)
    backend, mark = index(), [word for text in parsed.wanted for word in text.words]
    found |= {pk: found.get(pk, "") for pk in _every_word(backend, kind, parsed.wanted, parsed)}
    sure = set(found)
    if len(found) < ENOUGH:
        texts, corrections = mend(backend.holds(Kind.EVERYTHING), backend.alike, parsed.wanted)
        if corrections:
            found |= {pk: found.get(pk, read_as(corrections)) for pk in _every_word(backend, kind, texts, parsed)}
            mark += [word for _, known in corrections for word in words(known)]
    if len(found) < ENOUGH and (len(parsed.wanted) > 2 or not found):
        found |= {pk: found.get(pk, why) for pk, why in _some_words(backend, kind, parsed)}
    return _explained(kind, list(found.items())[:limit], mark, sure)


def shown(hit: Hit, *, title: str, url: str, text: str, kind: str) -> dict[str, Any]:
    """One hit as the results page shows it: {title, pieces, url, snippet, kind, why, is_guess}.

    `pieces` are the title's, and `snippet` those of `text`: (text, whether it is marked).
    """
    return {
        "title": title,
        "pieces": cut(title, marks(title, hit.words)),
        "url": url,
        "snippet": snippet(text, hit.words),
        "kind": kind,
        "why": hit.why,
        "is_guess": hit.is_guess,
    }


def hash_starts(query: str) -> list[str]:
    """What may be (the beginning of) a commit or content hash in a query."""
    return exact_hashes(query)[:MAX_HASHES]


def _every_word(backend: SearchIndex, kind: Kind, texts: Sequence[Text], query: SearchQuery) -> list[int]:
    wanted = expression_of(texts)
    if wanted is None:
        return []
    ids = backend.match(kind, wanted, any_of(query.unwanted))
    titles = set(backend.match(kind, wanted, titles=True).tolist()) if len(ids) else set()
    scores = _scores(backend, kind, wanted, ids)
    return sorted(scores, key=lambda pk: (pk not in titles, -scores[pk], pk))


def _scores(backend: SearchIndex, kind: Kind, wanted: Expression, ids: np.ndarray) -> dict[int, float]:
    """Id -> score of the newest of these ids that are ranked."""
    newest = ids[-RANKED_AT_MOST:]
    return dict(zip(newest.tolist(), backend.scores(kind, wanted, newest).tolist(), strict=True))


def _some_words(backend: SearchIndex, kind: Kind, query: SearchQuery) -> list[tuple[int, str]]:
    """(id, how many of the words) of things that hold most of the words; among as many, identifiers count more."""
    texts, unwanted = query.wanted, any_of(query.unwanted)
    either = any_of(texts)
    if len(texts) < 2 or either is None:
        return []
    counts: Counter[int] = Counter()
    named: Counter[int] = Counter()
    for text in texts:
        if (wanted := expression_of([text])) is not None:
            ids = backend.match(kind, wanted, unwanted).tolist()
            counts.update(ids)
            named.update(ids if text.is_identifier else ())
    enough = [pk for pk, count in counts.items() if count >= least_words(len(texts))]
    scores = _scores(backend, kind, either, np.array(sorted(enough), np.int64))
    enough.sort(key=lambda pk: (-counts[pk], -named[pk], -scores.get(pk, 0.0), pk))
    return [(pk, held_words(counts[pk], len(texts))) for pk in enough]


def titles_of(entry_ids: Sequence[int]) -> dict[int, str]:
    """Entry id -> the words of its title, in one query."""
    return dict(SearchEntry.objects.filter(pk__in=entry_ids).values_list("pk", "title")) if entry_ids else {}


def _explained(kind: Kind, found: list[tuple[int, str]], mark: list[Word], sure: set[int]) -> list[Hit]:
    unsaid = [kind.entry_id(pk) for pk, why in found if not why]
    titles = titles_of(unsaid)
    return [
        Hit(pk, why or why_found(titles.get(kind.entry_id(pk)), mark, kind.name.lower()), tuple(mark), pk not in sure)
        for pk, why in found
    ]
