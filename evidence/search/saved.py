"""Saved searches with what is new in them, and their one spelling."""

from dataclasses import dataclass
from typing import Any

from django.core.cache import caches
from django.http import QueryDict

from evidence.models import EvidenceChange, EvidenceRow, RowFacts, SavedSearch
from evidence.search.engine import FACETS, Query, search_rows
from v2kb.core.errors import Missing, Refusal
from v2kb.rules.canonical import content_hash

KEPT = ("q", *FACETS, "archived", "view", "for", "m")
SHOWN_CODES = 12
DAY_S = 86_400


@dataclass(frozen=True)
class SavedView:
    """A saved search for a list. `new` counts its rows that came or changed since `seen`; `codes` names the first."""

    search: SavedSearch
    new: int = 0
    codes: tuple[str, ...] = ()
    problem: str = ""

    @property
    def sentence(self) -> str:
        """What is new, in words; "" when nothing is."""
        if self.problem:
            return f"It can't be read any more: {self.problem}"
        return f"{self.new} new or changed {'row' if self.new == 1 else 'rows'}" if self.new else ""

    @property
    def new_label(self) -> str:
        """The same, short enough for a chip."""
        return f"{self.new} new"


def query_string(params: QueryDict) -> str:
    """The part of an address that makes a search, in one order and without empty values."""
    kept = QueryDict(mutable=True)
    for name in KEPT:
        for value in params.getlist(name):
            if value.strip():
                kept.appendlist(name, value)
    return kept.urlencode()


def saved_searches(user: Any) -> list[SavedView]:
    """A user's saved searches by name, with what is new in each; a fixed number of queries once that is known."""
    searches = list(SavedSearch.objects.filter(user=user))
    if not searches:
        return []
    oldest = min(search.seen for search in searches)
    changed = dict(RowFacts.objects.filter(change__gt=oldest).values_list("row_id", "change"))
    if not changed:
        return [SavedView(search) for search in searches]
    newest = str(EvidenceChange.objects.values_list("stamp", flat=True).latest("pk"))
    keys = {search.pk: _key(search, newest) for search in searches}
    held = caches["process"]
    news = held.get_many(keys.values())
    fresh = {keys[search.pk]: _news(search, changed) for search in searches if keys[search.pk] not in news}
    held.set_many(fresh, DAY_S)
    return [SavedView(search, *(news | fresh)[keys[search.pk]]) for search in searches]


def saved_names(user: Any) -> set[str]:
    """The names of the user's saved searches."""
    return set(SavedSearch.objects.filter(user=user).values_list("name", flat=True))


def get_saved(user: Any, pk: int) -> SavedSearch:
    """One of the user's own saved searches. Raises Missing evidence.no_saved_search."""
    search = SavedSearch.objects.filter(user=user, pk=min(pk, 2**62)).first()
    if search is None:
        raise Missing("evidence.no_saved_search", "You have no such saved search.", fix="Pick one from your list.")
    return search


def _key(search: SavedSearch, newest: str) -> str:
    """What is new depends on nothing else, so it is looked for once after each change of the evidence."""
    return f"saved-search:{content_hash({'query': search.query, 'seen': search.seen, 'newest': newest})}"


def _news(search: SavedSearch, changed: dict[int, int]) -> tuple[int, tuple[str, ...], str]:
    """(number of new rows, codes of the first, why it can't be run)."""
    since = {row_id for row_id, change in changed.items() if change > search.seen}
    if not since:
        return 0, (), ""
    try:
        found = search_rows(Query.of_params(QueryDict(search.query)))
    except Refusal as refusal:
        return 0, (), refusal.message
    new = [row_id for row_id in found.ids.tolist() if row_id in since]
    codes = dict(EvidenceRow.objects.filter(pk__in=new[:SHOWN_CODES]).values_list("pk", "code"))
    return len(new), tuple(codes[row_id] for row_id in new[:SHOWN_CODES]), ""
