"""How well an entry fits the words of a query: the same figure on every database and in a checkout without one.

The form is BM25F (Robertson, Zaragoza: The Probabilistic Relevance Framework, 2009) without the rarity of a word, which
would need a count over all entries: a word counts more in a title and as an identifier in one piece, each further
occurrence counts less, and so does one in a longer entry.
"""

from collections.abc import Callable, Iterator, Sequence

from v2kb.rules.search_expression import All, Either, Expression, Phrase, Whole

RANKED_AT_MOST = 300
"""Ranking reads the words of every candidate, so that a word of nearly every entry ranks its newest entries only."""
TITLE_WEIGHT, WHOLE_WEIGHT, BODY_WEIGHT = 5.0, 3.0, 1.0
SATURATION, LENGTH_SHARE, USUAL_WORDS = 1.2, 0.75, 100


Fit = Callable[[str, str, str], float]
_Term = tuple[tuple[str, ...], tuple[str, ...]]
"""What to count in the words of title and body, and in the wholes, for one word in all its spellings."""


def ranking(wanted: Expression) -> Fit:
    """A function of an entry's stored words (title, body, whole; `search_words.document_words`): its score.

    More is better, 0 is none.
    """
    terms = tuple(_terms(wanted))

    def fit(title: str, body: str, whole: str) -> float:
        title, body, whole = f" {title} ", f" {body} ", f" {whole} "
        length = title.count(" ") + body.count(" ") - 2
        slack = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * length / USUAL_WORDS)
        score = 0.0
        for runs, tokens in terms:
            found = 0.0
            for run in runs:
                found += TITLE_WEIGHT * title.count(run) + BODY_WEIGHT * body.count(run)
            for token in tokens:
                found += WHOLE_WEIGHT * whole.count(token)
            score += found * (SATURATION + 1) / (found + slack)
        return score

    return fit


def _terms(wanted: Expression) -> Iterator[_Term]:
    match wanted:
        case All(parts):
            for part in parts:
                yield from _terms(part)
        case Either(parts):
            if spellings := [leaf for leaf in parts if isinstance(leaf, Phrase | Whole)]:
                yield _term(spellings)
            for part in parts:
                if isinstance(part, All | Either):
                    yield from _terms(part)
        case Phrase() | Whole():
            yield _term([wanted])


def _term(spellings: Sequence[Phrase | Whole]) -> _Term:
    runs = [_padded(" ".join(leaf.atoms), leaf.prefix) for leaf in spellings if isinstance(leaf, Phrase)]
    tokens = [_padded(leaf.token, leaf.prefix) for leaf in spellings if isinstance(leaf, Whole)]
    return tuple(runs), tuple(tokens)


def _padded(words: str, prefix: bool) -> str:
    return f" {words}" if prefix else f" {words} "
