"""Specs: list, begin, and the review page of a revision."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from evidence.selectors import merged_codes
from kernels.editor.places import field_url
from kernels.editor.reading import design_of
from kernels.forms import CommentForm, PositionForm, SignForm, SpecForm
from kernels.models import Approval, Citation, Comment, Op, Run, Spec, SpecRevision, Submission
from kernels.policies import REVIEWER_OF, is_contributor, may_design
from kernels.presenters import finding_lines
from kernels.selectors.checks import blocking_findings, checks_document, report_of
from kernels.selectors.gate import gate_preview
from kernels.selectors.pictures import pictures_of
from kernels.selectors.reviews import current_positions, what_is_missing
from kernels.selectors.searches import receipts_of
from kernels.selectors.specs import anchor_states, spec_status, spec_statuses
from kernels.services import gate, reviews, specs
from v2kb.core.activity import activity_of
from v2kb.core.actor import actor_from_request
from v2kb.core.errors import Refusal
from v2kb.core.policies import has_role
from v2kb.core.views import page_of, render_part_or_page, submit
from v2kb.rules.numbers import format_number
from v2kb.rules.scope import describe
from v2kb.rules.spec_diff import spec_diff
from v2kb.rules.states import SPEC_STATES


def spec_list(request: HttpRequest) -> HttpResponse:
    """All specs with their derived states."""
    found = Spec.objects.select_related("created_by", "head").prefetch_related("ops")
    query = request.GET.get("q", "").strip()
    if query:
        found = found.filter(title__icontains=query) | found.filter(code__iexact=query)
    if request.GET.get("op"):
        found = found.filter(ops__slug=request.GET["op"])
    wanted = request.GET.get("state", "")
    if wanted:  # a state is derived, so all are looked at before the page is cut
        statuses = spec_statuses(found)
        page = page_of(request, [spec for spec in found if statuses[spec.pk].state == wanted])
    else:
        page = page_of(request, found)
        statuses = spec_statuses(page.object_list)
    rows = [{"spec": spec, "status": statuses[spec.pk]} for spec in page.object_list]
    context = {"page": page, "rows": rows, "query": query, "states": SPEC_STATES, "wanted": wanted}
    return render_part_or_page(request, "kernels/spec_list.html", context, part="list")


def spec_new(request: HttpRequest) -> HttpResponse:
    """Begin a spec."""
    may_design(actor_from_request(request))
    initial = {"ops": request.GET.getlist("op")}
    form = SpecForm(request.POST or None, initial=initial)
    if request.method == "POST":
        spec = submit(
            form,
            lambda data: specs.create_spec(actor_from_request(request), title=data["title"], ops=list(data["ops"])),
        )
        if spec is not None:
            return redirect("kernels:spec_edit", code=spec.code, section="overview")
    context = {"form": form, "no_ops": not Op.objects.exists()}
    return render(request, "kernels/spec_new.html", context, status=422 if form.errors else 200)


def _revision(code: str, number: int | None) -> tuple[Spec, SpecRevision | None]:
    spec = get_object_or_404(Spec.objects.select_related("head", "created_by").prefetch_related("ops"), code=code)
    if number is None:
        return spec, spec.head
    return spec, get_object_or_404(spec.revisions.select_related("author"), number=number)


def spec_detail(request: HttpRequest, code: str, number: int | None = None) -> HttpResponse:
    """The review page: choices with their evidence, threads, gate, positions, predictions."""
    spec, revision = _revision(code, number)
    return show_spec(request, spec, revision)


def show_spec(
    request: HttpRequest, spec: Spec, revision: SpecRevision | None, *, status: int = 200, **forms: Any
) -> HttpResponse:
    actor = actor_from_request(request)
    is_designer = has_role(actor, "designer")
    revisions = list(spec.revisions.select_related("author").order_by("-number"))
    context: dict[str, Any] = {
        "spec": spec,
        "revision": revision,
        "status": spec_status(spec),
        "revisions": revisions,
        "is_designer": is_designer,
        "may_implement": has_role(actor, "implementer", "designer"),
        "activity": activity_of(spec, 20),
        "kernels": spec.kernels.all(),
        "receipts": receipts_of(spec),
        "runs": Run.objects.filter(version__kernel__spec=spec)
        .select_related("version")
        .prefetch_related("judgements")[:8],
        "has_draft": spec.drafts.filter(user=request.user).exists(),
    }
    if revision is not None:
        context["previous"] = next((r for r in revisions if r.number < revision.number), None)
        context["following"] = next((r for r in reversed(revisions) if r.number > revision.number), None)
        context |= _revision_context(actor, spec, revision, is_designer) | forms
    return render(request, "kernels/spec_detail.html", context, status=status)


def _revision_context(actor, spec: Spec, revision: SpecRevision, is_designer: bool) -> dict[str, Any]:
    result = gate_preview(spec, revision.content)
    report = report_of(revision.content, spec)
    checks = checks_document(report)
    blocking = blocking_findings(checks)
    newest = spec.head_id == revision.pk
    contributor = is_contributor(actor, revision)
    comments = list(Comment.objects.filter(revision__spec=spec).select_related("author", "revision"))
    approval = Approval.objects.filter(revision=revision).select_related("approver", "gate_result").first()
    aspects = [aspect for aspect, role in REVIEWER_OF.items() if has_role(actor, role)]
    submitted = Submission.objects.filter(revision=revision).select_related("user").first()
    signed = {mark.choice_id: mark for mark in revision.mechanism_marks.select_related("user")}
    return {
        "newest": newest,
        "submission": submitted,
        "approval": approval,
        "missing": what_is_missing(revision, result, blocking),
        "gate": result,
        "gate_groups": _gate_groups(result, revision.content, spec.code if is_designer else ""),
        "cards": _cards(revision, result, comments, signed),
        "section_threads": _threads(comments, {"summary", "engine", "smem", "sems", "roles", "granularity", "anchors"}),
        "positions": current_positions(revision),
        "preregistrations": revision.preregistrations.all(),
        "findings": finding_lines(actor, spec, report, newest=newest, may_ask=is_designer and newest),
        "checks": checks["summary"],
        "rules_moved": revision.checks["summary"].get("rules_version") != checks["summary"]["rules_version"],
        "blocking": blocking,
        "anchor_states": anchor_states(revision.content),
        "design": design_of(revision.content),
        "pictures": pictures_of(revision.content, ("smem", "tmem", "sems", "roles", "granularity")),
        "contributor": contributor,
        "can_review": bool(aspects) and not contributor and newest and submitted and not approval,
        "can_sign": has_role(actor, "curator") and not contributor and newest and submitted and not approval,
        "position_form": _position_form(aspects),
        "comment_form": CommentForm(),
        "sign_form": SignForm(),
        "to_sign": [choice for choice in result.repropositions if choice not in signed],
    }


def _position_form(aspects: list[str]) -> PositionForm:
    form = PositionForm()
    form.fields["aspect"].choices = [(a, label) for a, label in form.fields["aspect"].choices if a in aspects]
    return form


def _gate_groups(result, content: dict[str, Any], edited: str) -> list[dict[str, Any]]:
    """The gate by choice: how many lines block, hold and don't apply, and the lines for the gate component. Where
    `edited` names the spec that the reader may edit, each line leads to its field.
    """
    titles = {choice["id"]: choice["title"] for choice in content["choices"]}
    groups: dict[str, list[Any]] = {}
    for line in result.lines:
        groups.setdefault(line.choice, []).append(line)
    return [
        {
            "choice": choice,
            "title": titles.get(choice, ""),
            "label": f"Gate rules of {choice}",
            "blocking": (blocking := sum(line.blocks for line in lines)),
            "blocking_label": _blocked(blocking),
            "satisfied": (held := sum(line.status == "SATISFIED" for line in lines)),
            "satisfied_label": f"{held} satisfied",
            "idle": (idle := len(lines) - blocking - held),
            "idle_label": f"{idle} not applicable" if _idle(lines) == idle else f"{idle} other",
            "lines": [_gate_line(line, content, edited) for line in lines],
        }
        for choice, lines in groups.items()
    ]


def _idle(lines: list[Any]) -> int:
    return sum(line.status == "NOT_APPLICABLE" for line in lines)


def _blocked(count: int) -> str:
    return "1 rule blocks" if count == 1 else f"{count} rules block"


def _gate_line(line, content: dict[str, Any], edited: str) -> dict[str, Any]:
    """A gate line in the shape of the gate component."""
    items = [_dead_item(match) for match in line.inputs.get("dead_rows", [])]
    if items and line.inputs["new_mechanism"]:
        items.append({"text": f"New in {line.choice}: {line.inputs['new_mechanism']}"})
    return {
        "rule": line.rule,
        "summary": line.message,
        "state": line.status,
        "blocking": line.blocks,
        "open": line.blocks,
        "detail": _detail(line),
        "items": items,
        "fix": line.fix,
        "href": field_url(edited, line.field, content) if edited and line.field else "",
    }


def _detail(line) -> str:
    """Which scopes were compared, and what would change the line where its fix does not say that already."""
    scopes = [f"Scope of the choice: {line.inputs['scope']}."] if "scope" in line.inputs else []
    scopes += [f"Scope of the op {op['op']}: {op['scope']}." for op in line.inputs.get("op_scopes", [])]
    change = " ".join(line.what_would_change)
    said = f"What would change this: {change}" if change and change not in line.fix else ""
    return " ".join([*scopes, said]).strip()


def _dead_item(match: dict[str, Any]) -> dict[str, str]:
    """A DEAD row beside the choice: where it is dead, how the scopes relate and how it died."""
    about = f"{match['code']} {match['title']}: DEAD for {match['scope']} ({match['relation']})"
    return {
        "text": f"{about}; {match['mechanism']}" if match["mechanism"] else about,
        "href": reverse("evidence:row_detail", args=[match["code"]]),
    }


def _threads(comments: list[Comment], places: set[str]) -> list[dict[str, Any]]:
    roots = [c for c in comments if c.parent_id is None and c.place in places]
    return [
        {"root": root, "comments": [root, *(c for c in comments if c.parent_id == root.pk)], "place": root.place}
        for root in roots
    ]


def _cards(revision: SpecRevision, result, comments: list[Comment], signed: dict[str, Any]) -> list[dict[str, Any]]:
    """One card per choice: citations with the pinned revision beside the head, gate, threads."""
    citations = list(revision.citations.select_related("evidence__row__head", "section__revision__document"))
    merged = merged_codes(citation.evidence.row_id for citation in citations if citation.evidence)
    cards = []
    for choice in revision.content["choices"]:
        lines = [line for line in result.lines if line.choice == choice["id"]]
        cards.append(
            {
                "choice": choice,
                "citations": [_cited(c, merged) for c in citations if c.choice_id == choice["id"]],
                "blocking": (blocking := [line for line in lines if line.blocks]),
                "blocking_label": _blocked(len(blocking)),
                "threads": _threads(comments, {choice["id"]}),
                "signed": signed.get(choice["id"]),
            }
        )
    return cards


def _cited(citation: Citation, merged: dict[int, str]) -> dict[str, Any]:
    """A citation with what the pinned revision measured and where it holds, and the row that took its row in."""
    evidence = citation.evidence
    if evidence is None:
        return {"citation": citation}
    return {
        "citation": citation,
        "moved": citation.evidence_id != evidence.row.head_id,
        "merged": merged.get(evidence.row_id, ""),
        "numbers": [format_number(number) for number in evidence.content["numbers"]],
        "scope": describe(evidence.content["scope"]),
    }


def spec_diff_page(request: HttpRequest, code: str, old: int, new: int) -> HttpResponse:
    """What changed between two revisions."""
    spec, first = _revision(code, old)
    _, second = _revision(code, new)
    context = {"spec": spec, "old": first, "new": second, "diff": spec_diff(first.content, second.content)}
    return render(request, "kernels/spec_diff.html", context)


def gate_page(request: HttpRequest, code: str, number: int) -> HttpResponse:
    """The gate of a revision now, and every stored result. JSON for `Accept: application/json`."""
    spec, revision = _revision(code, number)
    is_designer = has_role(actor_from_request(request), "designer")
    result = gate_preview(spec, revision.content)
    if "application/json" in request.headers.get("Accept", ""):
        return JsonResponse(result.as_document())
    stored = revision.gate_results.all()
    context = {
        "spec": spec,
        "revision": revision,
        "gate": result,
        "gate_groups": _gate_groups(result, revision.content, spec.code if is_designer else ""),
        "stored": stored,
    }
    return render(request, "kernels/spec_gate.html", context)


@require_POST
def gate_store(request: HttpRequest, code: str, number: int) -> HttpResponse:
    """Evaluate the gate and keep the result."""
    _, revision = _revision(code, number)
    _, is_new = gate.evaluate_gate(actor_from_request(request), revision=revision)
    if not is_new:
        messages.info(request, "The gate says what its newest stored result says, on the same evidence.")
    return redirect("kernels:spec_gate", code=code, number=number)


@require_POST
def submit_revision(request: HttpRequest, code: str, number: int) -> HttpResponse:
    """Hand a revision in for review."""
    spec, revision = _revision(code, number)
    specs.submit_spec(actor_from_request(request), revision=revision)
    return redirect(spec.get_absolute_url())


@require_POST
def comment(request: HttpRequest, code: str, number: int) -> HttpResponse:
    """Comment on a choice or a section."""
    spec, revision = _revision(code, number)
    form = CommentForm(request.POST)

    def send(data: dict[str, Any]) -> Comment:
        parent = None
        if data["parent"] is not None:
            parent = Comment.objects.filter(pk=data["parent"]).select_related("revision", "parent").first()
            if parent is None:
                raise Refusal("review.other_thread", "The comment answered is not there.", field="parent")
        return reviews.comment(
            actor_from_request(request),
            revision=revision,
            place=data["place"],
            text=data["text"],
            quote=data["quote"],
            parent=parent,
        )

    made = submit(form, send)
    if made is None:
        return show_spec(request, spec, revision, status=422, comment_form=form, failed_form=form)
    return redirect(f"{reverse('kernels:spec_revision', args=[code, number])}#comment-{made.pk}")


@require_POST
def position(request: HttpRequest, code: str, number: int) -> HttpResponse:
    """Take a position."""
    spec, revision = _revision(code, number)
    form = PositionForm(request.POST)
    taken = submit(form, lambda d: reviews.take_position(actor_from_request(request), revision=revision, **d))
    if taken is None:
        return show_spec(request, spec, revision, status=422, position_form=form, failed_form=form)
    return redirect(spec.get_absolute_url())


@require_POST
def sign(request: HttpRequest, code: str, number: int) -> HttpResponse:
    """Sign the mechanism of a choice as new."""
    spec, revision = _revision(code, number)
    form = SignForm(request.POST)
    signed = submit(form, lambda d: reviews.sign_mechanism(actor_from_request(request), revision=revision, **d))
    if signed is None:
        return show_spec(request, spec, revision, status=422, sign_form=form, failed_form=form)
    return redirect(spec.get_absolute_url())


@require_POST
def close(request: HttpRequest, code: str, number: int) -> HttpResponse:
    """Approve, after what was missing has been mended."""
    spec, revision = _revision(code, number)
    reviews.close_quorum(actor_from_request(request), revision=revision)
    return redirect(spec.get_absolute_url())
