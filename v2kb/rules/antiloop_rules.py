"""The gate rules AL1 to AL6, each a function of one choice. `antiloop.evaluate` runs them, catches what they raise."""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from v2kb.rules.antiloop_facts import ADOPTS, KEEPS, Choice, Cited, Unknown, items, mapping, text
from v2kb.rules.canonical import content_hash
from v2kb.rules.prereg import parse_prediction
from v2kb.rules.scope import DISJOINT, describe, relation

NOT_APPLICABLE = "NOT_APPLICABLE"
SATISFIED = "SATISFIED"
UNSATISFIED = "UNSATISFIED"
OVERRIDDEN = "OVERRIDDEN"
ERROR = "ERROR"
STATUSES = (NOT_APPLICABLE, SATISFIED, UNSATISFIED, OVERRIDDEN, ERROR)
BLOCKING_STATUSES = (UNSATISFIED, ERROR)


@dataclass(frozen=True)
class Said:
    """What a rule says of a choice."""

    status: str
    message: str
    field: str = ""
    fix: str = ""
    inputs: dict[str, Any] = dataclasses.field(default_factory=dict)
    change: tuple[str, ...] = ()


def _not_applicable(message: str, **inputs: Any) -> Said:
    return Said(NOT_APPLICABLE, message, inputs=inputs)


def choice_hash(choice: Mapping[str, Any]) -> str:
    """Return the hash of a choice, to which marks are bound. Raises NotCanonical for floats and the like."""
    return content_hash(dict(choice))


def _cite(choice: Choice) -> Said:
    """AL1: an accepted, unflagged, unsuperseded revision, a document section or code carries the choice."""
    inputs = {"citations": [citation.as_document() for citation in choice.citations]}
    good = [citation for citation in choice.citations if citation.good]
    path = f"{choice.path}.citations"
    if not choice.citations:
        fix = "Cite an evidence row, a document section or code that this choice rests on."
        change = ("One citation of an accepted row, a section or code.",)
        return Said(UNSATISFIED, "The choice has no citation.", path, fix, inputs, change)
    if not good:
        first = choice.citations[0]
        message = "No citation can carry the choice: " + "; ".join(
            f"{citation.label} ({citation.why_not})" for citation in choice.citations
        )
        change = tuple(f"{citation.label}: {citation.why_not} no longer." for citation in choice.citations)
        return Said(UNSATISFIED, f"{message}.", first.path, "Cite the successor or another source.", inputs, change)
    message = f"Rests on {', '.join(citation.label for citation in good)}."
    if choice.rests_on_untested_alone:
        message += " These are UNTESTED rows alone, so a prediction and a kill threshold are needed too."
    return Said(SATISFIED, message, inputs=inputs, change=_what_would_break(good))


def _what_would_break(good: list[Cited]) -> tuple[str, ...]:
    if len(good) > 1:
        return ("All of these citations flagged, superseded or removed.",)
    return (f"{good[0].label} flagged, superseded or removed.",) if good[0].row else (f"{good[0].label} removed.",)


def _fresh(choice: Choice) -> Said:
    """AL2: the pinned revision of each cited row is its head, or the change since is acknowledged."""
    rows = [citation for citation in choice.citations if citation.row is not None]
    if not rows:
        return _not_applicable("The choice cites no evidence row.")
    acknowledged = {
        (text(entry.get("code")), text(entry.get("revision")))
        for entry in map(mapping, items(choice.raw.get("acknowledged")))
        if text(entry.get("reason"))
    }
    pins, stale = [], []
    for citation in rows:
        row = citation.row
        known = isinstance(row.revisions.get(citation.revision), Mapping)
        state = "head" if known and citation.revision == row.head_hash else "moved"
        if state == "moved" and (row.code, row.head_hash) in acknowledged:
            state = "acknowledged"
        if not known:
            state = "unknown revision"
        pins.append({"code": row.code, "pinned": citation.revision, "head": row.head_hash, "state": state})
        if state in ("moved", "unknown revision"):
            stale.append(citation)
    inputs = {"pins": pins}
    if not stale:
        change = tuple(f"A new head of {pin['code']}." for pin in pins)
        return Said(
            SATISFIED, "Every pinned revision is the head, or its change is acknowledged.", "", "", inputs, change
        )
    codes = ", ".join(dict.fromkeys(citation.row.code for citation in stale))
    fix = "Pin the head, or acknowledge the change with a reason that names the head's revision."
    change = (f"Pin the head of {codes}.", f"Acknowledge the change of {codes}.")
    message = f"The pinned revision of {codes} is not the head."
    return Said(UNSATISFIED, message, f"{stale[0].path}.revision", fix, inputs, change)


def _stance(choice: Choice) -> Said:
    """AL3: every blocking DEAD row of the adopted lever, its aliases and ancestors that touches the scope is
    cited.
    """
    if choice.levers and choice.polarity != ADOPTS:
        return _not_applicable(
            f"The choice {choice.polarity} the lever; only an adopted one must answer its DEAD rows."
        )
    if choice.polarity != ADOPTS:
        return _not_applicable("The choice adopts no lever.")
    if outside := _outside_of_ops(choice):
        return outside
    cited = {citation.row.code for citation in choice.citations if citation.row}
    inputs = _dead_inputs(choice) | {"cited": sorted(cited)}
    unanswered = [match for match in choice.against if match.row.code not in cited]
    if unanswered:
        codes = ", ".join(match.row.code for match in unanswered)
        touch = "; ".join(f"{match.row.code}: its scope and the choice's are {match.relation}" for match in unanswered)
        fix = f"Cite {codes}, with the stance that you hold, and say in the rationale why the choice stands."
        change = tuple(f"Cite {match.row.code}." for match in unanswered)
        message = f"Blocking DEAD rows of the lever are not cited: {codes} ({touch})."
        return Said(UNSATISFIED, message, f"{choice.path}.citations", fix, inputs, change)
    if choice.against:
        message = f"Every blocking DEAD row of the lever is cited: {', '.join(m.row.code for m in choice.against)}."
    else:
        message = "No blocking DEAD row of the lever, its aliases or ancestors touches the choice's scope."
    change = ("A new blocking DEAD row of the lever in a scope that touches this one.", *_near_misses(choice))
    return Said(SATISFIED, message, "", "", inputs, change)


def _near_misses(choice: Choice) -> tuple[str, ...]:
    return tuple(f"{match.row.code}, if it were not that {match.why}." for match in choice.dead if not match.counts)


def _dead_inputs(choice: Choice) -> dict[str, Any]:
    return {
        "levers": choice.snapshot.family(choice.levers),
        "scope": describe(choice.raw.get("scope")),
        "dead_rows": [match.as_document() for match in choice.dead],
        "new_mechanism": text(choice.raw.get("new_mechanism")),
    }


def _outside_of_ops(choice: Choice) -> Said | None:
    """Refuse a scope that has nothing to do with the spec's ops: it would only serve to miss DEAD rows."""
    contracts = choice.snapshot.contracts
    ops = [mapping(op) for op in items(choice.spec.get("ops"))]
    if contracts is None or not ops:
        return None
    scopes = []
    for index, op in enumerate(ops):
        pinned = text(op.get("contract"))
        if pinned not in contracts:
            message = f"The contract of the op {text(op.get('op'))!r} is not known."
            raise Unknown(message, f"ops[{index}].contract", "Pin a revision of the op's contract.")
        scopes.append(contracts[pinned])
    scope = choice.raw.get("scope")
    if any(relation(scope, other) != DISJOINT for other in scopes):
        return None
    message = f"The choice's scope ({describe(scope)}) lies outside the scope of every op of this spec."
    inputs = {"scope": describe(scope), "op_scopes": [describe(other) for other in scopes]}
    fix = "State the scope in which the lever will be used."
    return Said(UNSATISFIED, message, f"{choice.path}.scope", fix, inputs, ("A scope that touches an op's scope.",))


def _new_mechanism(choice: Choice) -> Said:
    """AL4: against a DEAD match, what is new is written down and a reviewer who is no author marked it new."""
    if choice.polarity != ADOPTS:
        return _not_applicable("The choice adopts no lever; citing a DEAD row to avoid it asks for nothing.")
    if not choice.against:
        return _not_applicable("No blocking DEAD row stands against the choice.")
    codes = ", ".join(match.row.code for match in choice.against)
    inputs, path = _dead_inputs(choice), f"{choice.path}.new_mechanism"
    written = text(choice.raw.get("new_mechanism"))
    if not written:
        fix = f"Write what differs from the mechanism of {codes}, or stop: a stop is a good outcome."
        message = f"{codes} stands against the lever and no new mechanism is written."
        change = ("A new mechanism, marked new by a reviewer.",)
        return Said(UNSATISFIED, message, path, fix, inputs, change)
    for match in choice.against:
        if _words(written) == _words(text(match.row.head.get("mechanism"))):
            message = f"The new mechanism repeats the mechanism of {match.row.code}."
            return Said(UNSATISFIED, message, path, "Write what differs from it.", inputs, ("A different mechanism.",))
    own = choice_hash(choice.raw)
    marks = [
        m for m in map(mapping, items(choice.context.get("new_mechanism_marks"))) if m.get("choice_id") == choice.id
    ]
    current = [mark for mark in marks if mark.get("choice_hash") == own]
    valid = [mark for mark in current if _may_mark(mark.get("by"), choice.context)]
    inputs |= {"choice_hash": own, "marks": [_mark_document(mark, own) for mark in marks]}
    if valid:
        by = ", ".join(sorted({str(mark.get("by")) for mark in valid}))
        message = f"The mechanism differs from {codes} and was marked new by {by}."
        return Said(SATISFIED, message, "", "", inputs, ("Any change of this choice: the mark is bound to its text.",))
    if current:
        message = "The mechanism was marked new by an author of the spec, which does not count."
    elif marks:
        message = "The mechanism was marked new on an earlier text of this choice, which does not count."
    else:
        message = f"Nobody marked the mechanism as new against {codes}."
    fix = "A reviewer who is no author of this spec must mark the mechanism as new."
    return Said(UNSATISFIED, message, path, fix, inputs, ("A mark by a reviewer who is no author.",))


def _words(value: str) -> str:
    return " ".join(value.casefold().split()).strip(" .")


def _may_mark(by: Any, context: Mapping[str, Any]) -> bool:
    """Say whether the mark counts: by someone who is no author, and a reviewer where the context lists
    reviewers.
    """
    if by in (None, "") or by in items(context.get("authors")):
        return False
    return "reviewers" not in context or by in items(context.get("reviewers"))


def _mark_document(mark: Mapping[str, Any], own: str) -> dict[str, Any]:
    return {
        "by": str(mark.get("by")),
        "choice_hash": str(mark.get("choice_hash")),
        "current": mark.get("choice_hash") == own,
    }


def _needs_prediction(choice: Choice) -> bool:
    """Say whether AL5 and AL6 apply: to what is adopted, and to what is kept on UNTESTED rows alone."""
    return choice.polarity == ADOPTS or (choice.polarity == KEEPS and choice.rests_on_untested_alone)


def _prediction(choice: Choice) -> Said:
    """AL5: metric, unit, direction, anchor with its method, tier, predicted gain, cases and rounds."""
    if not _needs_prediction(choice):
        return _not_applicable("Only an adopted lever, or one kept on UNTESTED rows alone, needs a prediction.")
    raw, path = choice.raw.get("prediction"), f"{choice.path}.prediction"
    problems = [(p.field, p.message, p.fix) for p in parse_prediction(raw).problems if p.rule == "AL5"]
    anchors = {text(anchor.get("name")): anchor for anchor in map(mapping, items(choice.spec.get("anchors")))}
    inputs = {"prediction": _plain(raw), "row": text(mapping(raw).get("row"))}
    if row := inputs["row"]:
        if row not in choice.snapshot.rows:
            raise Unknown(f"The prediction names the row {row!r}, which doesn't exist.", f"{path}.row", "Pick a row.")
        inputs["row_bound"] = text(choice.snapshot.rows[row].head.get("bound"))
    if name := text(mapping(raw).get("anchor")):
        anchor = anchors.get(name)
        inputs["anchor_method"] = text(anchor.get("method")) if anchor else ""
        if anchor is None:
            problems.append(
                ("anchor", f"The anchor {name!r} is not among the spec's anchors.", "Add it to the anchors.")
            )
        elif not text(anchor.get("method")):
            fix = "Write in the spec's anchors how it will be measured."
            problems.append(("anchor", f"The anchor {name!r} has no method.", fix))
    if problems:
        return _prediction_refused("The prediction is not complete", problems, path, inputs)
    return Said(SATISFIED, "The prediction names metric, anchor, gain, cases and rounds.", "", "", inputs,
                 ("Any change of the prediction.",))  # fmt: skip


def _kill(choice: Choice) -> Said:
    """AL6: a kill threshold outside the noise, with deadline or run budget; a park threshold for the watch
    metric.
    """
    if not _needs_prediction(choice):
        return _not_applicable("Only an adopted lever, or one kept on UNTESTED rows alone, needs a kill threshold.")
    raw, path = choice.raw.get("prediction"), f"{choice.path}.prediction"
    inputs = {"prediction": _plain(raw)}
    if not isinstance(raw, Mapping):
        problems = [("", "There is no kill threshold.", "Write a prediction with kill threshold and run budget.")]
        return _prediction_refused("The kill threshold is not complete", problems, path, inputs)
    today = _today(choice.context)
    found = parse_prediction(raw, today=today).problems
    problems = [(p.field, p.message, p.fix) for p in found if p.rule == "AL6" or p.field == "delta_percent"]
    if problems:
        return _prediction_refused("The kill threshold is not complete", problems, path, inputs)
    change = ("The deadline passing.",) if text(raw.get("deadline")) else ("Any change of the prediction.",)
    message = "The kill threshold is outside what counts as nothing and the attempt ends by itself."
    return Said(SATISFIED, message, "", "", inputs, change)


def _prediction_refused(what: str, problems: list[tuple[str, str, str]], path: str, inputs: dict[str, Any]) -> Said:
    name, _, fix = problems[0]
    message = f"{what}: {' '.join(message for _, message, _ in problems)}"
    listed = [{"field": f"{path}.{n}" if n else path, "message": m, "fix": f} for n, m, f in problems]
    change = tuple(f or m for _, m, f in problems)
    return Said(UNSATISFIED, message, f"{path}.{name}" if name else path, fix, inputs | {"problems": listed}, change)


def _today(context: Mapping[str, Any]) -> date:
    today = context.get("today")
    return today if isinstance(today, date) else date.fromisoformat(today)


def _plain(value: Any) -> Any:
    """Return a document's part as it stands if it is canonical, else as text, so that a result always is."""
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


@dataclass(frozen=True)
class GateRule:
    """One rule: its id, its text for people, its version and what judges a choice."""

    id: str
    title: str
    text: str
    version: str
    judge: Callable[[Choice], Said]


GATE_RULES = (
    GateRule(
        "AL1", "cite", "Each choice cites an accepted, unflagged, unsuperseded revision, a section or code.", "1", _cite
    ),
    GateRule("AL2", "fresh", "The pinned revision is the head, or the change since is acknowledged.", "1", _fresh),
    GateRule(
        "AL3",
        "stance",
        "An adopting choice cites each blocking DEAD row of its lever, an alias or an ancestor that touches its scope.",
        "1",
        _stance,
    ),
    GateRule(
        "AL4",
        "new mechanism",
        "Against a DEAD match what is new is written down, and a reviewer who is no author marked it new.",
        "1",
        _new_mechanism,
    ),
    GateRule(
        "AL5",
        "prediction",
        "Metric, unit, direction, anchor with its method, tier, gain, cases and rounds are predicted.",
        "1",
        _prediction,
    ),
    GateRule(
        "AL6",
        "kill",
        "A kill threshold outside the noise, with deadline or run budget; a park threshold for the watch metric.",
        "1",
        _kill,
    ),
)
