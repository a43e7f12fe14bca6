"""Searching rows: exact codes first, then rows that hold every term, with facets that count what each choice would
show.
"""

import operator
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import reduce

from django.db.models import Q

from evidence.models import EvidenceRevision, EvidenceRow, LeverAlias, Verdict
from v2kb.rules.antiloop_facts import code_order
from v2kb.rules.evidence import CAUSE_CLASSES
from v2kb.rules.names import exact_codes, exact_hashes, lever_key, query_terms, search_tokens

MAX_QUERY_CHARS = 200
MAX_TERMS = 12
MIN_PREFIX_CHARS = 3
MIN_LEVER_CHARS = 4
FACETS = ("verdict", "lever", "cause", "arch", "envelope", "blocking")
NONE = "none"
LABELS = {
    "verdict": "Verdict",
    "lever": "Lever",
    "cause": "Cause class",
    "arch": "Architecture",
    "envelope": "Envelope",
    "blocking": "Blocks",
}
BLOCKING_LABELS = {"full": "blocks", "weak": "blocks weakly", NONE: "does not block"}


@dataclass(frozen=True)
class Query:
    """What is looked for: words, and per facet the wanted values (several values of one facet are alternatives)."""

    text: str = ""
    chosen: dict[str, tuple[str, ...]] = field(default_factory=dict)
    archived: bool = False

    @classmethod
    def of_params(cls, params) -> "Query":
        """Read a request's parameters; unknown facets are ignored, unknown values simply find nothing."""
        chosen = {name: tuple(value[:100] for value in params.getlist(name)[:20] if value) for name in FACETS}
        return cls(
            text=params.get("q", "")[:MAX_QUERY_CHARS].replace("\x00", " ").strip(),
            chosen={name: values for name, values in chosen.items() if values},
            archived=params.get("archived") == "1",
        )


@dataclass(frozen=True)
class Hit:
    """A found row without its content: what facets and order need. `why` says how it was found."""

    pk: int
    code: str
    verdict: str
    title: str
    values: dict[str, tuple[tuple[str, str], ...]]
    why: str = ""

    def fits(self, chosen: dict[str, tuple[str, ...]], *, leave_out: str = "") -> bool:
        """Whether the row has one of the wanted values in every facet (one facet may be left out)."""
        return all(
            any(value in wanted for value, _ in self.values[name])
            for name, wanted in chosen.items()
            if name != leave_out
        )


@dataclass(frozen=True)
class Option:
    """One value of a facet and how many rows it would show."""

    value: str
    label: str
    count: int
    checked: bool


@dataclass(frozen=True)
class Found:
    """Hits in order and the facets round them. `terms` are the words as they were understood."""

    hits: list[Hit]
    facets: dict[str, list[Option]]
    terms: list[str]

    def of(self, verdict: str) -> list[Hit]:
        """The hits with this verdict."""
        return [hit for hit in self.hits if hit.verdict == verdict]


def search_rows(query: Query) -> Found:
    """Find rows. Two queries with words, one without, however many rows there are."""
    codes = exact_codes(query.text)
    rows = EvidenceRow.objects.filter(head__isnull=False, archived_at__isnull=not query.archived)
    if query.text:
        rows = rows.filter(Q(code__in=codes) | _text_filter(query.text))
    lines = rows.values_list(
        "pk", "code", "head__verdict", "head__title", "head__lever__slug", "head__lever__name", "head__cause_class",
        "head__blocking", "head__content__scope",
    )  # fmt: skip
    hits = [_hit(line) for line in lines]
    facets = {name: _options(name, hits, query.chosen) for name in FACETS}
    terms = [whole for whole, _ in query_terms(query.text)]
    ranked = _ranked([hit for hit in hits if hit.fits(query.chosen)], query.text, codes)
    return Found(ranked, facets, terms)


def _text_filter(text: str) -> Q:
    """Rows whose words hold every term (whole or all parts), of a lever called like this, or with such a hash."""
    terms = query_terms(text)[:MAX_TERMS]
    if not terms:
        return Q(pk__in=[])
    condition = reduce(operator.and_, (_word(whole) | _all(parts) for whole, parts in terms))
    key = lever_key(text)
    if len(key) >= MIN_LEVER_CHARS:
        levers = list(LeverAlias.objects.filter(normalised__contains=key).values_list("lever_id", flat=True)[:200])
        condition |= Q(head__lever_id__in=levers)
    for digits in exact_hashes(text)[:MAX_TERMS]:
        condition |= Q(pk__in=EvidenceRevision.objects.filter(content_hash__startswith=digits).values("row_id"))
    return condition


def _all(parts: list[str]) -> Q:
    return reduce(operator.and_, (_word(part) for part in parts))


def _word(token: str) -> Q:
    """A token with a digit, or a short one, must stand alone; a longer word may go on."""
    end = " " if len(token) < MIN_PREFIX_CHARS or any(sign.isdigit() for sign in token) else ""
    return Q(head__search_text__contains=f" {token}{end}")


def _hit(line: tuple) -> Hit:
    pk, code, verdict, title, lever, lever_name, cause, blocking, scope = line
    scope = scope if isinstance(scope, dict) else {}
    label = CAUSE_CLASSES[cause].label if cause in CAUSE_CLASSES else cause
    values = {
        "verdict": ((verdict, verdict),),
        "lever": ((lever, lever_name),),
        "cause": ((cause or NONE, label or "none given"),),
        "arch": _pairs(scope.get("arch")),
        "envelope": _pairs(scope.get("envelope")),
        "blocking": ((blocking or NONE, BLOCKING_LABELS[blocking or NONE]),),
    }
    return Hit(pk, code, verdict, title, values)


def _pairs(values: list[str] | None) -> tuple[tuple[str, str], ...]:
    return tuple(
        (value, value.replace("_", " ") if not value.startswith("sm_") else value) for value in values or []
    ) or ((NONE, "any"),)


def _options(name: str, hits: list[Hit], chosen: dict[str, tuple[str, ...]]) -> list[Option]:
    """The facet's values with the number of rows that all other facets leave; a wanted value is shown even at
    nought.
    """
    counts: Counter[str] = Counter()
    labels: dict[str, str] = {}
    for hit in hits:
        for value, label in hit.values[name]:
            labels[value] = label
            counts[value] += hit.fits(chosen, leave_out=name)
    for value in chosen.get(name, ()):
        labels.setdefault(value, value)
    order = {value: index for index, value in enumerate(Verdict.values)} if name == "verdict" else {}
    wanted = chosen.get(name, ())
    options = [Option(value, label, counts[value], value in wanted) for value, label in labels.items()]
    return sorted(options, key=lambda option: (order.get(option.value, 0), -option.count, option.label.lower()))


def _ranked(hits: list[Hit], text: str, codes: list[str]) -> list[Hit]:
    """Exact codes in the order asked, then rows with every term in their title, then the rest; within these by code."""
    place = {code: index for index, code in enumerate(codes)}
    terms = query_terms(text)[:MAX_TERMS]

    def key(hit: Hit) -> tuple:
        if hit.code in place:
            return (0, place[hit.code], code_order(hit.code))
        return (1 if terms and _in_title(hit, terms) else 2, 0, code_order(hit.code))

    ranked = sorted(hits, key=key)
    if not text:
        return ranked
    reasons = {0: "the code", 1: "words in its title", 2: "words in the row"}
    return [replace(hit, why=reasons[key(hit)[0]]) for hit in ranked]


def _in_title(hit: Hit, terms: list[tuple[str, list[str]]]) -> bool:
    tokens = set(search_tokens(hit.title))
    return all(whole in tokens or all(part in tokens for part in parts) for whole, parts in terms)
