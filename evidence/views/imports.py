"""The import page: upload, a dry run line by line, import."""

from functools import cache, partial
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from evidence import presenters
from evidence.forms import ApplyForm, ImportForm
from evidence.importers.load import MAX_MAP_BYTES, MapPlan, load_map, plan_map, try_map
from evidence.importers.map_tables import SHAPES
from evidence.importers.typing_file import MAX_LEVERS, MAX_TYPING_BYTES
from evidence.policies import require_curator
from v2kb.core.actor import Actor, actor_from_request
from v2kb.core.errors import Refusal
from v2kb.core.uploads import body_limit
from v2kb.core.views import submit
from v2kb.rules.evidence import FIELDS
from v2kb.rules.sizes import size_text

TEMPLATE = "evidence/import.html"
EXAMPLES = (
    ("example-map", "an evidence map", "evidence-map.md"),
    ("example-typing", "a typing file", "typing.json"),
)


@body_limit(MAX_MAP_BYTES + MAX_TYPING_BYTES, field="file", what="a map and its typing file")
@require_http_methods(["GET", "POST"])
def import_map(request: HttpRequest) -> HttpResponse:
    """Take a map and show what its import would do (`step=preview`), or do it (`step=apply`)."""
    actor = actor_from_request(request)
    require_curator(actor)
    if request.method != "POST":
        return _page(request, {"form": ImportForm()})
    if request.POST.get("step") == "apply":
        return _apply(request, actor)
    form = ImportForm(request.POST, request.FILES)
    tried = submit(form, partial(_try, actor))
    if tried is None:
        return _page(request, {"form": form}, status=422)
    plan, refusal = tried
    if refusal:
        return _page(request, {"form": form, "refusal": refusal, **_shown(plan)}, status=refusal.status)
    typing = form.cleaned_data["typing"]
    apply_form = ApplyForm(
        initial={
            "name": plan.name,
            "text": plan.text,
            "typing": _text(typing.read() if typing else b""),
            "source": form.cleaned_data["source"],
        }
    )
    return _page(request, {"form": form, "apply_form": apply_form, **_shown(plan)})


def _try(actor: Actor, data: dict[str, Any]) -> tuple[MapPlan, Refusal | None]:
    typing = data["typing"].read() if data["typing"] else None
    if data["typing"]:
        data["typing"].seek(0)
    return try_map(actor, name=data["file"].name, data=data["file"].read(), typing=typing, source=data["source"])


def _text(data: bytes) -> str:
    return data.decode("utf-8-sig", "replace")


def _apply(request: HttpRequest, actor: Actor) -> HttpResponse:
    form = ApplyForm(request.POST)
    if not form.is_valid():
        upload = ImportForm()
        note = Refusal("evidence.import.lost", "The preview came back incomplete.", fix="Choose the file again.")
        return _page(request, {"form": upload, "refusal": note}, status=422)
    data = form.cleaned_data
    # A form sends every line end as two signs; the limits are those of the file that was chosen.
    text, typing = (data[name].replace("\r\n", "\n").encode() for name in ("text", "typing"))
    upload = {"name": data["name"], "data": text, "typing": typing or None}
    try:
        plan = load_map(actor, source=data["source"], skip_unreadable=data["skip_unreadable"], **upload)
    except Refusal as refusal:
        if refusal.status in (403, 404):
            raise
        upload_form = ImportForm(initial={"source": data["source"]})
        context: dict[str, Any] = {"form": upload_form, "apply_form": form, "refusal": refusal}
        try:
            context |= _shown(plan_map(**upload))
        except Refusal:
            context.pop("apply_form")
        return _page(request, context, status=refusal.status)
    messages.success(request, f"{plan.name}: {plan.report.summary}.")
    for code, why in plan.report.kept:
        messages.warning(request, f"{code} stays as it is: {why}.")
    return redirect("evidence:proposal_list" if plan.report.proposed else "evidence:row_list")


def _page(request: HttpRequest, context: dict[str, Any], status: int = 200) -> HttpResponse:
    """The page, with what a map and a typing file must look like."""
    examples = [
        {"id": id_, "what": what, "name": name, "path": f"examples/{name}", "text": _example(name)}
        for id_, what, name in EXAMPLES
    ]
    help_ = {
        "shapes": SHAPES,
        "row_fields": FIELDS,
        "map_size": size_text(MAX_MAP_BYTES),
        "typing_size": size_text(MAX_TYPING_BYTES),
        "max_levers": f"{MAX_LEVERS:,}",
        "examples": examples,
    }
    return render(request, TEMPLATE, help_ | context, status=status)


@cache
def _example(name: str) -> str:
    return (settings.BASE_DIR / "static/examples" / name).read_text()


def _shown(plan: MapPlan) -> dict[str, Any]:
    rows = [
        {
            "found": found,
            "changes": presenters.diff_rows(found.changes),
            "figure": presenters.figure(found.content),
            "missing": [problem.field for problem in found.missing],
        }
        for found in plan.fit
    ]
    return {"plan": plan, "rows": rows}
