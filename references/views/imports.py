"""Uploading documents: files, preview, import."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from references.forms import UploadForm
from references.importers.archive import MAX_MEMBERS, MAX_TOTAL_BYTES, MAX_ZIP_BYTES
from references.importers.documents import import_documents
from references.importers.markdown import MAX_DOCUMENT_BYTES, MAX_DOCUMENT_LINES
from references.importers.payload import files_of_payload, payload_of_files
from references.policies import require_import
from references.services.uploads import discard_upload, keep_upload, open_upload
from v2kb.core.actor import actor_from_request
from v2kb.core.errors import Missing, Refusal
from v2kb.core.uploads import body_limit
from v2kb.core.views import submit
from v2kb.rules.sizes import size_text

MAX_KEY = 2**63 - 1


@body_limit(MAX_TOTAL_BYTES, field="files", what="an import of documents")
@require_http_methods(["GET", "POST"])
def document_import(request: HttpRequest) -> HttpResponse:
    """Take files and keep them for the preview; on an error the typed source stays."""
    actor = actor_from_request(request)
    require_import(actor)
    form = UploadForm(request.POST, request.FILES) if request.method == "POST" else UploadForm()
    if request.method == "POST":
        draft = submit(
            form, lambda data: keep_upload(actor, payload=payload_of_files(data["files"]), source=data["source"])
        )
        if draft:
            return redirect("references:import_preview", draft.pk)
    context = {
        "form": form,
        "document_size": size_text(MAX_DOCUMENT_BYTES),
        "document_lines": f"{MAX_DOCUMENT_LINES:,}",
        "total_size": size_text(MAX_TOTAL_BYTES),
        "zip_size": size_text(MAX_ZIP_BYTES),
        "max_files": f"{MAX_MEMBERS:,}",
    }
    return render(request, "references/document_import.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "POST"])
def import_preview(request: HttpRequest, pk: int) -> HttpResponse:
    """What the kept upload would do; POST does it."""
    actor = actor_from_request(request)
    draft, payload = open_upload(actor, pk=_key(pk))
    files = files_of_payload(payload)
    refusal = None
    if request.method == "POST":
        try:
            report = import_documents(actor, files=files, source=draft.source)
        except Refusal as error:
            if error.status in (403, 404):
                raise
            refusal = error
        else:
            discard_upload(actor, pk=draft.pk)
            if report.applied:
                messages.success(request, f"Imported: {report.summary}.")
            else:
                messages.warning(request, f"Nothing was imported: {report.summary}.")
            return redirect("references:document_list")
    report = import_documents(actor, files=files, source=draft.source, dry_run=True)
    context = {"draft": draft, "report": report, "refusal": refusal}
    return render(request, "references/import_preview.html", context, status=refusal.status if refusal else 200)


@require_POST
def import_discard(request: HttpRequest, pk: int) -> HttpResponse:
    """Throw the kept upload away."""
    discard_upload(actor_from_request(request), pk=_key(pk))
    messages.info(request, "The upload was thrown away; nothing was imported.")
    return redirect("references:document_import")


def _key(pk: int) -> int:
    if pk > MAX_KEY:
        raise Missing("references.no_upload", "There is no such upload.", fix="Send the files again.")
    return pk
