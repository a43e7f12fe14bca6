"""Home, which spans the apps."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from evidence.feeds import watched_by
from evidence.models import EvidenceRevision
from evidence.search.saved import saved_searches
from kernels.models import Run, SpecDraft


def home(request: HttpRequest) -> HttpResponse:
    """What waits for me and why, rows that I watch, my drafts, runs in flight, newest verdicts."""
    runs = Run.objects.select_related("version__kernel", "op").prefetch_related("judgements")
    running = runs.filter(state__in=["queued", "claimed", "running"])[:20]
    newest = EvidenceRevision.objects.select_related("row", "lever").order_by("-created_at", "-id")[:8]
    recent = runs.filter(state="finished")[:8]
    drafts = SpecDraft.objects.filter(user=request.user).select_related("spec").order_by("-updated_at")[:8]
    watched = watched_by(request.user)
    context = {
        "running": running,
        "newest": newest,
        "recent": recent,
        "drafts": drafts,
        "saved": saved_searches(request.user),
        "watched": watched,
        "watched_news": any(each.events for each in watched),
    }
    return render(request, "kernels/home.html", context)
