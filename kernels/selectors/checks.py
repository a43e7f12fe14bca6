"""Running the spec rules over a document with the contracts of the ops that it names."""

from typing import Any

from evidence.models import EvidenceRow
from kernels.models import Op, Spec, SpecRevision
from kernels.selectors.waivers import agreed_waivers
from v2kb.rules.rule_registry import ERROR, WAIVED
from v2kb.rules.spec_check import beside, report_beside
from v2kb.rules.spec_rules import SpecReport, findings_as_document


def contracts_of(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Op slug -> newest contract, for the ops that a spec document names."""
    ops = Op.objects.select_related("head").filter(slug__in=beside(document).ops)
    return {op.slug: op.head.content for op in ops if op.head}


def neighbours_of(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Spec code -> newest content, for the specs that share an SM with this one by its queue."""
    codes = beside(document).specs
    specs = Spec.objects.select_related("head").filter(code__in=codes, head__isnull=False) if codes else []
    return {spec.code: spec.head.content for spec in specs}


def heads_of(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Row code -> content of its head, for the rows that choices probe or cite."""
    codes = beside(document).rows
    rows = EvidenceRow.objects.select_related("head").filter(code__in=codes, head__isnull=False) if codes else []
    return {row.code: row.head.content for row in rows}


def report_of(document: dict[str, Any], spec: Spec | None = None) -> SpecReport:
    """What the spec rules say of a document, canonical or as typed, with the waivers agreed to for its spec."""
    return report_beside(
        document,
        ops=contracts_of(document),
        specs=neighbours_of(document),
        rows=heads_of(document),
        waivers=agreed_waivers(spec) if spec is not None and spec.pk else (),
    )


def checks_document(report: SpecReport) -> dict[str, Any]:
    """A report as plain values: whether it passes, counts, and every finding."""
    return {"summary": report.summary, "findings": findings_as_document(report.findings)}


def blocking_findings(checks: dict[str, Any]) -> list[dict[str, Any]]:
    """The findings that stop an approval, unless they were waived: errors, and inputs that such rules lack."""
    return [f for f in checks["findings"] if f["severity"] == ERROR and f["state"] != WAIVED]


def blocking_now(revision: SpecRevision) -> list[dict[str, Any]]:
    """What stops an approval of a revision by the rules and waivers of now."""
    return blocking_findings(checks_document(report_of(revision.content, revision.spec)))
