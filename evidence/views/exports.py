"""Exports: a page that lists them, and the files."""

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from evidence import exports


@require_GET
def export_list(request: HttpRequest) -> HttpResponse:
    """What can be taken away."""
    return render(request, "evidence/exports.html", {"maps": exports.maps()})


@require_GET
def export_file(request: HttpRequest, name: str) -> HttpResponse:
    """One export as a download; `?document=` names the map to write again."""
    document = request.GET.get("document", "")[:80]
    parts = exports.export(name, document=document)
    kind = name.rpartition(".")[2]
    response = StreamingHttpResponse(parts, content_type=f"{exports.TYPES[kind]}; charset=utf-8")
    stem = document if name == "map.md" and document else f"evidence-{name.rpartition('.')[0]}"
    response["Content-Disposition"] = f'attachment; filename="{stem}.{kind}"'
    return response
