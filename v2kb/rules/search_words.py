"""Words of this field as search sees them: one reading for documents and queries on every database.

A word gives its *atoms* (runs of letters and digits, camelCase split) in order, and, when it has several, its *whole*
(all atoms joined, as `lever_key`). A document is its atoms in reading order, so that a typed word is a phrase of atoms,
and beside them its wholes, so that `cpasync` finds `cp.async`. Percentages keep their sign: `-9%` is no `9%` and no
`+9%`, but `9%` is both (evidence-and-gate section 2). A comparison with a figure keeps its sign too: `M>=16` is no
`M=16`. `2.50 TB/s` is `2.5 TB/s`; a figure without a unit may be a version or a section, and 1.10 is no 1.1.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from v2kb.rules.names import fold, fold_warps, lever_key

MAX_ATOM_CHARS = 64
MIN_PREFIX_CHARS = 3
MIN_STEM_CHARS = 4
MIN_WHOLE_CHARS, MAX_WHOLE_CHARS = 6, 24
"""Of a word that may be two in one piece."""
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
_SIGN = "<=|>=|[<>≤≥]"
_COMPARISONS = re.compile(
    r"(?<=[A-Za-z0-9_])<[0-9][\w:]*(?:,[ ]?[\w:]+)*>(?![0-9=])"  # the arguments of a template compare nothing
    rf"|(?<![\w.])(?P<figure>[0-9][\w.]*%?)[ ]{{0,2}}(?P<turned>{_SIGN})[ ]{{0,2}}(?=[A-Za-z_])"
    rf"|(?<![<>=-])(?P<sign>{_SIGN})[ ]{{0,2}}(?=[+-]?\.?[0-9])"
)
_ONE_SIGN = {"<=": "≤", ">=": "≥"}
_TURNED = str.maketrans("<>≤≥", "><≥≤")
_NO_BRACKET = str.maketrans("<>", "＜＞")
_NAMES = {"＜": "lt", "＞": "gt", "≤": "le", "≥": "ge"}
_COMPARISON = re.compile(r"([＜＞≤≥])([+-]?\.?[0-9].*)")
_EQUALS = re.compile(r"(?<=[A-Za-z0-9_])[ ]{0,2}=[ ]{0,2}(?=[A-Za-z0-9_])")
_WORD = re.compile(r"[^\s,;()\[\]{}<>\"'`|]+")
_FIGURE = r"[0-9]{1,20}(?:\.[0-9]{1,20})?"
_PERCENT = re.compile(rf"((?<![A-Za-z0-9_])[+-])?({_FIGURE})[ ]{{0,2}}%")
_PERCENTS = re.compile(rf"((?<![A-Za-z0-9_])[+-])?({_FIGURE})%?(?:-|\.\.\.?|…)([+-])?({_FIGURE})[ ]{{0,2}}%")
_UNIT = r"(?:[mun]?s|[kKMGT]?i?B(?:/s)?|[MGTP]FLOPS|[kMG]?Hz|x|cycles?)(?![A-Za-z0-9_/])"
_QUANTITY = re.compile(
    rf"(?<![\w.§])[0-9]+\.[0-9]{{0,20}}?0{{1,20}}(?=(?:(?:-|\.\.\.?)[0-9.]{{1,20}})?[ ]{{0,2}}{_UNIT})"
)
_ONLY_PERCENT = re.compile(rf"[+-]?{_FIGURE}%")
UNIT = re.compile(rf"(?<=[0-9])(?={_UNIT})")
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

    @property
    def halves(self) -> list[tuple[str, str]]:
        """The pairs of words that it may be written as: `lookahead` gives look and ahead, and lo and okahead.

        Words of sentences are no halves: `invalid` is not "in valid". Nor is a short or a long word, or an identifier.
        """
        word = self.whole
        if self.is_identifier or not (word.isascii() and MIN_WHOLE_CHARS <= len(word) <= MAX_WHOLE_CHARS):
            return []
        pairs = [(word[:place], word[place:]) for place in range(2, len(word) - 1)]
        return [pair for pair in pairs if SENTENCE_WORDS.isdisjoint(pair)]


def words(text: str) -> list[Word]:
    """The words of `text` in order. Spaces round `=`, comparisons and arrows, and before `%` and units, do not matter.

    Between figures, "to" is an arrow; a compiler's `-DNAME_X` is NAME_X; `16 <= M` is `M >= 16`.
    """
    return _words(_spelt(text))


def _spelt(text: str) -> str:
    """`text` in the one spelling of its signs, but for the noughts at the end of quantities."""
    plain = fold(_TO.sub("‑", _ARROW.sub("‑", _DEFINED.sub(" ", str(text)))))
    plain = _EQUALS.sub("=", fold_warps(_COMPARISONS.sub(_comparison, plain)))
    return UNIT.sub(" ", _PERCENT.sub(lambda found: f"{found[1] or ''}{found[2]}%", plain))


def _comparison(found: re.Match[str]) -> str:
    """A comparison as one word of sign and figure, behind what it is said of."""
    sign = _sign(found)
    return f" {sign}{found['figure'] or ''}{' ' if found['figure'] else ''}" if sign else found[0]


def _sign(found: re.Match[str]) -> str:
    """The sign in one character that is no bracket, turned where the figure stands first; "" for what compares
    nothing.
    """
    sign = found["turned"] or found["sign"] or ""
    sign = _ONE_SIGN.get(sign, sign)
    return (sign.translate(_TURNED) if found["turned"] else sign).translate(_NO_BRACKET)


def _words(spelt: str) -> list[Word]:
    plain = _QUANTITY.sub(lambda found: _short_figure(found[0]), spelt)
    read = (_short_word(typed) if len(typed) <= MAX_ATOM_CHARS else _word(typed) for typed in _WORD.findall(plain))
    return [word for word in read if word]


def comparisons(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, name) of the sign of every comparison with a figure in folded text; `16 <= M` has `ge`."""
    for found in _COMPARISONS.finditer(text):
        if sign := _sign(found):
            yield *found.span("turned" if found["turned"] else "sign"), _NAMES[sign]


def quantities(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, figure) of every figure with a unit, and noughts at its end that the words leave out."""
    for found in _QUANTITY.finditer(text):
        yield *found.span(), _short_figure(found[0])


def _short_figure(figure: str) -> str:
    """`2.50` -> `2.5`, `2.0` -> `2`; what has no point stays."""
    return figure.rstrip("0").rstrip(".") if "." in figure else figure


def _word(typed: str) -> Word | None:
    if found := _COMPARISON.fullmatch(typed):
        name, figure = _NAMES[found[1]], _word(found[2])
        return figure and Word(fold(typed), name + figure.whole, figure.atoms and (name, *figure.atoms))
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
    spelt = _spelt(text)
    for word in _words(spelt):
        if len(word.atoms) > 1:
            wholes.setdefault(word.whole)
        if "%" in word.text:
            for _, _, keys in percentages(fold(word.text)):
                wholes.update(dict.fromkeys(keys))
            wholes.setdefault(word.whole)
        atoms += word.atoms or _number_atoms(word.text)
    wholes.update(dict.fromkeys(lever_key(figure[0]) for figure in _QUANTITY.finditer(spelt)))  # as written
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
    key = _short_figure(figure).replace(".", "_")
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
