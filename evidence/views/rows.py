"""Pages of rows: board and table, one row, one revision with a diff, and what is done to a row."""

from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from evidence import presenters, selectors
from evidence.forms import ReasonForm, SupersedeForm
from evidence.models import EvidenceRow, Verdict
from evidence.policies import may_curate, may_propose
from evidence.search import FACETS, LABELS, Found, Query, hits_of, search_rows
from evidence.services import archive_row, clear_flag, confirm_flag, flag_row, restore_row, supersede_row
from evidence.views.shared import act
from v2kb.core.activity import activity_of
from v2kb.core.actor import actor_from_request
from v2kb.core.errors import Missing, Refusal
from v2kb.core.registry import panels_of
from v2kb.core.views import page_of, render_part_or_page
from v2kb.rules.evidence import weak_dead
from v2kb.rules.evidence_change import diff

LANE_SIZE = 60
MAX_KEY = 2**62


@require_GET
def row_list(request: HttpRequest) -> HttpResponse:
    """The three-lane board, or the table (`view=table`); words and facets in the address."""
    query = Query.of_params(request.GET)
    refusal = None
    try:
        found = search_rows(query)
    except Refusal as error:
        refusal, found = error, search_rows(replace(query, text=""))
    is_table = request.GET.get("view") == "table"
    actor = actor_from_request(request)
    context: dict[str, Any] = {
        "query": query,
        "refusal": refusal,
        "caret": _caret(query.text, refusal),
        "found": found,
        "is_table": is_table,
        "groups": _filter_groups(query, found),
        "applied": _applied(request, found),
        "may_propose": may_propose(actor),
        "may_curate": may_curate(actor),
        "keep": {"view": "table"} if is_table else {},
        "total": len(found),
    }
    if refusal:
        context["total"] = 0
    elif is_table:
        page = page_of(request, found.ids)
        page.object_list = _cards(found, list(page.object_list))
        context["page"] = page
    else:
        context["lanes"] = _lanes(request, found)
    if found.terms and not len(found):
        context["near"] = list(selectors.list_levers(query=query.text)[:5])
    return render_part_or_page(
        request, "evidence/row_list.html", context, part="list", status=refusal.status if refusal else 200
    )


def _caret(text: str, refusal: Refusal | None) -> str:
    """The query with a caret below the place that can't be read."""
    at = refusal.facts.get("at") if refusal and refusal.facts else None
    return "" if at is None else f"{text}\n{' ' * at}^"


def _cards(found: Found, ids: list[int]) -> list[dict[str, Any]]:
    ids = [int(row_id) for row_id in ids]
    states = selectors.states_of(ids)
    return [presenters.card(hit, states[hit.row.pk]) for hit in hits_of(found, ids)]


def _lanes(request: HttpRequest, found: Found) -> list[dict[str, Any]]:
    lanes = {verdict: found.of(verdict) for verdict in Verdict.values}
    cards = _cards(found, [row_id for ids in lanes.values() for row_id in ids[:LANE_SIZE]])
    params = request.GET.copy()
    params["view"] = "table"
    built = []
    for verdict, ids in lanes.items():
        params["verdict"] = verdict
        more = f"?{params.urlencode()}" if len(ids) > LANE_SIZE else ""
        mine = [card for card in cards if card["verdict"] == verdict]
        built.append({"verdict": verdict, "count": len(ids), "cards": mine, "more_url": more})
    return built


def _filter_groups(query: Query, found: Found) -> list[dict[str, Any]]:
    groups: list[dict[str, Any]] = [{"name": "q", "label": "Code or words", "type": "text", "value": query.text}]
    groups += [
        {"name": name, "label": LABELS[name], "type": "checkbox", "options": found.facets[name]}
        for name in FACETS
        if found.facets[name]
    ]
    archived = {"value": "1", "label": "archived rows", "count": None, "checked": query.archived}
    return [*groups, {"name": "archived", "label": "Show", "type": "checkbox", "options": [archived]}]


def _applied(request: HttpRequest, found: Found) -> list[dict[str, str]]:
    """What narrows the list, each with the address without it."""
    applied = []
    for name in FACETS:
        labels = {option.value: option.label for option in found.facets[name]}
        for value in request.GET.getlist(name):
            if value:
                params = request.GET.copy()
                params.setlist(name, [other for other in params.getlist(name) if other != value])
                params.pop("page", None)
                applied.append(
                    {"label": f"{LABELS[name]}: {labels.get(value, value)}", "url": f"?{params.urlencode()}"}
                )
    return applied


@require_GET
def row_detail(request: HttpRequest, code: str) -> HttpResponse:
    """One row: fields, numbers, sources, scope, what is missing, who cites it, proposals, flags, timeline."""
    row = selectors.get_row(code)
    if row.code != code:
        return redirect(row)
    return _row_page(request, row)


def _row_page(
    request: HttpRequest, row: EvidenceRow, *, refusal: Refusal | None = None, status: int = 200
) -> HttpResponse:
    actor = actor_from_request(request)
    content = row.head.content
    facts = selectors.row_facts(row)
    successors = sorted({edge.newer.code for edge in facts["newer"] if edge.kind in selectors.SUPERSEDING})
    revisions = list(selectors.revisions_of(row))
    for revision in revisions:
        revision.row = row
    for receipt in facts["receipts"]:
        receipt.url = presenters.run_url(receipt.run_id)
    own_flags = {flag.pk for flag in facts["flags"] if flag.raised_by_id == request.user.pk and not flag.confirmed_at}
    context = {
        "row": row,
        "content": content,
        "numbers": presenters.number_rows(content),
        "sources": presenters.source_rows(content),
        "scope": presenters.scope_table(content["scope"]),
        "missing": presenters.missing_of(content),
        "blocking": presenters.blocking_words(content, row.head.blocking, successors),
        "weak": weak_dead(content),
        "cause": presenters.value_text("cause_class", content["cause_class"]),
        "successors": successors,
        "timeline": presenters.timeline(revisions, activity_of(row, 30)),
        "revisions": revisions,
        "panels": panels_of(request, row),
        "may_propose": may_propose(actor),
        "may_curate": may_curate(actor),
        "own_flags": own_flags,
        "has_own_flag": any(flag.raised_by_id == request.user.pk for flag in facts["flags"]),
        "flag_form": ReasonForm(auto_id="flag-%s"),
        "supersede_form": SupersedeForm(auto_id="supersede-%s"),
        "refusal": refusal,
        **facts,
    }
    return render(request, "evidence/row_detail.html", context, status=status)


@require_GET
def row_revision(request: HttpRequest, code: str, number: int) -> HttpResponse:
    """One revision and how it differs from another (`against`, by default the one before)."""
    row = selectors.get_row(code)
    revision = selectors.get_revision(row, number)
    against = _against(request, row, number)
    content = revision.content
    revisions = list(selectors.revisions_of(row))
    context = {
        "row": row,
        "revision": revision,
        "content": content,
        "against": against,
        "changes": presenters.diff_rows(diff(against.content, content)) if against else [],
        "revisions": revisions,
        "numbers": presenters.number_rows(content),
        "sources": presenters.source_rows(content),
        "scope": presenters.scope_table(content["scope"]),
        "cause": presenters.value_text("cause_class", content["cause_class"]),
        "is_head": revision.pk == row.head_id,
        "older": number - 1 if number > 1 else None,
        "newer": number + 1 if number < row.head.number else None,
    }
    return render(request, "evidence/row_revision.html", context)


def _against(request: HttpRequest, row: EvidenceRow, number: int):
    asked = request.GET.get("against", "")
    if asked:
        if not asked.isascii() or not asked.isdigit():
            raise Missing("evidence.no_revision", f"{row.code} has no revision {asked[:20]}.", fix="Pick a number.")
        return selectors.get_revision(row, int(asked[:10]))
    return selectors.get_revision(row, number - 1) if number > 1 else None


def _on_row(request: HttpRequest, row: EvidenceRow, form, call, done: str) -> HttpResponse:
    """Run a valid form's action on a row; errors show the row's page again."""

    def again(refusal: Refusal) -> HttpResponse:
        return _row_page(request, selectors.get_row(row.code), refusal=refusal, status=refusal.status)

    if form is not None and not form.is_valid():
        field, errors = next(iter(form.errors.items()))
        label = form.fields[field].label or field.replace("_", " ").capitalize() if field in form.fields else "The form"
        return again(Refusal("evidence.form", f"{label}: {errors[0]}", field=field))
    return act(request, lambda: call(actor_from_request(request)), done=done, to=row.get_absolute_url(), again=again)


@require_POST
def row_flag(request: HttpRequest, code: str) -> HttpResponse:
    """Raise a doubt."""
    row, form = selectors.get_row(code), ReasonForm(request.POST)
    return _on_row(
        request,
        row,
        form,
        lambda actor: flag_row(actor, row.code, reason=form.cleaned_data["reason"]),
        f"{row.code} is flagged. A curator confirms or clears it.",
    )


@require_POST
def flag_confirm(request: HttpRequest, code: str, pk: int) -> HttpResponse:
    """Confirm a doubt."""
    row = selectors.get_row(code)
    done = f"The flag on {row.code} is confirmed; the row can't be cited now."
    return _on_row(request, row, None, lambda actor: confirm_flag(actor, min(pk, MAX_KEY)), done)


@require_POST
def flag_clear(request: HttpRequest, code: str, pk: int) -> HttpResponse:
    """Take a doubt down."""
    row, form = selectors.get_row(code), ReasonForm(request.POST)
    return _on_row(
        request,
        row,
        form,
        lambda actor: clear_flag(actor, min(pk, MAX_KEY), reason=form.cleaned_data["reason"]),
        f"The flag on {row.code} is taken down.",
    )


@require_POST
def row_supersede(request: HttpRequest, code: str) -> HttpResponse:
    """Say that another row replaces, narrows, contradicts, merges or splits this one."""
    row, form = selectors.get_row(code), SupersedeForm(request.POST)

    def call(actor) -> None:
        data = form.cleaned_data
        newer = data["newer"].strip().upper()
        supersede_row(actor, newer=newer, older=row.code, kind=data["kind"], reason=data["reason"])

    return _on_row(request, row, form, call, f"The relation of {row.code} is recorded.")


@require_POST
def row_archive(request: HttpRequest, code: str) -> HttpResponse:
    """Take the row off the lists."""
    row, form = selectors.get_row(code), ReasonForm(request.POST)
    return _on_row(
        request,
        row,
        form,
        lambda actor: archive_row(actor, row.code, reason=form.cleaned_data["reason"]),
        f"{row.code} is archived.",
    )


@require_POST
def row_restore(request: HttpRequest, code: str) -> HttpResponse:
    """Put the row back on the lists."""
    row = selectors.get_row(code)
    return _on_row(request, row, None, lambda actor: restore_row(actor, row.code), f"{row.code} is back on the lists.")
