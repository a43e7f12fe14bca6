"""Runs: list, submit, live page, result; and the workers."""

import secrets
from datetime import timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from evidence.models import RunReceipt
from kernels import policies
from kernels.forms import RunForm
from kernels.models import KernelVersion, Op, PreRegistration, Run, Worker
from kernels.plots import NS_PER_US, forest_plot, paired_plot, samples_plot, timed_workloads
from kernels.selectors.ladder import standing_of_run, standings
from kernels.selectors.sessions import anchor_values
from kernels.services import runs
from v2kb.core.activity import activity_of
from v2kb.core.actor import actor_from_request
from v2kb.core.errors import Forbidden
from v2kb.core.registry import panels_of
from v2kb.core.ui.numbers import duration_text, to_decimal
from v2kb.core.values import whole_number
from v2kb.core.views import chosen, page_of, render_part_or_page, submit
from v2kb.rules.ladder import Standing
from v2kb.wire.outcomes import RUN_OUTCOMES

STOP_POLLING = 286
ALIVE = timedelta(seconds=30)
LOG_SHOWN = 64 * 1024
# What an outcome means for whoever sent the run; the message of the run says what happened.
MEANING = {
    "FAIL_NUMERIC": "The numbers differ from the reference by more than the contract's bars.",
    "FAIL_SHAPE": "An output has another shape or dtype than the contract says.",
    "COMPILE_ERROR": "The candidate could not be built or imported; the log has its error.",
    "WEDGE": "The candidate stopped making progress and was killed.",
    "TIMEOUT": "The candidate ran past its limit and was killed.",
    "CRASHED": "The candidate ended by itself before it had an answer; the log has its last words.",
    "OOM": "The candidate asked for more memory than a run may use.",
    "TAMPERED": "The harness did not find itself as it was; nothing of this run counts. Send it again.",
    "INVALID_REFERENCE": "The contract's reference failed, so nothing about the candidate was learnt.",
    "NO_CASES": "The contract names no workload, so nothing was checked.",
    "NO_DATA": "Nothing usable was measured.",
    "INFRA": "The machine failed, not the candidate. Send the run again.",
}


def run_list(request: HttpRequest) -> HttpResponse:
    """All runs, newest first."""
    found = Run.objects.select_related("version__kernel", "op", "submitted_by", "anchor").prefetch_related("judgements")
    filters = {
        "kind": request.GET.get("kind"),
        "state": request.GET.get("state"),
        "outcome": request.GET.get("outcome"),
    }
    for field, value in filters.items():
        if value:
            found = found.filter(**{field: value})
    if request.GET.get("op"):
        found = found.filter(op__slug=request.GET["op"])
    if request.GET.get("mine"):
        found = found.filter(submitted_by=request.user)
    context = {
        "page": page_of(request, found),
        "kinds": Run.Kind.choices,
        "states": Run.State.choices,
        "outcomes": RUN_OUTCOMES,
        "filters": filters,
        "filtered": bool(request.GET),
    }
    return render_part_or_page(request, "kernels/run_list.html", context, part="list")


def run_new(request: HttpRequest, slug: str) -> HttpResponse:
    """Send a run of one of an op's kernels."""
    policies.may_run(actor_from_request(request))
    op = get_object_or_404(Op.objects.select_related("head"), slug=slug)
    kind, version, anchor = request.GET.get("kind", "validate"), request.GET.get("version"), request.GET.get("anchor")
    initial = {
        **({} if request.method == "POST" else _registered(kind, version)),
        "kind": kind,
        "version": version or _only_anchor_version(op, kind),
        "idempotency_key": secrets.token_hex(8),
        **({"anchor": anchor} if anchor else {}),
    }
    found = standings(op) if op.head else {}
    form = RunForm(request.POST or None, initial=initial, op=op, standings=found)
    if request.method == "POST":
        run = submit(form, lambda d: runs.submit_run(actor_from_request(request), **d))
        if run is not None:
            return redirect(run.get_absolute_url())
    context = {"form": form, "op": op, "warned": _warned(form, found)}
    status = 422 if form.errors else 200
    return render_part_or_page(request, "kernels/run_form.html", context, part="warning", status=status)


def _warned(form: RunForm, found: dict[int, Standing]) -> dict[str, Any] | None:
    """The chosen version and how it stands, where it is to be timed without having passed validation."""
    version = whole_number(str(form["version"].value() or ""))
    standing = found.get(version)
    if form["kind"].value() != Run.Kind.PERF or standing is None or not standing.fault:
        return None
    return {"version": KernelVersion.objects.select_related("kernel").get(pk=version), "standing": standing}


def _registered(kind: str, version: str | None) -> dict[str, Any]:
    """Anchor, workloads and rounds that the version's sealed prediction names, for a perf run."""
    key = whole_number(version or "")
    if kind != Run.Kind.PERF or not key:
        return {}
    sealed = PreRegistration.objects.filter(revision__versions=key).first()
    if sealed is None:
        return {}
    content = sealed.content
    return {"anchor": content["anchor"], "workloads": content["cases"], "rounds": content["rounds"]}


def _only_anchor_version(op: Op, kind: str) -> int | None:
    """The version to capture, where the op has one kernel that was made for it."""
    found = list(KernelVersion.objects.filter(kernel__op=op, kernel__basis="anchor").order_by("-number")[:2])
    return found[0].pk if kind == Run.Kind.CAPTURE and len(found) == 1 else None


def _live(run: Run) -> dict[str, Any]:
    chunks = run.log_chunks.order_by("-fence", "-seq").values_list("text", flat=True)
    log, size = [], 0
    for text in chunks.iterator(chunk_size=50):
        log.append(text)
        size += len(text)
        if size > LOG_SHOWN:
            break
    return {
        "run": run,
        "elapsed": _elapsed(run),
        "log": "".join(reversed(log))[-LOG_SHOWN:],
        "attempts": run.attempt_rows.select_related("worker"),
        "nobody_listens": run.state == Run.State.QUEUED and run.queue not in _heard_queues(),
    }


def _elapsed(run: Run) -> str:
    """How long a run has been waiting or running, or how long it took since a worker claimed it."""
    began = run.submitted_at if run.state == Run.State.QUEUED else run.claimed_at
    if began is None:
        return ""
    seconds = ((run.finished_at or timezone.now()) - began).total_seconds()
    return f"{'took' if run.is_over else 'for'} {duration_text(seconds)}"


def _heard_queues() -> set[str]:
    alive = Worker.objects.filter(last_seen__gt=timezone.now() - ALIVE)
    return set(alive.values_list("queue", flat=True))


def _run(public_id: str) -> Run:
    found = Run.objects.select_related(
        "version__kernel__spec",
        "op__head",
        "contract",
        "anchor",
        "anchor_version__kernel",
        "preregistration__revision__spec",
        "submitted_by",
        "result",
    )
    return get_object_or_404(found, public_id=public_id)


def run_detail(request: HttpRequest, public_id: str) -> HttpResponse:
    """A run: live while it goes, its result when it is over."""
    run = _run(public_id)
    result = getattr(run, "result", None)
    judgements = list(run.judgements.all())
    tolerance = run.contract.content["tolerance"]
    cases = _case_rows(result.content["cases"], tolerance) if result else []
    context = _live(run) | {
        "panels": panels_of(request, run),
        "result": result.content if result else None,
        "meaning": MEANING.get(run.outcome, ""),
        "message": run.message.partition("\n")[0],
        "cases": cases,
        "passed": sum(case["passed"] for case in result.content["cases"]) if result else 0,
        "tolerance": tolerance,
        "judgement": judgements[0] if judgements else None,
        "judgements": judgements,
        "activity": activity_of(run, 20),
        "cancellable": _cancellable(request, run),
    }
    if result is not None and result.content["rounds"]:
        context |= _times(request, run)
    if run.kind == Run.Kind.PERF:
        context["standing"] = standing_of_run(run)
    if judgements:
        context["forest"] = forest_plot(judgements[0])
        context["receipt"] = RunReceipt.objects.filter(run_id=public_id).select_related("row", "proposal").first()
    return render_part_or_page(request, "kernels/run_detail.html", context, part="plots")


def _times(request: HttpRequest, run: Run) -> dict[str, Any]:
    """The plots of one workload: the one that the address names, else the first."""
    workloads = timed_workloads(run)
    workload = chosen(request, "workload", workloads)
    return {
        "workloads": workloads,
        "workload": workload,
        "samples": samples_plot(run, workload),
        "paired": paired_plot(run, workload) if run.kind == Run.Kind.PERF else None,
        "captured": _captured(run) if run.kind == Run.Kind.CAPTURE else None,
    }


def _captured(run: Run) -> list[dict[str, Any]]:
    """Per workload what a capture measured, in microseconds."""
    return [
        {
            "workload": workload,
            "runs": value["runs"],
            **{f"{name}_us": int(value[f"{name}_ns"]) / NS_PER_US for name in ("median", "low", "high")},
        }
        for workload, value in anchor_values(run).items()
    ]


def _case_rows(cases: list[dict[str, Any]], tolerance: dict[str, str]) -> list[dict[str, Any]]:
    """One row per workload and output, with what misses its bar; the reason stands below a workload's last row."""
    cos_min, rel_max = to_decimal(tolerance["cos_min"]), to_decimal(tolerance["rel_max"])
    rows = []
    for case in cases:
        outputs = case["outputs"] or [None]
        for output in outputs:
            cos, rel = (to_decimal(output[key]) if output else None for key in ("cos", "rel_max"))
            rows.append(
                {
                    "workload": case["workload"],
                    "profile": case["profile"],
                    "passed": case["passed"],
                    "output": output,
                    "cos_under": cos is not None and cos_min is not None and cos < cos_min,
                    "rel_over": rel is not None and rel_max is not None and rel > rel_max,
                    "reason": case["reason"] if output is outputs[-1] and not case["passed"] else "",
                }
            )
    return rows


def _cancellable(request: HttpRequest, run: Run) -> bool:
    if run.is_over:
        return False
    try:
        policies.may_cancel(actor_from_request(request), run)
    except Forbidden:
        return False
    return True


def run_live(request: HttpRequest, public_id: str) -> HttpResponse:
    """The part that is polled; tells htmx to reload the page when the run is over, and to stop."""
    run = _run(public_id)
    context = _live(run) | {"cancellable": _cancellable(request, run)}
    response = render(request, "kernels/run_detail.html#live", context)
    if run.is_over:
        response.status_code = STOP_POLLING
        response["HX-Refresh"] = "true"
    return response


@require_POST
def run_cancel(request: HttpRequest, public_id: str) -> HttpResponse:
    """Cancel a run."""
    run = _run(public_id)
    runs.cancel_run(actor_from_request(request), run=run)
    return redirect(run.get_absolute_url())


def worker_list(request: HttpRequest) -> HttpResponse:
    """Workers, when they were heard of last, and what waits per queue."""
    since = timezone.now() - ALIVE
    workers = [{"worker": worker, "alive": worker.last_seen > since} for worker in Worker.objects.all()]
    heard = {row["worker"].queue for row in workers if row["alive"]}
    waiting: dict[str, int] = {}
    for queue in Run.objects.filter(state="queued").values_list("queue", flat=True):
        waiting[queue] = waiting.get(queue, 0) + 1
    context = {"workers": workers, "waiting": waiting, "unheard": [name for name in waiting if name not in heard]}
    return render(request, "kernels/worker_list.html", context)
