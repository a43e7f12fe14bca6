"""Running the spec rules over a document with the contracts of the ops that it names."""

from typing import Any

from evidence.models import EvidenceRow
from kernels.models import Op, Spec, SpecRevision
from kernels.selectors.waivers import agreed_waivers
from v2kb.rules.rule_registry import ERROR, WAIVED, Finding
from v2kb.rules.spec_check import beside, parts_without_op, report_beside
from v2kb.rules.spec_rules import SpecReport, findings_as_document


def _ops_of(document: dict[str, Any]) -> dict[str, dict[str, Any] | None]:
    """Op slug -> newest contract or none yet, for the ops that a spec document names and that there are."""
    ops = Op.objects.select_related("head").filter(slug__in=beside(document).ops)
    return {op.slug: op.head.content if op.head else None for op in ops}


def contracts_of(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Op slug -> newest contract, for the ops that a spec document names."""
    return {slug: contract for slug, contract in _ops_of(document).items() if contract}


def lacking_op(document: dict[str, Any]) -> tuple[Finding, ...]:
    """The parts of a spec document that name no op, or one that there isn't."""
    return parts_without_op(document, _ops_of(document))


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
    """What the spec rules say of a document, canonical or as typed; for a `spec` also of parts without op, and with
    the waivers that were agreed to.
    """
    ops = _ops_of(document)
    return report_beside(
        document,
        ops={slug: contract for slug, contract in ops.items() if contract},
        specs=neighbours_of(document),
        rows=heads_of(document),
        waivers=agreed_waivers(spec) if spec is not None else (),
        known_ops=ops if spec is not None else None,
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
