"""The facts of all rows as columns in memory, so that counting facets over 100,000 hits takes milliseconds.

Every process holds one snapshot. Each search asks for the newest EvidenceChange; when it has moved on, only the rows
that changed since are read again.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from uuid import UUID

import numpy as np
from django.db.models import Q

from evidence.models import EvidenceChange, RowFacts
from v2kb.rules.antiloop_facts import code_order
from v2kb.rules.scope import RANGE_DIMENSIONS

CATEGORIES = ("verdict", "lever", "cause", "blocking", "arch", "dtype", "op", "envelope", "sharding", "baseline",
              *RANGE_DIMENSIONS, "tier", "state")  # fmt: skip
NUMBERS = ("delta_low", "delta_high", "measured")
_COLUMNS = ("lever_id" if name == "lever" else name for name in CATEGORIES)
_READ = ("row_id", "code", "archived", *_COLUMNS, *NUMBERS)
_FIRST_CATEGORY, _FIRST_NUMBER = 3, 3 + len(CATEGORIES)
CHUNK = 5000


@dataclass(frozen=True)
class Category:
    """One column of words. `codes[i]` is the place in `values` of row i's words; a row may have several words."""

    codes: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    values: tuple[tuple[str, ...], ...] = ()

    def mask(self, wanted: Sequence[str]) -> np.ndarray:
        """Rows (bool, shape (n,)) that have one of these words; "" stands for none."""
        names = set(wanted)
        holds = np.array([bool(names.intersection(words or ("",))) for words in self.values], dtype=bool)
        return holds[self.codes] if len(self.values) else np.zeros(0, dtype=bool)

    def counts(self, places: np.ndarray) -> dict[str, int]:
        """How many of the rows at `places` have each word; "" counts those with none."""
        found: dict[str, int] = {}
        of_value = np.bincount(self.codes[places], minlength=len(self.values)).tolist()
        for words, count in zip(self.values, of_value, strict=True):
            for word in words or ("",):
                found[word] = found.get(word, 0) + count
        return found

    def moved(self, places: np.ndarray, size: int, raw: Sequence[object]) -> "Category":
        """The column with the words `raw` at `places`, `size` rows long."""
        seen = {words: place for place, words in enumerate(self.values)}
        new = [seen.setdefault(tuple(word for word in str(value).split(",") if word), len(seen)) for value in raw]
        codes = np.zeros(size, np.int32)
        codes[: len(self.codes)] = self.codes
        codes[places] = new
        return Category(codes, tuple(seen))


@dataclass(frozen=True)
class Rows:
    """Which rows there are, in the order of their places; shared by snapshots while none is added."""

    ids: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    codes: tuple[str, ...] = ()

    @cached_property
    def place_of_id(self) -> dict[int, int]:
        return {row_id: place for place, row_id in enumerate(self.ids.tolist())}

    @cached_property
    def place_of_code(self) -> dict[str, int]:
        return {code: place for place, code in enumerate(self.codes)}

    @cached_property
    def in_order(self) -> np.ndarray:
        """All places in the order of their codes: D2 before D10."""
        return np.array(sorted(range(len(self.codes)), key=lambda place: code_order(self.codes[place])), np.int64)

    @cached_property
    def rank(self) -> np.ndarray:
        """The rank of each place in that order."""
        rank = np.empty(len(self.codes), np.int64)
        rank[self.in_order] = np.arange(len(self.codes))
        return rank

    @cached_property
    def _by_id(self) -> np.ndarray:
        return np.argsort(self.ids)

    def places(self, ids: np.ndarray) -> np.ndarray:
        """Places of the rows with these ids, in their order; ids that the snapshot lacks are left out."""
        if not len(self.ids) or not len(ids):
            return np.zeros(0, np.int64)
        found = np.searchsorted(self.ids, ids, sorter=self._by_id).clip(max=len(self.ids) - 1)
        places = self._by_id[found]
        return places[self.ids[places] == ids]

    def with_more(self, lines: list[tuple]) -> "Rows":
        """These rows and then those of `lines` (id, code, ...) that are not among them."""
        added = [line for line in lines if line[0] not in self.place_of_id]
        if not added:
            return self
        ids = np.concatenate([self.ids, np.array([line[0] for line in added], np.int64)])
        return Rows(ids, (*self.codes, *(line[1] for line in added)))


@dataclass(frozen=True)
class Columns:
    """One snapshot. Arrays have shape (n,) in the order of `rows`. Numbers that a row lacks are NaN."""

    change: int = 0
    stamp: UUID | None = None
    rows: Rows = field(default_factory=Rows)
    archived: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))
    categories: dict[str, Category] = field(default_factory=lambda: {name: Category() for name in CATEGORIES})
    numbers: dict[str, np.ndarray] = field(default_factory=lambda: {name: np.zeros(0) for name in NUMBERS})

    @property
    def ids(self) -> np.ndarray:
        return self.rows.ids

    @property
    def rank(self) -> np.ndarray:
        return self.rows.rank

    def places(self, ids: np.ndarray) -> np.ndarray:
        return self.rows.places(ids)

    def moved(self, change: int, stamp: UUID | None, lines: list[tuple]) -> "Columns":
        """The snapshot of a later change, with these rows replaced or added."""
        if not lines:
            return replace(self, change=change, stamp=stamp)
        rows = self.rows.with_more(lines)
        size, more = len(rows.ids), len(rows.ids) - len(self.ids)
        places = np.array([rows.place_of_id[line[0]] for line in lines])
        archived = np.concatenate([self.archived, np.zeros(more, bool)])
        archived[places] = [line[2] for line in lines]
        numbers = {}
        for column, name in enumerate(NUMBERS, _FIRST_NUMBER):
            numbers[name] = np.concatenate([self.numbers[name], np.full(more, np.nan)])
            numbers[name][places] = [np.nan if line[column] is None else line[column] for line in lines]
        categories = {
            name: self.categories[name].moved(places, size, [line[column] for line in lines])
            for column, name in enumerate(CATEGORIES, _FIRST_CATEGORY)
        }
        return Columns(change, stamp, rows, archived, categories, numbers)


_lock = threading.Lock()
_held = Columns()


def columns() -> Columns:
    """The snapshot of now: one query while nothing changes."""
    global _held
    with _lock:
        newest_id = EvidenceChange.objects.order_by("-pk").values("pk")[:1]
        marks = dict(EvidenceChange.objects.filter(Q(pk=_held.change) | Q(pk__in=newest_id)).values_list("pk", "stamp"))
        newest = max(marks, default=0)
        is_ours = marks.get(_held.change) == _held.stamp
        if is_ours and newest == _held.change:
            return _held
        held = _held if is_ours else Columns()
        changed = RowFacts.objects.filter(change__gt=held.change, change__lte=newest).order_by("row_id")
        held = held.moved(newest, marks.get(newest), list(changed.values_list(*_READ).iterator(chunk_size=CHUNK)))
        _held = held
        return held
