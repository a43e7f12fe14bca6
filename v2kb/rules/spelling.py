"""Which known words a misspelt one may stand for."""

from collections.abc import Iterable

from rapidfuzz.distance import DamerauLevenshtein

MIN_TYPO_CHARS = 4
TWO_EDITS_CHARS = 10
"""In a shorter word two edits lead to another word as often as to the one that was meant: multicast, multicta."""
MOST = 3


def may_be_misspelt(word: str) -> bool:
    """Whether it is worth asking: short words and those with figures are never taken for others."""
    return len(word) >= MIN_TYPO_CHARS and not any(sign.isdigit() for sign in word)


def nearest_words(word: str, known: Iterable[str]) -> list[str]:
    """Known words within one edit (two from ten letters on; a swap is one), nearest first. At most three."""
    limit = 2 if len(word) >= TWO_EDITS_CHARS else 1
    near = [(DamerauLevenshtein.distance(word, other), other) for other in known if other != word]
    return [other for edits, other in sorted(near) if edits <= limit][:MOST]
