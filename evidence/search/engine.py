"""From a query to rows in order: exact codes and hashes, then rows with every word, then typing errors, then rows with
some of the words, then rows of similar meaning. Each tier only adds what the ones before did not find.
"""

from dataclasses import dataclass, field

import numpy as np
from django.http import QueryDict

from evidence.models import EvidenceRevision
from evidence.search.columns import Columns, columns
from evidence.search.facets import FACETS, Option, chosen_masks, filter_mask, lever_ids, levers_called, options
from evidence.search.meaning import EncoderAway, nearest
from v2kb.core.errors import Refusal
from v2kb.core.search import Kind, SearchIndex, index
from v2kb.rules.names import exact_hashes, lever_key
from v2kb.rules.search_expression import Expression, any_of, expression_of
from v2kb.rules.search_mending import mend
from v2kb.rules.search_query import MAX_CHARS, QueryError, SearchQuery, least_words, parse_query
from v2kb.rules.search_rank import RANKED_AT_MOST
from v2kb.rules.search_tiers import (
    CODE,
    ENOUGH,
    HASH,
    IN_TITLE,
    LEVER_NAME,
    MAX_HASHES,
    MIN_LEVER_CHARS,
    MOST_OF_A_HASH,
    NEXT,
    SOME_WORDS_LIMIT,
    SURE,
    held_words,
    read_as,
)


@dataclass(frozen=True)
class Query:
    """What is looked for: words in the query language, and per facet the wanted values (alternatives of each other)."""

    text: str = ""
    chosen: dict[str, tuple[str, ...]] = field(default_factory=dict)
    archived: bool = False

    @classmethod
    def of_params(cls, params: QueryDict) -> "Query":
        """Read a request's parameters; unknown facets are ignored, unknown values simply find nothing."""
        chosen = {name: tuple(value[:100] for value in params.getlist(name)[:20] if value) for name in FACETS}
        return cls(
            text=params.get("q", "")[: MAX_CHARS + 1].strip(),
            chosen={name: values for name, values in chosen.items() if values},
            archived=params.get("archived") == "1",
        )


@dataclass(frozen=True)
class Found:
    """Rows in order. `ids` has shape (n,); `reasons` names the tier of those that are not simply matches."""

    ids: np.ndarray
    verdicts: np.ndarray
    facets: dict[str, list[Option]]
    query: SearchQuery
    change: int
    reasons: dict[int, str] = field(default_factory=dict)
    corrections: tuple[tuple[str, str], ...] = ()
    ranked: int | None = None
    """How many of the hits were ranked by their words; None means all."""
    meaning_away: str = ""
    """Why meaning was not compared, where it would have been."""

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def terms(self) -> list[str]:
        """The words as they were understood."""
        return [text.text for text in self.query.wanted]

    @property
    def guessed(self) -> set[int]:
        """Ids of hits that do not hold every word as it was typed."""
        return {row_id for row_id, why in self.reasons.items() if why not in SURE}

    def of(self, verdict: str) -> np.ndarray:
        """Ids of the hits with this verdict, in order."""
        return self.ids[self.verdicts == verdict]


def search_rows(query: Query) -> Found:
    """Find rows. Raises Refusal evidence.query, with the place in `facts["at"]`, when the text can't be read."""
    try:
        parsed = parse_query(query.text)
    except QueryError as error:
        raise Refusal("evidence.query", error.message, field="q", fix=error.fix, facts={"at": error.at}) from error
    held = columns()
    search = _Search(held, index(), parsed)
    allowed = held.archived.copy() if query.archived else ~held.archived
    if any(wanted.name == "is" and "archived" in wanted.values for wanted in parsed.filters):
        allowed[:] = True
    for wanted in parsed.filters:
        allowed &= filter_mask(held, wanted)
    search.run(allowed)
    hits = search.mask & allowed
    facets = options(held, hits, query.chosen)
    for mask in chosen_masks(held, query.chosen).values():
        hits &= mask
    order = search.ordered(hits)
    verdict = held.categories["verdict"]
    names = np.array([words[0] for words in verdict.values] or [""])
    return Found(
        held.ids[order],
        names[verdict.codes[order]],
        facets,
        parsed,
        held.change,
        {int(held.ids[place]): why for place, why in search.reasons.items()},
        tuple(search.corrections),
        search.ranked,
        search.meaning_away,
    )


class _Search:
    """One search over one snapshot. Places index the snapshot's rows; scores order them, more is better."""

    def __init__(self, held: Columns, backend: SearchIndex, query: SearchQuery) -> None:
        self.held, self.backend, self.query = held, backend, query
        self.mask = np.zeros(len(held.ids), bool)
        self.left_out = np.zeros(len(held.ids), bool)
        self.score = np.zeros(len(held.ids))
        self.reasons: dict[int, str] = {}
        self.corrections: list[tuple[str, str]] = []
        self.ranked: int | None = None
        self.meaning_away = ""
        self._tier = 100
        self._typed = " ".join(text.text for text in query.wanted)

    def run(self, allowed: np.ndarray) -> None:
        """Fill mask and scores; tiers of guesses run while fewer than `ENOUGH` allowed rows were found."""
        wanted = expression_of(self.query.wanted)
        unwanted = any_of(self.query.unwanted)
        if unwanted is not None:
            self.left_out[self._places(self.backend.match(Kind.ROW, unwanted))] = True
        if wanted is None:
            self.mask[:] = ~self.left_out & (not self.query.is_unreadable)
            return
        self._codes_and_hashes()
        self._every_word(wanted, unwanted)
        if self._few(allowed):
            self._levers()
            self._typing_errors(unwanted)
        if self._few(allowed):
            self._some_words(unwanted)
            self._similar_meaning()

    def ordered(self, hits: np.ndarray) -> np.ndarray:
        """The places of these rows (bool, shape (n,)), best first; equal ones in the order of their codes."""
        places = self.held.rows.in_order[hits[self.held.rows.in_order]]
        scores = self.score[places]
        best = scores > scores.min(initial=np.inf)
        first = places[best][np.argsort(-scores[best], kind="stable")]
        return np.concatenate([first, places[~best]])

    def _few(self, allowed: np.ndarray) -> bool:
        return int((self.mask & allowed).sum()) < ENOUGH

    def _places(self, ids: np.ndarray) -> np.ndarray:
        return self.held.places(ids)

    def _add(self, places: np.ndarray, scores: np.ndarray, why: str = "") -> None:
        """Add rows that no tier before has found, below all of them; none that holds an unwanted word."""
        self._tier -= 10
        new = ~(self.mask | self.left_out)[places]
        fresh = places[new]
        self.mask[fresh] = True
        top = float(scores[new].max()) if len(fresh) else 0.0
        self.score[fresh] = self._tier * 1e9 + (scores[new] * (1e8 / top) if top > 0 else 0.0)
        if why:
            self.reasons.update(dict.fromkeys(fresh.tolist(), why))

    def _codes_and_hashes(self) -> None:
        known = self.held.rows.place_of_code
        named = [code for codes in self.query.codes if all(code in known for code in codes) for code in codes]
        places = [known[code] for code in dict.fromkeys(named)]
        self._add(np.array(places, np.int64), np.arange(len(places), 0, -1.0), CODE)
        digits = [text.words[0].whole for text in self.query.wanted]
        found: set[int] = set()
        for start in [part for digit in digits for part in exact_hashes(digit)][:MAX_HASHES]:
            revisions = EvidenceRevision.objects.filter(content_hash__gte=start, content_hash__lt=f"{start}g")
            found.update(revisions.values_list("row_id", flat=True)[:MOST_OF_A_HASH])
        hashed = self._places(np.array(sorted(found), np.int64))
        self._add(hashed, np.ones(len(hashed)), HASH)

    def _every_word(self, wanted: Expression, unwanted: Expression | None) -> None:
        """Rows with every word; those whose lever is called just so stand first, whatever else mentions it."""
        places = self._places(self.backend.match(Kind.ROW, wanted, unwanted))
        scores = self._scores(places, wanted)
        if named := levers_called(self._typed) if len(places) else set():
            called = self.held.categories["lever"].mask([str(pk) for pk in named])[places]
            self._add(places[called], scores[called], LEVER_NAME)
        self._add(places, scores)

    def _scores(self, places: np.ndarray, wanted: Expression) -> np.ndarray:
        """Word scores; rows with every word in their title stand first. What is not ranked scores nought."""
        scores = np.zeros(len(places))
        if not len(places):
            return scores
        ids = self.held.ids[places]
        in_title = np.isin(ids, self.backend.match(Kind.ROW, wanted, titles=True))
        newest = np.argsort(ids)[-RANKED_AT_MOST:]
        scores[newest] = self.backend.scores(Kind.ROW, wanted, ids[newest])
        if len(places) > RANKED_AT_MOST:
            self.ranked = RANKED_AT_MOST
        return scores + in_title * IN_TITLE

    def _levers(self) -> None:
        if len(lever_key(self._typed)) >= MIN_LEVER_CHARS and (ids := lever_ids(self._typed)):
            mask = self.held.categories["lever"].mask([str(pk) for pk in ids])
            places = np.flatnonzero(mask)
            self._add(places, np.ones(len(places)), LEVER_NAME)

    def _typing_errors(self, unwanted: Expression | None) -> None:
        mended, self.corrections = mend(self.backend.holds(Kind.ROW), self.backend.alike, self.query.wanted)
        wanted = expression_of(mended) if self.corrections else None
        if wanted is not None:
            places = self._places(self.backend.match(Kind.ROW, wanted, unwanted))
            self._add(places, self._scores(places, wanted), read_as(self.corrections))

    def _some_words(self, unwanted: Expression | None) -> None:
        """Rows with at least half of the words, and two of three; one of two only when there is nothing better.

        Among as many words, identifiers count more than plain ones.
        """
        texts = self.query.wanted
        if len(texts) < 2 or (len(texts) == 2 and self.mask.any()):
            return
        held, named = np.zeros(len(self.mask)), np.zeros(len(self.mask))
        for text in texts:
            wanted = expression_of([text])
            if wanted is not None:
                places = self._places(self.backend.match(Kind.ROW, wanted, unwanted))
                held[places] += 1
                named[places] += text.is_identifier
        places = np.flatnonzero((held >= least_words(len(texts))) & ~self.mask)
        if not len(places):
            return
        scores = named[places] * NEXT
        newest = np.argsort(self.held.ids[places])[-RANKED_AT_MOST:]
        if (either := any_of(texts)) is not None:
            scores[newest] += self.backend.scores(Kind.ROW, either, self.held.ids[places[newest]])
        best = np.lexsort((self.held.ids[places], -scores, -held[places]))[:SOME_WORDS_LIMIT]
        for count in sorted(set(held[places[best]].tolist()), reverse=True):
            at = best[held[places[best]] == count]
            self._add(places[at], scores[at], held_words(int(count), len(texts)))

    def _similar_meaning(self) -> None:
        """Rows that say the same in other words, where an encoder is set up."""
        if all(word.is_identifier for text in self.query.wanted for word in text.words):
            return
        try:
            found = dict(nearest(self._typed))
        except EncoderAway as reason:
            self.meaning_away = str(reason)
            return
        ids = np.fromiter(found, np.int64, len(found))
        for place in self._places(ids).tolist():
            cosine = found[int(self.held.ids[place])]
            self._add(np.array([place]), np.array([cosine]), f"similar meaning ({cosine:.2f})")
