"""Pages of the import wizard: uploads, the mapping, the dry run, the import."""

from collections.abc import Callable
from functools import cache
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.paginator import Page
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from evidence import import_jobs
from evidence.import_job_forms import ApplyImportForm, MappingForm, UploadForm
from evidence.importers.load import MAX_MAP_BYTES
from evidence.importers.map_tables import SHAPES
from evidence.importers.records import MAP
from evidence.importers.typing_file import MAX_LEVERS, MAX_TYPING_BYTES
from evidence.models import ImportJob, ImportLine
from evidence.policies import require_curator
from evidence.presenters import folded_rows, number_rows
from evidence.services.import_jobs import (
    MAX_FILE_BYTES,
    apply_import,
    cancel_import,
    map_import,
    retry_import,
    start_import,
)
from evidence.views.shared import act
from v2kb.core.actor import Actor, actor_from_request
from v2kb.core.errors import Refusal
from v2kb.core.uploads import body_limit
from v2kb.core.views import page_of, render_part_or_page, submit
from v2kb.rules.evidence import FIELDS
from v2kb.rules.sizes import size_text

State = ImportJob.State
EXAMPLES = (
    ("example-map", "an evidence map", "evidence-map.md"),
    ("example-typing", "a typing file", "typing.json"),
)


@require_GET
def job_list(request: HttpRequest) -> HttpResponse:
    """Imports, newest first."""
    require_curator(actor_from_request(request))
    page = page_of(request, import_jobs.list_jobs())
    return render(request, "evidence/import_jobs.html", {"page": page})


@body_limit(MAX_FILE_BYTES + MAX_TYPING_BYTES, field="file", what="a log")
@require_http_methods(["GET", "POST"])
def job_new(request: HttpRequest) -> HttpResponse:
    """Upload a file; the rest goes on in the background."""
    actor = actor_from_request(request)
    require_curator(actor)
    form = UploadForm(request.POST, request.FILES) if request.method == "POST" else UploadForm()
    if request.method == "POST":
        job = submit(form, lambda data: _start(actor, data))
        if job is not None:
            return redirect(job)
    context = {"form": form, **_map_help()}
    return render(request, "evidence/import_job_new.html", context, status=422 if form.errors else 200)


def _start(actor: Actor, data: dict[str, Any]) -> ImportJob:
    file, typing = data["file"], data["typing"]
    read = typing.read() if typing else b""
    return start_import(actor, name=file.name, chunks=file.chunks(), source=data["source"], typing=read)


@cache
def _map_help() -> dict[str, Any]:
    """What a map and a typing file must look like."""
    examples = [
        {
            "id": id_,
            "what": what,
            "name": name,
            "path": f"examples/{name}",
            "text": (settings.BASE_DIR / "static/examples" / name).read_text(),
        }
        for id_, what, name in EXAMPLES
    ]
    return {
        "shapes": SHAPES,
        "row_fields": FIELDS,
        "map_size": size_text(MAX_MAP_BYTES),
        "typing_size": size_text(MAX_TYPING_BYTES),
        "max_levers": f"{MAX_LEVERS:,}",
        "examples": examples,
    }


@require_http_methods(["GET", "POST"])
def job_detail(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """One import. A POST says how the file is read: `step=words` shows the words of another column, `step=check` begins
    the dry run.
    """
    actor = actor_from_request(request)
    require_curator(actor)
    job = import_jobs.get_job(public_id)
    form = None
    if request.method == "POST":
        form = MappingForm(request.POST, job=job) if job.profile.get("header") else None
        check = request.POST.get("step") == "check"
        if form is not None and submit(form, lambda data: _map(actor, job, form, data, check)) is not None:
            return redirect(f"{job.get_absolute_url()}" + ("" if check else "#words"))
    return _page(request, job, form=form)


def _map(actor: Actor, job: ImportJob, form: MappingForm, data: dict[str, Any], check: bool) -> ImportJob:
    save_as = data["save_as"] if check else ""
    return map_import(actor, job.public_id, mapping=form.mapping(), save_as=save_as, check=check)


def _page(
    request: HttpRequest,
    job: ImportJob,
    *,
    form: MappingForm | None = None,
    refusal: Refusal | None = None,
    status: int = 200,
) -> HttpResponse:
    can_map = job.state in (State.MAPPING, State.CHECKED, State.FAILED) and job.format not in ("", MAP)
    can_map = can_map and bool(job.profile.get("header"))
    if can_map and form is None:
        form = MappingForm(job=job)
    state = request.GET.get("lines", "")
    has_lines = job.state in (State.CHECKED, State.DONE, State.FAILED)
    context: dict[str, Any] = {
        "job": job,
        "progress": import_jobs.progress(job) if job.state in ImportJob.WORKING else None,
        "facts": import_jobs.facts(job),
        "form": form if can_map else None,
        "columns": _columns(job, form) if can_map and form else [],
        "words": _words(form) if can_map and form else [],
        "others": job.profile.get("others", []),
        "apply_form": ApplyImportForm() if job.state == State.CHECKED else None,
        "has_changes": bool(job.counts.get("new") or job.counts.get("changed") or job.counts.get("guidelines")),
        "lines_state": state if state in ImportLine.State.values else "",
        "line_states": [(value, label, job.counts.get(value, 0)) for value, label in ImportLine.State.choices],
        "page": _lines(request, job, state) if has_lines else None,
        "is_over": job.state in (State.DONE, State.CANCELLED),
        "refusal": refusal,
    }
    return render_part_or_page(
        request, "evidence/import_job.html", context, part="lines", status=422 if form and form.errors else status
    )


def _lines(request: HttpRequest, job: ImportJob, state: str) -> Page:
    """A page of lines, those of rows with their numbers as they are read, changed ones with old beside new."""
    page = page_of(request, import_jobs.list_lines(job, state))
    changes = import_jobs.changes_of(page.object_list)
    for line in page.object_list:
        content = line.document.get("content")
        line.numbers = number_rows(content) if content else []
        line.changes = folded_rows(changes.get(line.pk, ()))
        line.has_unread_numbers = not all(number["readable"] for number in line.numbers)
    return page


def _columns(job: ImportJob, form: MappingForm) -> list[dict[str, Any]]:
    samples = job.profile.get("samples", {})
    return [
        {"name": name, "samples": samples.get(name, []), "field": form[f"column_{index}"]}
        for index, name in enumerate(form.header)
    ]


def _words(form: MappingForm) -> list[dict[str, Any]]:
    return [
        {"word": word, "count": count, "field": form[f"word_{index}"]} for index, (word, count) in enumerate(form.words)
    ]


@require_GET
def job_progress(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """The progress panel; when the phase is over, the page loads again."""
    require_curator(actor_from_request(request))
    job = import_jobs.get_job(public_id)
    if job.state not in ImportJob.WORKING:
        response = HttpResponse(status=286)
        response["HX-Refresh"] = "true"
        return response
    return render(request, "htmx/job.html", {"job": import_jobs.progress(job)})


def _move(request: HttpRequest, public_id: UUID, do: Callable[[Actor], object], *, done: str) -> HttpResponse:
    """Call a service on the job and go back to its page; a refusal is shown there."""
    actor, job = actor_from_request(request), import_jobs.get_job(public_id)
    return act(
        request,
        lambda: do(actor),
        done=done,
        to=job.get_absolute_url(),
        again=lambda refusal: _page(request, import_jobs.get_job(public_id), refusal=refusal, status=refusal.status),
    )


@require_POST
def job_apply(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """Begin the import that the dry run showed."""
    skip = request.POST.get("skip_unreadable") == "on"
    return _move(
        request,
        public_id,
        lambda actor: apply_import(actor, public_id, skip_unreadable=skip),
        done="The import has begun.",
    )


@require_POST
def job_retry(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """Take a failed import up again."""
    return _move(
        request,
        public_id,
        lambda actor: retry_import(actor, public_id),
        done="The import has begun again, with a dry run.",
    )


@require_POST
def job_cancel(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """Stop the import."""
    return _move(request, public_id, lambda actor: cancel_import(actor, public_id), done="The import is cancelled.")
