"""The registry of spec rules, what a rule reports, and how its state follows from that.

A rule is a pure function over a `SpecView` that reports through a `Reporter`. A rule whose input is absent
reports that as a finding of its own kind, so that no rule ever passes unseen.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from v2kb.rules.ceilings import PUBLISHED, Ceiling
from v2kb.rules.evidence import DEAD
from v2kb.rules.spec_view import Missing, Row, SpecView

ERROR, WARNING, INFO = "E", "W", "I"
SEVERITIES = (ERROR, WARNING, INFO)
VIOLATION, MISSING_INPUT = "violation", "missing_input"
OPEN, WAIVED = "open", "waived"
_VERDICT_OF_LETTER = {"D": DEAD}
DOCUMENT_RULE = "DOC"

PASSED, FAILED, WARNED, INCOMPLETE, NOT_APPLICABLE = (
    "passed",
    "failed",
    "warned",
    "missing_input",
    "not_applicable",
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a rule found.

    `path` is the field in the spec document; `also` names other rules that wait for the same missing input;
    `state` is open, waived or fixed, and only the app moves it.
    """

    rule: str
    severity: str
    path: str
    message: str
    fix: str
    kind: str = VIOLATION
    version: int = 1
    source: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    also: tuple[str, ...] = ()
    state: str = OPEN

    def as_document(self) -> dict[str, Any]:
        """Return the finding as plain values for storage and for pages."""
        return {
            "rule": self.rule,
            "severity": self.severity,
            "path": self.path,
            "message": self.message,
            "fix": self.fix,
            "kind": self.kind,
            "version": self.version,
            "source": self.source,
            "facts": dict(self.facts),
            "also": list(self.also),
            "state": self.state,
        }


def state_of(findings: Iterable[Finding]) -> str:
    """Return the state of a rule with these findings: failed, missing_input, warned, passed when they only inform,
    waived when a waiver covers all of them, or "" when there are none.
    """
    found = list(findings)
    left = [finding for finding in found if finding.state == OPEN]
    if any(finding.kind == VIOLATION and finding.severity == ERROR for finding in left):
        return FAILED
    if any(finding.kind == MISSING_INPUT for finding in left):
        return INCOMPLETE
    if any(finding.severity == WARNING for finding in left):
        return WARNED
    return PASSED if left else WAIVED if found else ""


class Reporter:
    """Collects what one rule finds over one spec."""

    def __init__(self, rule: "Rule") -> None:
        self.rule = rule
        self.findings: list[Finding] = []
        self.skipped = ""

    def add(self, path: str, message: str, fix: str, *, severity: str = "", **facts: Any) -> None:
        """Report a violation; `facts` are the numbers of the message (ints, text, lists of them)."""
        self._append(severity or self.rule.severity, path, message, fix, VIOLATION, facts)

    def missing(self, missing: Missing) -> None:
        """Report an input that is absent or unreadable. It blocks where the rule would; other rules warn."""
        severity = ERROR if self.rule.severity == ERROR else WARNING
        self._append(severity, missing.path, missing.message, missing.fix, MISSING_INPUT, {})

    def skip(self, reason: str) -> None:
        """Say that the rule doesn't apply to this spec."""
        self.skipped = reason

    def need(self, row: Row, *names: str) -> tuple[int, ...] | None:
        """Return the numbers of `row`, or None after reporting those that are missing."""
        values = [row.values[name] for name in names]
        absent = [value for value in values if isinstance(value, Missing)]
        for value in absent:
            self.missing(value)
        return None if absent else tuple(values)

    def _append(self, severity: str, path: str, message: str, fix: str, kind: str, facts: Mapping[str, Any]) -> None:
        rule = self.rule
        self.findings.append(
            Finding(rule.id, severity, path, message, fix, kind, rule.version, rule.source, dict(facts))
        )

    @property
    def state(self) -> str:
        """passed, failed, warned, missing_input or not_applicable."""
        return state_of(self.findings) or (NOT_APPLICABLE if self.skipped else PASSED)


@dataclass(frozen=True, slots=True)
class Context:
    """What a rule may read beside the spec: other specs of the queue by code, evaluated (None: none were given), and
    the ceilings and verdicts of evidence rows by code.
    """

    neighbours: Mapping[str, SpecView] | None = None
    ceilings: Mapping[str, tuple[Ceiling, ...]] = field(default_factory=lambda: PUBLISHED)
    verdicts: Mapping[str, str] = field(default_factory=dict)

    def is_dead(self, code: str) -> bool:
        """Say whether a row is DEAD. A code keeps its letter when its verdict changes, so that the letter speaks only
        for rows that are not at hand.
        """
        return (self.verdicts.get(code) or _VERDICT_OF_LETTER.get(code[:1])) == DEAD


Check = Callable[[SpecView, Reporter, Context], None]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: `formula` and `inputs` (paths in the spec document) are for people, `source` names its
    document.
    """

    id: str
    version: int
    severity: str
    title: str
    source: str
    formula: str
    inputs: tuple[str, ...]
    check: Check

    def run(self, view: SpecView, context: Context) -> Reporter:
        """Run the rule over one spec."""
        reporter = Reporter(self)
        self.check(view, reporter, context)
        return reporter

    def as_document(self) -> dict[str, Any]:
        """Return what a page shows of the rule."""
        return {
            "id": self.id,
            "version": self.version,
            "severity": self.severity,
            "title": self.title,
            "source": self.source,
            "formula": self.formula,
            "inputs": list(self.inputs),
        }


def spec_rule(
    rule_id: str,
    *,
    severity: str,
    title: str,
    source: str,
    formula: str,
    inputs: tuple[str, ...],
    version: int = 1,
) -> Callable[[Check], Rule]:
    """Turn a check into a `Rule`. Raise `version` whenever the same spec could get another answer."""

    def wrap(check: Check) -> Rule:
        return Rule(rule_id, version, severity, title, source, formula, inputs, check)

    return wrap
