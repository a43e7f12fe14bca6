"""The anti-loop gate, AL1 to AL6: one pure function for preview, page, REST and approval.

Source: evidence-and-gate section 4. A spec passes when it has choices and no line is UNSATISFIED or ERROR.
What is unknown, missing or broken refuses: an exception inside a rule is an ERROR of that rule.
"""

import dataclasses
from dataclasses import dataclass
from typing import Any

from v2kb.rules.antiloop_choice import Choice
from v2kb.rules.antiloop_facts import Snapshot, Unknown, items, mapping, text
from v2kb.rules.antiloop_rules import (
    BLOCKING_STATUSES,
    ERROR,
    GATE_RULES,
    NOT_APPLICABLE,
    UNSATISFIED,
    GateRule,
    Said,
    choice_hash,
)

__all__ = ["GATE_RULES", "GATE_VERSION", "SPEC_LINE", "GateResult", "Line", "choice_hash", "evaluate"]

GATE_VERSION = "7"
SPEC_LINE = "spec"


@dataclass(frozen=True)
class Line:
    """One rule on one choice. `field` is a path in the spec, `fix` what to do there, `inputs` what the rule
    saw.
    """

    rule: str
    version: str
    choice: str
    status: str
    message: str
    field: str = ""
    fix: str = ""
    inputs: dict[str, Any] = dataclasses.field(default_factory=dict)
    what_would_change: tuple[str, ...] = ()

    @property
    def blocks(self) -> bool:
        """Say whether this line stops the spec."""
        return self.status in BLOCKING_STATUSES

    def as_document(self) -> dict[str, Any]:
        """Return the line as a canonical document."""
        return {
            "rule": self.rule,
            "version": self.version,
            "choice": self.choice,
            "status": self.status,
            "message": self.message,
            "field": self.field,
            "fix": self.fix,
            "inputs": self.inputs,
            "what_would_change": list(self.what_would_change),
        }


@dataclass(frozen=True)
class GateResult:
    """What the gate says of one spec revision on one evidence snapshot: lines by choice, then by rule."""

    lines: tuple[Line, ...]
    version: str = GATE_VERSION

    @property
    def passed(self) -> bool:
        """Say whether the spec passes: some choice was judged and no line blocks."""
        judged = any(line.choice != SPEC_LINE for line in self.lines)
        return judged and not any(line.blocks for line in self.lines)

    @property
    def blocking_lines(self) -> list[Line]:
        """Return the lines that stop the spec."""
        return [line for line in self.lines if line.blocks]

    @property
    def repropositions(self) -> list[str]:
        """Return the ids of the choices that adopt a lever against a DEAD match: a curator must sign those."""
        return [line.choice for line in self.lines if line.rule == "AL4" and line.status != NOT_APPLICABLE]

    def summary(self) -> str:
        """Return one sentence for the decision bar."""
        if self.passed:
            return "The gate passes."
        if not self.blocking_lines:
            return "Nothing was judged."
        first = self.blocking_lines[0]
        more = len(self.blocking_lines) - 1
        return f"{first.rule}: {first.message}" + (f" And {more} more." if more else "")

    def as_document(self) -> dict[str, Any]:
        """Return the result as a canonical document, equal for equal inputs; `content_hash` of it identifies
        it.
        """
        return {
            "gate_version": self.version,
            "passed": self.passed,
            "summary": self.summary(),
            "lines": [line.as_document() for line in self.lines],
        }


# --- evaluation ---


def evaluate(spec_document: Any, snapshot: Any, context: Any) -> GateResult:
    """Judge a spec revision on an evidence snapshot. Never raises; equal inputs give an equal result.

    `spec_document`: content of a spec revision. `snapshot`: `rows` {code: {head_hash, revisions {hash:
    content}, flagged (confirmed), superseded_by: code or list of codes}}, `levers` {slug: {aliases, parent,
    name, merged_into}}, `aliases` of the words of scopes (`scope.Aliases`), `documents` {slug: {revision: [anchors]}},
    and where known `contracts` {hash: scope} of the ops.
    `context`: `authors` of any revision of the spec, `new_mechanism_marks` [{choice_id, choice_hash, by}],
    `today` (date or ISO text), and where known `reviewers`, to whom marks are then restricted.
    """
    spec, facts = mapping(spec_document), Snapshot(mapping(snapshot))
    choices = [
        Choice(i, mapping(raw), facts, spec, mapping(context)) for i, raw in enumerate(items(spec.get("choices")))
    ]
    lines = list(_spec_lines(choices))
    for choice in choices:
        lines += [_line(rule, choice) for rule in GATE_RULES]
    return GateResult(tuple(lines))


def _spec_lines(choices: list[Choice]) -> list[Line]:
    """Return what is wrong with the list of choices itself."""
    if not choices:
        message, fix = (
            "The spec has no choices, so there is nothing to judge.",
            'Add each design decision as a choice, in the section "Choices".',
        )
        return [Line("AL1", "2", SPEC_LINE, UNSATISFIED, message, "choices", fix, {}, ("One choice with a citation.",))]
    lines, seen = [], set()
    for choice in choices:
        name = text(choice.raw.get("id"))
        if not name or name in seen:
            message = f"The choice id {name!r} is used twice." if name else "A choice has no id."
            fix = "Give each choice an id of its own; marks and threads are bound to it."
            lines.append(Line("AL1", "2", SPEC_LINE, ERROR, message, f"{choice.path}.id", fix))
        seen.add(name)
    return lines


def _line(rule: GateRule, choice: Choice) -> Line:
    try:
        said = rule.judge(choice)
    except Unknown as unknown:
        message = f"{choice.name}: {unknown.message}"
        said = Said(ERROR, message, unknown.field or choice.path, unknown.fix, change=(unknown.fix,))
    except Exception as broken:
        message = f"The rule could not be evaluated on choice {choice.id} ({type(broken).__name__})."
        fix = "Check the choice for missing or misplaced values; if it looks right, report this."
        said = Said(ERROR, message, choice.path, fix, change=(fix,))
    change = tuple(part for part in said.change if part)
    return Line(rule.id, rule.version, choice.id, said.status, said.message, said.field, said.fix, said.inputs, change)
