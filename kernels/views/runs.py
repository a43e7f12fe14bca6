"""Runs: list, submit, live page, result; and the workers."""

import secrets
from datetime import timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from kernels.forms import RunForm
from kernels.models import Op, Run, Worker
from kernels.plots import forest_plot, paired_plot, samples_plot
from kernels.policies import may_cancel
from kernels.services import runs
from v2kb.core.activity import activity_of
from v2kb.core.actor import actor_from_request
from v2kb.core.errors import Forbidden
from v2kb.core.views import page_of, render_part_or_page, submit

STOP_POLLING = 286
ALIVE = timedelta(seconds=30)
LOG_SHOWN = 64 * 1024


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
        "filters": filters,
    }
    return render_part_or_page(request, "kernels/run_list.html", context, part="list")


def run_new(request: HttpRequest, slug: str) -> HttpResponse:
    """Send a run of one of an op's kernels."""
    op = get_object_or_404(Op.objects.select_related("head"), slug=slug)
    initial = {
        "kind": request.GET.get("kind", "validate"),
        "version": request.GET.get("version"),
        "anchor": request.GET.get("anchor"),
        "idempotency_key": secrets.token_hex(8),
    }
    form = RunForm(request.POST or None, initial=initial, op=op)
    if request.method == "POST":
        run = submit(form, lambda d: runs.submit_run(actor_from_request(request), **d))
        if run is not None:
            return redirect(run.get_absolute_url())
    return render(request, "kernels/run_form.html", {"form": form, "op": op}, status=422 if form.errors else 200)


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
        "log": "".join(reversed(log))[-LOG_SHOWN:],
        "attempts": run.attempt_rows.select_related("worker"),
    }


def _run(public_id: str) -> Run:
    found = Run.objects.select_related(
        "version__kernel__spec", "op__head", "contract", "anchor", "anchor_version__kernel", "preregistration__revision__spec",
        "submitted_by", "result",
    )  # fmt: skip
    return get_object_or_404(found, public_id=public_id)


def run_detail(request: HttpRequest, public_id: str) -> HttpResponse:
    """A run: live while it goes, its result when it is over."""
    run = _run(public_id)
    result = getattr(run, "result", None)
    judgements = list(run.judgements.all())
    context = _live(run) | {
        "result": result.content if result else None,
        "judgement": judgements[0] if judgements else None,
        "judgements": judgements,
        "activity": activity_of(run, 20),
        "cancellable": _cancellable(request, run),
    }
    if result is not None and result.content["rounds"]:
        context["samples"] = samples_plot(run)
        context["paired"] = paired_plot(run) if run.kind == Run.Kind.PERF else None
    if judgements:
        context["forest"] = forest_plot(judgements[0])
    return render(request, "kernels/run_detail.html", context)


def _cancellable(request: HttpRequest, run: Run) -> bool:
    if run.is_over:
        return False
    try:
        may_cancel(actor_from_request(request), run)
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
    waiting: dict[str, int] = {}
    for queue in Run.objects.filter(state="queued").values_list("queue", flat=True):
        waiting[queue] = waiting.get(queue, 0) + 1
    return render(request, "kernels/worker_list.html", {"workers": workers, "waiting": waiting})
