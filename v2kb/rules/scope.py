"""Scopes of evidence and of choices: reading them, comparing them, saying the comparison in words.

A scope names, per dimension, the set of cases that a statement covers. A missing or empty dimension covers
any case, and so does one that can't be read: a dead lever must not be evaded by an unreadable word
(evidence-and-gate sections 1 and 4).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from v2kb.rules.names import fold
from v2kb.rules.problem import Problem

EQUAL = "equal"
INSIDE = "inside"
OVERLAPPING = "overlapping"
DISJOINT = "disjoint"
RELATIONS = (EQUAL, INSIDE, OVERLAPPING, DISJOINT)

WORD_DIMENSIONS = ("op_class", "dtype", "arch", "envelope", "sharding")
RANGE_DIMENSIONS = ("m", "batch", "grid")
DIMENSIONS = ("op_class", "m", "batch", "dtype", "arch", "envelope", "grid", "sharding", "baseline")
LABELS = {
    "op_class": "op class",
    "m": "M",
    "batch": "batch",
    "dtype": "dtype",
    "arch": "architecture",
    "envelope": "envelope",
    "grid": "grid",
    "sharding": "sharding",
    "baseline": "upstream baseline",
}
ENVELOPES = ("fused_megakernel", "standalone", "cpu")
MAX_ITEMS = 32
MAX_LENGTH = 200

_ANY = {"", "any", "*", "all"}
DTYPE_SPELLINGS = {
    "bfloat16": "bf16",
    "float16": "fp16",
    "half": "fp16",
    "float32": "fp32",
    "float": "fp32",
    "float64": "fp64",
    "double": "fp64",
    "float8": "fp8",
    "float4": "fp4",
    "e4m3": "fp8_e4m3",
    "e5m2": "fp8_e5m2",
    "fp8_e4m3fn": "fp8_e4m3",
    "float8_e4m3": "fp8_e4m3",
    "float8_e4m3fn": "fp8_e4m3",
    "float8_e5m2": "fp8_e5m2",
}
CARDS = {
    "b200": "sm_100",
    "gb200": "sm_100",
    "h100": "sm_90",
    "h200": "sm_90",
    "gh200": "sm_90",
    "a100": "sm_80",
}
_ENVELOPE_WORDS = {"fused": "fused_megakernel", "megakernel": "fused_megakernel", "alone": "standalone"}
_ARCH = re.compile(r"sm_?([0-9]{2,3})[af]?", re.ASCII)
_WORD = re.compile(r"[a-z0-9][a-z0-9_]*", re.ASCII)
_SPAN = re.compile(
    r"(?P<low>[0-9]{1,9})?\s*(?P<dots>\.\.\.?|…|-|\bto\b)\s*(?P<high>[0-9]{1,9})?"
    r"|(?P<sign><=|>=|≤|≥|<|>|=)?\s*(?P<only>[0-9]{1,9})(?P<plus>\+)?",
    re.ASCII,
)

Span = tuple[int, int | None]

# dimension -> word -> the word that it stands for: what the vocabulary adds to the spellings above
Aliases = Mapping[str, Mapping[str, str]]
NO_ALIASES: Aliases = {}


@dataclass(frozen=True, slots=True)
class DimensionRelation:
    """How one dimension of scope `a` relates to that of `b`; `sentence` is for people."""

    dimension: str
    relation: str
    sentence: str


# --- reading ---


def parse_range(text: str) -> tuple[Span, ...] | None:
    """Read `1`, `1..16`, `16..`, `..8`, `<=16`, `M>=16`, `1, 4..8` as sorted, merged spans (low, high or None
    = no end).

    An empty text gives an empty tuple, which means any. Text that isn't a range gives None.
    """
    text = fold(text).strip().lower()
    if text in _ANY:
        return ()
    spans = []
    for part in text.split(","):
        found = _SPAN.fullmatch(re.sub(r"^\s*(?:m|bs|batch|grid)\s*(?=[=<>≤≥])", "", part).strip())
        span = _span(found) if found else None
        if span is None:
            return None
        spans.append(span)
    return _merged(spans)


def _span(found: re.Match[str]) -> Span | None:
    if found["dots"]:
        if found["low"] is None and found["high"] is None:
            return None
        if found["dots"] in ("-", "to") and None in (found["low"], found["high"]):
            return None
        low, high = int(found["low"] or 0), None if found["high"] is None else int(found["high"])
        return (low, high) if high is None or low <= high else None
    value, sign = int(found["only"]), found["sign"] or ""
    if found["plus"]:
        return None if sign else (value, None)
    if sign in ("<=", "≤"):
        return (0, value)
    if sign in (">=", "≥"):
        return (value, None)
    if sign == ">":
        return (value + 1, None)
    if sign == "<":
        return (0, value - 1) if value else None
    return (value, value)


def _merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    merged: list[Span] = []
    for low, high in sorted(spans, key=lambda span: span[0]):
        if merged and (merged[-1][1] is None or low <= merged[-1][1] + 1):
            last = merged[-1][1]
            merged[-1] = (merged[-1][0], None if last is None or high is None else max(last, high))
        else:
            merged.append((low, high))
    return tuple(merged)


def _range_text(spans: tuple[Span, ...]) -> str:
    return ", ".join(
        f"{low}.." if high is None else str(low) if low == high else f"{low}..{high}" for low, high in spans
    )


def read_word(dimension: str, text: str) -> str | None:
    """Return the one spelling of a word of `dimension`; empty means any, None that it can't be read."""
    word = re.sub(r"[\s\-]+", "_", fold(text).strip().lower()).strip("_")
    if word in _ANY:
        return ""
    if not _WORD.fullmatch(word):
        return None
    if dimension == "dtype":
        return DTYPE_SPELLINGS.get(word, word)
    if dimension == "arch":
        found = _ARCH.fullmatch(word)
        return f"sm_{found.group(1)}" if found else CARDS.get(word, word)
    if dimension == "envelope":
        word = _ENVELOPE_WORDS.get(word, word)
        return word if word in ENVELOPES else None
    return word


def _items(value: Any) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, (list, tuple)):
        return list(value)
    return value.split(",") if isinstance(value, str) else [value]


def read_scope(raw: Any) -> tuple[dict[str, Any], list[Problem]]:
    """Return (scope in its one spelling, problems). Field names are relative to the scope, for example `m`.

    Lists are sorted and without repeats; empty dimensions are left out; unreadable ones are left out and
    reported.
    """
    if raw is None:
        return {}, []
    if not isinstance(raw, dict):
        return {}, [Problem("", "The scope is not a set of named dimensions.", "Give one value per dimension.")]
    scope: dict[str, Any] = {}
    problems = [
        Problem(
            str(name),
            f"There is no scope dimension {str(name)[:40]!r}.",
            f"Use one of {', '.join(DIMENSIONS)}.",
        )
        for name in raw
        if name not in DIMENSIONS
    ]
    for dimension in DIMENSIONS:
        value, problem = _read_dimension(dimension, raw.get(dimension))
        if problem:
            problems.append(problem)
        elif value:
            scope[dimension] = value
    return scope, problems


def _read_dimension(dimension: str, raw: Any) -> tuple[Any, Problem | None]:
    items, label = _items(raw), LABELS[dimension]
    if any(not isinstance(item, (str, int)) or isinstance(item, bool) for item in items):
        return None, Problem(dimension, f"{label} must be text.", "Write plain words or numbers.")
    if len(items) > MAX_ITEMS or any(len(str(item)) > MAX_LENGTH for item in items):
        return None, Problem(
            dimension, f"{label} is too long.", f"At most {MAX_ITEMS} entries of {MAX_LENGTH} characters."
        )
    if dimension == "baseline":
        return " ".join(fold(",".join(str(item) for item in items)).split()), None
    if dimension in RANGE_DIMENSIONS:
        text = ",".join(str(item) for item in items)
        spans = parse_range(text)
        if spans is None:
            message = f"{label} {text[:40]!r} is not a range of whole numbers."
            return None, Problem(dimension, message, "Write for example 1, 1..16, >=16 or 1, 4..8.")
        return _range_text(spans), None
    words = [read_word(dimension, str(item)) for item in items]
    if None in words:
        bad = str(items[words.index(None)])[:40]
        fix = (
            f"Use one of {', '.join(ENVELOPES)}." if dimension == "envelope" else "Use letters, digits and underscores."
        )
        return None, Problem(dimension, f"{label} {bad!r} can't be read.", fix)
    return [] if "" in words else sorted(set(words)), None


def normalise_scope(raw: Any) -> dict[str, Any]:
    """Return the scope in its one spelling, without what can't be read (`scope_problems` names that)."""
    return read_scope(raw)[0]


def scope_problems(raw: Any) -> list[Problem]:
    """Return what can't be read in a scope."""
    return read_scope(raw)[1]


# --- comparing ---


def within(dimension: str, small: str, large: str, aliases: Aliases = NO_ALIASES) -> bool:
    """`projection_gemv` lies within `gemv`, `fp8_e4m3` within `fp8`; elsewhere only equal words.

    `aliases` (dimension -> word -> the word that it stands for) can only add to that: what lies within as it is written
    stays within, so that no alias makes two scopes disjoint.
    """
    if aliases.get(dimension) and _within(dimension, *(aliases[dimension].get(word, word) for word in (small, large))):
        return True
    return _within(dimension, small, large)


def _within(dimension: str, small: str, large: str) -> bool:
    if small == large:
        return True
    if dimension == "op_class":
        return small.endswith(f"_{large}")
    return dimension == "dtype" and small.startswith(f"{large}_")


def _words_relation(dimension: str, a: list[str], b: list[str], aliases: Aliases) -> str:
    a_in_b = all(any(within(dimension, x, y, aliases) for y in b) for x in a)
    b_in_a = all(any(within(dimension, y, x, aliases) for x in a) for y in b)
    if a_in_b:
        return EQUAL if b_in_a else INSIDE
    touching = any(within(dimension, x, y, aliases) or within(dimension, y, x, aliases) for x in a for y in b)
    return OVERLAPPING if touching else DISJOINT


def _spans_relation(a: tuple[Span, ...], b: tuple[Span, ...]) -> str:
    if a == b:
        return EQUAL
    if all(any(low >= lo and (hi is None or (high is not None and high <= hi)) for lo, hi in b) for low, high in a):
        return INSIDE
    return OVERLAPPING if ranges_meet(a, b) else DISJOINT


def ranges_meet(a: tuple[Span, ...], b: tuple[Span, ...]) -> bool:
    """Whether two sets of spans have a number in common."""
    return any((high is None or lo <= high) and (hi is None or low <= hi) for low, high in a for lo, hi in b)


def _dimension_relation(dimension: str, a: Any, b: Any, aliases: Aliases) -> str:
    if not a and not b:
        return EQUAL
    if not b:
        return INSIDE
    if not a:
        return OVERLAPPING
    if dimension == "baseline":
        # Free text: two baselines can't be shown to exclude each other.
        return EQUAL if a == b else OVERLAPPING
    if dimension in RANGE_DIMENSIONS:
        return _spans_relation(parse_range(a) or (), parse_range(b) or ())
    return _words_relation(dimension, a, b, aliases)


def _show(value: Any) -> str:
    return (", ".join(value) if isinstance(value, list) else str(value)) if value else "any"


def explain(a: Any, b: Any, aliases: Aliases = NO_ALIASES) -> list[DimensionRelation]:
    """Compare two scopes dimension by dimension, for example `dtype: fp8 against bf16: disjoint`.

    Dimensions that neither side names are left out. Something of `a` that contains `b` counts as overlapping.
    """
    (left, left_problems), (right, right_problems) = read_scope(a), read_scope(b)
    unread = {problem.field for problem in left_problems + right_problems}
    result = []
    for dimension in DIMENSIONS:
        x, y = left.get(dimension), right.get(dimension)
        if not x and not y and dimension not in unread:
            continue
        relation = _dimension_relation(dimension, x, y, aliases)
        note = " (what can't be read counts as any)" if dimension in unread else ""
        sentence = f"{LABELS[dimension]}: {_show(x)} against {_show(y)}: {relation}{note}"
        result.append(DimensionRelation(dimension, relation, sentence))
    return result


def relation(a: Any, b: Any, aliases: Aliases = NO_ALIASES) -> str:
    """Return how scope `a` relates to scope `b`: equal, inside (a lies inside b), overlapping or disjoint.

    One disjoint dimension makes the whole disjoint. An `a` that contains `b` is overlapping.
    """
    kinds = {part.relation for part in explain(a, b, aliases)}
    for kind in (DISJOINT, OVERLAPPING, INSIDE):
        if kind in kinds:
            return kind
    return EQUAL


def describe(raw: Any) -> str:
    """Return a scope in words, for example `op class: gemv; M: 1; envelope: fused_megakernel`, or `any case`."""
    scope = normalise_scope(raw)
    return "; ".join(f"{LABELS[name]}: {_show(scope[name])}" for name in DIMENSIONS if name in scope) or "any case"


def read_description(text: str) -> tuple[dict[str, str], list[Problem]]:
    """Read what `describe` writes: (raw scope by dimension for `read_scope`, problems). A dimension is called by its
    name or label, in any case; the baseline, free text, goes on to the end.
    """
    names = {_name_key(word): name for name, label in LABELS.items() for word in (name, label)}
    raw: dict[str, str] = {}
    problems = []
    rest = " ".join(text.split())
    while rest and rest.casefold() not in ("any case", *_ANY):
        said, colon, more = rest.partition(":")
        name = names.get(_name_key(said))
        if not colon or name is None or name in raw:
            again = "stands twice" if name in raw else "names no dimension of a scope"
            fix = f"Write for example op class: gemv; M: 1..16. Dimensions are {', '.join(LABELS.values())}."
            problems.append(Problem("scope", f"{said[:40]!r} {again}.", fix))
            break
        value, _, rest = (more, "", "") if name == "baseline" else more.partition(";")
        raw[name], rest = value.strip(), rest.strip()
    return raw, problems


def _name_key(text: str) -> str:
    return re.sub(r"[\s_]+", " ", text).strip().casefold()
