"""Pages of proposals: forms, and one proposal with its decision."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from evidence import presenters, selectors
from evidence.curation import effects_of
from evidence.deciding import acceptances_needed, accepting, disarms, interested_in, obstacles
from evidence.forms import ContentForm, initial_of
from evidence.lines import read_numbers
from evidence.models import Proposal
from evidence.policies import may_curate, may_propose, require_curator, require_proposer
from evidence.services import (
    accept_proposal,
    propose_change,
    propose_row,
    reject_proposal,
    revise_proposal,
    withdraw_proposal,
)
from evidence.services.decisions import recuse
from evidence.services.revisions import newly_missing
from evidence.stale import differing
from evidence.views.deciding import conflict_of
from evidence.views.queue import to_queue
from evidence.views.shared import act, content_form, render_form, send_content
from evidence.vocabulary import added_causes, unit_spellings
from v2kb.core.actor import actor_from_request
from v2kb.core.errors import Refusal
from v2kb.rules.evidence import read_content
from v2kb.rules.evidence_change import diff, material_change, merged_content, three_way

MAX_KEY = 2**62


@require_http_methods(["GET", "POST"])
def row_propose(request: HttpRequest, code: str) -> HttpResponse:
    """Propose another content of a row. When the row moved on meanwhile, the form comes back merged."""
    actor = actor_from_request(request)
    require_proposer(actor)
    row = selectors.get_row(code)
    head = row.head
    form = content_form(
        request, known=head.content, initial=initial_of(head.content) | {"base_hash": head.content_hash}
    )
    context: dict[str, Any] = {"row": row, "form": form}
    if request.method == "POST":
        base_hash = form.data.get("base_hash", "")
        proposal, refusal = send_content(
            form,
            lambda content, reason: propose_change(actor, row, base_hash=base_hash, content=content, reason=reason),
        )
        if proposal is not None:
            return redirect(proposal)
        if refusal is not None and refusal.status == 409:
            context |= _conflict(form, refusal, row)
    return render_form(request, "evidence/row_propose.html", context, context["form"])


def _conflict(form: ContentForm, refusal: Refusal, row) -> dict[str, Any]:
    """The three-way view and the form merged onto the newest revision; other conflicts are only told."""
    if refusal.code != "evidence.stale_base":
        return {"conflict": refusal}
    row = selectors.get_row(row.code)
    base = selectors.find_revision(row.code, form.data.get("base_hash", ""))
    view = three_way((base or row.head).content, row.head.content, read_content(form.content(), added_causes())[0])
    merged = merged_content(view, {part.field: part.mine for part in view if part.state == "conflict"})
    merged_form = ContentForm(
        initial=initial_of(merged) | {"base_hash": row.head.content_hash, "reason": form.cleaned_data["reason"]},
        known=row.head.content,
    )
    return {
        "conflict": refusal,
        "row": row,
        "form": merged_form,
        "three_way": presenters.three_way_rows(differing(view)),
    }


@require_http_methods(["GET", "POST"])
def row_new(request: HttpRequest) -> HttpResponse:
    """Propose a row that does not exist yet."""
    actor = actor_from_request(request)
    require_proposer(actor)
    initial = {
        "verdict": "UNTESTED",
        "lever": request.GET.get("lever", ""),
        "title": request.GET.get("title", "")[:300],
    }
    form = content_form(request, known=None, initial=initial)
    if request.method == "POST":
        proposal, _ = send_content(form, lambda content, reason: propose_row(actor, content=content, reason=reason))
        if proposal is not None:
            return redirect(proposal)
    return render_form(request, "evidence/row_propose.html", {"row": None, "form": form}, form)


@require_http_methods(["GET", "POST"])
def proposal_revise(request: HttpRequest, pk: int) -> HttpResponse:
    """Put a newer proposal in the place of an open one, merged onto the row's newest revision."""
    actor = actor_from_request(request)
    require_proposer(actor)
    proposal = selectors.get_proposal(pk)
    row = proposal.row
    content, view = proposal.content, []
    if row is not None:
        view = three_way((proposal.base or row.head).content, row.head.content, proposal.content)
        content = merged_content(view, {part.field: part.mine for part in view if part.state == "conflict"})
    base_hash = row.head.content_hash if row else ""
    form = content_form(
        request, known=content, initial=initial_of(content) | {"base_hash": base_hash, "reason": proposal.reason}
    )
    is_stale = selectors.is_stale(proposal)
    context: dict[str, Any] = {
        "row": row,
        "form": form,
        "revises": proposal,
        "three_way": presenters.three_way_rows(differing(view)) if is_stale else [],
    }
    if request.method == "POST":
        sent_base = form.data.get("base_hash", "")
        revised, refusal = send_content(
            form,
            lambda content, reason: revise_proposal(
                actor, proposal.pk, base_hash=sent_base, content=content, reason=reason
            ),
        )
        if revised is not None:
            return redirect(revised)
        if refusal is not None and refusal.status == 409:
            context |= _conflict(form, refusal, row) if row else {"conflict": refusal}
    return render_form(request, "evidence/row_propose.html", context, context["form"])


@require_POST
def number_preview(request: HttpRequest) -> HttpResponse:
    """How the lines of a form's numbers are read; a part for htmx."""
    role = "bound" if request.POST.get("verdict") == "UNTESTED" else "verdict"
    text = request.POST.get("numbers", "")[:20_000]
    numbers, problems = read_numbers(text, role=role, units=unit_spellings())
    context = {"numbers": presenters.number_rows({"numbers": numbers}), "problems": problems}
    return render(request, "evidence/number_preview.html", context)


@require_GET
def proposal_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """A proposal: what it changes, why, its receipts, who decided, and the decision."""
    return _page(request, selectors.get_proposal(pk))


def _page(
    request: HttpRequest, proposal: Proposal, *, refusal: Refusal | None = None, status: int = 200
) -> HttpResponse:
    actor = actor_from_request(request)
    row, content = proposal.row, proposal.content
    is_open, is_stale = proposal.state == Proposal.State.OPEN, selectors.is_stale(proposal)
    base = proposal.base.content if proposal.base else None
    decisions = list(proposal.decisions.all())
    for receipt in proposal.receipts.all():
        receipt.url = presenters.run_url(receipt.run_id)
    view = three_way(base, row.head.content, content) if is_stale and base else []
    is_author = proposal.author_id == request.user.pk
    effects = effects_of([proposal])[proposal.pk] if is_open else []
    claim = selectors.claim_on(proposal)
    context = {
        "proposal": proposal,
        "row": row,
        "content": content,
        "changes": presenters.diff_rows(diff(base, content)) if base else [],
        "material": material_change(base, content) if base else [],
        "effects": effects,
        "numbers": presenters.number_rows(content),
        "sources": presenters.source_rows(content),
        "scope": presenters.scope_table(content["scope"]),
        "cause": presenters.value_text("cause_class", content["cause_class"]),
        "three_way": presenters.three_way_rows(differing(view)),
        "is_stale": is_stale,
        "is_open": is_open,
        "disarms": is_open and disarms(proposal),
        "decisions": decisions,
        "receipts": list(proposal.receipts.all()),
        "bar": _bar(actor, proposal, decisions, is_stale) if is_open else None,
        "claim": claim,
        "is_claimed_by_me": claim is not None and claim.user_id == request.user.pk,
        "is_author": is_author,
        "may_revise": is_open and may_propose(actor) and (is_author or proposal.origin == Proposal.Origin.RUN),
        "refusal": refusal,
    }
    return render(request, "evidence/proposal_detail.html", context, status=status)


def _bar(actor, proposal: Proposal, decisions: list, is_stale: bool) -> dict[str, Any]:
    """The decision bar: what is missing, what is settled, and whether this user may accept."""
    head = proposal.row.head if proposal.row else None
    needed, interested = acceptances_needed(proposal), interested_in(proposal)
    given = accepting(decisions)
    standing = [decision for decision in given if decision.user_id not in interested]
    is_revert = proposal.reverts_to is not None
    missing = [
        problem.message
        for problem in ([] if is_revert else newly_missing(proposal.content, head.content if head else None))
    ]
    if is_stale:
        missing.append(f"{proposal.row.code} has moved on: the proposal must be brought to revision {head.number}.")
    if proposal.merges is not None and proposal.merges.row.head_id != proposal.merges_id:
        missing.append(f"{proposal.merges.row.code} has moved on: the proposal must be revised.")
    left = max(1, needed - len(standing))
    people = "1 acceptance of a curator" if left == 1 else f"{left} acceptances of curators"
    missing.append(f"Needs {people} who did not write it.")
    settled = [f"{decision.user.display_name} accepted." for decision in standing]
    settled += [
        f"{decision.user.display_name} accepted, and has an open spec on the lever since: it no longer counts."
        for decision in given
        if decision not in standing
    ]
    found = obstacles(actor.user.pk, proposal, decisions) if may_curate(actor) else []
    reasons = [reason.sentence for reason in found]
    codes = {reason.code for reason in found}
    return {
        "missing": missing + reasons,
        "settled": settled,
        "may_decide": may_curate(actor) and not reasons,
        "may_recuse": may_curate(actor) and not codes & {"own_proposal", "already_accepted", "recused"},
        "may_accept": may_curate(actor) and not reasons and not is_stale and len(missing) == 1,
        "needs_two": needed > 1,
        "needs_another": left > 1,
    }


def _decide(request: HttpRequest, pk: int, call, done: str | Callable[[Proposal], str]) -> HttpResponse:
    proposal = selectors.get_proposal(pk)

    def again(refusal: Refusal) -> HttpResponse:
        return _page(request, selectors.get_proposal(pk), refusal=refusal, status=refusal.status)

    response = act(
        request, lambda: call(actor_from_request(request)), done=done, to=proposal.get_absolute_url(), again=again
    )
    return to_queue(request) if response.status_code == 302 and "queue" in request.POST else response


def _accepted(proposal: Proposal) -> str:
    if proposal.state == Proposal.State.OPEN:
        return "Your acceptance is stored. Another curator must accept too."
    return f"Accepted: {proposal.row.code} is at revision {proposal.row.head.number}."


@require_POST
def proposal_accept(request: HttpRequest, pk: int) -> HttpResponse:
    """Accept, stating a conflict of interest or none."""
    require_curator(actor_from_request(request))
    reason, over_claim = request.POST.get("reason", ""), request.POST.get("over_claim") == "on"
    return _decide(
        request,
        pk,
        lambda actor: accept_proposal(
            actor, min(pk, MAX_KEY), conflict=conflict_of(request), reason=reason, over_claim=over_claim
        ),
        _accepted,
    )


@require_POST
def proposal_recuse(request: HttpRequest, pk: int) -> HttpResponse:
    """Stand aside."""
    reason = request.POST.get("reason", "")
    return _decide(
        request,
        pk,
        lambda actor: recuse(actor, min(pk, MAX_KEY), reason=reason),
        "You stand aside: others decide this proposal.",
    )


@require_POST
def proposal_reject(request: HttpRequest, pk: int) -> HttpResponse:
    """Reject with a reason."""
    reason = request.POST.get("reason", "")
    return _decide(
        request, pk, lambda actor: reject_proposal(actor, min(pk, MAX_KEY), reason=reason), "The proposal is rejected."
    )


@require_POST
def proposal_withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    """Take back one's own."""
    return _decide(request, pk, lambda actor: withdraw_proposal(actor, min(pk, MAX_KEY)), "The proposal is withdrawn.")
