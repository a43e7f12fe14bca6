"""Saved searches of a user: save, delete, mark as seen."""

from django.db.models import Max
from django.http import QueryDict

from evidence.models import EvidenceChange, SavedSearch
from evidence.search import Query, search_rows
from evidence.search.saved import get_saved, query_string
from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.errors import Refusal
from v2kb.core.policies import require_user
from v2kb.core.service import service
from v2kb.core.values import check_text, check_values

MAX_SAVED = 50
MAX_QUERY_CHARS = 2000


@service("evidence.save_search")
def save_search(actor: Actor, *, name: str, query: str) -> SavedSearch:
    """Keep a search of the evidence page (its query string) under a name; a name that one has is overwritten.

    Raises Refusal evidence.query for what can't be read, evidence.saved_empty, evidence.too_many_saved.
    """
    require_user(actor)
    check_text(query, "query")
    name = name.strip()
    check_values(SavedSearch, name=name)
    params = QueryDict(query[: MAX_QUERY_CHARS + 1].removeprefix("?"))
    for values in params.lists():
        check_text("".join([values[0], *values[1]]), "query")
    spelled = query_string(params)
    if not spelled:
        raise Refusal("evidence.saved_empty", "There is nothing to save: nothing was searched for.", field="query",
                      fix="Type words or choose filters first.")  # fmt: skip
    if len(query) > MAX_QUERY_CHARS:
        raise Refusal("evidence.saved_long", f"The search is longer than {MAX_QUERY_CHARS} characters.", field="query",
                      fix="Leave some filters out.")  # fmt: skip
    search_rows(Query.of_params(params))
    others = SavedSearch.objects.filter(user=actor.user).exclude(name=name)
    if others.count() >= MAX_SAVED:
        raise Refusal("evidence.too_many_saved", f"You have {MAX_SAVED} saved searches.", fix="Delete one first.")
    search, _ = SavedSearch.objects.update_or_create(
        user=actor.user, name=name, defaults={"query": spelled, "seen": _newest_change()}
    )
    record(actor, "evidence.save_search", search, f"search saved: {name}", after={"query": spelled})
    return search


@service("evidence.delete_search")
def delete_search(actor: Actor, pk: int) -> None:
    """Forget one's own saved search. Raises Missing evidence.no_saved_search."""
    require_user(actor)
    search = get_saved(actor.user, pk)
    record(actor, "evidence.delete_search", search, f"saved search deleted: {search.name}")
    search.delete()


@service("evidence.mark_search_seen")
def mark_search_seen(actor: Actor, pk: int) -> SavedSearch:
    """Say that what is new in one's own saved search was looked at. Raises Missing evidence.no_saved_search."""
    require_user(actor)
    search = get_saved(actor.user, pk)
    search.seen = _newest_change()
    search.save(update_fields=["seen"])
    record(actor, "evidence.mark_search_seen", search, f"saved search looked at: {search.name}")
    return search


def _newest_change() -> int:
    return EvidenceChange.objects.aggregate(newest=Max("pk"))["newest"] or 0
