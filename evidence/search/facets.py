"""Facets: what each further choice would show, and the filters of the query language over the same columns."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evidence.families import lever_families
from evidence.models import Lever, LeverAlias, Verdict
from evidence.search.columns import Columns
from evidence.vocabulary import added_causes, scope_aliases
from v2kb.rules.evidence import CAUSE_CLASSES, cause_label
from v2kb.rules.names import lever_key
from v2kb.rules.numbers import TIERS
from v2kb.rules.row_facts import SCOPE_FIELDS
from v2kb.rules.row_filters import NONE, meant_words
from v2kb.rules.scope import NO_ALIASES, RANGE_DIMENSIONS
from v2kb.rules.search_query import STATES, Filter

FACETS = ("verdict", "lever", "cause", "arch", "dtype", "op", "envelope", "blocking", "tier", "state")
LABELS = {
    "verdict": "Verdict",
    "lever": "Lever",
    "cause": "Cause class",
    "arch": "Architecture",
    "dtype": "Data type",
    "op": "Op class",
    "envelope": "Envelope",
    "blocking": "Blocks",
    "tier": "Tier of its numbers",
    "state": "Standing",
}
_WHEN_NONE = {"cause": "none given, of DEAD rows", "arch": "any", "dtype": "any", "op": "any", "envelope": "any",
              "tier": "not said", "blocking": "does not block", "state": "nothing special"}  # fmt: skip
_CLOSED = {
    "verdict": tuple(Verdict.values),
    "blocking": ("full", "weak", NONE),
    "tier": (*filter(None, TIERS), NONE),
    "state": (*(state for state in STATES if state not in ("archived", "blocking")), NONE),
}
_BLOCKING = {"full": "blocks", "weak": "blocks weakly"}
KNOWN = ("cause", "arch", "dtype", "op", "envelope", "sharding", "baseline", *RANGE_DIMENSIONS, "tier")
MOST_KNOWN = 12


@dataclass(frozen=True)
class Option:
    """One value of a facet and how many rows it would show."""

    value: str
    label: str
    count: int
    checked: bool


def readable(chosen: dict[str, tuple[str, ...]]) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """(the wanted values without those that a closed facet does not know, a sentence for each of those)."""
    kept, told = {}, []
    for name, values in chosen.items():
        known = _known_values(name)
        kept[name] = tuple(value for value in values if not known or value in known)
        told += [none_of(LABELS[name], value, known) for value in values if value not in kept[name]]
    return {name: values for name, values in kept.items() if values}, told


def none_of(label: str, value: str, known: Sequence[str]) -> str:
    """What a page says of a filter that it does not know, and so leaves out."""
    return f"{label}: “{value[:40]}” is none of {', '.join(known)}."


def _known_values(name: str) -> tuple[str, ...]:
    """What a facet may be asked for where that is no open vocabulary."""
    if name == "cause":
        return *dict.fromkeys([*CAUSE_CLASSES, *added_causes().values()]), NONE
    return _CLOSED.get(name, ())


def chosen_masks(held: Columns, chosen: dict[str, tuple[str, ...]]) -> dict[str, np.ndarray]:
    """Facet -> the rows that have one of its wanted values."""
    masks = {}
    for name, values in chosen.items():
        wanted = ["" if value == NONE else value for value in values]
        if name == "lever":
            families = lever_families()
            ids = Lever.objects.filter(slug__in=values).values_list("pk", flat=True)
            wanted = [str(families.survivor(pk)) for pk in ids]
        masks[name] = _mask(held, name, wanted)
    return masks


def _mask(held: Columns, name: str, wanted: Sequence[str]) -> np.ndarray:
    """The rows with one of these words; "" stands for none, of causes among DEAD rows alone: others need none."""
    mask = held.categories[name].mask(wanted)
    if name == "cause" and "" in wanted:
        mask &= held.categories["verdict"].mask([Verdict.DEAD]) | ~held.categories[name].mask([""])
    return mask


def _counts(held: Columns, name: str, places: np.ndarray) -> dict[str, int]:
    """How many of the rows at `places` have each word of a facet, as `_mask` has it."""
    counts = held.categories[name].counts(places)
    if name == "cause" and "" in counts:
        counts[""] = int(_mask(held, name, [""])[places].sum())
    return counts


def options(held: Columns, hits: np.ndarray, chosen: dict[str, tuple[str, ...]]) -> dict[str, list[Option]]:
    """Every facet's values with the number of rows that all other facets leave; a wanted value shows even at nought.

    `hits` are the rows (bool, shape (n,)) that the text and the query's own filters leave.
    """
    masks = chosen_masks(held, chosen)
    present = np.flatnonzero(hits)
    counted = {}
    for name in FACETS:
        others = [mask for other, mask in masks.items() if other != name]
        rest = present[np.logical_and.reduce([mask[present] for mask in others])] if others else present
        counted[name] = _counts(held, name, rest)
        if name != "lever":
            possible = _counts(held, name, present) if others else counted[name]
            counted[name] = {word: counted[name][word] for word, count in possible.items() if count}
    return {name: _sorted(name, _named(name, found), chosen.get(name, ())) for name, found in counted.items()}


def _named(name: str, found: dict[str, int]) -> dict[str, tuple[str, int]]:
    """Value -> (label, count), as the address spells the value."""
    if name == "lever":
        alive = {int(word): count for word, count in found.items() if count}
        levers = Lever.objects.in_bulk(list(alive)) if alive else {}
        return {lever.slug: (lever.name, alive[pk]) for pk, lever in levers.items()}
    return {word or NONE: (_label(name, word), count) for word, count in found.items()}


def _label(name: str, word: str) -> str:
    if not word:
        return _WHEN_NONE.get(name, "none")
    if name == "cause":
        return cause_label(word)
    if name == "blocking":
        return _BLOCKING.get(word, word)
    if name == "tier":
        return f"tier {word}"
    return word.replace("_", " ") if name in ("envelope", "state") else word


def _sorted(name: str, found: dict[str, tuple[str, int]], wanted: Sequence[str]) -> list[Option]:
    for value in wanted:
        found.setdefault(value, (_label(name, "" if value == NONE else value) if name != "lever" else value, 0))
    order = {value: place for place, value in enumerate(Verdict.values)} if name == "verdict" else {}
    built = [Option(value, label, count, value in wanted) for value, (label, count) in found.items()]
    return sorted(built, key=lambda option: (order.get(option.value, 0), -option.count, option.label.lower()))


def filter_mask(held: Columns, wanted: Filter) -> np.ndarray:
    """The rows (bool, shape (n,)) that one `field:value` leaves.

    A scope field keeps rows that name no value there: they cover any.
    """
    mask = _held_by(held, wanted)
    return ~mask if wanted.negated else mask


def _held_by(held: Columns, wanted: Filter) -> np.ndarray:
    if wanted.name == "delta":
        return _within(held.numbers["delta_low"], held.numbers["delta_high"], wanted)
    if wanted.name == "measured":
        return _within(held.numbers["measured"], held.numbers["measured"], wanted)
    if wanted.name == "is":
        return _standing(held, wanted.values)
    if wanted.name == "lever":
        return held.categories["lever"].mask([str(pk) for value in wanted.values for pk in lever_ids(value)])
    known = {word for words in held.categories[wanted.name].values for word in words}
    aliases = scope_aliases() if wanted.name in SCOPE_FIELDS else NO_ALIASES
    return _mask(held, wanted.name, meant_words(wanted, known, aliases))


def unmet(held: Columns, filters: Sequence[Filter]) -> list[tuple[str, list[str]]]:
    """What no row at all has, of the fields of a query: (`field:value`, the values that rows do have) each."""
    found = []
    for wanted in filters:
        if wanted.values and not wanted.negated and not _held_by(held, wanted).any():
            values = held.categories[wanted.name].values if wanted.name in KNOWN else ()
            known = sorted({word for words in values for word in words})
            found.append((f"{wanted.name}:{','.join(wanted.values)}", known[:MOST_KNOWN]))
    return found


def _within(lows: np.ndarray, highs: np.ndarray, wanted: Filter) -> np.ndarray:
    mask = ~np.isnan(lows)
    if wanted.low is not None:
        mask &= highs > wanted.low if wanted.open_low else highs >= wanted.low
    if wanted.high is not None:
        mask &= lows < wanted.high if wanted.open_high else lows <= wanted.high
    return mask


def _standing(held: Columns, values: Sequence[str]) -> np.ndarray:
    mask = held.categories["state"].mask([value for value in values if value not in ("archived", "blocking")])
    if "archived" in values:
        mask = mask | held.archived
    if "blocking" in values:
        mask = mask | held.categories["blocking"].mask(["full", "weak"])
    return mask


def lever_ids(name: str) -> set[int]:
    """Levers called so, or with a name that holds it, and all that lie below them."""
    key = lever_key(name)
    if not key:
        return set()
    if called := levers_called(name):
        return called
    return _with_those_below(
        set(LeverAlias.objects.filter(normalised__contains=key).values_list("lever_id", flat=True)[:200])
    )


def levers_called(name: str) -> set[int]:
    """Levers with exactly this name, in any spelling, and all that lie below them."""
    key = lever_key(name)
    return _with_those_below(set(LeverAlias.objects.filter(normalised=key).values_list("lever_id", flat=True)))


def _with_those_below(found: set[int]) -> set[int]:
    return lever_families().below(found) if found else found
