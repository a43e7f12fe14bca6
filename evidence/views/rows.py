"""Pages of rows: one row, one revision with a diff, and what is done to a row."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from evidence import presenters, selectors
from evidence.curation import effects_of_flag
from evidence.forms import BoundsForm, ReasonForm, SupersedeForm
from evidence.lineage import drawing, lineage_of
from evidence.models import EvidenceRow
from evidence.policies import may_confirm, may_curate, may_propose
from evidence.services import archive_row, clear_flag, confirm_flag, flag_row, restore_row, supersede_row
from evidence.views.shared import act
from v2kb.core.activity import activity_of
from v2kb.core.actor import actor_from_request
from v2kb.core.errors import Missing, Refusal
from v2kb.core.registry import panels_of
from v2kb.rules.evidence import weak_dead
from v2kb.rules.evidence_change import diff


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
    confirmable = {flag.pk for flag in facts["flags"] if may_confirm(actor, flag)}
    own_flags = {flag.pk for flag in facts["flags"] if flag.raised_by_id == request.user.pk and not flag.confirmed_at}
    lineage = lineage_of(row)
    context = {
        "row": row,
        "lineage": lineage if lineage.edges else None,
        "drawing": drawing(lineage, row),
        "merged": next((edge.newer for edge in facts["newer"] if edge.kind == "merges"), None),
        "bounds_form": BoundsForm.of(facts["bounds"], auto_id="bounds-%s"),
        "is_watched": row.subscriptions.filter(user=request.user).exists(),
        "content": content,
        "numbers": presenters.number_rows(content),
        "sources": presenters.source_rows(content),
        "scope": presenters.scope_table(content["scope"]),
        "missing": presenters.missing_of(content),
        "blocking": presenters.blocking_words(content, row.head.blocking, successors),
        "flag_chip": presenters.flag_words(facts["flags"]),
        "weak": weak_dead(content),
        "cause": presenters.value_text("cause_class", content["cause_class"]),
        "successors": successors,
        "timeline": presenters.timeline(revisions, activity_of(row, 30)),
        "revisions": revisions,
        "panels": panels_of(request, row),
        "may_propose": may_propose(actor),
        "may_curate": may_curate(actor),
        "own_flags": own_flags,
        "confirmable": confirmable,
        "effects": effects_of_flag(row) if confirmable else [],
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


def on_row(request: HttpRequest, row: EvidenceRow, form, call, done: str) -> HttpResponse:
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
    return on_row(
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
    return on_row(request, row, None, lambda actor: confirm_flag(actor, pk), done)


@require_POST
def flag_clear(request: HttpRequest, code: str, pk: int) -> HttpResponse:
    """Take a doubt down."""
    row, form = selectors.get_row(code), ReasonForm(request.POST)
    return on_row(
        request,
        row,
        form,
        lambda actor: clear_flag(actor, pk, reason=form.cleaned_data["reason"]),
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

    return on_row(request, row, form, call, f"The relation of {row.code} is recorded.")


@require_POST
def row_archive(request: HttpRequest, code: str) -> HttpResponse:
    """Take the row off the lists."""
    row, form = selectors.get_row(code), ReasonForm(request.POST)
    return on_row(
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
    return on_row(request, row, None, lambda actor: restore_row(actor, row.code), f"{row.code} is back on the lists.")
