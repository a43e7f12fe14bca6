"""Home and the search over everything: the two pages that span the apps."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from evidence.models import EvidenceRevision
from evidence.search.saved import saved_searches
from kernels.models import Run, SpecDraft
from v2kb.core.registry import SEARCHES

SEARCH_LIMIT = 8
EXACT = ("code", "the code", "id")  # why a hit that names its thing is there
FIRST = ("evidence", "specs", "ops", "kernels", "runs", "references")


def home(request: HttpRequest) -> HttpResponse:
    """What waits for me and why, my drafts, runs in flight, newest verdicts."""
    runs = Run.objects.select_related("version__kernel", "op").prefetch_related("judgements")
    running = runs.filter(state__in=["queued", "claimed", "running"])[:20]
    newest = EvidenceRevision.objects.select_related("row", "lever").order_by("-created_at", "-id")[:8]
    recent = runs.filter(state="finished")[:8]
    drafts = SpecDraft.objects.filter(user=request.user).select_related("spec").order_by("-updated_at")[:8]
    context = {"running": running, "newest": newest, "recent": recent, "drafts": drafts}
    context["saved"] = saved_searches(request.user)
    return render(request, "kernels/home.html", context)


def search(request: HttpRequest) -> HttpResponse:
    """Search over everything, grouped by kind."""
    query = request.GET.get("q", "").strip()[:300]
    groups = []
    if query:
        for name, find in SEARCHES.items():
            hits = find(query, SEARCH_LIMIT)
            if hits:
                groups.append({"name": name, "hits": hits})
    groups.sort(key=_place)
    return render(request, "kernels/search.html", {"query": query, "groups": groups})


def _place(group: dict[str, Any]) -> tuple[bool, int]:
    """Groups with an exact hit come first, then what decides before what explains."""
    exact = any(hit.get("why") in EXACT for hit in group["hits"])
    name = group["name"].lower()
    return (not exact, FIRST.index(name) if name in FIRST else len(FIRST))
