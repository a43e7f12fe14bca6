"""Pages of a row's life: going back, taking in another row, comparing, bounds, watching, and the map over time."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from evidence import presenters, selectors
from evidence.curation import effects_of_content, verdicts_over_time
from evidence.forms import BoundsForm, MergeForm, ReasonForm
from evidence.policies import may_propose, require_proposer
from evidence.services.merging import propose_merge
from evidence.services.proposals import propose_revert
from evidence.services.watching import mark_seen, set_bounds, unwatch_row, watch_row
from evidence.views.rows import on_row
from v2kb.core.actor import actor_from_request
from v2kb.core.errors import Missing
from v2kb.core.values import whole_number
from v2kb.core.views import submit
from v2kb.rules.evidence_change import diff, material_change


@require_http_methods(["GET", "POST"])
def row_revert(request: HttpRequest, code: str, number: int) -> HttpResponse:
    """Propose that the row says again what an earlier revision said: what that changes, what it reopens, and why."""
    actor = actor_from_request(request)
    require_proposer(actor)
    row = selectors.get_row(code)
    earlier = selectors.get_revision(row, number)
    form = ReasonForm(request.POST or None)
    if request.method == "POST":
        proposal = submit(form, lambda data: propose_revert(actor, row.code, number, reason=data["reason"]))
        if proposal is not None:
            return redirect(proposal)
    head = row.head.content
    context = {
        "row": row,
        "earlier": earlier,
        "form": form,
        "changes": presenters.diff_rows(diff(head, earlier.content)),
        "material": material_change(head, earlier.content),
        "effects": effects_of_content(row, earlier.content),
    }
    return render(request, "evidence/row_revert.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "POST"])
def row_merge(request: HttpRequest, code: str) -> HttpResponse:
    """Propose that the row takes in another one."""
    actor = actor_from_request(request)
    require_proposer(actor)
    row = selectors.get_row(code)
    form = MergeForm(request.POST or None, initial={"taken": request.GET.get("taken", "")[:20]})
    if request.method == "POST":
        proposal = submit(
            form,
            lambda data: propose_merge(
                actor, into=row.code, taken=data["taken"].strip().upper(), reason=data["reason"]
            ),
        )
        if proposal is not None:
            return redirect(proposal)
    context = {"row": row, "form": form}
    return render(request, "evidence/row_merge.html", context, status=422 if form.errors else 200)


@require_GET
def row_compare(request: HttpRequest, code: str) -> HttpResponse:
    """Any two revisions field by field: `old` and `new`, by default the last two."""
    row = selectors.get_row(code)
    revisions = list(selectors.revisions_of(row))
    newest = row.head.number
    old = _revision(request, row, "old", max(1, newest - 1))
    new = _revision(request, row, "new", newest)
    context = {
        "row": row,
        "old": old,
        "new": new,
        "revisions": revisions,
        "changes": presenters.diff_rows(diff(old.content, new.content)),
        "material": material_change(old.content, new.content),
        "may_propose": may_propose(actor_from_request(request)),
    }
    return render(request, "evidence/row_compare.html", context)


def _revision(request: HttpRequest, row, name: str, default: int):
    text = request.GET.get(name, "")
    number = whole_number(text) if text else default
    if not number:
        raise Missing("evidence.no_revision", f"{row.code} has no revision {text[:20]}.", fix="Pick a number.")
    return selectors.get_revision(row, number)


@require_POST
def row_bounds(request: HttpRequest, code: str) -> HttpResponse:
    """Record what the row was measured on."""
    row, form = selectors.get_row(code), BoundsForm(request.POST)

    def call(actor) -> None:
        data = form.cleaned_data
        snapshot = int(data["snapshot"]) if data["snapshot"] else None
        set_bounds(actor, row.code, baseline=data["baseline"], driver=data["driver"], snapshot=snapshot)

    return on_row(request, row, form, call, f"The bounds of {row.code} are recorded.")


@require_POST
def row_watch(request: HttpRequest, code: str) -> HttpResponse:
    """Watch the row, watch it no longer, or say that one has seen what happened."""
    row, action = selectors.get_row(code), request.POST.get("action", "watch")
    calls = {
        "watch": (watch_row, f"You watch {row.code}: your home shows what happens to it."),
        "unwatch": (unwatch_row, f"You no longer watch {row.code}."),
        "seen": (mark_seen, f"{row.code} is marked as seen."),
    }
    service, done = calls.get(action, calls["watch"])
    if action == "seen":
        service(actor_from_request(request), row.code)
        messages.success(request, done)
        return redirect("home")
    return on_row(request, row, None, lambda actor: service(actor, row.code), done)


@require_POST
def watched_seen(request: HttpRequest) -> HttpResponse:
    """Mark everything that one watches as seen."""
    mark_seen(actor_from_request(request))
    messages.success(request, "All rows that you watch are marked as seen.")
    return redirect("home")


@require_GET
def over_time(request: HttpRequest) -> HttpResponse:
    """How many rows had each verdict, day by day."""
    return render(request, "evidence/over_time.html", {"counts": verdicts_over_time()})
