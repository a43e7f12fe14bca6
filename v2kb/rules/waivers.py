"""Waivers of findings: somebody says why a finding may stand, and somebody else agrees.

A waiver is bound to the finding's words, so that it ends when the rule finds something else. What it covers stays in
the report with the state `waived`. What is missing or unreadable can't be waived: nobody knows what it would hide.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from v2kb.rules import document_shape as shape
from v2kb.rules.problem import Problem
from v2kb.rules.rule_registry import DOCUMENT_RULE, MISSING_INPUT, OPEN, WAIVED, Finding

FIELDS = {
    "rule": shape.text(20),
    "path": shape.text(160),
    "message": shape.text(2000),
    "reason": shape.text(2000, lines=True),
    "by": shape.text(150),
    "reviewer": shape.text(150),
}
_READ = shape.record(FIELDS)


@dataclass(frozen=True, slots=True)
class Waiver:
    """Why the finding of `rule` at `path` with these words may stand; `by` asks for it, `reviewer` agrees."""

    rule: str
    path: str
    message: str
    reason: str
    by: str
    reviewer: str = ""

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What keeps the waiver from having an effect."""
        found = [
            Problem(name, f"The waiver has no {name}.", f"Give the {name} of the finding.")
            for name in ("rule", "path", "message")
            if not getattr(self, name)
        ]
        if not self.reason.strip():
            found.append(Problem("reason", "The waiver has no reason.", "Write why the finding may stand."))
        if not self.by:
            found.append(Problem("by", "Nobody is named who asks for the waiver.", "Name its author."))
        if not self.reviewer:
            found.append(Problem("reviewer", "Nobody has agreed to the waiver.", "Ask a reviewer."))
        elif self.reviewer.casefold() == self.by.casefold():
            found.append(Problem("reviewer", "The author of a waiver can't agree to it.", "Ask somebody else."))
        return tuple(found)

    def meets(self, finding: Finding) -> bool:
        """Say whether the waiver is about this finding, in its present words."""
        return (self.rule, self.path, self.message) == (finding.rule, finding.path, finding.message)


@dataclass(frozen=True, slots=True)
class Waived:
    """Findings in their order, those that a waiver covers with the state `waived`; `ended` are waivers that meet no
    finding any more, `refused` those without effect, each with the reason.
    """

    findings: tuple[Finding, ...]
    ended: tuple[Waiver, ...]
    refused: tuple[tuple[Waiver, Problem], ...]


def read_waiver(raw: Any) -> tuple[Waiver, list[Problem]]:
    """Return (waiver, problems of its form) from plain values. Never raises for values that JSON can hold."""
    problems: list[Problem] = []
    return Waiver(**_READ(raw, "", problems)), problems


def may_be_waived(finding: Finding) -> bool:
    """Say whether a waiver can cover this finding at all."""
    return finding.rule != DOCUMENT_RULE and finding.kind != MISSING_INPUT


def waive(findings: Iterable[Finding], waivers: Iterable[Waiver]) -> Waived:
    """Apply waivers to findings. One without reason or reviewer, or of what can't be waived, has no effect."""
    found, covered = list(findings), set()
    ended: list[Waiver] = []
    refused: list[tuple[Waiver, Problem]] = []
    for waiver in waivers:
        met = [index for index, finding in enumerate(found) if waiver.meets(finding)]
        if waiver.problems:
            refused.append((waiver, waiver.problems[0]))
        elif not met:
            ended.append(waiver)
        elif not all(may_be_waived(found[index]) for index in met):
            message = "What is missing or unreadable can't be waived."
            refused.append((waiver, Problem("path", message, "Fill in the field.")))
        else:
            covered.update(met)
    states = (WAIVED if index in covered else OPEN for index in range(len(found)))
    return Waived(
        tuple(replace(finding, state=state) for finding, state in zip(found, states, strict=True)),
        tuple(ended),
        tuple(refused),
    )
