"""Words of this field as search sees them: one reading for documents and queries on every database.

A word gives its *atoms* (runs of letters and digits, camelCase split) in order, and, when it has several, its *whole*
(all atoms joined, as `lever_key`). A document is its atoms in reading order, so that a typed word is a phrase of atoms,
and beside them its wholes, so that `cpasync` finds `cp.async`. Percentages keep their sign: `-9%` is no `9%` and no
`+9%`, but `9%` is both (evidence-and-gate section 2).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from v2kb.rules.names import fold, fold_warps, lever_key

MAX_ATOM_CHARS = 64
MIN_PREFIX_CHARS = 3
MIN_STEM_CHARS = 4
MIN_HASH_CHARS = 7
CACHED_WORDS = 20_000
SENTENCE_WORDS = frozenset(
    """
    a about again also an and any are as at be because been but by can could did do does doing for from get gets had
    has have help helps how i if in instead into is it its may me might my need needs no not of on or our should so
    such than that the their them then there these they this to use used uses using was we were what when where which
    who why will with without would you your
    """.split()  # noqa: SIM905 - a list of 100 literals reads worse
)

_ARROW = re.compile(r"(?<=[A-Za-z0-9_])\s*(?:→|=>|->)\s*(?=[A-Za-z0-9_])")
_TO = re.compile(r"(?<=[0-9])\s+to\s+(?=[0-9])", re.IGNORECASE)
_DEFINED = re.compile(r"(?<![A-Za-z0-9_])-D(?=[A-Z][A-Z0-9]*_)")
_EQUALS = re.compile(r"(?<=[A-Za-z0-9_])[ ]{0,2}=[ ]{0,2}(?=[A-Za-z0-9_])")
_WORD = re.compile(r"[^\s,;()\[\]{}<>\"'`|]+")
_PERCENT = re.compile(r"((?<![A-Za-z0-9_])[+-])?([0-9]+(?:\.[0-9]+)?)[ ]{0,2}%")
_PERCENTS = re.compile(
    r"((?<![A-Za-z0-9_])[+-])?([0-9]+(?:\.[0-9]+)?)%?(?:-|\.\.\.?|…)([+-])?([0-9]+(?:\.[0-9]+)?)[ ]{0,2}%"
)
_ONLY_PERCENT = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?%")
UNIT = re.compile(r"(?<=[0-9])(?=(?:[mun]s|[TGM]B/s|[kKMG]i?B|TFLOPS)(?![A-Za-z0-9_]))")
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])", re.ASCII)
_SEPARATORS = re.compile(r"[\W_]+")
_HEX = re.compile(r"(?=[0-9a-f]*[0-9])[0-9a-f]{7,64}", re.ASCII)
_ENDINGS = ("ings", "ing", "ed", "es", "s")


@dataclass(frozen=True, slots=True)
class Word:
    """One word. `atoms` is empty for a percentage, which only its `whole` finds."""

    text: str
    whole: str
    atoms: tuple[str, ...]

    @property
    def is_identifier(self) -> bool:
        """Whether it names a thing rather than being plain prose: several atoms, a digit, or a percentage."""
        return len(self.atoms) != 1 or any(sign.isdigit() for sign in self.whole)

    @property
    def prefix(self) -> str:
        """What the last atom may go on from: the atom without an English ending, a hash's digits, or "" (no more)."""
        if not self.atoms:
            return ""
        last = self.atoms[-1]
        if _HEX.fullmatch(last):
            return last
        if len(last) < MIN_PREFIX_CHARS or any(sign.isdigit() for sign in last):
            return ""
        return stem(last) if len(self.atoms) == 1 else last


def words(text: str) -> list[Word]:
    """The words of `text` in order. Spaces round `=` and arrows, and before `%` and units, do not matter.

    Between figures, "to" is an arrow; a compiler's `-DNAME_X` is NAME_X.
    """
    plain = _EQUALS.sub("=", fold_warps(fold(_TO.sub("‑", _ARROW.sub("‑", _DEFINED.sub(" ", str(text)))))))
    plain = UNIT.sub(" ", _PERCENT.sub(lambda found: f"{found[1] or ''}{found[2]}%", plain))
    read = (_short_word(typed) if len(typed) <= MAX_ATOM_CHARS else _word(typed) for typed in _WORD.findall(plain))
    return [word for word in read if word]


def _word(typed: str) -> Word | None:
    bare = typed.strip(".:!?")
    if _ONLY_PERCENT.fullmatch(bare):
        return Word(typed, percent_key(bare), ())
    whole = lever_key(typed)[:MAX_ATOM_CHARS]
    if not whole:
        return None
    pieces = _SEPARATORS.split(CAMEL.sub(" ", typed))
    atoms = tuple(atom[:MAX_ATOM_CHARS] for piece in pieces if (atom := lever_key(piece)))
    return Word(typed, whole, atoms or (whole,))


_short_word = lru_cache(maxsize=CACHED_WORDS)(_word)


def document_words(text: str) -> tuple[str, str]:
    """(atoms in reading order, wholes), each joined by single spaces: what an index stores of `text`."""
    atoms: list[str] = []
    wholes: dict[str, None] = {}
    for word in words(text):
        if len(word.atoms) > 1:
            wholes.setdefault(word.whole)
        if "%" in word.text:
            for _, _, keys in percentages(fold(word.text)):
                wholes.update(dict.fromkeys(keys))
        atoms += word.atoms or _number_atoms(word.text)
    return " ".join(atoms), " ".join(wholes)


def percent_key(text: str) -> str:
    """`-9%` -> `pctm9`, `+9%` -> `pctp9`, `9%` -> `pct9`."""
    found = _PERCENT.fullmatch(text)
    return _percent_keys(found[1], found[2])[-1] if found else ""


def percentages(text: str) -> Iterator[tuple[int, int, list[str]]]:
    """(start, end, keys) of every percentage in folded text; `+11-17%` has +11% and +17%."""
    for found in _PERCENT.finditer(text):
        yield found.start(), found.end(), _percent_keys(found[1], found[2])
    for found in _PERCENTS.finditer(text):
        yield (
            found.start(),
            found.end(),
            _percent_keys(found[1], found[2]) + _percent_keys(found[3] or found[1], found[4]),
        )


def _percent_keys(sign: str | None, figure: str) -> list[str]:
    key = figure.replace(".", "_")
    letter = {"-": "m", "+": "p"}.get(sign or "")
    return [f"pct{key}"] + ([f"pct{letter}{key}"] if letter else [])


def _number_atoms(text: str) -> list[str]:
    return [piece for piece in _SEPARATORS.split(text) if piece]


def stem(atom: str) -> str:
    """The word without -ing, -ed, -es or -s, when at least four letters are left: a prefix of its other forms."""
    for ending in _ENDINGS:
        if atom.endswith(ending) and len(atom) - len(ending) >= MIN_STEM_CHARS and not atom.endswith("ss"):
            return atom[: -len(ending)]
    return atom


def is_hash(atom: str) -> bool:
    """Whether it can be (the beginning of) a commit or content hash: at least seven hexadecimal digits."""
    return _HEX.fullmatch(atom) is not None
