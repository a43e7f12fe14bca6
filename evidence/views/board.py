"""The board of evidence: search, facets with counts, three lanes or a table. The address holds the whole state."""

from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import NoReverseMatch, reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET

from evidence.cards import cards_of
from evidence.hooks import designs
from evidence.models import Verdict
from evidence.policies import may_curate, may_propose
from evidence.presenters import caret_of, scope_parts
from evidence.search import FACETS, LABELS, Found, Query, hits_of, search_rows
from evidence.search.columns import columns
from evidence.search.facets import lever_ids, none_of, readable, unmet
from evidence.search.meaning import is_on
from evidence.search.near import near_levers
from evidence.search.saved import SavedView, query_string, saved_searches
from v2kb.core.actor import actor_from_request
from v2kb.core.errors import Refusal
from v2kb.core.values import whole_number
from v2kb.core.views import page_of, render_part_or_page
from v2kb.rules.scope import normalise_scope, read_scope
from v2kb.rules.search_query import MAX_CHARS, taken_as_typed

LANE_SIZE = 60
FACET_SIZE = 12
FACET_MOST = 100
EXAMPLES = (
    ("D3", "one row by its code"),
    ("cp.async qkv_a", "rows that hold both; spelling does not matter: cpasync, cp async"),
    ('"ring of stages"', "a phrase"),
    ("gemv -warp", "without a word"),
    ("verdict:dead,win arch:sm_100 dtype:fp8", "fields; a comma between alternatives"),
    ('lever:"warp-spec producer"', "a lever by any of its names, with those below it"),
    ("D1..D3", "rows from one code to another, at most 100; also D1-D3"),
    ("m:1 batch:<=8 baseline:f624d75a", "dimensions of the scope; M, batch and grid may be ranges such as 1..16"),
    ("M>=16", "compares the scope, as m:>=16 does; other comparisons (STAGES>=4) are words that a row must hold"),
    ("delta:>5%", "a number above 5%; also delta:-9..-7%"),
    ("measured:>=2026-06", "measured since June 2026"),
    ("-tier:3 is:flagged", "not of tier 3, and doubted; also is:superseded, is:contested, is:weak, is:blocking"),
)


@require_GET
def row_list(request: HttpRequest) -> HttpResponse:
    """The three-lane board, or the table (`view=table`). `for` (an op) and `m` say what scopes are compared with."""
    query = Query.of_params(request.GET)
    known, unread = readable(query.chosen)
    query = replace(query, chosen=known)
    refusal = None
    try:
        found = search_rows(query)
    except Refusal as error:
        refusal, found = error, search_rows(replace(query, text=""))
    is_table = request.GET.get("view") == "table"
    actor = actor_from_request(request)
    listed = designs()
    unread += _unread(request, [design["slug"] for design in listed])
    scope = _scope(request, query, listed)
    saved = saved_searches(request.user)
    context: dict[str, Any] = {
        "query": query,
        "max_chars": MAX_CHARS,
        "refusal": refusal,
        "caret": caret_of(query.text, refusal),
        "found": found,
        "said": _said(found),
        "unread": unread,
        "guesses": _guesses(request, found),
        "is_table": is_table,
        "groups": _filter_groups(query, found),
        "designs": listed,
        "design": request.GET.get("for", ""),
        "m": request.GET.get("m", "")[:40],
        "scope": scope_parts(scope) if scope else [],
        "examples": EXAMPLES,
        "applied": _applied(request, query, found),
        "may_propose": may_propose(actor),
        "may_curate": may_curate(actor),
        "keep": {"view": "table"} if is_table else {},
        "total": 0 if refusal else len(found),
        "saved": saved,
        "opened": _opened(request, saved),
        "savable": "" if refusal else query_string(request.GET),
        "design_url": "" if refusal else _design_url(request, query),
    }
    if is_table and not refusal:
        page = page_of(request, found.ids)
        page.object_list = cards_of(hits_of(found, [int(row_id) for row_id in page.object_list]), scope)
        context["page"] = page
    elif not refusal:
        context["lanes"] = _lanes(request, found, scope)
    if not len(found):
        context["unmet"] = unmet(columns(), found.query.filters)
        context["near"] = near_levers(" ".join(_unknown_levers(found) or found.terms))
    return render_part_or_page(
        request, "evidence/row_list.html", context, part="list", status=refusal.status if refusal else 200
    )


def _unknown_levers(found: Found) -> list[str]:
    """What `lever:` asks for and no lever is called."""
    asked = [wanted.values for wanted in found.query.filters if wanted.name == "lever" and not wanted.negated]
    return [value for values in asked for value in values if not lever_ids(value)]


def _scope(request: HttpRequest, query: Query, listed: list[dict[str, Any]]) -> dict[str, Any] | None:
    """What rows are compared with: the scope of the op named by `for`, then the facets and M; None for nothing."""
    named = next((design["scope"] for design in listed if design["slug"] == request.GET.get("for")), None)
    own = {"op_class": query.chosen.get("op"), "arch": query.chosen.get("arch"), "dtype": query.chosen.get("dtype")}
    picked = {name: [value for value in values if value != "none"] for name, values in own.items() if values}
    scope = normalise_scope({**(named or {}), **{k: v for k, v in picked.items() if v}})
    if regime := normalise_scope({"m": request.GET.get("m", "")[:40]}):
        scope |= regime
    return scope if scope or named is not None else None


def _design_url(request: HttpRequest, query: Query) -> str:
    """Where a spec begins from these words and levers; "" where nothing was asked or there is no such page."""
    params = QueryDict(mutable=True)
    params["q"] = query.text
    params["op"] = request.GET.get("for", "")
    params["m"] = request.GET.get("m", "")
    params.setlist("lever", query.chosen.get("lever", ()))
    kept = {name: values for name, values in params.lists() if any(values)}
    try:
        return f"{reverse('kernels:spec_search')}?{urlencode(kept, doseq=True)}" if kept else ""
    except NoReverseMatch:
        return ""


def _said(found: Found) -> list[str]:
    """What else must be known of how the words were read."""
    said = [f"{typed} read as {meant}; in quotation marks it is words" for typed, meant in found.query.readings]
    if found.query.dropped:
        said.append(f"Left out, as every text holds them: {', '.join(found.query.dropped)}")
    if found.ranked is not None:
        said.append(f"Only the newest {found.ranked:,} of {len(found):,} hits are ranked by their words")
    if found.meaning_away:
        away = "away just now" if is_on() else "off here, so words alone decide"
        said.append(f"Search by meaning is {away}")
    return said


def _guesses(request: HttpRequest, found: Found) -> list[dict[str, str]]:
    """Words that were taken for misspelt ones, each with the address that takes it as it was typed; none of them where
    nothing was found by it.
    """
    guesses = []
    for typed, known in found.corrections if len(found) else ():
        params = request.GET.copy()
        params["q"] = taken_as_typed(params.get("q", ""), typed)
        params.pop("page", None)
        guesses.append({"typed": typed, "known": known, "url": f"?{params.urlencode()}"})
    return guesses


def _lanes(request: HttpRequest, found: Found, scope: dict[str, Any] | None) -> list[dict[str, Any]]:
    lanes = {verdict: found.of(verdict) for verdict in Verdict.values}
    first = [int(row_id) for ids in lanes.values() for row_id in ids[:LANE_SIZE]]
    cards = cards_of(hits_of(found, first), scope)
    params = request.GET.copy()
    params["view"] = "table"
    built = []
    for verdict, ids in lanes.items():
        params["verdict"] = verdict
        more = f"?{params.urlencode()}" if len(ids) > LANE_SIZE else ""
        mine = [card for card in cards if card["verdict"] == verdict]
        built.append({"verdict": verdict, "count": len(ids), "cards": mine, "more_url": more})
    return built


def _filter_groups(query: Query, found: Found) -> list[dict[str, Any]]:
    groups: list[dict[str, Any]] = []
    for name in FACETS:
        options = found.facets[name]
        # What is in use stays in sight; the rest of a long facet folds.
        first = [option for place, option in enumerate(options) if place < FACET_SIZE or option.checked]
        rest = [option for option in options[FACET_SIZE:FACET_MOST] if not option.checked]
        if len(rest) == 1:
            first, rest = options, []
        if options:
            group = {"name": name, "label": LABELS[name], "options": first, "rest": rest, "size": len(options)}
            groups.append({**group, "more": max(0, len(options) - FACET_MOST)})
    archived = {"value": "1", "label": "archived rows", "count": None, "checked": query.archived}
    return [*groups, {"name": "archived", "label": "Show", "options": [archived], "rest": []}]


def _unread(request: HttpRequest, ops: list[str]) -> list[str]:
    """What is asked besides words and facets and can't be read: a sentence each."""
    asked = (("for", "Op", ops), ("view", "View", ("board", "table")), ("archived", "Archived rows", ("1",)))
    given = [(label, request.GET.get(name, ""), known) for name, label, known in asked]
    told = [none_of(label, value, known) for label, value, known in given if value and value not in known]
    _, problems = read_scope({"m": request.GET.get("m", "")[:40]})
    return told + [f"{problem.message} {problem.fix}" for problem in problems]


def _applied(request: HttpRequest, query: Query, found: Found) -> list[dict[str, str]]:
    """What narrows the list, each with the address without it."""
    applied = []
    words = request.GET.get("q", "").strip()
    if words:
        applied.append({"label": f"Search: {words[:60]}", "url": _without(request, "q", words)})
    for name in FACETS:
        labels = {option.value: option.label for option in found.facets[name]}
        applied += [
            {"label": f"{LABELS[name]}: {labels.get(value, value)}", "url": _without(request, name, value)}
            for value in query.chosen.get(name, ())
        ]
    if request.GET.get("archived") == "1":
        applied.append({"label": "Archived rows", "url": _without(request, "archived", "1")})
    return applied


def _without(request: HttpRequest, name: str, value: str) -> str:
    params: QueryDict = request.GET.copy()
    params.setlist(name, [other for other in params.getlist(name) if other.strip() != value])
    params.pop("page", None)
    return f"?{params.urlencode()}"


def _opened(request: HttpRequest, saved: list[SavedView]) -> SavedView | None:
    """The saved search that this page was opened from."""
    pk = whole_number(request.GET.get("saved", ""))
    return next((view for view in saved if view.search.pk == pk), None)
