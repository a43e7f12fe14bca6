"""Ops, specs, kernels and runs in the search: what is indexed, what keeps it in step, their hits in the top bar."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.db.models import Model, Q

from kernels.models import Kernel, Op, Run, Spec
from v2kb.core.registry import SEARCHES, follow
from v2kb.core.search import INDEXED, Document, Indexed, Kind, find, hash_starts, shown
from v2kb.rules.names import exact_codes

PROSE_WORDS = 3
_RUN_ID = re.compile(r"R[0-9a-f]{6,40}", re.ASCII | re.IGNORECASE)


def _strings(value: Any) -> Iterator[str]:
    """Every text inside a document, keys left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def _prose(content: Any) -> str:
    return " · ".join(text for text in _strings(content) if len(text.split()) >= PROSE_WORDS)


def _ids(model: type[Model], **live: Any) -> Callable[[], list[int]]:
    return lambda: list(model.objects.filter(**live).order_by("pk").values_list("pk", flat=True))


LIVE = {"archived_at__isnull": True}


def _ops(ids: list[int]) -> list[Document]:
    ops = Op.objects.filter(pk__in=ids, **LIVE).select_related("head")
    return [
        Document(Kind.OP, op.pk, f"{op.title} {op.slug}", "\n".join(_strings(op.head.content)) if op.head else "")
        for op in ops
    ]


def _specs(ids: list[int]) -> list[Document]:
    specs = Spec.objects.filter(pk__in=ids, **LIVE).select_related("head")
    return [
        Document(Kind.SPEC, spec.pk, str(spec), "\n".join(_strings(spec.head.content)) if spec.head else "")
        for spec in specs
    ]


def _kernels(ids: list[int]) -> list[Document]:
    kernels = Kernel.objects.filter(pk__in=ids, **LIVE).select_related("op", "spec").prefetch_related("versions")
    return [
        Document(Kind.KERNEL, kernel.pk, f"{kernel.title} {kernel.slug}", _kernel_text(kernel)) for kernel in kernels
    ]


def _kernel_text(kernel: Kernel) -> str:
    versions = [f"v{version.number}: {version.note} {version.entry}" for version in kernel.versions.all()]
    spec = f"spec {kernel.spec.code}" if kernel.spec else ""
    return " · ".join(filter(None, [kernel.get_basis_display(), f"op {kernel.op.slug}", spec, *versions]))


def _runs(ids: list[int]) -> list[Document]:
    runs = Run.objects.filter(pk__in=ids).select_related("op", "version__kernel", "result")
    runs = runs.prefetch_related("judgements").defer("job", "result__content")
    return [Document(Kind.RUN, run.pk, run.public_id, _run_text(run)) for run in runs]


def _run_text(run: Run) -> str:
    judged = [f"{judgement.judgement} {judgement.sentence}" for judgement in run.judgements.all()]
    result = [run.result.content_hash] if hasattr(run, "result") else []
    said = [f"{run.get_kind_display()} run of {run.version} for {run.op.slug} on {run.queue}", run.outcome, run.message]
    return " · ".join(filter(None, [*said, *judged, *result, run.version.digest]))


OPS = Indexed(Kind.OP, _ids(Op, **LIVE), _ops)
SPECS = Indexed(Kind.SPEC, _ids(Spec, **LIVE), _specs)
KERNELS = Indexed(Kind.KERNEL, _ids(Kernel, **LIVE), _kernels)
RUNS = Indexed(Kind.RUN, _ids(Run), _runs)


def find_ops(query: str, limit: int) -> list[dict[str, Any]]:
    """Ops by name, hash of a contract, words of the newest contract."""
    exact = _exact(Op.objects.filter(**LIVE), query, "contracts__content_hash", "the hash of a contract")
    hits = find(Kind.OP, query, limit, exact)
    ops = Op.objects.select_related("head").in_bulk([hit.object_id for hit in hits])
    return [
        shown(hit, title=op.title, url=op.get_absolute_url(), text=_op_said(op), kind="op")
        for hit in hits
        if (op := ops.get(hit.object_id))
    ]


def _op_said(op: Op) -> str:
    content = op.head.content if op.head else {}
    told = {name: value for name, value in content.items() if name not in ("reference", "title")}
    return " · ".join([op.slug, *dict.fromkeys(text for text in _strings(told) if len(text) > 1)])


def find_specs(query: str, limit: int) -> list[dict[str, Any]]:
    """Specs by code, hash of a revision, words of the newest revision."""
    live = Spec.objects.filter(**LIVE)
    codes = live.filter(code__in=exact_codes(query)).values_list("pk", flat=True)
    exact = [(pk, "the code") for pk in codes]
    exact += _hashed(live, query, "revisions__content_hash", "the hash of a revision")
    hits = find(Kind.SPEC, query, limit, exact)
    specs = Spec.objects.select_related("head").in_bulk([hit.object_id for hit in hits])
    return [
        shown(
            hit,
            title=str(spec),
            url=spec.get_absolute_url(),
            text=_prose(spec.head.content) if spec.head else "",
            kind="spec",
        )
        for hit in hits
        if (spec := specs.get(hit.object_id))
    ]


def find_kernels(query: str, limit: int) -> list[dict[str, Any]]:
    """Kernels by name, digest of a version, words."""
    exact = _exact(Kernel.objects.filter(**LIVE), query, "versions__digest", "the digest of a version")
    hits = find(Kind.KERNEL, query, limit, exact)
    kernels = Kernel.objects.select_related("op", "spec").prefetch_related("versions")
    found = kernels.in_bulk([hit.object_id for hit in hits])
    return [
        shown(hit, title=kernel.title, url=kernel.get_absolute_url(), text=_kernel_text(kernel), kind="kernel")
        for hit in hits
        if (kernel := found.get(hit.object_id))
    ]


def find_runs(query: str, limit: int) -> list[dict[str, Any]]:
    """Runs by the beginning of their id, hash of a result, digest of a version, words."""
    named = [start for start in query.split() if _RUN_ID.fullmatch(start)][:limit]
    wanted = Q(pk__in=[])
    for start in named:
        wanted |= Q(public_id__istartswith=start)
    exact = [(pk, "the id") for pk in Run.objects.filter(wanted).values_list("pk", flat=True)[:limit]] if named else []
    hits = find(Kind.RUN, query, limit, exact)
    runs = Run.objects.select_related("op", "version__kernel", "result").prefetch_related("judgements")
    found = runs.defer("job", "result__content").in_bulk([hit.object_id for hit in hits])
    return [
        shown(hit, title=run.public_id, url=run.get_absolute_url(), text=_run_text(run), kind="run")
        for hit in hits
        if (run := found.get(hit.object_id))
    ]


def _exact(live, query: str, hashed: str, why: str) -> list[tuple[int, str]]:
    """(id, why) of the things with this slug, or with a hash that begins so."""
    named = live.filter(slug=query.strip().lower()).values_list("pk", flat=True)
    return [(pk, "its name") for pk in named] + _hashed(live, query, hashed, why)


def _hashed(live, query: str, hashed: str, why: str) -> list[tuple[int, str]]:
    found: dict[int, str] = {}
    for start in hash_starts(query):
        found |= dict.fromkeys(live.filter(**{f"{hashed}__startswith": start}).values_list("pk", flat=True)[:50], why)
    return list(found.items())


def _follow(indexed: Indexed) -> Callable[[Iterable[Any]], None]:
    return lambda objects: indexed.refresh(obj.pk for obj in objects)


def register() -> None:
    """Fill the hooks of core; called once when the app is ready."""
    for name, label, indexed, finder in (
        ("specs", "kernels.spec", SPECS, find_specs),
        ("ops", "kernels.op", OPS, find_ops),
        ("kernels", "kernels.kernel", KERNELS, find_kernels),
        ("runs", "kernels.run", RUNS, find_runs),
    ):
        INDEXED.add(name, indexed)
        follow(label, _follow(indexed))
        SEARCHES.add(name, finder)
