"""Which lines of a log are changed lines of an earlier import: those that differ in one field, or whose traces or
commit name one experiment. Pure; a pair that could be another is none.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from v2kb.rules.experiments import FIELDS, identity

Entry = dict[str, Any]


def pair_lines(
    lines: Iterable[tuple[int, Entry]], stored: Sequence[tuple[int, Entry]]
) -> tuple[dict[int, int], dict[int, list[int]]]:
    """(line number -> id of the stored entry that it changes, line number -> ids of which it could change any).

    `stored` are entries that no line repeats. Lines in neither are new. `lines` is read once.
    """
    waiting = list(stored)
    by_key: dict[tuple, set[int]] = defaultdict(set)
    for pk, entry in waiting:
        for key in (*_all_but_one(entry), *_named(entry)):
            by_key[key].add(pk)
    close: dict[int, set[int]] = {}
    named: dict[int, set[int]] = {}
    for number, entry in lines:
        if found := _hits(by_key, _all_but_one(entry)):
            close[number] = found
        if found := _hits(by_key, _named(entry)):
            named[number] = found
    pairs, unclear = _settle(close)
    taken = set(pairs.values()).union(*unclear.values())
    rest = {number: pks - taken for number, pks in named.items() if number not in pairs and number not in unclear}
    more, unclear_too = _settle({number: pks for number, pks in rest.items() if pks})
    return pairs | more, unclear | unclear_too


def _settle(hits: dict[int, set[int]]) -> tuple[dict[int, int], dict[int, list[int]]]:
    wanted: dict[int, int] = defaultdict(int)
    for pks in hits.values():
        for pk in pks:
            wanted[pk] += 1
    sure = {number: next(iter(pks)) for number, pks in hits.items() if len(pks) == 1}
    pairs = {number: pk for number, pk in sure.items() if wanted[pk] == 1}
    return pairs, {number: sorted(pks) for number, pks in hits.items() if number not in pairs}


def _hits(by_key: dict[tuple, set[int]], keys: Iterable[tuple]) -> set[int]:
    return {pk for key in keys if key in by_key for pk in by_key[key]}


def _all_but_one(entry: Entry) -> list[tuple]:
    texts = [json.dumps(entry[name]) for name in FIELDS]
    return [(name, *texts[:index], *texts[index + 1 :]) for index, name in enumerate(FIELDS)]


def _named(entry: Entry) -> list[tuple]:
    return [("named", *identity(entry))] if entry["trace"] or entry["commit"] else []
