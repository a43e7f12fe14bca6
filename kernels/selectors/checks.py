"""Running the spec rules over a document with the contracts of the ops that it names."""

from typing import Any

from evidence.models import EvidenceRevision, EvidenceRow
from kernels.models import Op, Spec, SpecRevision
from kernels.selectors.waivers import agreed_waivers
from v2kb.rules.antiloop_facts import items, mapping, text
from v2kb.rules.ceilings import ceilings_of
from v2kb.rules.rule_registry import ERROR, WAIVED
from v2kb.rules.spec_rules import SpecReport, findings_as_document, spec_report


def contracts_of(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Op slug -> newest contract, for the ops that a spec document names."""
    named = document.get("ops")
    slugs = [op.get("op") for op in named if isinstance(op, dict)] if isinstance(named, list) else []
    ops = Op.objects.select_related("head").filter(slug__in=[slug for slug in slugs if isinstance(slug, str)])
    return {op.slug: op.head.content for op in ops if op.head}


def neighbours_of(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Spec code -> newest content, for the specs that share an SM with this one by its queue."""
    smem = document.get("smem")
    queue = smem.get("queue") if isinstance(smem, dict) else None
    codes = [code for code in queue if isinstance(code, str)] if isinstance(queue, list) else []
    specs = Spec.objects.select_related("head").filter(code__in=codes, head__isnull=False) if codes else []
    return {spec.code: spec.head.content for spec in specs}


def heads_of(document: dict[str, Any]) -> dict[str, EvidenceRevision]:
    """Row code -> its head, for the rows that choices probe or cite."""
    choices = list(map(mapping, items(document.get("choices"))))
    codes = {text(citation.get("code")) for c in choices for citation in map(mapping, items(c.get("citations")))}
    codes |= {text(mapping(choice.get("prediction")).get("row")) for choice in choices}
    codes.discard("")
    rows = EvidenceRow.objects.select_related("head").filter(code__in=codes, head__isnull=False) if codes else []
    return {row.code: row.head for row in rows}


def report_of(document: dict[str, Any], spec: Spec | None = None) -> SpecReport:
    """What the spec rules say of a document, canonical or as typed, with the waivers agreed to for its spec."""
    heads = heads_of(document)
    return spec_report(
        document,
        neighbours=neighbours_of(document),
        ops=contracts_of(document),
        ceilings={code: ceilings_of(code, head.content) for code, head in heads.items()},
        verdicts={code: head.verdict for code, head in heads.items()},
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
