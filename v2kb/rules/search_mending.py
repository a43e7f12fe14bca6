"""Typing errors: words that nothing holds, replaced by known ones."""

from collections.abc import Callable, Sequence

from v2kb.rules.search_expression import Expression, any_of, expression_of, of_word
from v2kb.rules.search_query import Text
from v2kb.rules.search_words import Word, words

Corrections = list[tuple[str, str]]
Holds = Callable[[Expression], bool]
Alike = Callable[[str], list[str]]


def mend(holds: Holds, alike: Alike, texts: Sequence[Text]) -> tuple[list[Text], Corrections]:
    """The texts with unknown words replaced by the nearest known ones, or by the two that they were written from, and
    (typed, known) of each. An identifier is never taken for another one.

    `holds` says whether anything matches an expression, `alike` which known words look like one, nearest first.
    """
    mended: list[Text] = []
    corrections: Corrections = []
    for text in texts:
        near = () if text.phrase else _mended(holds, alike, text.words[0])
        if near:
            corrections.append((text.text, " ".join(word.text for word in near)))
        mended.append(Text(near or text.words, phrase=text.phrase or len(near) > 1))
    return mended, corrections


def _mended(holds: Holds, alike: Alike, word: Word) -> tuple[Word, ...]:
    if word.is_identifier or holds(of_word(word)):
        return ()
    for known in alike(word.whole):
        found = words(known)
        if found and holds(of_word(found[0])):
            return (found[0],)
    pairs = [tuple(words(f"{word.whole[:place]} {word.whole[place:]}")) for place in range(2, len(word.whole) - 1)]
    phrases = [Text(pair, phrase=True) for pair in pairs if len(pair) == 2]
    together = any_of(phrases)
    if together is None or not holds(together):
        return ()
    return next(phrase.words for phrase in phrases if holds(expression_of([phrase])))
