"""The curation queue: filters, claims, and accepting many of one kind with a preview first."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from evidence import selectors
from evidence.curation import effects_of
from evidence.deciding import acceptances_needed, accepting, disarms, head_content
from evidence.models import Proposal
from evidence.policies import may_curate, may_propose, require_curator
from evidence.presenters import folded_rows
from evidence.services.bulk import MAX_BULK, accept_many, preview_bulk
from evidence.services.claims import claim_proposal, release_claim
from evidence.views.deciding import conflict_of
from v2kb.core.actor import actor_from_request
from v2kb.core.errors import Refusal
from v2kb.core.values import whole_number
from v2kb.core.views import page_of, render_part_or_page
from v2kb.rules.evidence_change import diff

Kind, State = Proposal.Kind, Proposal.State
MAX_KEY = 2**62


@require_GET
def proposal_list(request: HttpRequest) -> HttpResponse:
    """Open proposals, oldest first, with what each would reopen; other states and single kinds on demand."""
    return queue_page(request)


def queue_page(request: HttpRequest, *, refusal: Refusal | None = None) -> HttpResponse:
    """The queue as the address asks for it, with a refusal above it where something was refused."""
    actor = actor_from_request(request)
    state = _known(request, "state", (*State.values, "all"), State.OPEN)
    kind = _known(request, "kind", Kind.values, "")
    page = page_of(request, selectors.list_proposals("" if state == "all" else state, kind), MAX_BULK)
    mine = {proposal.pk for proposal in selectors.proposals_for(actor)}
    effects = effects_of([proposal for proposal in page.object_list if proposal.state == State.OPEN])
    for proposal in page.object_list:
        _dress(proposal, effects.get(proposal.pk, []), proposal.pk in mine, request.user.pk)
    counts = selectors.count_kinds("" if state == "all" else state)
    kinds = [{"value": value, "label": label, "count": counts.get(value, 0)} for value, label in Kind.choices]
    context = {
        "page": page,
        "state": state,
        "states": [(value, label) for value, label in (*State.choices, ("all", "all")) if value != "draft"],
        "kind": kind,
        "kinds": [each for each in kinds if each["count"] or each["value"] == kind],
        "total": sum(counts.values()),
        "may_propose": may_propose(actor),
        "may_curate": may_curate(actor),
        "chosen": request.GET.get("choose") == "all",
        "most": MAX_BULK,
        "query": request.GET.urlencode(),
        "refusal": refusal,
        "unread": _unread(request),
    }
    status = refusal.status if refusal else 200
    return render_part_or_page(request, "evidence/proposal_list.html", context, part="list", status=status)


def _unread(request: HttpRequest) -> list[str]:
    asked = (("state", "State", (*State.values, "all")), ("kind", "Kind", Kind.values))
    given = [(label, request.GET.get(name, ""), known) for name, label, known in asked]
    return [
        f"{label}: “{text[:40]}” is none of {', '.join(known)}."
        for label, text, known in given
        if text and text not in known
    ]


def _known(request: HttpRequest, name: str, known: Any, default: str) -> str:
    value = request.GET.get(name, default)
    return value if value in known else default


def _dress(proposal: Proposal, effects: list[dict[str, Any]], is_mine: bool, user_id: int) -> None:
    proposal.is_stale = selectors.is_stale(proposal)
    proposal.is_mine_to_decide = is_mine
    proposal.needed = acceptances_needed(proposal)
    proposal.given = len(accepting(proposal.decisions.all()))
    proposal.needs_another = proposal.needed > proposal.given + 1
    proposal.disarms = disarms(proposal)
    proposal.effects = effects
    proposal.reopens = [line for line in effects if line["effect"] == "reopens"]
    proposal.claimed = selectors.claim_on(proposal)
    proposal.is_claimed_by_me = proposal.claimed is not None and proposal.claimed.user_id == user_id


def to_queue(request: HttpRequest) -> HttpResponse:
    """Back to the queue, as it was filtered."""
    query = request.POST.get("queue", "")
    return redirect(f"{reverse('evidence:proposal_list')}?{query}" if query else "evidence:proposal_list")


@require_POST
def proposal_claim(request: HttpRequest, pk: int) -> HttpResponse:
    """Say that one looks at it, or let go again."""
    actor, key = actor_from_request(request), min(pk, MAX_KEY)
    is_release = request.POST.get("action") == "release"
    try:
        release_claim(actor, key) if is_release else claim_proposal(actor, key)
    except Refusal as refusal:
        if refusal.status in (403, 404):
            raise
        messages.warning(request, f"{refusal.message} {refusal.fix or ''}")
    else:
        done = f"Proposal {pk} is free again." if is_release else f"Proposal {pk} is yours for 15 minutes."
        messages.success(request, done)
    return to_queue(request) if "queue" in request.POST else redirect("evidence:proposal_detail", pk)


@require_POST
def proposal_bulk(request: HttpRequest) -> HttpResponse:
    """What would become of the chosen proposals; with `confirm`, what became of them."""
    actor = actor_from_request(request)
    require_curator(actor)
    ids = [whole_number(text) for text in request.POST.getlist("ids")[:500]]
    done = bool(request.POST.get("confirm"))
    refusal, lines = None, []
    try:
        if done:
            lines = accept_many(actor, ids, conflict=conflict_of(request), reason=request.POST.get("reason", ""))
        else:
            lines = preview_bulk(actor, ids)
    except Refusal as error:
        if error.code != "evidence.conflict_missing":
            if error.status in (403, 404):
                raise
            return queue_page(request, refusal=error)
        refusal, done = error, False
        lines = preview_bulk(actor, ids)
    effects = {} if done else effects_of([line.proposal for line in lines])
    context = {
        "lines": [(line, effects.get(line.proposal.pk, []), [] if done else _changes(line.proposal)) for line in lines],
        "accepted": sum(line.outcome != "refused" for line in lines),
        "done": done,
        "queue": request.POST.get("queue", ""),
        "kind": lines[0].proposal.get_kind_display(),
        "refusal": refusal,
    }
    return render(request, "evidence/proposal_bulk.html", context, status=422 if refusal else 200)


def _changes(proposal: Proposal) -> list[dict[str, str]]:
    """What it changes of the row as it is now; nothing for a new row, whose page shows all of it."""
    now = head_content(proposal)
    return folded_rows(diff(now, proposal.content)) if now else []
