"""Specs as files: importing one after a look at what was read, beginning from a template or another spec, exports."""

from typing import Any

from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from kernels.forms import SpecImportForm
from kernels.models import Op, Spec, SpecRevision
from kernels.policies import may_design
from kernels.selectors.checks import contracts_of, lacking_op, report_of
from kernels.selectors.spec_files import spec_json, templates
from kernels.services import posting
from kernels.services.specs import covering
from v2kb.core.actor import actor_from_request
from v2kb.core.uploads import body_limit
from v2kb.core.views import submit
from v2kb.rules.spec_check import FileCheck, check_file
from v2kb.rules.spec_markdown.blocks import MAX_BYTES
from v2kb.rules.spec_markdown.writing import write_markdown

MAX_SHOWN = 300
EXPORTS = {"md": ("text/markdown; charset=utf-8", write_markdown), "json": ("application/json", spec_json)}
STATES = {
    "read": "in fields",
    "partly": "in fields and notes",
    "text": "in notes",
    "checked": "compared",
    "doubt": "not decided",
    "left": "no field holds it",
}


@body_limit(2 * MAX_BYTES, field="file", what="a spec")
@require_http_methods(["GET", "POST"])
def spec_import(request: HttpRequest) -> HttpResponse:
    """Show what a file holds, then begin a spec with it. `?template=` and `?spec=` fill the text in."""
    actor = actor_from_request(request)
    may_design(actor)
    form = SpecImportForm(request.POST, request.FILES) if request.method == "POST" else _filled(request)
    check, ops = None, Op.objects.none()
    if request.method == "POST" and form.is_valid():
        ops = form.cleaned_data["ops"].select_related("head")
        check = _checked(form.cleaned_data["text"], ops)
        if check.reading.unreadable:
            form.add_error("text", check.reading.unreadable)
            check = None
        elif request.POST.get("action") == "create":
            spec = submit(form, lambda data: _begin(actor, check, data))
            if spec is not None:
                return redirect("kernels:spec_edit", code=spec.code, section="overview")
        form = _kept(form)
    elif form.initial.get("text"):
        ops = Op.objects.filter(slug__in=form.initial["ops"]).select_related("head")
        check = _checked(form.initial["text"], ops)
    context = _context(form, check)
    if check is not None:
        context["without_op"] = lacking_op(_covered(check.reading.document, ops)) if ops else ()
        context["no_contract"] = not form["ops"].value() and not contracts_of(check.reading.document)
    return render(request, "kernels/spec_import.html", context, status=422 if form.errors else 200)


def _checked(text: str, ops: QuerySet[Op]) -> FileCheck:
    """What a file says, and what the rules say of the spec that it would begin over the ticked ops."""
    return check_file(text, lambda document: report_of(_covered(document, ops)))


def _covered(document: dict[str, Any], ops: QuerySet[Op]) -> dict[str, Any]:
    return {**document, "ops": covering(document["ops"], list(ops))} if ops else document


def _begin(actor, check: FileCheck, data: dict[str, Any]) -> Spec:
    document = check.reading.document
    title = data["title"].strip() or document["title"]
    return posting.post_spec(actor, title=title, ops=list(data["ops"]), content=document)


def _filled(request: HttpRequest) -> SpecImportForm:
    """A form that holds the text of a template or of another spec's newest revision."""
    template = templates().get(request.GET.get("template", ""))
    initial: dict[str, Any] = {"ops": request.GET.getlist("op")}
    if template is not None:
        initial["text"] = write_markdown(template.document)
    elif code := request.GET.get("spec"):
        spec = get_object_or_404(Spec.objects.select_related("head"), code=code, head__isnull=False)
        initial["text"] = write_markdown({**spec.head.content, "ops": _unpinned(spec.head.content["ops"])})
        initial["ops"] = list(spec.ops.values_list("slug", flat=True))
    return SpecImportForm(initial=initial)


def _unpinned(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Ops without the contracts that the other spec pinned."""
    return [{**row, "contract": ""} for row in rows]


def _kept(form: SpecImportForm) -> SpecImportForm:
    """The same form with the file's text in the text field, for browsers do not keep chosen files."""
    form.data = form.data.copy()
    form.data["text"] = form.cleaned_data.get("text", form.data.get("text", ""))
    return form


def _context(form: SpecImportForm, check: FileCheck | None) -> dict[str, Any]:
    context = {"form": form, "check": check, "templates": templates().values(), "no_ops": not Op.objects.exists()}
    if check is None:
        return context
    placements = [{"placement": p, "word": STATES[p.state]} for p in check.reading.placements]
    looked_at = [row for row in placements if row["placement"].state in ("text", "left") or row["placement"].why]
    document = check.reading.document
    counts = (
        ("ops", len(document["ops"])),
        ("regions", check.summary.get("regions")),
        ("bytes", check.summary.get("smem_bytes")),
        ("pages", check.summary.get("smem_pages")),
        ("semaphores", check.summary.get("semaphores")),
        ("tasks", check.summary.get("tasks")),
        ("choices", len(document["choices"])),
        ("open questions", len(document["open_questions"])),
        ("amendments", len(document["amendments"])),
    )
    return context | {
        "title": document["title"],
        "counts": [(label, None if count is None else f"{count:,}") for label, count in counts],
        "looked_at": looked_at[:MAX_SHOWN],
        "placements": placements[:MAX_SHOWN],
        "findings": check.findings[:MAX_SHOWN],
        "more": max(0, len(placements) - MAX_SHOWN),
    }


@require_GET
def spec_export(request: HttpRequest, code: str, number: int, extension: str) -> HttpResponse:
    """A revision as a file."""
    if extension not in EXPORTS:
        raise Http404
    content_type, write = EXPORTS[extension]
    revision = get_object_or_404(SpecRevision, spec__code=code, number=number)
    response = HttpResponse(write(revision.content), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{code}-r{number}.{extension}"'
    return response
