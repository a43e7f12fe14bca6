"""All rules of a spec in one call: findings in the order of severity and document, a summary, and the
pictures.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from v2kb.rules.barrier_pictures import barrier_ledger as draw_ledger
from v2kb.rules.barrier_pictures import semaphore_map as draw_semaphores
from v2kb.rules.canonical import content_hash
from v2kb.rules.data_rules import DATA_RULES
from v2kb.rules.granularity import GRANULARITY_RULES, total_tasks
from v2kb.rules.page_map import page_map as draw_pages
from v2kb.rules.protocol_rules import PROTOCOL_RULES
from v2kb.rules.reinit_rules import REINIT_RULES
from v2kb.rules.release_rules import RELEASE_RULES
from v2kb.rules.ring_rules import RING_RULES
from v2kb.rules.role_rules import ROLE_RULES
from v2kb.rules.role_rules import role_matrix as draw_roles
from v2kb.rules.rule_registry import (
    ERROR,
    FAILED,
    INCOMPLETE,
    INFO,
    MISSING_INPUT,
    SEVERITIES,
    VIOLATION,
    WARNING,
    Context,
    Finding,
    Rule,
)
from v2kb.rules.sems import SEM_RULES
from v2kb.rules.smem import Plan
from v2kb.rules.smem_rules import SMEM_PLAN_RULES
from v2kb.rules.smem_table_rules import SMEM_TABLE_RULES
from v2kb.rules.spec_document import empty_spec
from v2kb.rules.spec_fields import ROW_FIELDS
from v2kb.rules.spec_view import SpecView
from v2kb.rules.wave_quant import WAVE_QUANT_RULES

_ALL = (
    *SMEM_PLAN_RULES,
    *SMEM_TABLE_RULES,
    *SEM_RULES,
    *REINIT_RULES,
    *DATA_RULES,
    *RING_RULES,
    *RELEASE_RULES,
    *ROLE_RULES,
    *PROTOCOL_RULES,
    *GRANULARITY_RULES,
    *WAVE_QUANT_RULES,
)
RULES: dict[str, Rule] = {rule.id: rule for rule in sorted(_ALL, key=lambda rule: rule.id)}
DOCUMENT_RULE = "DOC"
_SECTIONS = tuple(empty_spec())
_FIELDS = tuple(
    dict.fromkeys(
        name
        for fields in (*(part for part in empty_spec().values() if isinstance(part, dict)), *ROW_FIELDS.values())
        for name in fields
    )
)


@dataclass(frozen=True, slots=True)
class SpecReport:
    """What all rules say of one spec: findings, and the state of each rule by id."""

    findings: tuple[Finding, ...]
    states: Mapping[str, str]
    totals: Mapping[str, int | None]

    @property
    def passes(self) -> bool:
        """True when no finding blocks: no rule failed or lacked an input, and the document is well formed."""
        blocked = any(state in (FAILED, INCOMPLETE) for state in self.states.values())
        return not blocked and all(finding.severity != ERROR for finding in self.findings)

    @property
    def summary(self) -> dict[str, Any]:
        """Return counts, totals and rule states as plain values."""
        count = {s: sum(f.severity == s and f.kind == VIOLATION for f in self.findings) for s in SEVERITIES}
        return {
            "passes": self.passes,
            "errors": count[ERROR],
            "warnings": count[WARNING],
            "infos": count[INFO],
            "missing_inputs": sum(f.kind == MISSING_INPUT for f in self.findings),
            "rules": dict(self.states),
            "rules_version": rules_version(),
            **self.totals,
        }


def spec_report(
    doc: Any,
    neighbours: Mapping[str, Any] | None = None,
    ops: Mapping[str, Mapping[str, Any]] | None = None,
) -> SpecReport:
    """Run every rule over a spec document (canonical or raw).

    `neighbours` maps spec codes that the document's queue names to their documents; `ops` maps op slugs to
    contracts, whose fixed axes become symbols. Never raises for values that JSON can hold.
    """
    view = SpecView(doc, ops)
    wanted = set(view.doc["smem"]["queue"])
    others = {code: SpecView(other) for code, other in (neighbours or {}).items() if code in wanted}
    reporters = [rule.run(view, Context(others)) for rule in RULES.values()]
    findings = [*_document_findings(view), *(finding for r in reporters for finding in r.findings)]
    return SpecReport(
        findings=tuple(sorted(_merged(findings), key=_order)),
        states={reporter.rule.id: reporter.state for reporter in reporters},
        totals=_totals(view),
    )


def check_spec(
    doc: Any,
    neighbours: Mapping[str, Any] | None = None,
    ops: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[Finding]:
    """Return the findings of `spec_report`, worst first, then in the order of the document."""
    return list(spec_report(doc, neighbours, ops).findings)


def findings_as_document(findings: list[Finding] | tuple[Finding, ...]) -> list[dict[str, Any]]:
    """Return findings as plain values, ready for `canonical_json`."""
    return [finding.as_document() for finding in findings]


def rules_version() -> str:
    """Return a short hash over the ids and versions of all rules; it changes when any rule does."""
    return content_hash([[rule.id, rule.version] for rule in RULES.values()])[:12]


def page_map(doc: Any, ops: Mapping[str, Mapping[str, Any]] | None = None) -> dict[str, Any]:
    """Return the picture of the pages of `doc` (see `v2kb.rules.page_map`)."""
    return draw_pages(SpecView(doc, ops))


def semaphore_map(doc: Any, ops: Mapping[str, Mapping[str, Any]] | None = None) -> dict[str, Any]:
    """Return the picture of the semaphores of `doc` (see `v2kb.rules.barrier_pictures`)."""
    return draw_semaphores(SpecView(doc, ops))


def barrier_ledger(doc: Any, ops: Mapping[str, Mapping[str, Any]] | None = None) -> dict[str, Any]:
    """Return the ledger of the barriers of `doc` (see `v2kb.rules.barrier_pictures`)."""
    return draw_ledger(SpecView(doc, ops))


def role_matrix(doc: Any, ops: Mapping[str, Mapping[str, Any]] | None = None) -> dict[str, Any]:
    """Return the picture of the roles and paths of `doc` (see `v2kb.rules.role_rules`)."""
    return draw_roles(SpecView(doc, ops))


def _document_findings(view: SpecView) -> list[Finding]:
    shape = [
        Finding(DOCUMENT_RULE, ERROR, problem.field, problem.message, problem.fix, source="the document's form")
        for problem in view.problems
    ]
    symbols = [
        Finding(DOCUMENT_RULE, ERROR, f"symbols.{name}", error.message, error.fix, source="the document's form")
        for name, error in view.symbols.problems.items()
        if name in view.doc["symbols"]
    ]
    return shape + symbols


def _merged(findings: list[Finding]) -> list[Finding]:
    """One finding per missing input, however many rules wait for it."""
    merged: dict[tuple[str, ...], Finding] = {}
    for finding in findings:
        if finding.kind != MISSING_INPUT:
            merged[finding.rule, finding.path, finding.message] = finding
            continue
        key = (MISSING_INPUT, finding.path, finding.message)
        first = merged.get(key)
        if first is None:
            merged[key] = finding
        elif finding.rule != first.rule and finding.rule not in first.also:
            merged[key] = replace(first, also=(*first.also, finding.rule))
    return list(merged.values())


def _order(finding: Finding) -> tuple[Any, ...]:
    parts: list[tuple[int, str]] = []
    for position, part in enumerate(re.findall(r"[^.\[\]]+", finding.path)):
        known = _SECTIONS if position == 0 else _FIELDS
        rank = int(part) if part.isdigit() else known.index(part) if part in known else len(known)
        parts.append((rank, part))
    return SEVERITIES.index(finding.severity), parts, finding.rule


def _totals(view: SpecView) -> dict[str, int | None]:
    slots = [row.values["slots"] for row in view.sems]
    return {
        "smem_bytes": view.total_bytes,
        "regions": view.region_count,
        "smem_pages": view.plan.page_count if isinstance(view.plan, Plan) else None,
        "semaphores": sum(slots) if all(isinstance(slot, int) for slot in slots) else None,
        "tasks": total_tasks(view),
    }
