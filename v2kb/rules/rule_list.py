"""All spec rules by id for the page of the rules: those of `spec_rules`, and R60 to R63, which the
anti-loop gate implements.
"""

from dataclasses import dataclass
from typing import Any

from v2kb.rules.antiloop_rules import GATE_RULES
from v2kb.rules.rule_registry import ERROR, Rule
from v2kb.rules.spec_rules import RULES

GATE_SOURCE = "evidence-and-gate section 4"


@dataclass(frozen=True, slots=True)
class GateReference:
    """A spec rule that the gate judges, choice by choice, under ids of its own. `note`: where a part of it went."""

    id: str
    title: str
    source: str
    gate: tuple[str, ...]
    note: str = ""

    def as_document(self) -> dict[str, Any]:
        """Return what a page shows of the rule, in the form of `Rule.as_document`, with the gate's rules."""
        rules = [rule for rule in GATE_RULES if rule.id in self.gate]
        return {
            "id": self.id,
            "version": max(int(rule.version) for rule in rules),
            "severity": ERROR,
            "title": self.title,
            "source": f"{self.source}; {GATE_SOURCE}",
            "formula": " ".join(f"{rule.id}: {rule.text}" for rule in rules),
            "inputs": ["choices[]"],
            "gate": [rule.id for rule in rules],
            "note": self.note,
        }


GATE_REFERENCES = (
    GateReference("R60", "Each choice rests on something", "the grouped GEMM's spec, section 6", ("AL1",)),
    GateReference("R61", "Cited rows exist and stand", "the grouped GEMM's spec, section 6", ("AL1",)),
    GateReference("R62", "Prediction and kill threshold", "the grouped GEMM's spec, section 1", ("AL5", "AL6")),
    GateReference(
        "R63",
        "New mechanism against a DEAD row",
        "m1-decode-evidence section 5",
        ("AL4",),
        "The sign-off before the build (AL9) is the curator's signature that AL4 asks for, bound to the choice's text.",
    ),
)
ALL_RULES: dict[str, Rule | GateReference] = {
    rule.id: rule for rule in sorted((*RULES.values(), *GATE_REFERENCES), key=lambda rule: rule.id)
}


def rule_documents() -> list[dict[str, Any]]:
    """Return every rule as plain values, in the order of their ids; `gate` names the gate's rules behind one,
    `note` what these take over of another.
    """
    return [{"gate": [], "note": "", **rule.as_document()} for rule in ALL_RULES.values()]
