"""Which levers count for each other: those above a lever, and those that were merged with it.

A merge never disarms (evidence-and-gate section 4): the merged lever keeps its place, so whatever stood above either
of the two, or was said of either, counts for both from then on, and for all that lies below them.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class Families(Generic[K]):
    """The vocabulary as a graph. `parents` and `merged` map a lever to the one above it and the one it was merged into;
    levers without one may be left out.
    """

    def __init__(self, parents: Mapping[K, K], merged: Mapping[K, K]) -> None:
        self.parents, self.merged = parents, merged
        self._children, self._taken = _turned(parents), _turned(merged)

    def survivor(self, lever: K) -> K:
        """Return the lever that stands for this one: the end of its merges, itself where it was never merged."""
        seen = {lever}
        while (into := self.merged.get(lever)) is not None and into not in seen:
            seen.add(into)
            lever = into
        return lever

    def merged_with(self, levers: Iterable[K]) -> set[K]:
        """Return these levers and all that were merged with one of them, either way."""
        return _closure(levers, self._twins)

    def above(self, levers: Iterable[K]) -> set[K]:
        """Return all whose rows count for one of these levers, themselves included."""
        return _closure(levers, lambda one: [*self._twins(one), *_one(self.parents, one)])

    def below(self, levers: Iterable[K]) -> set[K]:
        """Return all for which rows of one of these levers count, themselves included."""
        return _closure(levers, lambda one: [*self._twins(one), *self._children.get(one, ())])

    def _twins(self, lever: K) -> list[K]:
        return [*_one(self.merged, lever), *self._taken.get(lever, ())]


def _one(edges: Mapping[K, K], lever: K) -> list[K]:
    found = edges.get(lever)
    return [] if found is None else [found]


def _turned(edges: Mapping[K, K]) -> dict[K, list[K]]:
    turned: dict[K, list[K]] = {}
    for start, end in edges.items():
        turned.setdefault(end, []).append(start)
    return turned


def _closure(start: Iterable[K], step: Callable[[K], Iterable[K]]) -> set[K]:
    found: set[K] = set()
    waiting = list(start)
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += step(one)
    return found
