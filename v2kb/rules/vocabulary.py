"""The words that the rules know of their own, besides levers: what an installation's vocabulary starts from.

Curators add words to the kinds of `OPEN`, and aliases to words of every kind; what a built-in word means is code,
because rules depend on it.
"""

from dataclasses import dataclass

from v2kb.rules.evidence import CAUSE_CLASSES, FULL, WEAK
from v2kb.rules.names import fold
from v2kb.rules.numbers import SPELLINGS, UNITS, base_unit
from v2kb.rules.scope import CARDS, DTYPE_SPELLINGS, read_word

ARCH, DTYPE, UNIT, CAUSE = "arch", "dtype", "unit", "cause"
KINDS = (ARCH, DTYPE, UNIT, CAUSE)
OPEN = (ARCH, DTYPE, CAUSE)
CLOSED_WHY = {
    UNIT: "A unit itself can't be added, because how its numbers are converted and compared is part of the program; "
    "other spellings can be added to those that are there."
}
MAX_WORD = 60
_BLOCKS = {FULL: "blocks in full", WEAK: "blocks weakly"}


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """A word of the rules with its other spellings; `note` says what it means to them."""

    kind: str
    word: str
    aliases: tuple[str, ...] = ()
    note: str = ""


def _spelled(kind: str, words: tuple[str, ...], spellings: dict[str, str], note: str = "") -> list[BuiltIn]:
    return [
        BuiltIn(kind, word, tuple(other for other, stands_for in spellings.items() if stands_for == word), note)
        for word in words
    ]


def built_in_terms() -> list[BuiltIn]:
    """Return the built-in words of every kind."""
    archs = tuple(dict.fromkeys(CARDS.values()))
    dtypes = ("fp64", "fp32", "fp16", "bf16", "fp8", "fp8_e4m3", "fp8_e5m2", "fp4", "int64", "int32", "int8", "uint8")
    terms = _spelled(ARCH, archs, CARDS) + _spelled(DTYPE, dtypes, DTYPE_SPELLINGS)
    for unit in UNITS:
        base = base_unit(unit)
        terms += _spelled(UNIT, (unit,), SPELLINGS, f"Compared in {base}." if base != unit else "")
    terms += [
        BuiltIn(CAUSE, cause.slug, (), f"A DEAD row of this cause {_BLOCKS.get(cause.blocking, 'does not block')}.")
        for cause in CAUSE_CLASSES.values()
    ]
    return terms


def term_word(kind: str, text: str) -> str:
    """Return the one spelling of a word of an open kind, as contents write it; empty for what is none."""
    if kind == CAUSE:
        return (read_word("cause", fold(text)) or "")[: MAX_WORD + 1]
    return (read_word(kind, text) or "")[: MAX_WORD + 1]
