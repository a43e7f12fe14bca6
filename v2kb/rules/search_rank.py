"""How well an entry fits the words of a query: the same figure on every database and in a checkout without one.

The form is BM25F (Robertson, Zaragoza: The Probabilistic Relevance Framework, 2009) without the rarity of a word, which
would need a count over all entries: a word counts more in a title and as an identifier in one piece, each further
occurrence counts less, and so does one in a longer entry.
"""

from collections.abc import Sequence

from v2kb.rules.search_expression import All, Either, Expression, Phrase, Whole

RANKED_AT_MOST = 500
"""Ranking reads the words of every candidate, so that a word of nearly every entry ranks its newest entries only."""
TITLE_WEIGHT, WHOLE_WEIGHT, BODY_WEIGHT = 5.0, 3.0, 1.0
SATURATION, LENGTH_SHARE, USUAL_WORDS = 1.2, 0.75, 100


def fit(wanted: Expression, title: str, body: str, whole: str) -> float:
    """The score of an entry whose stored words are these (`search_words.document_words`); more is better, 0 is none."""
    fields = ((f" {title} ", TITLE_WEIGHT), (f" {body} ", BODY_WEIGHT))
    length = title.count(" ") + body.count(" ") + 2
    slack = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * length / USUAL_WORDS)
    wholes = f" {whole} "

    def frequency(leaf: Phrase | Whole) -> float:
        if isinstance(leaf, Whole):
            return WHOLE_WEIGHT * wholes.count(f" {leaf.token}" if leaf.prefix else f" {leaf.token} ")
        run = f" {' '.join(leaf.atoms)}" if leaf.prefix else f" {' '.join(leaf.atoms)} "
        return sum(weight * text.count(run) for text, weight in fields)

    def term(spellings: Sequence[Phrase | Whole]) -> float:
        found = sum(map(frequency, spellings))
        return found * (SATURATION + 1) / (found + slack)

    def total(part: Expression) -> float:
        match part:
            case All(parts):
                return sum(map(total, parts))
            case Either(parts):
                spellings = [leaf for leaf in parts if isinstance(leaf, Phrase | Whole)]
                return term(spellings) + sum(total(inner) for inner in parts if isinstance(inner, All | Either))
            case Phrase() | Whole():
                return term([part])

    return total(wanted)
