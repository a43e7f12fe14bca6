"""Finding rows in a snapshot: the tiers of the evidence search in the app, over one small file.

`evidence.search.engine` does the same over columns in memory; a test holds both to the same rows in the same order.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from v2kb.cli.index import ROW, Index
from v2kb.rules.names import exact_hashes, lever_key
from v2kb.rules.row_filters import keeps, meant_words
from v2kb.rules.scope import Aliases
from v2kb.rules.search_expression import Expression, any_of, expression_of
from v2kb.rules.search_mending import Corrections, mend
from v2kb.rules.search_query import Filter, SearchQuery, least_words, parse_query
from v2kb.rules.search_rank import RANKED_AT_MOST
from v2kb.rules.search_tiers import (
    CODE,
    ENOUGH,
    HASH,
    IN_TITLE,
    LEVER_NAME,
    MAX_HASHES,
    MIN_LEVER_CHARS,
    NEXT,
    SOME_WORDS_LIMIT,
    held_words,
    read_as,
)
from v2kb.rules.search_why import why_found


@dataclass(frozen=True, slots=True)
class Found:
    """Places of rows, best first; `corrections` say what was read otherwise, `tiers` which tier found a place."""

    index: Index
    places: list[int]
    tiers: dict[int, str]
    query: SearchQuery
    corrections: Corrections

    def reasons(self, places: Iterable[int]) -> dict[int, str]:
        """Why these places are there; one that was not found is left out. It reads titles, so ask for few."""
        found = set(self.places).intersection(places)
        words = [word for wanted in self.query.wanted for word in wanted.words]
        titles = self.index.titles(ROW, sorted(found - self.tiers.keys())) if words else {}
        return {place: self.tiers.get(place) or why_found(titles.get(place), words, ROW) for place in found}


def search_rows(index: Index, text: str, *, archived: bool = False) -> Found:
    """Rows for a query in the query language; archived ones only where asked for. Raises QueryError."""
    query = parse_query(text)
    search = _Search(index, query, _allowed(index, query, archived))
    search.run()
    return Found(index, search.ordered(), search.tiers, query, search.corrections)


def matching(index: Index, text: str) -> set[int]:
    """Places for a query, in no order. Raises QueryError."""
    query = parse_query(text)
    search = _Search(index, query, _allowed(index, query, archived=False))
    search.run()
    return search.places()


def _allowed(index: Index, query: SearchQuery, archived: bool) -> set[int]:
    everything = archived or any(f.name == "is" and "archived" in f.values for f in query.filters)
    places = {place for place, (_, old) in index.codes.items() if everything or not old}
    if not query.filters:
        return places
    facts = index.facts()
    for wanted in query.filters:
        words = _words_of(index, facts, wanted, index.aliases)
        places = {place for place in places if keeps(facts[place], wanted, words)}
    return places


def _words_of(index: Index, facts: Mapping[int, dict], wanted: Filter, aliases: Aliases) -> set[str]:
    if wanted.name == "lever":
        return {slug for value in wanted.values for slug in index.levers_like(value)}
    if wanted.name in ("delta", "measured", "is"):
        return set()
    known = {word for row in facts.values() for word in str(row[wanted.name]).split(",") if word}
    return set(meant_words(wanted, known, aliases))


class _Search:
    """One search. `_found` maps places to (tier, score); a lower tier and a higher score stand first."""

    def __init__(self, index: Index, query: SearchQuery, allowed: set[int]) -> None:
        self.index, self.query, self.allowed = index, query, allowed
        self.tiers: dict[int, str] = {}
        self.corrections: Corrections = []
        self._found: dict[int, tuple[int, float]] = {}
        self._left_out: set[int] = set()
        self._tier = 0
        self._typed = " ".join(text.text for text in query.wanted)

    def run(self) -> None:
        wanted, unwanted = expression_of(self.query.wanted), any_of(self.query.unwanted)
        if unwanted is not None:
            self._left_out.update(self.index.match(ROW, unwanted))
        if wanted is None:
            everything = set() if self.query.is_unreadable else self.index.codes.keys()
            self._add(dict.fromkeys(everything, 0.0))
            return
        self._codes_and_hashes()
        self._every_word(wanted, unwanted)
        if self._few():
            self._levers()
            self._typing_errors(unwanted)
        if self._few():
            self._some_words(unwanted)

    def places(self) -> set[int]:
        """The allowed places that were found."""
        return self._found.keys() & self.allowed

    def ordered(self) -> list[int]:
        """The places, best first; equal ones in the order of their codes."""

        def rank(place: int) -> tuple:
            tier, score = self._found[place]
            return tier, -score, self.index.code_order[place]

        return sorted(self.places(), key=rank)

    def _few(self) -> bool:
        return len(self.places()) < ENOUGH

    def _add(self, scores: Mapping[int, float], why: str = "") -> None:
        """Add places that no tier before has found, below all of them; none that holds an unwanted word."""
        self._tier += 1
        taken = self._found.keys() | self._left_out
        new = {place: score for place, score in scores.items() if place not in taken}
        self._found |= {place: (self._tier, score) for place, score in new.items()}
        if why:
            self.tiers |= dict.fromkeys(new, why)

    def _codes_and_hashes(self) -> None:
        known = {code: place for place, (code, _) in self.index.codes.items()}
        named = [code for codes in self.query.codes if all(code in known for code in codes) for code in codes]
        self._add({known[code]: -float(at) for at, code in enumerate(dict.fromkeys(named))}, CODE)
        digits = [text.words[0].whole for text in self.query.wanted]
        starts = [start for digit in digits for start in exact_hashes(digit)][:MAX_HASHES]
        self._add({place: 1.0 for start in starts for place in self.index.of_hash(start)}, HASH)

    def _every_word(self, wanted: Expression, unwanted: Expression | None) -> None:
        scores = self._scores(self.index.match(ROW, wanted, unwanted), wanted)
        if scores and (named := self.index.levers_called(self._typed)):
            called = self.index.of_levers(named)
            self._add({place: score for place, score in scores.items() if place in called}, LEVER_NAME)
        self._add(scores)

    def _scores(self, places: Sequence[int], wanted: Expression) -> dict[int, float]:
        if not places:
            return {}
        in_title = set(self.index.match(ROW, wanted, titles=True))
        fits = self.index.scores(ROW, wanted, places[-RANKED_AT_MOST:])
        return {place: fits.get(place, 0.0) + IN_TITLE * (place in in_title) for place in places}

    def _levers(self) -> None:
        if len(lever_key(self._typed)) >= MIN_LEVER_CHARS and (slugs := self.index.levers_like(self._typed)):
            self._add(dict.fromkeys(self.index.of_levers(slugs), 1.0), LEVER_NAME)

    def _typing_errors(self, unwanted: Expression | None) -> None:
        mended, self.corrections = mend(self._holds, self.index.alike, self.query.wanted)
        wanted = expression_of(mended) if self.corrections else None
        if wanted is not None:
            scores = self._scores(self.index.match(ROW, wanted, unwanted), wanted)
            self._add(scores, read_as(self.corrections))

    def _holds(self, wanted: Expression) -> bool:
        return bool(self.index.match(ROW, wanted))

    def _some_words(self, unwanted: Expression | None) -> None:
        texts = self.query.wanted
        if len(texts) < 2 or (len(texts) == 2 and self._found):
            return
        held: Counter[int] = Counter()
        named: Counter[int] = Counter()
        for text in texts:
            if (wanted := expression_of([text])) is not None:
                places = self.index.match(ROW, wanted, unwanted)
                held.update(places)
                named.update(places if text.is_identifier else ())
        enough = sorted(p for p, count in held.items() if count >= least_words(len(texts)) and p not in self._found)
        fits = self._fits(texts, enough)
        scores = {place: named[place] * NEXT + fits.get(place, 0.0) for place in enough}
        best = sorted(enough, key=lambda place: (-held[place], -scores[place]))[:SOME_WORDS_LIMIT]
        for count in sorted({held[place] for place in best}, reverse=True):
            self._add({p: scores[p] for p in best if held[p] == count}, held_words(count, len(texts)))

    def _fits(self, texts: Iterable, places: Sequence[int]) -> dict[int, float]:
        either = any_of(texts)
        return self.index.scores(ROW, either, places[-RANKED_AT_MOST:]) if either is not None else {}
