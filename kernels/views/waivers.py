"""Asking for waivers of findings, and answering them, from a spec's page. A refusal comes back into the page."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from kernels.models import FindingWaiver, Spec
from kernels.services import waivers
from kernels.views.specs import show_spec
from v2kb.core.actor import actor_from_request
from v2kb.core.errors import Refusal


@require_POST
def ask(request: HttpRequest, code: str) -> HttpResponse:
    """Ask for a waiver of one finding of the newest revision."""
    spec = get_object_or_404(Spec.objects.select_related("head__author"), code=code)
    typed = {name: request.POST.get(name, "") for name in ("rule", "path", "reason")}
    return _done(request, spec, typed, lambda actor: waivers.ask_waiver(actor, spec=spec, **typed))


@require_POST
def answer(request: HttpRequest, code: str, pk: int) -> HttpResponse:
    """Agree to a waiver, refuse it, or take it back."""
    waiver = get_object_or_404(FindingWaiver.objects.select_related("spec__head__author"), spec__code=code, pk=pk)
    typed = {name: request.POST.get(name, "") for name in ("answer", "note")}
    return _done(
        request,
        waiver.spec,
        {**typed, "waiver": pk},
        lambda actor: waivers.answer_waiver(actor, waiver=waiver, **typed),
    )


def _done(request: HttpRequest, spec: Spec, typed: dict[str, Any], do: Callable[[Any], Any]) -> HttpResponse:
    try:
        do(actor_from_request(request))
    except Refusal as refusal:
        if refusal.status in (403, 404):
            raise
        return show_spec(request, spec, spec.head, status=refusal.status, waiver_refusal=refusal, waiver_typed=typed)
    return redirect(f"{spec.get_absolute_url()}#findings-h")
