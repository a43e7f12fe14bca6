"""What is done with saved searches: save, delete, mark as seen."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from evidence.search.saved import saved_names
from evidence.services.searches import delete_search, mark_search_seen, save_search
from v2kb.core.actor import actor_from_request
from v2kb.core.errors import Refusal

MAX_KEY = 2**62


@require_POST
def search_save(request: HttpRequest) -> HttpResponse:
    """Keep the search that the evidence page shows."""
    query, name = request.POST.get("query", ""), request.POST.get("name", "")
    is_known = name.strip() in saved_names(request.user)
    try:
        saved = save_search(actor_from_request(request), name=name, query=query)
    except Refusal as refusal:
        if refusal.status in (403, 404):
            raise
        messages.error(request, f"Not saved. {refusal.message} {refusal.fix or ''}".strip())
        return redirect(f"{reverse('evidence:row_list')}?{query[:2000]}")
    was = " in place of the search that had this name" if is_known else ""
    messages.success(request, f"Saved as {saved.name}{was}. The home page says when rows come or change.")
    return redirect(f"{saved.get_absolute_url()}&saved={saved.pk}")


@require_POST
def search_delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Forget a saved search."""
    delete_search(actor_from_request(request), min(pk, MAX_KEY))
    messages.success(request, "The saved search is deleted.")
    return redirect("evidence:row_list")


@require_POST
def search_seen(request: HttpRequest, pk: int) -> HttpResponse:
    """Say that what is new was looked at."""
    saved = mark_search_seen(actor_from_request(request), min(pk, MAX_KEY))
    return redirect(f"{saved.get_absolute_url()}&saved={saved.pk}")
