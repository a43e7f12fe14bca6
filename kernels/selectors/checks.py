"""Running the spec rules over a document with the contracts of the ops that it names."""

from typing import Any

from kernels.models import Op
from v2kb.rules.spec_rules import SpecReport, findings_as_document, page_map, semaphore_map, spec_report


def contracts_of(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Op slug -> newest contract, for the ops that a spec document names."""
    named = document.get("ops")
    slugs = [op.get("op") for op in named if isinstance(op, dict)] if isinstance(named, list) else []
    ops = Op.objects.select_related("head").filter(slug__in=[slug for slug in slugs if isinstance(slug, str)])
    return {op.slug: op.head.content for op in ops if op.head}


def report_of(document: dict[str, Any]) -> SpecReport:
    """What the spec rules say of a document, canonical or as typed."""
    return spec_report(document, ops=contracts_of(document))


def checks_document(report: SpecReport) -> dict[str, Any]:
    """A report as plain values: whether it passes, counts, and every finding."""
    return {"summary": report.summary, "findings": findings_as_document(report.findings)}


def blocking_findings(checks: dict[str, Any]) -> list[dict[str, Any]]:
    """The findings that stop an approval: broken rules, and rules that lack an input."""
    return [f for f in checks["findings"] if f["severity"] == "E" or f["kind"] == "missing_input"]


def smem_picture(document: dict[str, Any]) -> dict[str, Any] | None:
    """The 14 pages as the page map draws them; None for a document without regions."""
    return page_map(document, contracts_of(document)) if document["smem"]["regions"] else None


def sem_picture(document: dict[str, Any]) -> dict[str, Any] | None:
    """The semaphore ordinals as their map draws them; None for a document without semaphores."""
    return semaphore_map(document, contracts_of(document)) if document["sems"]["rows"] else None
