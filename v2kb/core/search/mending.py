"""Typing errors: words that nothing of a kind holds, replaced by known ones."""

from collections.abc import Sequence

from v2kb.core.search.backends import SearchIndex
from v2kb.core.search.entries import Kind
from v2kb.rules.search_expression import any_of, expression_of, of_word
from v2kb.rules.search_query import Text
from v2kb.rules.search_words import Word, words

Corrections = list[tuple[str, str]]


def mend(backend: SearchIndex, kind: Kind, texts: Sequence[Text]) -> tuple[list[Text], Corrections]:
    """The texts with unknown words replaced by the nearest known ones, or by the two that they were written from, and
    (typed, known) of each. An identifier is never taken for another one.
    """
    mended: list[Text] = []
    corrections: Corrections = []
    for text in texts:
        near = () if text.phrase else _mended(backend, kind, text.words[0])
        if near:
            corrections.append((text.text, " ".join(word.text for word in near)))
        mended.append(Text(near or text.words, phrase=text.phrase or len(near) > 1))
    return mended, corrections


def _mended(backend: SearchIndex, kind: Kind, word: Word) -> tuple[Word, ...]:
    if word.is_identifier or len(backend.match(kind, of_word(word))):
        return ()
    for known in backend.alike(word.whole):
        found = words(known)
        if found and len(backend.match(kind, of_word(found[0]))):
            return (found[0],)
    pairs = [tuple(words(f"{word.whole[:place]} {word.whole[place:]}")) for place in range(2, len(word.whole) - 1)]
    phrases = [Text(pair, phrase=True) for pair in pairs if len(pair) == 2]
    together = any_of(phrases)
    if together is None or not len(backend.match(kind, together)):
        return ()
    return next(phrase.words for phrase in phrases if len(backend.match(kind, expression_of([phrase]))))
