"""Kernels, their versions, and anchors."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from kernels import policies
from kernels.forms import AnchorForm, KernelForm, VersionForm
from kernels.models import Anchor, Kernel, Op
from kernels.plots import ladder_plot, newest_sessions, samples_plot, timed_workloads
from kernels.selectors.ladder import ladder_of
from kernels.services import anchors, kernels
from v2kb.core.activity import activity_of
from v2kb.core.actor import actor_from_request
from v2kb.core.policies import has_role
from v2kb.core.registry import panels_of
from v2kb.core.views import chosen, page_of, render_part_or_page, submit

IMPLEMENTERS = ("implementer", "designer")
RUNNERS = ("validator", "implementer", "designer")
NS_PER_US = 1000


def kernel_list(request: HttpRequest) -> HttpResponse:
    """All kernels."""
    found = (
        Kernel.objects.filter(archived_at__isnull=True)
        .select_related("op", "spec")
        .prefetch_related("versions__anchors")
    )
    query = request.GET.get("q", "").strip()
    if query:
        found = found.filter(title__icontains=query) | found.filter(slug__icontains=query)
    if request.GET.get("op"):
        found = found.filter(op__slug=request.GET["op"])
    page = page_of(request, found)
    for kernel in page.object_list:
        kernel.anchors = [anchor for version in kernel.versions.all() for anchor in version.anchors.all()]
    context = {"page": page, "query": query}
    return render_part_or_page(request, "kernels/kernel_list.html", context, part="list")


def kernel_new(request: HttpRequest) -> HttpResponse:
    """Add a kernel."""
    policies.may_implement(actor_from_request(request))
    initial = {"op": request.GET.get("op"), "spec": request.GET.get("spec"), "basis": request.GET.get("basis", "spec")}
    form = KernelForm(request.POST or None, initial=initial)
    if request.method == "POST":
        kernel = submit(form, lambda d: kernels.create_kernel(actor_from_request(request), **d))
        if kernel is not None:
            return redirect("kernels:version_new", slug=kernel.slug)
    return render(request, "kernels/kernel_form.html", {"form": form}, status=422 if form.errors else 200)


def kernel_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Versions, the ladder, measurements against the anchor, runs."""
    kernel = get_object_or_404(Kernel.objects.select_related("op__head", "spec"), slug=slug)
    versions = list(kernel.versions.select_related("author").order_by("-number"))
    newest = versions[0] if versions else None
    runs = (
        kernel.op.runs.filter(version__kernel=kernel)
        .select_related("version__kernel", "anchor")
        .prefetch_related("judgements")
    )
    actor = actor_from_request(request)
    context = _times_of(request, kernel) | {
        "panels": panels_of(request, kernel),
        "kernel": kernel,
        "versions": versions,
        "newest": newest,
        "rungs": ladder_of(newest) if newest else [],
        "runs": runs[:30],
        "activity": activity_of(kernel, 20),
        "anchors": Anchor.objects.filter(version__kernel=kernel).select_related("version"),
        "may_implement": has_role(actor, *IMPLEMENTERS),
        "may_run": has_role(actor, *RUNNERS),
    }
    return render_part_or_page(request, "kernels/kernel_detail.html", context, part="times")


def _times_of(request: HttpRequest, kernel: Kernel) -> dict[str, Any]:
    """The plots of one workload: the one that the address names, else the first."""
    newest = newest_sessions(kernel)
    if not newest:
        return {}
    last = max(newest.values(), key=lambda run: run.pk)
    workloads = timed_workloads(last, *newest.values())
    workload = chosen(request, "workload", workloads)
    return {
        "workloads": workloads,
        "workload": workload,
        "ladder": ladder_plot(newest, workload),
        "samples": samples_plot(last, workload),
        "session": last,
    }


def version_new(request: HttpRequest, slug: str) -> HttpResponse:
    """Add a version."""
    policies.may_implement(actor_from_request(request))
    kernel = get_object_or_404(Kernel.objects.select_related("op__head"), slug=slug)
    newest = kernel.versions.first()
    form = VersionForm(request.POST or None, request.FILES or None, initial={"source": _entry_source(newest)})
    if request.method == "POST":
        version = submit(
            form,
            lambda d: kernels.add_version(
                actor_from_request(request), kernel=kernel, files=form.contents(), entry=d["entry"], note=d["note"]
            ),
        )
        if version is not None:
            return redirect("kernels:version_detail", slug=slug, number=version.number)
    context = {"form": form, "kernel": kernel}
    return render(request, "kernels/version_form.html", context, status=422 if form.errors else 200)


def _entry_source(version) -> str:
    """The source of the entry's file, as a start for the next version."""
    if version is None:
        return ""
    file = version.files.select_related("blob").filter(path=version.entry.partition(":")[0]).first()
    return bytes(file.blob.content).decode("utf-8", "replace") if file else ""


def version_detail(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """The files of a version and its runs."""
    kernel = get_object_or_404(Kernel.objects.select_related("op__head", "spec"), slug=slug)
    version = get_object_or_404(kernel.versions.select_related("author", "spec_revision"), number=number)
    files = [
        {"path": file.path, "sha256": file.blob.sha256, "text": bytes(file.blob.content).decode("utf-8", "replace")}
        for file in version.files.select_related("blob")
    ]
    numbers = list(kernel.versions.values_list("number", flat=True))
    context = {
        "kernel": kernel,
        "version": version,
        "files": files,
        "rungs": ladder_of(version),
        "may_run": has_role(actor_from_request(request), *RUNNERS),
        "older": max((known for known in numbers if known < number), default=None),
        "newer": min((known for known in numbers if known > number), default=None),
        "runs": version.runs.select_related("anchor").prefetch_related("judgements"),
    }
    return render(request, "kernels/version_detail.html", context)


def anchor_list(request: HttpRequest) -> HttpResponse:
    """All anchors with their states."""
    page = page_of(request, Anchor.objects.select_related("op", "version__kernel", "capture"))
    context = {
        "page": page,
        "anchors": [{"anchor": anchor, "values": _times(anchor)} for anchor in page.object_list],
        "may_run": has_role(actor_from_request(request), *RUNNERS),
    }
    return render(request, "kernels/anchor_list.html", context)


def _times(anchor: Anchor) -> list[dict[str, Any]]:
    """Median and spread per workload, in microseconds."""
    return [
        {
            "workload": name,
            "runs": value["runs"],
            **{f"{key}_us": float(value[f"{key}_ns"]) / NS_PER_US for key in ("median", "low", "high")},
        }
        for name, value in anchor.values.items()
    ]


def anchor_new(request: HttpRequest, slug: str) -> HttpResponse:
    """Name an anchor of an op."""
    policies.may_run(actor_from_request(request))
    op = get_object_or_404(Op, slug=slug)
    form = AnchorForm(request.POST or None)
    if request.method == "POST":
        anchor = submit(form, lambda d: anchors.name_anchor(actor_from_request(request), op=op, **d))
        if anchor is not None:
            return redirect("kernels:anchor_list")
    return render(request, "kernels/anchor_form.html", {"form": form, "op": op}, status=422 if form.errors else 200)


def anchor_stale(request: HttpRequest, name: str) -> HttpResponse:
    """Mark a pinned anchor as stale."""
    anchor = get_object_or_404(Anchor, name=name)
    if request.method == "POST":
        reason = request.POST.get("reason", "")
        anchors.mark_anchor_stale(actor_from_request(request), anchor=anchor, reason=reason)
    return redirect("kernels:anchor_list")
