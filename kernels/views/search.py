"""The search over everything from the top bar: hits of each kind with why, grouped."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET

from v2kb.core.registry import SEARCHES
from v2kb.rules.search_kinds import NamedKind, named_kind
from v2kb.rules.search_query import MAX_CHARS, QueryError, parse_query

LIMIT = 8
ROWS = "evidence"
EXACT = {"the code", "the id", "its name", "the section", "the hash of a revision", "the hash of a contract",
         "the digest of a version", "the commit of a snapshot", "the commit", "the hash of a line",
         "the letter"}  # fmt: skip
IN_TITLE = "words in its title"
FIRST = (ROWS, "levers", "specs", "ops", "kernels", "runs", "experiments", "sections", "families")


@require_GET
def search(request: HttpRequest) -> HttpResponse:
    """Hits of every kind. A query with fields is of rows alone; one that can't be read is answered 422 with a caret.

    A kind that the first word names (`family A`) comes first where one of it is called so. `guesses=no` leaves out hits
    that do not hold every word as it was typed.
    """
    text = request.GET.get("q", "").strip()[: MAX_CHARS + 1]
    context: dict[str, Any] = {"query": text, "groups": [], "is_sure": request.GET.get("guesses") == "no"}
    try:
        context["readings"] = parse_query(text).readings
    except QueryError as error:
        return render(
            request, "kernels/search.html", context | {"error": error, "caret": error.caret(text)}, status=422
        )
    rows_only = context["rows_only"] = bool(parse_query(text, of_rows=False).filters)
    if text:
        names = [ROWS] if rows_only else [name for name, _ in SEARCHES.items()]
        named = None if rows_only else named_kind(text)
        groups = [_group(name, text, named) for name in names]
        context["has_guesses"] = any(hit["is_guess"] for group in groups for hit in group["hits"])
        if context["is_sure"]:
            groups = [group | {"hits": [hit for hit in group["hits"] if not hit["is_guess"]]} for group in groups]
        context["groups"] = sorted((group for group in groups if group["hits"]), key=_place)
    return render(request, "kernels/search.html", context)


def _group(name: str, text: str, named: NamedKind | None) -> dict[str, Any]:
    is_named = named is not None and named.kind == name
    hits = _of_named(name, text, named.rest) if is_named else SEARCHES.get(name)(text, LIMIT)
    more = f"{reverse('evidence:row_list')}?{urlencode({'q': text})}" if name == ROWS and len(hits) == LIMIT else ""
    title = "evidence rows" if name == ROWS else name
    return {"name": title, "key": name, "hits": hits, "more_url": more, "is_named": is_named}


def _of_named(name: str, text: str, rest: str) -> list[dict[str, Any]]:
    """Hits for what follows the word of the kind, and for the whole text; each once, what is named exactly first."""
    finder, found = SEARCHES.get(name), {}
    for hit in sorted([*finder(rest, LIMIT), *finder(text, LIMIT)], key=lambda hit: hit["why"] not in EXACT):
        found.setdefault(hit["url"], hit)
    return sorted(found.values(), key=lambda hit: (hit["why"] not in EXACT, hit["is_guess"]))[:LIMIT]


def _place(group: dict[str, Any]) -> tuple[bool, bool, bool, int]:
    """The kind that was named comes first, then groups with an exact hit, then those that hold all words, then what
    decides before what explains.
    """
    exact = any(hit["why"] in EXACT for hit in group["hits"])
    guessed = all(hit["is_guess"] for hit in group["hits"])
    asked = group["is_named"] and (exact or any(hit["why"] == IN_TITLE for hit in group["hits"]))
    return not asked, not exact, guessed, FIRST.index(group["key"])
