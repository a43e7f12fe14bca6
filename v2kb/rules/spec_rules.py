"""All rules of a spec in one call: findings in the order of severity and document, a summary, and the
pictures.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from v2kb.rules.amendments import Setting, amendments_behind
from v2kb.rules.barrier_pictures import barrier_ledger as draw_ledger
from v2kb.rules.barrier_pictures import semaphore_map as draw_semaphores
from v2kb.rules.canonical import content_hash
from v2kb.rules.ceilings import PUBLISHED, Ceiling
from v2kb.rules.claims import claim_rule
from v2kb.rules.data_rules import DATA_RULES
from v2kb.rules.engine_rules import ENGINE_RULES
from v2kb.rules.granularity import GRANULARITY_RULES, total_tasks
from v2kb.rules.layer_graph import layer_graph as draw_layers
from v2kb.rules.measurement_rules import MEASUREMENT_RULES
from v2kb.rules.page_map import page_map as draw_pages
from v2kb.rules.prediction_rules import PREDICTION_RULES
from v2kb.rules.problem import Problem
from v2kb.rules.protocol_rules import PROTOCOL_RULES
from v2kb.rules.reinit_rules import REINIT_RULES
from v2kb.rules.release_rules import RELEASE_RULES
from v2kb.rules.review_rules import REVIEW_RULES
from v2kb.rules.ring_rules import RING_RULES
from v2kb.rules.role_rules import ROLE_RULES
from v2kb.rules.role_rules import role_matrix as draw_roles
from v2kb.rules.rule_registry import (
    DOCUMENT_RULE,
    ERROR,
    INFO,
    MISSING_INPUT,
    OPEN,
    SEVERITIES,
    VIOLATION,
    WAIVED,
    WARNING,
    Context,
    Finding,
    Rule,
    state_of,
)
from v2kb.rules.sems import SEM_RULES
from v2kb.rules.smem import Plan
from v2kb.rules.smem_rules import SMEM_PLAN_RULES
from v2kb.rules.smem_slices import SLICE_RULES
from v2kb.rules.smem_table_rules import SMEM_TABLE_RULES
from v2kb.rules.smem_use_rules import SMEM_USE_RULES
from v2kb.rules.spec_document import empty_spec
from v2kb.rules.spec_fields import ROW_FIELDS
from v2kb.rules.spec_view import SpecView
from v2kb.rules.target_rules import TARGET_RULES
from v2kb.rules.tmem_rules import TMEM_RULES
from v2kb.rules.tmem_rules import tmem_map as draw_tmem
from v2kb.rules.waivers import Waiver, waive
from v2kb.rules.wave_quant import WAVE_QUANT_RULES
from v2kb.rules.wiring_rules import WIRING_RULES

_ALL = (
    *SMEM_PLAN_RULES,
    *SMEM_TABLE_RULES,
    *SMEM_USE_RULES,
    *SLICE_RULES,
    *TMEM_RULES,
    *SEM_RULES,
    *REINIT_RULES,
    *DATA_RULES,
    *RING_RULES,
    *RELEASE_RULES,
    *ROLE_RULES,
    *PROTOCOL_RULES,
    *GRANULARITY_RULES,
    *ENGINE_RULES,
    *WIRING_RULES,
    *PREDICTION_RULES,
    *WAVE_QUANT_RULES,
    *MEASUREMENT_RULES,
    *TARGET_RULES,
    *REVIEW_RULES,
)
_CLAIMS = claim_rule({rule.id: rule for rule in _ALL})
RULES: dict[str, Rule] = {rule.id: rule for rule in sorted((*_ALL, _CLAIMS), key=lambda rule: rule.id)}
_ROW = re.compile(r"[0-9]{1,4}")
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
    """What all rules say of one spec: findings, and the state of each rule by id.

    `ended_waivers` meet no finding any more, `refused_waivers` have no effect, each with the reason. `amended` maps a
    field to the amendment that set it.
    """

    findings: tuple[Finding, ...]
    states: Mapping[str, str]
    totals: Mapping[str, int | None]
    ended_waivers: tuple[Waiver, ...] = ()
    refused_waivers: tuple[tuple[Waiver, Problem], ...] = ()
    amended: Mapping[str, Setting] = field(default_factory=dict)

    @property
    def open_findings(self) -> tuple[Finding, ...]:
        """Findings that no waiver covers."""
        return tuple(finding for finding in self.findings if finding.state == OPEN)

    @property
    def passes(self) -> bool:
        """True when nothing blocks: no rule of that severity failed or lacked an input, the document is well formed."""
        return all(finding.severity != ERROR for finding in self.open_findings)

    @property
    def summary(self) -> dict[str, Any]:
        """Return counts, totals and rule states as plain values; what is waived counts as that alone."""
        left = self.open_findings
        count = {s: sum(f.severity == s and f.kind == VIOLATION for f in left) for s in SEVERITIES}
        return {
            "passes": self.passes,
            "errors": count[ERROR],
            "warnings": count[WARNING],
            "infos": count[INFO],
            "missing_inputs": sum(f.kind == MISSING_INPUT for f in left),
            "waived": sum(f.state == WAIVED for f in self.findings),
            "rules": dict(self.states),
            "rules_version": rules_version(),
            **self.totals,
        }


def spec_report(
    doc: Any,
    neighbours: Mapping[str, Any] | None = None,
    ops: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    ceilings: Mapping[str, tuple[Ceiling, ...]] = PUBLISHED,
    verdicts: Mapping[str, str] | None = None,
    waivers: Iterable[Waiver] = (),
) -> SpecReport:
    """Run every rule over a spec document (canonical or raw).

    `neighbours` maps spec codes that the document's queue names to their documents; `ops` maps op slugs to
    contracts, whose fixed axes become symbols; `ceilings` and `verdicts` are those of evidence rows by code. Never
    raises for values that JSON can hold.
    """
    view = SpecView(doc, ops)
    wanted = set(view.doc["smem"]["queue"])
    others = {code: SpecView(other) for code, other in (neighbours or {}).items() if code in wanted}
    context = Context(others, ceilings, verdicts or {})
    reporters = {rule.id: rule.run(view, context) for rule in RULES.values()}
    found = [*_document_findings(view), *(finding for r in reporters.values() for finding in r.findings)]
    noted = [_noted(finding, view) for finding in sorted(_merged(found), key=_order)]
    waived = waive(noted, waivers)
    covered = {finding.rule for finding in waived.findings if finding.state == WAIVED}
    states = {rule: reporter.state for rule, reporter in reporters.items()}
    states |= {rule: state_of(f for f in waived.findings if rule in (f.rule, *f.also)) for rule in covered}
    return SpecReport(waived.findings, states, totals(view), waived.ended, waived.refused, view.amended)


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


def tmem_map(doc: Any, ops: Mapping[str, Mapping[str, Any]] | None = None) -> dict[str, Any]:
    """Return the picture of the tensor memory of `doc` (see `v2kb.rules.tmem_rules`)."""
    return draw_tmem(SpecView(doc, ops))


def layer_graph(doc: Any, ops: Mapping[str, Mapping[str, Any]] | None = None) -> dict[str, Any]:
    """Return the picture of the ops of `doc` in their layer graph (see `v2kb.rules.layer_graph`)."""
    return draw_layers(SpecView(doc, ops), ops)


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
            worse = min(first.severity, finding.severity, key=SEVERITIES.index)
            merged[key] = replace(first, severity=worse, also=(*first.also, finding.rule))
    return list(merged.values())


def _noted(finding: Finding, view: SpecView) -> Finding:
    """The finding with the amendments that set what its rule read."""
    inputs = RULES[finding.rule].inputs if finding.kind == VIOLATION and finding.rule in RULES else ()
    behind = amendments_behind(finding.path, inputs, view.amended)
    if not behind:
        return finding
    message = f"{finding.message} As amended by {', '.join(behind)}."
    return replace(finding, message=message, facts={**finding.facts, "amended_by": list(behind)})


def _order(finding: Finding) -> tuple[Any, ...]:
    parts: list[tuple[int, str]] = []
    for position, part in enumerate(re.findall(r"[^.\[\]]+", finding.path)):
        known = _SECTIONS if position == 0 else _FIELDS
        is_row = _ROW.fullmatch(part)
        rank = int(part) if is_row else known.index(part) if part in known else len(known)
        parts.append((rank, part))
    return SEVERITIES.index(finding.severity), parts, finding.rule


def totals(view: SpecView) -> dict[str, int | None]:
    """Return bytes, regions, pages, semaphores and tasks of a spec; None where one has no value."""
    slots = [row.values["slots"] for row in view.sems]
    return {
        "smem_bytes": view.total_bytes,
        "regions": view.region_count,
        "smem_pages": view.plan.page_count if isinstance(view.plan, Plan) else None,
        "semaphores": sum(slots) if all(isinstance(slot, int) for slot in slots) else None,
        "tasks": total_tasks(view),
    }
