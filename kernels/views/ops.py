"""Ops: list, contract, the evidence that touches them, stopping."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from kernels import policies
from kernels.models import Op
from kernels.op_forms import ContractForm, initial_of
from kernels.selectors.decisions import branch_of
from kernels.selectors.ops import STAGES, evidence_touching, op_stages
from kernels.selectors.pictures import graph_of
from kernels.selectors.specs import spec_statuses
from kernels.services import ops
from v2kb.core.activity import activity_of
from v2kb.core.actor import actor_from_request
from v2kb.core.policies import has_role
from v2kb.core.views import page_of, render_part_or_page, submit
from v2kb.rules.decision_tree import FAMILIES, AnswerError, decide, questions


class NewOpForm(ContractForm):
    """A contract with the name of its op."""

    slug = forms.SlugField(max_length=80, label="Name", help_text="Lower-case letters, digits and hyphens.")
    field_order = ["slug", "title"]


class StopForm(forms.Form):
    """Record that the work stops here, as a good outcome."""

    lever = forms.CharField(required=False, max_length=80)
    codes = forms.CharField(label="Evidence rows that decided", help_text="Codes separated by commas, such as D3, D9.")
    reason = forms.CharField(widget=forms.Textarea(attrs={"rows": 3}), max_length=4000)


def op_list(request: HttpRequest) -> HttpResponse:
    """All ops with where each stands."""
    found = (
        Op.objects.filter(archived_at__isnull=True).select_related("head").prefetch_related("specs", "kernels", "stops")
    )
    query = request.GET.get("q", "").strip()
    if query:
        found = found.filter(title__icontains=query) | found.filter(slug__icontains=query)
    page = page_of(request, found)
    stages = op_stages(page.object_list)
    rows = [{"op": op, "stage": stages[op.pk]} for op in page.object_list]
    context = {"page": page, "rows": rows, "query": query}
    return render_part_or_page(request, "kernels/op_list.html", context, part="list")


def op_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """The contract of an op, the stages, the rows that touch it, its specs and kernels."""
    op = get_object_or_404(Op.objects.select_related("head__author"), slug=slug)
    specs = list(op.specs.select_related("head"))
    statuses = spec_statuses(specs)
    actor = actor_from_request(request)
    stage = op_stages([op])[op.pk]
    context = {
        "op": op,
        "contract": op.head.content if op.head else None,
        "family": FAMILIES.get(op.head.family) if op.head else None,
        "stage": stage,
        "steps": _steps(stage),
        "lanes": [{**lane, "empty": f"No {lane['verdict']} row touches this op."} for lane in evidence_touching(op)],
        "specs": [{"spec": spec, "status": statuses[spec.pk]} for spec in specs],
        "kernels": op.kernels.prefetch_related("versions"),
        "anchors": op.anchors.select_related("capture"),
        "stops": op.stops.select_related("user"),
        "contracts": op.contracts.select_related("author"),
        "activity": activity_of(op, 20),
        "is_designer": has_role(actor, "designer"),
        "may_run": has_role(actor, "validator", "implementer", "designer"),
    }
    if op.head:
        context["graph"], context["planned_by"] = graph_of(op, specs)
    return render(request, "kernels/op_detail.html", context)


def _steps(stage: str) -> list[dict[str, Any]]:
    """The stages in order, with what is done and where the op stands; a stopped op stands at 0."""
    here = STAGES.index(stage) if stage in STAGES else 0
    return [{"name": name, "done": number < here, "here": number == here} for number, name in enumerate(STAGES)]


def _family(form: ContractForm) -> str:
    answers = {name[2:]: value for name, value in form.cleaned_data.items() if name.startswith("q_")}
    try:
        return decide(answers).family
    except AnswerError as error:
        form.add_error(None, str(error))
        return ""


def _contract(form: ContractForm) -> dict[str, Any] | None:
    contract = form.contract(_family(form))
    return None if form.errors else contract


GROUPS = (
    ("What it computes", True, ("slug", "title", "kind")),
    ("Where it runs in production", True, ("envelope", "target", "grid", "sharding", "producers", "consumers")),
    ("Data", False, ("axes", "inputs", "outputs", "workloads")),
    ("Correctness", False, ("reference", "cos_min", "rel_max")),
    ("Evidence that touches it", True, ("levers", "dtype", "m")),
    ("This contract", False, ("reason",)),
)


def _groups(form: ContractForm) -> list[dict[str, Any]]:
    """The fields of a contract under headings; `narrow` ones stand side by side."""
    return [
        {"title": title, "narrow": narrow, "fields": [form[name] for name in names if name in form.fields]}
        for title, narrow, names in GROUPS
    ]


def op_new(request: HttpRequest) -> HttpResponse:
    """Add an op."""
    policies.may_design(actor_from_request(request))
    form = NewOpForm(request.POST or None)
    if request.method == "POST" and form.is_valid() and (contract := _contract(form)):
        op = submit(
            form,
            lambda d: ops.create_op(
                actor_from_request(request), slug=d["slug"], content=contract, reason=d.get("reason", "")
            ),
        )
        if op is not None:
            return redirect(op.get_absolute_url())
    context = {"form": form, "groups": _groups(form), "title": "New op"}
    return render(request, "kernels/op_form.html", context, status=422 if form.errors else 200)


def op_edit(request: HttpRequest, slug: str) -> HttpResponse:
    """Give an op a new contract."""
    policies.may_design(actor_from_request(request))
    op = get_object_or_404(Op.objects.select_related("head"), slug=slug)
    form = ContractForm(request.POST or None, initial=initial_of(op.head.content) if op.head else {})
    base = request.POST.get("base", op.head.content_hash if op.head else "")
    if request.method == "POST" and form.is_valid() and (contract := _contract(form)):
        saved = submit(
            form,
            lambda d: ops.revise_op(
                actor_from_request(request), op=op, base_hash=base, content=contract, reason=d.get("reason", "")
            ),
        )
        if saved is not None:
            return redirect(op.get_absolute_url())
    context = {"form": form, "groups": _groups(form), "op": op, "base": base, "title": f"Contract of {op.title}"}
    return render(request, "kernels/op_form.html", context, status=422 if form.errors else 200)


def op_stop(request: HttpRequest, slug: str) -> HttpResponse:
    """Record that the evidence says not to build this."""
    policies.may_design(actor_from_request(request))
    op = get_object_or_404(Op, slug=slug)
    form = StopForm(request.POST or None, initial={"codes": request.GET.get("codes", "")})
    if request.method == "POST":
        stopped = submit(
            form,
            lambda d: ops.stop_op(
                actor_from_request(request),
                op=op,
                reason=d["reason"],
                lever=d["lever"],
                codes=[code.strip().upper() for code in d["codes"].split(",") if code.strip()],
            ),
        )
        if stopped is not None:
            return redirect(op.get_absolute_url())
    return render(request, "kernels/op_stop.html", {"form": form, "op": op}, status=422 if form.errors else 200)


def family_questions(request: HttpRequest) -> HttpResponse:
    """Answer a short list of questions and see the branch: family, engine, files, skills, rows for and against."""
    asked = questions()
    answers = {q["id"]: request.GET[q["id"]] for q in asked if request.GET.get(q["id"]) in ("yes", "no")}
    decision = decide(answers)
    on_path = dict(decision.path)
    open_question = decision.next_question.id if decision.next_question else ""
    shown = [q for q in asked if q["id"] in on_path or q["id"] == open_question]
    context = {
        "decision": decision.as_document(),
        "branch": branch_of(decision),
        "questions": [{**q, "answer": on_path.get(q["id"], ""), "open": q["id"] == open_question} for q in shown],
        "left": len(asked) - len(shown),
    }
    return render(request, "kernels/families.html", context)
