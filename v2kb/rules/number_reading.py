"""Measured numbers in free text: `+67%`, `6.24µs = 2.50 TB/s`, `−7..−9%`, `≤6%`, `1.41-1.56× slower`, `±0.08
TB/s`.

A value needs a unit, in a spelling of `numbers.SPELLINGS` or one that is passed. What looks numeric but has no unit
we know, or can be read in two ways, is kept as text and marked unreadable. Names that hold digits (`D3`, `7-warp`,
`BN=16`, `M=1`, `4→12`, `f624d75a`, dates, `136 CTA`) are no values.

The form of what is read: `v2kb.rules.numbers`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

from v2kb.rules.numbers import SPELLINGS, UNITS, new_number, plain_decimal, read_decimal

MAX_CELL = 20_000

_LOWER_IS_BETTER = {"us", "ms", "ns", "s"}
_HIGHER_IS_BETTER = {"TB/s", "GB/s", "MB/s", "TFLOPS"}

_MINUS = "−‐‑‒–—―－﹘﹣⁻₋➖˗"
# One character for one, so that positions in the plain text are positions in the original.
_PLAIN = str.maketrans(
    dict.fromkeys(_MINUS, "-")
    | dict.fromkeys("＋﹢⁺➕", "+")
    | dict.fromkeys("∼～≃≅", "~")
    | dict.fromkeys("⩽≦≲", "≤")
    | dict.fromkeys("⩾≧≳", "≥")
    | dict.fromkeys("⁄∕／÷", "/")
    | dict(zip("µμ×✕＜＞％’\ufe0f", "uuxx<>%' ", strict=True))
)
_APART = "'\u00a0\u2007\u2009\u202f"  # what parts thousands and nothing else
_FIGURE = rf"(?:[0-9]+(?:[.,{_APART}][0-9]+)*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_GROUPED = re.compile(
    rf"[1-9][0-9]{{0,2}}(?P<by>[,{_APART}])[0-9]{{3}}(?P<more>(?:(?P=by)[0-9]{{3}})*)(?P<fraction>\.[0-9]+)?"
)
_TWO_WAYS = re.compile(r"[^0-9]*?(-?[0-9]{1,40})([, ])([0-9]{1,40})[^0-9]*")
# `2^20 B`, `3 x 4 ms`, `1 + 4 us`, `1 234 us`: more than one figure before the unit.
_FORMULA = (
    rf"(?:(?:\s{{0,2}}(?:(?:\^|\*\*)\s?-?|[x*·⋅∙]\s{{0,2}})|\+|\s\+\s){_FIGURE}"
    r"|(?<![0-9]{4})(?<!\.[0-9])(?<!\.[0-9]{2})(?<!\.[0-9]{3})[ ][0-9]{3}(?![0-9])(?:[.,][0-9]+)?)"
)
# Words before a figure that qualify it; `unclear` are those that can mean several things.
_WORDS = re.compile(
    r"(?:(?<![\w-])(?P<no>(?:no|not|cannot|never|without|\w{1,8}n't)\s)?(?:"
    r"(?P<most>up\s?to|at most|(?:less|lower|smaller|fewer) than(?: or equal to)?|below|under|as (?:much|high) as)|"
    r"(?P<least>at least|(?:more|greater|higher|larger) than(?: or equal to)?|above|exceed(?:s|ed|ing)?|"
    r"as (?:little|low) as)|"
    r"(?P<about>about|around|approx\.?|approximately|roughly|circa|ca\.|nearly|almost|close to|more or less)|"
    r"(?P<between>between)|(?P<unclear>over|within|minus|negative))|"
    r"(?P<dash>(?<![\s\S])-|(?<=[\n(\[:=,;~<>≤≥≈])-|(?<=[\n(\[:=,;~<>≤≥≈]\s)-))\s{1,2}(?:an?\s)?[*_`]{0,3}$",
    re.IGNORECASE,
)
# A sign apart from its figure: `−**4%**`, `&minus;4%`.
_SIGN_APART = re.compile(r"(?:[-<>~≤≥≈±][*`]{1,3}|&(?!nbsp;)#?\w{1,10};[*`]{0,3})$")
_WORDS_AFTER = re.compile(
    r"\s(?:(?P<most>or less|at most)|(?P<least>or more|at least)|(?P<about>or so))\b(?!\s?(?:[0-9.~≤≥±<>+-]|than))"
    r"|(?P<plus>\+)(?!\s?[0-9.(]|\w)",
    re.IGNORECASE,
)
_MEANS = {"most": "<=", "least": ">=", "plus": ">=", "about": "~", "between": "between"}
_OPPOSITE = {"<=": ">=", ">=": "<="}
_COMPARING_WORD = re.compile(r"than|above|below|over|under", re.IGNORECASE)
_COMPARED = re.compile(
    r"\s{1,2}(?:vs\.?|versus|against|than|(?:slower|faster|higher|lower) than)\s+((?:(?! - )[^,;:()\n→<>|=]){1,80})"
)
_COUNTED = re.compile(r"\b(?:killed|tried|repeated|failed|reverted|re-?proposed|dead|confirmed|seen)\s*$", re.I)
_COMPARISONS = ("<", ">", "<=", ">=", "≤", "≥")
_DASHED_WORD = re.compile(r"-[A-Za-z]", re.ASCII)
_GLUED = re.compile(r"[A-Za-z_][A-Za-z0-9_/]{0,20}", re.ASCII)
_Q = {
    "≤": "<=",
    "<=": "<=",
    "<": "<=",
    "≥": ">=",
    ">=": ">=",
    ">": ">=",
    "~": "~",
    "≈": "~",
    "±": "+-",
    "+-": "+-",
    "+/-": "+-",
}


@dataclass(frozen=True, slots=True)
class _Units:
    """The spellings of units (spelling -> unit) and the patterns that look for them; `reach`: how far back one is
    looked for, in characters."""

    meaning: dict[str, str]
    candidate: re.Pattern[str]
    headed: re.Pattern[str]
    measured_before: re.Pattern[str]
    reach: int

    def of(self, spelling: str | None) -> str | None:
        return None if spelling is None else self.meaning[spelling]

    def stands_before(self, plain: str, end: int) -> bool:
        """Whether a measured number ends at `end`."""
        return self.measured_before.search(plain, max(0, end - self.reach), end) is not None


@lru_cache(maxsize=16)
def _units(spellings: tuple[tuple[str, str], ...]) -> _Units:
    meaning = dict(spellings) | {unit: unit for unit in UNITS}
    longest_first = sorted(meaning, key=len, reverse=True)
    times = r"(?!\s{0,2}[0-9])"  # `2 x 4` is no `2×`
    each = "|".join(re.escape(one) + (times if meaning[one] == "x" else "") for one in longest_first)
    unit = rf"(?:{each})(?![A-Za-z0-9_])"
    return _Units(
        meaning,
        candidate=re.compile(
            rf"(?P<q>\+/-|\+-|<=|>=|(?<![-=])>|[≤≥<~≈±])?\s{{0,2}}(?P<sign_a>[+-])?"
            rf"(?P<a>{_FIGURE})(?P<formula>{_FORMULA}{{1,6}})?(?:\s{{0,2}}(?P<unit_a>{unit}))?"
            rf"(?:\s{{0,2}}(?P<sep>\.\.\.?|…|\+/-|\+-|±|/|-|(?<=\s)(?:to|up to|and|or)(?=\s))\s{{0,2}}"
            rf"(?P<sign_b>[+-])?(?P<b>{_FIGURE})\s{{0,2}}(?P<unit_b>{unit}))?"
        ),
        headed=re.compile(rf"(?:(?:^|[\s_(\[,])((?:{unit})(?<![\s_(\[,][sBx])|%)|[_(\[]([sBx]))[)\]]?\s*$"),
        measured_before=re.compile(rf"[0-9]\s{{0,2}}{unit}\s*$"),
        reach=len(longest_first[0]) + 5,
    )


def parse_numbers(
    cell: str, *, role: str = "verdict", verified: bool = False, units: Mapping[str, str] = SPELLINGS
) -> list[dict[str, Any]]:
    """Return the numbers of a cell, in order, as documents (`FIELDS`; values are decimal strings).

    Each `text` is a part of `cell`. `units`: spelling -> the unit that it stands for, beside the units themselves.
    Never raises; cells over 20,000 characters are read up to there.
    """
    known = _units(tuple(units.items()))
    original = str(cell)[:MAX_CELL]
    plain = original.translate(_PLAIN)
    numbers: list[dict[str, Any]] = []
    position = 0
    while found := known.candidate.search(plain, position):
        parts, position = _read(found, known)
        for start, end, fields in parts:
            number = new_number(original[start:end], role, verified) | fields
            if fields and (compared := _COMPARED.match(plain, position)):
                number["compared_with"] = original[slice(*compared.span(1))].strip(" .")
            numbers.append(number)
    return numbers


def _read(found: re.Match[str], units: _Units) -> tuple[list[tuple[int, int, dict[str, Any]]], int]:
    """Return the (start, end, fields) of what one candidate holds, and where to go on reading."""
    unit_a, unit_b = units.of(found["unit_a"]), units.of(found["unit_b"])
    if unit_a is None and unit_b is None:
        return _without_unit(found, units)
    plain, end, sep = found.string, found.end(), found["sep"]
    start, qualifier = _qualified(found, units)
    listed = sep in ("and", "or") and qualifier != "between"
    if sep and unit_a and (listed or (unit_a != unit_b and qualifier != "between")):
        end, sep = found.end("unit_a"), None  # the second figure is a number of its own
    unit = str(unit_b if sep else unit_a)
    context = _context(plain, start, found)
    if context == "name":
        return [], max(found.end("a"), start + 1)
    if after := _WORDS_AFTER.match(plain, end):
        meant = _MEANS[str(after.lastgroup)]
        end, qualifier = after.end(), meant if qualifier in ("", meant) else None
    counted = unit == "x" and (
        _DASHED_WORD.match(plain, end) or ("." not in found["a"] and _COUNTED.search(plain[max(0, start - 20) : start]))
    )
    unclear = context == "unclear" or counted or found["formula"] or qualifier is None
    values = None if unclear else _values(found, sep, str(qualifier), (unit_a, unit_b))
    if values is None:
        return [(start, end, {})], end
    shared = {"readable": True, "unit": unit, "direction": _direction(unit, plain[end : end + 12])}
    if len(values) == 2:
        first = (start, found.end("a"), shared | values[0])
        second = (found.start("sign_b") if found["sign_b"] else found.start("b"), end, shared | values[1])
        return [first, second], end
    return [(start, end, shared | values[0])], end


def _qualified(found: re.Match[str], units: _Units) -> tuple[int, str | None]:
    """Return where the number begins, and its qualifier: `between` before two figures, None when it can't be told."""
    plain, start = found.string, _start(found, units)
    if found["q"] and start != found.start("q"):
        return start, ""
    own = _Q[found["q"]] if found["q"] else ""
    words = _WORDS.search(plain, max(0, start - 40), start)
    if words is None:
        return start, own
    begin = words.start()
    if _COMPARING_WORD.search(words[0]) and units.stands_before(plain, begin):
        return start, own
    if outer := _WORDS.search(plain, max(0, begin - 40), begin):
        return outer.start(), None  # `up to about 5%`
    meant = _MEANS.get(str(words.lastgroup))
    if words["no"]:
        meant = _OPPOSITE.get(str(meant))
    if own and (own == meant or (own == "+-" and words["unclear"])):
        return start, own  # `about ~8 us`, `within ±5%`
    return begin, None if own else meant


def _start(found: re.Match[str], units: _Units) -> int:
    """Return where the number begins: at its qualifier, unless that compares it with a number just before it."""
    first = found.start("sign_a") if found["sign_a"] else found.start("a")
    if found["q"] is None:
        return first
    compares = found["q"] in _COMPARISONS and units.stands_before(found.string, found.start("q"))
    return first if compares else found.start("q")


def _context(plain: str, start: int, found: re.Match[str]) -> str:
    """Return `name` when the figure belongs to an identifier, `unclear` when it may, else an empty text."""
    before = plain[start - 1 : start]
    if before and ((before.isascii() and before.isalnum()) or before in "_#§@"):
        return "name"
    if before == "=":
        return "name" if found["sep"] in ("and", "or") and not found["unit_a"] else ""
    if before and (before in ".:/\\-,^∓√" or before.isnumeric()):
        return "unclear"
    if _SIGN_APART.search(plain, max(0, start - 16), start):
        return "unclear"
    if found["sign_a"] is None and re.search(r"[0-9]\s*-\s+$", plain[max(0, start - 8) : start]):
        return "unclear"
    return ""


def _without_unit(found: re.Match[str], units: _Units) -> tuple[list[tuple[int, int, dict[str, Any]]], int]:
    """Report a figure that is signed, qualified or broken but has no unit we know; pass over the rest."""
    plain, start, end = found.string, _start(found, units), found.end("a")
    compared = found["q"] in _COMPARISONS
    if compared and plain[max(0, found.start("q") - 2) : found.start("q")].strip()[-1:].isalnum():
        start = found.start("sign_a") if found["sign_a"] else found.start("a")  # `M >= 16` states a condition
        compared = False
    marked = bool(found["sign_a"] or compared or (found["q"] and found["q"] not in _COMPARISONS))
    before, after = plain[start - 1 : start], plain[end : end + 1]
    if glued := _GLUED.match(plain, end):
        end = glued.end()
    named = bool(before) and (before.isalnum() or before in "_#§@=.:/\\-,&≥≤<>")
    if named or (after and after in ".-") or not (marked or ("." in found["a"] and not glued)):
        return [], end
    return [(start, end, {})], end


def _values(
    found: re.Match[str], sep: str | None, qualifier: str, units: tuple[str | None, str | None]
) -> list[dict[str, Any]] | None:
    """Return the value fields of the candidate (two for a `/` pair), or None when they can't be told."""
    whole = "B" in units
    a = _decimal(found["sign_a"], found["a"], whole)
    if a is None or (qualifier == "between" and sep is None):
        return None
    if sep is None:
        return [{"value": plain_decimal(a), "qualifier": qualifier}]
    b = _decimal(found["sign_b"], found["b"], whole)
    if b is None:
        return None
    if qualifier == "between":
        if units[0] not in (None, units[1]) or sep in ("/", "or", "±", "+-", "+/-"):
            return None
        qualifier = ""
    elif sep in ("/", "and", "or"):
        sure = (found["sign_a"] and found["sign_b"]) or ("." in found["a"] and "." in found["b"])
        return [{"value": plain_decimal(v), "qualifier": qualifier} for v in (a, b)] if sure else None
    if sep in ("±", "+-", "+/-"):
        if found["sign_b"]:
            return None
        low, high = plain_decimal(a - b), plain_decimal(a + b)
        return [{"value": plain_decimal(a), "low": low, "high": high, "qualifier": "+-"}]
    if (sep in ("-", "to", "up to") and a > b) or (sep == "-" and a < 0 and not found["sign_b"]):
        return None
    low, high = sorted((a, b))
    return [{"low": plain_decimal(low), "high": plain_decimal(high), "qualifier": qualifier}]


def _decimal(sign: str | None, figure: str, whole: bool) -> Decimal | None:
    """Read `1,234.5`, `1,234,567`, `1'234`, `0,125`, `.5`, `1e-3`, and `16,384` where only a `whole` figure makes sense
    (bytes). None for `1.2.3`, for `1,23` and `1,234`, which can be read in two ways, and beyond 40 digits.
    """
    grouped = _GROUPED.fullmatch(figure)
    if grouped and (whole or grouped["by"] != "," or grouped["more"] or grouped["fraction"]):
        figure = figure.replace(grouped["by"], "")
    elif re.fullmatch(r"0,[0-9]+", figure):
        figure = figure.replace(",", ".")
    return read_decimal(f"{sign or ''}{figure}")


def two_ways(text: str) -> str:
    """Say how an unreadable number can be read where there are two ways, ` (8.125 or 8125)` for `8,125%`; else `""`."""
    found = _TWO_WAYS.fullmatch(text.translate(_PLAIN))
    if found is None:
        return ""
    whole, by, rest = found.groups()
    first = f"{whole}.{rest}" if by == "," else f"{whole} and {rest}"
    return f" ({first} or {f'{whole}{rest}' if len(rest) == 3 else f'{whole} and {rest}'})"


def unit_of_heading(name: str, units: Mapping[str, str] = SPELLINGS) -> str:
    """Return the unit that a column's name ends with: `us` of `result_us`, `Time (µs)`; else an empty text. One letter
    counts after a bracket or underscore only: `time_s`, not `variant B`. `units` as for `parse_numbers`.
    """
    found = _units(tuple(units.items())).headed.search(name.translate(_PLAIN))
    return found[1] or found[2] if found else ""


def _direction(unit: str, following: str) -> str:
    if unit in _LOWER_IS_BETTER:
        return "lower"
    if unit in _HIGHER_IS_BETTER:
        return "higher"
    word = following.strip().lower()
    if unit == "x" and word.startswith("slower"):
        return "lower"
    return "higher" if unit == "x" and word.startswith(("faster", "speedup", "speed-up")) else ""
