"""The query language of the evidence search: words, phrases, fields, comparisons, each of which `-` negates.

    D3                            exact codes come first
    "ring of stages"              a phrase
    verdict:dead lever:"warp-spec producer" arch:sm_100 dtype:fp8,bf16
    m:1   m:>=16   batch:1,4..8   baseline:f624d75a       dimensions of the scope; ranges where they are ranges
    -tier:3   delta:>5%   delta:-9..-7%   measured:>=2026-06   is:flagged
    M>=16   delta > 5%                      the same without the colon; other comparisons (STAGES>=4) are words
    W1..W3   W1-W3                          codes from one to the other, at most 100

Words are joined by "and". A word with `::` is a word, and anything else with a colon that is no field is an error that
points at its place (evidence-and-gate section 2). Reading is bounded: 500 characters, 24 parts.
"""

import datetime
import re
from dataclasses import dataclass
from decimal import Decimal

from v2kb.rules.names import exact_codes
from v2kb.rules.scope import RANGE_DIMENSIONS, Span, parse_range
from v2kb.rules.search_words import SENTENCE_WORDS, Word, words

MAX_CHARS = 500
MAX_PARTS = 24
CHOICE, NUMBER, DATE, RANGE = "choice", "number", "date", "range"
FIELDS = {
    "verdict": CHOICE,
    "lever": CHOICE,
    "cause": CHOICE,
    "blocking": CHOICE,
    "arch": CHOICE,
    "dtype": CHOICE,
    "op": CHOICE,
    "envelope": CHOICE,
    "sharding": CHOICE,
    "baseline": CHOICE,
    **dict.fromkeys(RANGE_DIMENSIONS, RANGE),
    "tier": CHOICE,
    "is": CHOICE,
    "delta": NUMBER,
    "measured": DATE,
}
OTHER_NAMES = {"op_class": "op"}
"""Fields that go by the name of their scope dimension too."""
STATES = ("archived", "blocking", "contested", "flagged", "structural", "superseded", "unverified", "weak")
"""What `is:` may ask. A contested row is one that an open proposal wants to change."""
BLOCKING = ("full", "weak", "yes", "no", "none")
VERDICTS = ("dead", "win", "untested")

_MAX_CODES = 100
"""A longer range of codes is read as its two ends."""

_FIGURES = {RANGE: "[0-9]{1,9}", NUMBER: r"[+-]?[0-9]+(?:\.[0-9]+)?%?", DATE: "[0-9]{4}(?:-[0-9]{1,2}){0,2}"}
_SIGN = "[ ]{0,2}(?:[<>]=?|[≤≥])[ ]{0,2}"
_COMPARED = "|".join(f"{name}{_SIGN}{_FIGURES[kind]}" for name, kind in FIELDS.items() if kind in _FIGURES)
_PART = re.compile(
    rf"""(?P<minus>-(?=["A-Za-z_])(?!D[A-Z][A-Z0-9]*_))?
    (?:(?P<field>[A-Za-z_]{{1,20}}):(?!:)(?P<value>"[^"]*"|[^\s"]*)
    |"(?P<phrase>[^"]*)"
    |(?<![<>=≤≥])(?<![<>=≤≥]\s)(?<![<>=≤≥]\s\s)  # `1 <= M <= 8` is not half of it
     (?P<compared>(?i:{_COMPARED}))(?=[,;.)!?]*(?:\s|$))(?!\s*[<>=≤≥])
    |(?P<word>[^\s"]+))""",
    re.VERBOSE,
)
_CODE_RANGE = re.compile(
    r"(?<![A-Za-z0-9_])([A-Z]{1,3})-?([0-9]{1,6})\s{0,2}(?:\.\.\.?|…|-|to)\s{0,2}\1-?([0-9]{1,6})(?![A-Za-z0-9_])",
    re.ASCII | re.IGNORECASE,
)
_COMPARE = re.compile(
    r"(?P<sign><=|>=|<|>|=)?(?P<low>[+-]?[0-9]+(?:\.[0-9]+)?)(?:\.\.(?P<high>[+-]?[0-9]+(?:\.[0-9]+)?))?%?"
)
_DATE = re.compile(r"(?P<sign><=|>=|<|>|=)?(?P<low>[0-9-]{4,10})(?:\.\.(?P<high>[0-9-]{4,10}))?")


class QueryError(ValueError):
    """What can't be read in a query. `at` is the place (0-based) that a caret should point at."""

    def __init__(self, message: str, at: int, fix: str) -> None:
        super().__init__(message)
        self.message, self.at, self.fix = message, at, fix

    def caret(self, text: str) -> str:
        """The query, and below it a caret at the place."""
        return caret(text, self.at)


def caret(text: str, at: int) -> str:
    """The query, and below it a caret at the place `at` (0-based)."""
    return f"{text}\n{' ' * at}^"


@dataclass(frozen=True, slots=True)
class Text:
    """A word (one entry) or a phrase (its words in order) that a row must hold, or must not."""

    words: tuple[Word, ...]
    phrase: bool = False
    negated: bool = False

    @property
    def is_identifier(self) -> bool:
        """Whether some word of it names a thing rather than being plain prose."""
        return any(word.is_identifier for word in self.words)

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)


@dataclass(frozen=True, slots=True)
class Filter:
    """One `field:value`. `values` are alternatives, lower case; a number or date has bounds `low` to `high` instead, a
    range of the scope has `spans`.
    """

    name: str
    values: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    open_low: bool = False
    open_high: bool = False
    negated: bool = False
    spans: tuple[Span, ...] = ()

    def holds(self, low: float, high: float) -> bool:
        """Whether the interval [low, high] has a value within the bounds."""
        above = self.low is None or high > self.low or (high == self.low and not self.open_low)
        below = self.high is None or low < self.high or (low == self.high and not self.open_high)
        return above and below


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A read query. `codes` are candidates for exact codes, in order: those of one word (`D1/D5`) count together."""

    texts: tuple[Text, ...] = ()
    filters: tuple[Filter, ...] = ()
    codes: tuple[tuple[str, ...], ...] = ()
    dropped: tuple[str, ...] = ()
    """Words left out because every text holds them (`the`, `of`)."""
    typed: bool = False
    readings: tuple[tuple[str, str], ...] = ()
    """Comparisons that are read as fields: (as typed, the field)."""

    @property
    def is_unreadable(self) -> bool:
        """Whether something was typed of which nothing can be looked for, such as `%`."""
        return self.typed and not (self.texts or self.filters)

    @property
    def wanted(self) -> tuple[Text, ...]:
        return tuple(text for text in self.texts if not text.negated)

    @property
    def unwanted(self) -> tuple[Text, ...]:
        return tuple(text for text in self.texts if text.negated)


def parse_query(text: str, *, of_rows: bool = True) -> SearchQuery:
    """Read a query. Raises QueryError with the place of what can't be read; an empty query is an empty SearchQuery.

    `of_rows`: `M>=16` compares the scope, as `m:>=16` does; what has no scope is searched for the words instead.
    """
    text = _checked(text)
    texts: list[Text] = []
    filters: list[Filter] = []
    plain: list[str] = []
    readings: list[tuple[str, str]] = []
    position = parts = 0
    while (found := _next(text, position)) is not None:
        parts += 1
        if parts > MAX_PARTS:
            raise QueryError(f"A query has at most {MAX_PARTS} parts.", found.start(), "Leave some words out.")
        position, negated = found.end(), bool(found["minus"])
        if found["field"]:
            at = found.start("field")
            filters.append(_filter(found["field"].lower(), found["value"], at, found.start("value"), negated))
        elif found["compared"] and of_rows:
            name, value = _comparison(found["compared"])
            filters.append(_filter(name, value, found.start("compared"), found.start("compared"), negated))
            readings.append((found.group(), f"{found['minus'] or ''}{name}:{value}"))
        elif found["phrase"] is not None:
            if phrase := tuple(words(found["phrase"])):
                texts.append(Text(phrase, phrase=True, negated=negated))
        else:
            word = found["word"] or found["compared"]
            if negated:
                texts += [Text((part,), negated=True) for part in words(word)]
            else:
                plain.append(word)
    found_words, dropped = _plain_words(" ".join(plain))
    return SearchQuery(
        (*(Text((word,)) for word in found_words), *texts),
        tuple(filters),
        _codes(plain),
        dropped,
        typed=bool(text.strip()),
        readings=tuple(readings),
    )


def split_query(text: str) -> tuple[str, str]:
    """(what rows must hold, what leaves rows out): a readable query's words and phrases; its fields and negations."""
    folded, held, left_out = fold_quotes(text), [], []
    position = 0
    while (found := _next(folded, position)) is not None:
        position = found.end()
        (left_out if found["field"] or found["compared"] or found["minus"] else held).append(found.group())
    return " ".join(held), " ".join(left_out)


def taken_as_typed(text: str, word: str) -> str:
    """The query with a plain word in quotation marks, so that it is read as no other word."""
    return re.sub(rf"(?<![^\s,;]){re.escape(word)}(?![^\s,;])", f'"{word}"', text)


def least_words(total: int) -> int:
    """How many of so many words a guess must hold: half of them, and two of three."""
    return max((total + 1) // 2, min(2, total - 1))


def _checked(text: str) -> str:
    text = text.replace("\0", " ")
    if len(text) > MAX_CHARS:
        raise QueryError(f"A query has at most {MAX_CHARS} characters.", MAX_CHARS, "Shorten it.")
    folded = fold_quotes(text)
    if folded.count('"') % 2:
        raise QueryError("A quotation mark is open.", folded.rindex('"'), "Close it, or take it out.")
    return folded


def fold_quotes(text: str) -> str:
    """Typographic quotation marks as plain ones, minus signs as hyphens; one character for one."""
    return text.translate(str.maketrans("“”„«»−‐‑–—", '"""""-----'))


def _next(text: str, position: int) -> re.Match[str] | None:
    while position < len(text) and text[position].isspace():
        position += 1
    return _PART.match(text, position) if position < len(text) else None


def _codes(plain: list[str]) -> tuple[tuple[str, ...], ...]:
    spelt = _CODE_RANGE.sub(_codes_between, " ".join(plain))
    of_words = (tuple(exact_codes(part)) for part in re.split(r"[,;\s]", spelt))
    return tuple(dict.fromkeys(codes for codes in of_words if codes))


def _codes_between(found: re.Match[str]) -> str:
    """`W1..W3` -> ` W1 W2 W3 `, so that each counts where it exists; what is no range as it stands."""
    first, last = int(found[2]), int(found[3])
    if not first < last:
        return found[0]
    numbers = range(first, last + 1) if last < first + _MAX_CODES else (first, last)
    return f" {' '.join(f'{found[1]}{number}' for number in numbers)} "


def _comparison(text: str) -> tuple[str, str]:
    """`M ≥ 16` -> ("m", ">=16")."""
    plain = re.sub(r"\s", "", text).lower().replace("≤", "<=").replace("≥", ">=")
    sign = re.search("[<>]", plain).start()
    return plain[:sign], plain[sign:]


def _plain_words(text: str) -> tuple[list[Word], tuple[str, ...]]:
    """The words that decide, and those of ordinary sentences that are left out (all stay when there are no others)."""
    found = words(text)
    kept = [word for word in found if word.whole not in SENTENCE_WORDS]
    codes = set(exact_codes(text))
    if codes:
        kept = [word for word in kept if word.whole not in ("row", "rows")]
    if not kept:
        return found, ()
    return kept, tuple(word.text for word in found if word.whole in SENTENCE_WORDS)


def _filter(name: str, value: str, at: int, value_at: int, negated: bool) -> Filter:
    name = OTHER_NAMES.get(name, name)
    kind = FIELDS.get(name)
    if kind is None:
        raise QueryError(
            f"There is no field {name!r}.",
            at,
            f"Fields are {', '.join(FIELDS)}. To search for these words, put them in quotation marks.",
        )
    value, at = value.strip('"').strip(), value_at
    if not value:
        raise QueryError(f"{name}: has no value.", at, f"Write for example {_example(name)}.")
    if kind == CHOICE:
        values = tuple(part.strip().lower() for part in value.split(",") if part.strip())
        _refuse_unknown(name, values, at)
        return Filter(name, values, negated=negated)
    if kind == RANGE:
        if spans := parse_range(value):
            return Filter(name, (value.lower(),), negated=negated, spans=spans)
        raise QueryError(f"{name}:{value} is no range of whole numbers.", at, f"Write for example {_example(name)}.")
    return _bounds(name, kind, value, at, negated)


def _refuse_unknown(name: str, values: tuple[str, ...], at: int) -> None:
    """Values of the fields whose values are few and never change; a verdict may be shortened."""
    known = {"is": STATES, "blocking": BLOCKING, "verdict": VERDICTS}.get(name)
    for value in values if known else ():
        if not (any(word.startswith(value) for word in known) if name == "verdict" else value in known):
            raise QueryError(f"{name}:{value} is not known.", at, f"Use one of: {', '.join(known)}.")


def _bounds(name: str, kind: str, value: str, at: int, negated: bool) -> Filter:
    found = (_COMPARE if kind == NUMBER else _DATE).fullmatch(value.replace(" ", ""))
    problem = QueryError(f"{name}:{value} can't be read.", at, f"Write for example {_example(name)}.")
    if found is None or (found["sign"] and found["high"]):
        raise problem
    try:
        first, last = _ends(kind, found["low"])
        if found["high"]:
            last = _ends(kind, found["high"])[1]
    except ValueError:
        raise problem from None
    sign = found["sign"] or "="
    if first > last:
        raise QueryError(f"{name}:{value} ends before it begins.", at, "Write the smaller end first.")
    if sign == "=":
        return Filter(name, low=first, high=last, negated=negated)
    if sign in (">", ">="):
        return Filter(name, low=last if sign == ">" else first, open_low=sign == ">", negated=negated)
    return Filter(name, high=first if sign == "<" else last, open_high=sign == "<", negated=negated)


def _ends(kind: str, text: str) -> tuple[float, float]:
    """A number twice, or the first and the last day (as ordinals) of a day, month or year."""
    if kind == NUMBER:
        return float(Decimal(text)), float(Decimal(text))
    parts = [int(part) for part in text.split("-")]
    if not 1 <= len(parts) <= 3 or len(text.split("-")[0]) != 4:
        raise ValueError(text)
    year, month, day = (*parts, None, None)[:3]
    first = datetime.date(year, month or 1, day or 1)
    if day:
        return first.toordinal(), first.toordinal()
    after = datetime.date(year + (month in (None, 12)), (month or 12) % 12 + 1, 1)
    return first.toordinal(), after.toordinal() - 1


def _example(name: str) -> str:
    return {
        "delta": "delta:>5% or delta:-9..-7%",
        "measured": "measured:>=2026-06 or measured:2026-01..2026-03",
        "is": "is:flagged",
        "verdict": "verdict:dead",
        "lever": 'lever:"warp-spec producer"',
        "arch": "arch:sm_100",
        "tier": "tier:1",
        "baseline": "baseline:f624d75a",
        **{name: f"{name}:1, {name}:1..16 or {name}:>=16" for name in RANGE_DIMENSIONS},
    }.get(name, f"{name}:fp8")
