"""The spec editor: one page per section and per choice. Works without JavaScript; with it, drafts save while typing."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from evidence.models import Lever
from kernels.editor.forms import (
    Cells,
    at,
    citation_target,
    complete,
    read_choice,
    read_section,
    without_nul,
)
from kernels.editor.fresh import Filled, without_fresh_rows
from kernels.editor.layout import (
    ACKNOWLEDGED,
    BY_SLUG,
    CHOICE,
    CITATION,
    PREDICTION,
    SCOPE,
    SECTIONS,
    WAVE_QUANT,
    Input,
)
from kernels.editor.places import field_url
from kernels.models import Anchor, Spec, SpecDraft
from kernels.selectors.checks import checks_document, report_of, sem_picture, smem_picture
from kernels.selectors.gate import gate_preview
from kernels.services import specs
from v2kb.core.actor import actor_from_request
from v2kb.core.errors import Conflict, Refusal
from v2kb.core.values import whole_number
from v2kb.core.views import redirect_htmx
from v2kb.rules.spec_document import empty_row, next_choice_id, normalise

SYMBOL = (Input("name", "symbol", short=True), Input("value", "value or expression"))
SEVERITY_ORDER = {"E": 0, "W": 1, "I": 2}


def edit(request: HttpRequest, code: str, section: str = "overview") -> HttpResponse:
    """Show or store one section of the actor's draft."""
    if section not in BY_SLUG:
        raise Http404
    spec = get_object_or_404(Spec.objects.select_related("head"), code=code)
    actor = actor_from_request(request)
    draft = specs.open_draft(actor, spec=spec)
    chosen = BY_SLUG[section]
    if request.method != "POST":
        return _show(request, spec, draft, chosen.slug, complete(draft.content))
    action = request.POST.get("action", "save")
    document = read_section(chosen, without_nul(request.POST), draft.content, action)
    if action == "add:choices":
        new = {
            **empty_row("choices"),
            "id": next_choice_id(normalise(document)[0], _used_ids(spec)),
            "polarity": "keeps",
        }
        document["choices"][-1] = new
    return _store(request, spec, draft, chosen.slug, document, action)


def edit_choice(request: HttpRequest, code: str, choice_id: str) -> HttpResponse:
    """Show or store one choice of the actor's draft."""
    spec = get_object_or_404(Spec.objects.select_related("head"), code=code)
    actor = actor_from_request(request)
    draft = specs.open_draft(actor, spec=spec)
    document = complete(draft.content)
    index = next(
        (n for n, c in enumerate(document["choices"]) if isinstance(c, dict) and c.get("id") == choice_id), None
    )
    if index is None:
        raise Http404
    if request.method != "POST":
        return _show(request, spec, draft, "choice", document, index=index)
    action = request.POST.get("action", "save")
    document["choices"][index] = read_choice(without_nul(request.POST), document["choices"][index], action)
    return _store(request, spec, draft, "choice", document, action, index=index)


def save_revision(request: HttpRequest, code: str) -> HttpResponse:
    """Make a revision of the draft, and hand it in where that was asked."""
    spec = get_object_or_404(Spec.objects.select_related("head"), code=code)
    actor = actor_from_request(request)
    draft = specs.open_draft(actor, spec=spec)
    if request.method != "POST":
        return _show(request, spec, draft, "finish", complete(draft.content))
    version = request.POST.get("version", "")
    try:
        revision = specs.save_revision(
            actor, spec=spec, version=whole_number(version), reason=request.POST.get("reason", "")
        )
        if request.POST.get("action") == "submit":
            specs.submit_spec(actor, revision=revision)
    except Refusal as refusal:
        if refusal.status in (403, 404):
            raise
        spec.refresh_from_db()
        draft = specs.open_draft(actor, spec=spec)
        return _show(request, spec, draft, "finish", complete(draft.content), refusal=refusal)
    return redirect_htmx(request, spec.get_absolute_url())


def rebase(request: HttpRequest, code: str) -> HttpResponse:
    """Base the draft on the newest revision, after the person has compared the two."""
    spec = get_object_or_404(Spec, code=code)
    if request.method == "POST":
        specs.rebase_draft(actor_from_request(request), spec=spec)
    return redirect("kernels:spec_finish", code=code)


def discard(request: HttpRequest, code: str) -> HttpResponse:
    """Throw the draft away."""
    spec = get_object_or_404(Spec, code=code)
    if request.method == "POST":
        specs.discard_draft(actor_from_request(request), spec=spec)
    return redirect(spec.get_absolute_url())


def _used_ids(spec: Spec) -> frozenset[str]:
    contents = spec.revisions.values_list("content", flat=True)
    return frozenset(choice["id"] for content in contents for choice in content["choices"])


def _store(
    request: HttpRequest, spec: Spec, draft: SpecDraft, page: str, document: dict[str, Any], action: str, **more: Any
) -> HttpResponse:
    """Save the draft. A conflict keeps what was typed on the page and says what to do."""
    version = request.POST.get("version", "")
    try:
        draft = specs.save_draft(
            actor_from_request(request),
            spec=spec,
            content=document,
            version=whole_number(version, default=draft.version),
        )
    except Refusal as refusal:
        if refusal.status in (403, 404):
            raise
        return _show(request, spec, draft, page, document, refusal=refusal, **more)
    if action == "autosave" or request.htmx:
        return _show(request, spec, draft, page, document, **more)
    if action == "add:choices":
        return redirect("kernels:spec_edit_choice", code=spec.code, choice_id=document["choices"][-1]["id"])
    if action in ("save", "check") or ":" in action:
        return redirect(request.path + ("#last-row" if action.startswith("add:") else ""))
    return redirect("kernels:spec_edit", code=spec.code, section=action if action in BY_SLUG else "overview")


def _show(
    request: HttpRequest,
    spec: Spec,
    draft: SpecDraft,
    page: str,
    document: dict[str, Any],
    *,
    index: int | None = None,
    refusal: Refusal | None = None,
) -> HttpResponse:
    filled = Filled(document) if page == "finish" else without_fresh_rows(document)
    pinned = specs.pin_citations(filled.document)
    checks = checks_document(report_of(pinned))
    for finding in checks["findings"]:
        finding["path"] = filled.place(finding["path"])
    checks["findings"].sort(key=lambda finding: SEVERITY_ORDER[finding["severity"]])
    gate = gate_preview(spec, pinned)
    context: dict[str, Any] = {
        "spec": spec,
        "draft": draft,
        "page": page,
        "sections": SECTIONS,
        "section": BY_SLUG.get(page),
        "document": document,
        "checks": checks["summary"],
        "findings": [
            {**finding, "url": field_url(spec.code, finding["path"], document)} for finding in checks["findings"]
        ],
        "gate": gate,
        "gate_lines": [
            {"line": line, "url": field_url(spec.code, filled.place(line.field), document)}
            for line in gate.blocking_lines
        ],
        "fresh_rows": filled.left_out,
        "refusal": refusal,
        "moved_on": spec.head_id != draft.base_id,
    }
    cells = Cells(checks["findings"])
    if page == "choice":
        context |= _choice_context(cells, document["choices"][index], index)
    elif page in BY_SLUG:
        context |= _section_context(cells, BY_SLUG[page], document)
    if page == "choices":
        context["choice_rows"] = [
            {"choice": choice, "targets": [citation_target(c) for c in choice.get("citations") or []]}
            for choice in document["choices"]
            if isinstance(choice, dict) and choice.get("id")
        ]
    if page == "smem":
        context["picture"] = smem_picture(pinned)
    if page == "sems":
        context["picture"] = sem_picture(pinned)
    context["said"] = _places(context)
    template = "kernels/spec_edit.html"
    status = refusal.status if isinstance(refusal, Conflict) else 422 if refusal else 200
    if request.htmx and not request.htmx.boosted:
        part = "autosave" if request.POST.get("action", "autosave") == "autosave" else "editor"
        # Conflicts come back into the form, so that nothing typed is lost.
        return render(request, f"{template}#{part}", context, status=422 if refusal else 200)
    return render(request, template, context, status=status)


def _section_context(cells: Cells, section: Any, document: dict[str, Any]) -> dict[str, Any]:
    tables = [
        {"table": table, "rows": cells.rows(table.inputs, at(document, table.path), table.path)}
        for table in section.tables
    ]
    context = {"fields": cells.fields(section.inputs, document), "tables": tables}
    if section.slug == "overview":
        symbols = document["symbols"] if isinstance(document["symbols"], dict) else {}
        rows = [{"name": name, "value": value} for name, value in symbols.items()]
        context["symbol_rows"] = cells.rows(SYMBOL, rows, "symbols")
        context["symbol_inputs"] = SYMBOL
    return context


def _choice_context(cells: Cells, choice: dict[str, Any], index: int) -> dict[str, Any]:
    prefix = f"choices[{index}]."
    citations = [
        {
            "target": citation_target(citation),
            "stance": citation.get("stance", ""),
            "revision": f"{citation_target(citation)}|{citation.get('revision', '')}",
        }
        for citation in choice.get("citations") or []
    ]
    return {
        "choice": choice,
        "fields": cells.fields(CHOICE, choice, prefix=prefix),
        "scope": cells.fields(SCOPE, choice.get("scope") or {}, "scope.", prefix),
        "citations": cells.rows(CITATION, citations, "citations", prefix),
        "citation_inputs": CITATION,
        "acknowledged": cells.rows(ACKNOWLEDGED, choice.get("acknowledged"), "acknowledged", prefix),
        "acknowledged_inputs": ACKNOWLEDGED,
        "prediction": cells.fields(PREDICTION, choice.get("prediction") or {}, "prediction.", prefix),
        "wave_quant": cells.fields(WAVE_QUANT, choice.get("wave_quant") or {}, "wave_quant.", prefix),
        "levers": Lever.objects.filter(archived_at__isnull=True).values_list("slug", "name"),
        "anchor_names": Anchor.objects.values_list("name", flat=True),
    }


def _places(context: dict[str, Any]) -> list[dict[str, Any]]:
    """Every field and row of the page with what the rules say of it, so that autosave can renew the words beside it."""
    lists = ("fields", "scope", "prediction", "wave_quant")
    rows = [row for name in ("citations", "acknowledged", "symbol_rows") for row in context.get(name) or []]
    rows += [row for table in context.get("tables") or [] for row in table["rows"]]
    cells = [cell for name in lists for cell in context.get(name) or []]
    cells += [cell for row in rows for cell in row["cells"]]
    shown = [{"id": cell.id, "findings": cell.findings} for cell in cells if cell.input.kind != "hidden"]
    return shown + [{"id": row["id"], "findings": row["findings"]} for row in rows]
