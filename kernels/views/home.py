"""Home and the search over everything: the two pages that span the apps."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from evidence.models import EvidenceRevision
from kernels.models import Run
from v2kb.core.registry import SEARCHES

SEARCH_LIMIT = 8


def home(request: HttpRequest) -> HttpResponse:
    """What waits for me and why, runs in flight, newest verdicts."""
    running = Run.objects.filter(state__in=["queued", "claimed", "running"]).select_related("version__kernel", "op")[
        :20
    ]
    newest = EvidenceRevision.objects.select_related("row", "lever").order_by("-created_at", "-id")[:8]
    recent = (
        Run.objects.filter(state="finished").select_related("version__kernel", "op").prefetch_related("judgements")[:8]
    )
    return render(request, "kernels/home.html", {"running": running, "newest": newest, "recent": recent})


def search(request: HttpRequest) -> HttpResponse:
    """Search over everything, grouped by kind."""
    query = request.GET.get("q", "").strip()[:300]
    groups = []
    if query:
        for name, find in SEARCHES.items():
            hits = find(query, SEARCH_LIMIT)
            if hits:
                groups.append({"name": name, "hits": hits})
    return render(request, "kernels/search.html", {"query": query, "groups": groups})
