"""A spec at every value of one of its symbols: of a revision, or of one's own draft."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from kernels.models import Spec, SpecDraft, SpecRevision
from kernels.selectors.sweeps import sweep_of, symbols_of
from v2kb.core.views import render_part_or_page
from v2kb.rules.smem import CAPACITY_BYTES

ASKED = ("symbol", "low", "high")


def revision_sweep(request: HttpRequest, code: str, number: int) -> HttpResponse:
    """Sweep a symbol of a revision."""
    found = SpecRevision.objects.select_related("spec").filter(spec__code=code)
    revision = get_object_or_404(found, number=number)
    back = reverse("kernels:spec_revision", args=[code, number])
    return _page(request, revision.spec, revision.content, f"r{number}", back)


def draft_sweep(request: HttpRequest, code: str) -> HttpResponse:
    """Sweep a symbol of one's own draft; the newest revision where there is no draft."""
    spec = get_object_or_404(Spec.objects.select_related("head"), code=code)
    draft = SpecDraft.objects.filter(spec=spec, user=request.user).first()
    if draft is None and spec.head is None:
        return render(request, "kernels/spec_sweep.html", {"spec": spec, "nothing": True})
    content, of = (draft.content, "your draft") if draft else (spec.head.content, f"r{spec.head.number}")
    return _page(request, spec, content, of, reverse("kernels:spec_edit", args=[code, "overview"]))


def _page(request: HttpRequest, spec: Spec, document: dict[str, Any], of: str, back: str) -> HttpResponse:
    symbols = symbols_of(document)
    asked = {name: request.GET.get(name, "").strip()[:100] for name in ASKED}
    context: dict[str, Any] = {"spec": spec, "of": of, "back": back, "symbols": symbols, "asked": asked}
    if any(asked.values()):
        found = sweep_of(document, **asked)
        context |= {
            "sweep": found,
            "errors": {problem["field"]: problem for problem in reversed(found["problems"])},
            "chart": _chart(found),
        }
    return render_part_or_page(request, "kernels/spec_sweep.html", context, part="swept")


def _chart(found: dict[str, Any]) -> dict[str, Any]:
    return {
        "unit": "bytes",
        "symbol": found["symbol"],
        "limit": {"name": "capacity", "value": CAPACITY_BYTES},
        "points": [
            {
                "value": row["value"],
                "bytes": row["smem_bytes"],
                "pages": row["smem_pages"],
                **{name: row[name] for name in ("regions", "semaphores", "tasks")},
                "breaks": [item["rule"] for item in row["breaks"]],
                "planner": row["plan_error"],
            }
            for row in found["rows"]
        ],
    }
