"""Failure signatures in documents: tables of symptom, first move and cause, and sentences that begin with "Signature:".

    | Symptom | First move | Note |
    **Signature: iteration 0 fine, iteration 1 hangs ⇒ state that is zeroed in every step.**

Source: validation-debug sections 4 and 5, whose tables have this form.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from v2kb.rules.spec_markdown.blocks import TABLE, lines_of, sections_of

CAUSE, NOTE = "Cause", "Note"
MIN_BEGINNING = 4
"""Letters from which on the beginning of a word stands for it: iter for iteration, hang for hangs."""
_NAMES_SYMPTOMS = re.compile(r"\b(?:symptom|signature|failure|what (?:you|one) sees?)\b", re.I)
_SENTENCE = re.compile(r"(?:failure )?signature:\s*(?P<symptom>.+?)\s*(?:⇒|=>|→)\s*(?P<rest>.+)", re.I | re.S)
_WORD = re.compile(r"[^\W\d_]+|\d+")
_EMPTY_WORDS = frozenset(
    ("a", "an", "and", "are", "as", "at", "but", "by", "for", "from", "in", "is", "it", "no", "of", "on", "or", "the")
)
_MARKS = re.compile(r"\*\*|`")


@dataclass(frozen=True)
class Signature:
    """One symptom, and what its row says beside it (column -> text)."""

    symptom: str
    said: Mapping[str, str]

    @cached_property
    def _in_symptom(self) -> "_Words":
        return _Words(self.symptom)

    @cached_property
    def _anywhere(self) -> "_Words":
        return _Words(" . ".join([self.symptom, *self.said.values()]))


@dataclass(frozen=True, slots=True)
class Fit:
    """A signature for a query: the words that it has, and how well it fits (0 to 1, 1: every word in its symptom)."""

    place: int
    signature: Signature
    words: tuple[str, ...]
    share: float


def signatures_of(text: str) -> list[Signature]:
    """The failure signatures of a section in markdown, in its order."""
    found: list[Signature] = []
    for section in sections_of(lines_of(text)):
        for block in section.blocks:
            if block.kind == TABLE:
                if block.header and _NAMES_SYMPTOMS.search(block.header[0]):
                    found += [_row(block.header, row.cells) for row in block.rows if any(row.cells)]
            elif sentence := _SENTENCE.match(_unmarked(block.source)):
                found.append(_sentence(sentence))
    return found


def _unmarked(text: str) -> str:
    """Text without marks of emphasis and code; formulas keep their stars."""
    return _MARKS.sub("", text)


def _row(header: Sequence[str], cells: Sequence[str]) -> Signature:
    texts = [_unmarked(cell) for cell in cells]
    said = {name: text for name, text in zip(header[1:], texts[1:], strict=False) if text}
    return Signature(texts[0], said)


def _sentence(found: re.Match[str]) -> Signature:
    rest = " ".join(found["rest"].split())
    cause, _, note = rest.partition(". ")
    said = {CAUSE: f"{cause.rstrip('.')}.", NOTE: note}
    return Signature(" ".join(found["symptom"].split()), {name: text for name, text in said.items() if text})


class _Words:
    """The words of a text, and its pairs of neighbouring words."""

    def __init__(self, text: str) -> None:
        words = [word for word in _WORD.findall(text.casefold()) if word not in _EMPTY_WORDS]
        self.words = list(dict.fromkeys(words))
        self.pairs = list(dict.fromkeys(pairwise(words)))

    def has(self, word: str) -> bool:
        return any(_same(word, known) for known in self.words)

    def has_pair(self, pair: tuple[str, str]) -> bool:
        return any(_same(pair[0], first) and _same(pair[1], second) for first, second in self.pairs)


def _same(word: str, other: str) -> bool:
    short, long = sorted((word, other), key=len)
    return word == other or (len(short) >= MIN_BEGINNING and long.startswith(short))


def ranked(query: str, signatures: Sequence[Signature]) -> list[Fit]:
    """The signatures that have a word of the query, best first.

    Rare words count more than common ones, a word of the symptom twice as much as one beside it, and so do two words
    that stand side by side as in the query.
    """
    asked = _Words(query)
    counts = Counter(word for one in signatures for word in asked.words if one._anywhere.has(word))
    weight = {word: math.log(1 + len(signatures) / counts[word]) if counts[word] else 1.0 for word in asked.words}
    pairs = {pair: min(weight[pair[0]], weight[pair[1]]) for pair in asked.pairs}
    most = 2 * (sum(weight.values()) + sum(pairs.values()))
    fits = []
    for place, one in enumerate(signatures):
        words = tuple(word for word in asked.words if one._anywhere.has(word))
        if not words:
            continue
        points = sum(weight[word] * (1 + one._in_symptom.has(word)) for word in words)
        points += sum(worth * 2 for pair, worth in pairs.items() if one._in_symptom.has_pair(pair))
        fits.append(Fit(place, one, words, points / most))
    return sorted(fits, key=lambda fit: (-fit.share, fit.place))
