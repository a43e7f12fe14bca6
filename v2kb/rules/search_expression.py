"""What is looked for, apart from any database's syntax, and how a typed word becomes such an expression."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from v2kb.rules.search_query import Text
from v2kb.rules.search_words import MIN_STEM_CHARS, Word, stem


@dataclass(frozen=True, slots=True)
class Phrase:
    """These atoms next to each other in title or text; with `prefix` the last may go on."""

    atoms: tuple[str, ...]
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class Whole:
    """An identifier of several atoms, or a percentage, in one piece."""

    token: str
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class All:
    """Every part."""

    parts: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Either:
    """At least one part."""

    parts: tuple["Expression", ...]


Expression = Phrase | Whole | All | Either


def of_word(word: Word, joined: Sequence[str] = ()) -> Expression:
    """A word in any of its spellings: a phrase of its atoms, in one piece, in two, or `joined` with a neighbour."""
    parts: list[Expression] = [Whole(word.whole, prefix=bool(word.prefix) and len(word.atoms) == 1)]
    if word.atoms:
        last = word.prefix or word.atoms[-1]
        parts.append(Phrase((*word.atoms[:-1], last), prefix=bool(word.prefix)))
        if len(word.atoms) > 1:
            parts.append(Phrase((word.whole,), prefix=bool(word.prefix)))
    for first, second in word.halves:
        last = stem(second)
        parts.append(Phrase((first, last), prefix=len(last) >= MIN_STEM_CHARS))
    for token in joined:
        parts += [Whole(token), Phrase((token,))]
    return parts[0] if len(parts) == 1 else Either(tuple(parts))


def expression_of(texts: Sequence[Text]) -> Expression | None:
    """Every text of the query (`cp async` also finds `cpasync` and `cp.async`); None when there is none."""
    singles = [text for text in texts if not text.phrase]
    parts: list[Expression] = [
        of_word(text.words[0], _joined(singles, place)) for place, text in enumerate(singles) if text.words
    ]
    for text in texts:
        if text.phrase and (atoms := tuple(atom for word in text.words for atom in word.atoms)):
            parts.append(Phrase(atoms))
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else All(tuple(parts))


def any_of(texts: Iterable[Text]) -> Expression | None:
    """At least one of the texts; None when there is none."""
    parts = [part for text in texts if (part := expression_of([text])) is not None]
    return Either(tuple(parts)) if parts else None


def _joined(singles: Sequence[Text], place: int) -> list[str]:
    """The word in one piece with the one before and with the one after."""
    here = singles[place].words[0]
    before = [singles[place - 1].words[0].whole + here.whole] if place else []
    after = [here.whole + singles[place + 1].words[0].whole] if place + 1 < len(singles) else []
    return before + after
