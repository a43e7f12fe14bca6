"""The search over everything from the top bar: hits of each kind with why, grouped."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET

from v2kb.core.registry import SEARCHES
from v2kb.rules.search_query import MAX_CHARS, QueryError, parse_query

LIMIT = 8
ROWS = "evidence"
EXACT = {"the code", "the id", "its name", "the section", "the hash of a revision", "the hash of a contract",
         "the digest of a version", "the commit of a snapshot", "the commit", "the hash of a line"}  # fmt: skip
FIRST = (ROWS, "levers", "specs", "ops", "kernels", "runs", "experiments", "sections", "families")


@require_GET
def search(request: HttpRequest) -> HttpResponse:
    """Hits of every kind. A query with fields is of rows alone; one that can't be read is answered 422 with a caret."""
    text = request.GET.get("q", "").strip()[: MAX_CHARS + 1]
    context: dict[str, Any] = {"query": text, "groups": []}
    try:
        parsed = parse_query(text)
    except QueryError as error:
        return render(
            request, "kernels/search.html", context | {"error": error, "caret": error.caret(text)}, status=422
        )
    context["rows_only"] = bool(parsed.filters)
    if text:
        names = [ROWS] if parsed.filters else [name for name, _ in SEARCHES.items()]
        groups = [_group(name, text) for name in names]
        context["groups"] = sorted((group for group in groups if group["hits"]), key=_place)
    return render(request, "kernels/search.html", context)


def _group(name: str, text: str) -> dict[str, Any]:
    hits = SEARCHES.get(name)(text, LIMIT)
    more = f"{reverse('evidence:row_list')}?{urlencode({'q': text})}" if name == ROWS and len(hits) == LIMIT else ""
    return {"name": "evidence rows" if name == ROWS else name, "key": name, "hits": hits, "more_url": more}


def _place(group: dict[str, Any]) -> tuple[bool, bool, int]:
    """Groups with an exact hit come first, then those that hold all words, then what decides before what explains."""
    exact = any(hit["why"] in EXACT for hit in group["hits"])
    guessed = all(hit["is_guess"] for hit in group["hits"])
    return not exact, guessed, FIRST.index(group["key"])
