"""The spec editor: one page per section and per choice. Works without JavaScript; with it, drafts save while typing."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render

from kernels.editor import convert
from kernels.editor.conflict import apply_choices, merge_tabs
from kernels.editor.forms import complete, without_nul
from kernels.editor.layout import BY_SLUG, anchor_of
from kernels.editor.rows import Action
from kernels.editor.screen import FINISH, Page, fields_of, judged
from kernels.models import Spec, SpecDraft
from kernels.selectors.citable import citable
from kernels.services import specs
from v2kb.core.actor import actor_from_request
from v2kb.core.errors import Conflict, Refusal
from v2kb.core.values import whole_number
from v2kb.core.views import redirect_htmx
from v2kb.rules.formulas import rename_symbol
from v2kb.rules.spec_document import empty_row, next_choice_id, normalise

AUTOSAVE = "autosave"
AGREED = 1  # of convert:channels:1


def edit(request: HttpRequest, code: str, section: str = "overview") -> HttpResponse:
    """Show or store one section of the actor's draft."""
    if section not in BY_SLUG:
        raise Http404
    return _page(request, code, Page(section))


def edit_choice(request: HttpRequest, code: str, choice_id: str) -> HttpResponse:
    """Show or store one choice of the actor's draft."""
    return _page(request, code, Page("choices", choice_id))


def _page(request: HttpRequest, code: str, page: Page) -> HttpResponse:
    spec = get_object_or_404(Spec.objects.select_related("head"), code=code)
    draft = specs.open_draft(actor_from_request(request), spec=spec)
    if page.choice_id and page.index(complete(draft.content)) is None:
        raise Http404
    if request.method != "POST":
        return _show(request, spec, draft, page, complete(draft.content))
    return _store(request, spec, draft, page, without_nul(request.POST))


def save_revision(request: HttpRequest, code: str) -> HttpResponse:
    """Make a revision of the draft, and hand it in where that was asked."""
    spec = get_object_or_404(Spec.objects.select_related("head"), code=code)
    actor = actor_from_request(request)
    draft = specs.open_draft(actor, spec=spec)
    page = Page(FINISH)
    if request.method != "POST":
        return _show(request, spec, draft, page, complete(draft.content))
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
        return _show(request, spec, draft, page, complete(draft.content), refusal=refusal)
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


def _store(request: HttpRequest, spec: Spec, draft: SpecDraft, page: Page, data: QueryDict) -> HttpResponse:
    """Save the draft. What another tab saved in the meantime is merged in; what both changed is asked about."""
    action = data.get("action") or (AUTOSAVE if request.htmx else "save")
    if whole_number(data.get("version", ""), default=draft.version) != draft.version:
        merged = merge_tabs(lambda form: page.read(form, draft.content), data, page.form_of(draft.content))
        if merged.asked or merged.same_page:
            return _show_merged(request, spec, draft, page, merged)
    document = page.read(data, draft.content, action)
    apply_choices(document, data)
    changes = _act(request, spec, document, Action.read(action))
    try:
        draft = specs.save_draft(actor_from_request(request), spec=spec, content=document, version=draft.version)
    except Conflict:
        # Another tab saved between the two looks at the draft.
        return _store(request, spec, specs.open_draft(actor_from_request(request), spec=spec), page, data)
    except Refusal as refusal:
        if refusal.status in (403, 404):
            raise
        return _show(request, spec, draft, page, document, refusal=refusal)
    if changes:
        return _show(request, spec, draft, page, document, conversion=changes)
    return _stored(request, spec, draft, page, action)


def _stored(request: HttpRequest, spec: Spec, draft: SpecDraft, page: Page, action: str) -> HttpResponse:
    """The answer to what was saved: where the person goes on."""
    pressed = Action.read(action)
    if action == "add:choices":
        choice_id = draft.content["choices"][-1]["id"]
        return redirect_htmx(request, redirect("kernels:spec_edit_choice", code=spec.code, choice_id=choice_id).url)
    if action == AUTOSAVE or request.htmx:
        return _show(request, spec, draft, page, complete(draft.content), autosaved=action == AUTOSAVE)
    if action in BY_SLUG:
        return redirect("kernels:spec_edit", code=spec.code, section=action)
    where = "last-row-" + anchor_of(pressed.path) if pressed.verb == "add" else "f-" + anchor_of(pressed.row)
    return redirect(request.path + (f"#{where}" if pressed.path else ""))


def _act(request: HttpRequest, spec: Spec, document: dict[str, Any], action: Action) -> list[str]:
    """Do what a button asks of the whole draft. Gives what a conversion would change, which waits for an agreement."""
    if (action.verb, action.path) == ("add", "choices"):
        new_id = next_choice_id(normalise(document)[0], _used_ids(spec))
        document["choices"][-1] = {**empty_row("choices"), "id": new_id, "polarity": "keeps"}
    elif action.verb == "rename":
        old, _, new = action.path.partition("=")
        symbols = normalise(document)[0]["symbols"]
        if new in symbols and old not in symbols:
            document.update(rename_symbol(document, old, new))
    elif action.verb == "convert" and action.path in (convert.ROWS, convert.CHANNELS):
        return _convert(request, document, action)
    return []


def _convert(request: HttpRequest, document: dict[str, Any], action: Action) -> list[str]:
    """Turn the semaphores into the other form, unless that changes something which nobody agreed to yet."""
    changes = convert.changes(document, action.path)
    if changes and action.index != AGREED:
        messages.warning(request, "Nothing is converted yet: look at what it would change, then agree.")
        return changes
    if action.path == convert.ROWS:
        convert.to_rows(document)
    elif left := convert.to_channels(document):
        said = "These rows are neither one edge of a pair nor a single semaphore, so nothing was changed: "
        messages.warning(request, f"{said}{', '.join(left)}. Name the pair of each, or give it one slot.")
    return []


def _show_merged(request: HttpRequest, spec: Spec, draft: SpecDraft, page: Page, merged: Any) -> HttpResponse:
    refusal = Conflict(
        "spec.draft_moved",
        "Another tab saved this draft in the meantime; what you typed here is not stored yet.",
        fix="Choose below which of the two stands, then save."
        if merged.asked
        else "Its changes are shown here beside yours. Save to store both.",
        facts={"version": draft.version},
    )
    return _show(request, spec, draft, page, merged.document, refusal=refusal, asked=merged.asked)


def _show(
    request: HttpRequest,
    spec: Spec,
    draft: SpecDraft,
    page: Page,
    document: dict[str, Any],
    *,
    refusal: Refusal | None = None,
    autosaved: bool = False,
    **more: Any,
) -> HttpResponse:
    context: dict[str, Any] = {
        "spec": spec,
        "draft": draft,
        "page": page,
        "document": document,
        "refusal": refusal,
        "moved_on": spec.head_id != draft.base_id,
        **judged(spec, page, document, gate=page.gated or not autosaved),
        **more,
    }
    if not autosaved:
        context |= fields_of(page, document, context["findings"])
        context["base"] = page.form_of(draft.content)
        if page.choice_id:
            context["citable"] = citable(document, context["choice"])
    template = "kernels/spec_edit.html"
    status = refusal.status if refusal else 200
    if request.htmx and not request.htmx.boosted:
        return render(request, f"{template}#{'autosaved' if autosaved else 'reply'}", context, status=status)
    return render(request, template, context, status=status)
