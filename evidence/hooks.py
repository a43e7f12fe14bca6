"""What higher apps tell this one: who cites a row, who has an open spec on a lever, and what a change would reopen."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from evidence.models import EvidenceRow
from v2kb.core.registry import Registry

# name -> (row) -> list of {"title", "url", "state"}: what rests on a row
CITATIONS: Registry[Callable[[EvidenceRow], list[dict[str, Any]]]] = Registry()

# name -> (lever slug) -> user ids of the authors of open specs on that lever
OPEN_SPEC_AUTHORS: Registry[Callable[[str], set[int]]] = Registry()

# name -> (row ids) -> row id -> how many specs rest on the row; for lists, in a constant number of queries
SPEC_COUNTS: Registry[Callable[[Iterable[int]], dict[int, int]]] = Registry()

# name -> () -> list of {"slug", "title", "scope"}: designs that rows can be compared with
DESIGNS: Registry[Callable[[], list[dict[str, Any]]]] = Registry()


@dataclass(frozen=True)
class RowChange:
    """What a row would say; `superseded` where another row would take it in, `flagged` where its flag is confirmed."""

    row_id: int
    content: dict[str, Any]
    superseded: bool = False
    flagged: bool = False


# name -> (changes) -> for each change a list of {"title", "url", "effect", "sentences"}: approved work that pinned the
# row. `effect`: "reopens", "stale already", or "holds again".
REOPENS: Registry[Callable[[Sequence[RowChange]], list[list[dict[str, Any]]]]] = Registry()


def reopened_by(changes: Sequence[RowChange]) -> list[list[dict[str, Any]]]:
    """For each change what it would do to approved specs that pinned the row, as the higher apps tell."""
    found: list[list[dict[str, Any]]] = [[] for _ in changes]
    for _, find in REOPENS.items() if changes else ():
        for lines, more in zip(found, find(changes), strict=True):
            lines += more
    return found


# name -> (lever slug) -> list of {"title", "url", "state", "how"}: what adopts a lever or one below it, or cites a row
RESTING: Registry[Callable[[str], list[dict[str, Any]]]] = Registry()


def rests_on(lever_slug: str) -> list[dict[str, Any]]:
    """Everything that rests on a lever, as the higher apps tell."""
    return [one for _, find in RESTING.items() for one in find(lever_slug)]


def resting_on(row_ids: Iterable[int]) -> dict[int, int]:
    """Row id -> how many specs rest on it; rows that none rests on are left out."""
    ids, found = list(row_ids), {}
    for _, count in SPEC_COUNTS.items():
        for row_id, number in count(ids).items():
            found[row_id] = found.get(row_id, 0) + number
    return found


def designs() -> list[dict[str, Any]]:
    """What rows can be compared with: {"slug", "title", "scope"} each."""
    return [design for _, listed in DESIGNS.items() for design in listed()]


def citations_of(row: EvidenceRow) -> list[dict[str, Any]]:
    """Everything that cites a row, as the higher apps tell."""
    return [citation for _, find in CITATIONS.items() for citation in find(row)]


def open_spec_authors(lever_slug: str) -> set[int]:
    """User ids of the authors of open specs on a lever."""
    return {user_id for _, find in OPEN_SPEC_AUTHORS.items() for user_id in find(lever_slug)}
