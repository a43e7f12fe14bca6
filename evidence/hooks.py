"""What higher apps tell this one: who cites a row, and who has an open spec on a lever."""

from collections.abc import Callable
from typing import Any

from evidence.models import EvidenceRow
from v2kb.core.registry import Registry

# name -> (row) -> list of {"title", "url", "state"}: what rests on a row
CITATIONS: Registry[Callable[[EvidenceRow], list[dict[str, Any]]]] = Registry()

# name -> (lever slug) -> user ids of the authors of open specs on that lever
OPEN_SPEC_AUTHORS: Registry[Callable[[str], set[int]]] = Registry()

# name -> (lever slug) -> list of {"title", "url", "state"}: what adopts a lever or one below it
RESTING: Registry[Callable[[str], list[dict[str, Any]]]] = Registry()


def rests_on(lever_slug: str) -> list[dict[str, Any]]:
    """Everything that rests on a lever, as the higher apps tell."""
    return [one for _, find in RESTING.items() for one in find(lever_slug)]


def citations_of(row: EvidenceRow) -> list[dict[str, Any]]:
    """Everything that cites a row, as the higher apps tell."""
    return [citation for _, find in CITATIONS.items() for citation in find(row)]


def open_spec_authors(lever_slug: str) -> set[int]:
    """User ids of the authors of open specs on a lever."""
    return {user_id for _, find in OPEN_SPEC_AUTHORS.items() for user_id in find(lever_slug)}
