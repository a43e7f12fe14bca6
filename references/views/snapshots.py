"""Pages of upstream snapshots and their families."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from references import selectors
from references.models import UpstreamSnapshot
from references.policies import may_import
from v2kb.core.actor import actor_from_request
from v2kb.core.errors import Missing
from v2kb.core.registry import panels_of
from v2kb.core.views import page_of, render_part_or_page

MAX_KEY = 2**63 - 1


@require_GET
def snapshot_list(request: HttpRequest) -> HttpResponse:
    """All snapshots, newest study first, and the families of the current one."""
    context = {
        "page": page_of(request, selectors.list_snapshots()),
        "current": selectors.current_snapshot(),
        "may_import": may_import(actor_from_request(request)),
    }
    return render_part_or_page(request, "references/snapshot_list.html", context, part="list")


@require_GET
def snapshot_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Families with when to copy, the kernel inventory, and what could not be read."""
    if pk > MAX_KEY:
        raise Missing("references.no_snapshot", "There is no such snapshot.", fix="Pick it from the list.")
    snapshot = selectors.get_snapshot(pk)
    context = {
        "snapshot": snapshot,
        "document": snapshot.document_revision.document,
        "families": _families(snapshot),
        "described": {family.letter for family in snapshot.families.all()},
        "kernels": list(snapshot.kernels.all()),
        "panels": panels_of(request, snapshot),
    }
    return render(request, "references/snapshot_detail.html", context)


def _families(snapshot: UpstreamSnapshot) -> list[dict]:
    """Families with their kernels and the address of the section that describes them."""
    revision = snapshot.document_revision
    return [
        {
            "family": family,
            "kernels": [kernel for kernel in snapshot.kernels.all() if kernel.family == family.letter],
            "url": selectors.section_url(revision.document.slug, family.anchor, revision.number)
            if family.anchor
            else "",
        }
        for family in snapshot.families.all()
    ]
