"""The gate rules AL1 to AL6, each a function of one choice. `antiloop.evaluate` runs them, catches what they raise."""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from v2kb.rules.antiloop_choice import ADOPTS, KEEPS, Choice
from v2kb.rules.antiloop_citations import Cited
from v2kb.rules.antiloop_facts import Unknown, items, mapping, text
from v2kb.rules.canonical import content_hash
from v2kb.rules.prediction_reading import parse_prediction
from v2kb.rules.prediction_words import named
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
        fix = (
            'Add under "Rests on" an evidence row such as D3, a section of a document, or code as '
            "tree:path@commit:10-20."
        )
        change = ("One citation of an accepted row, a section or code.",)
        return Said(UNSATISFIED, f"{choice.name} rests on nothing: it has no citation.", path, fix, inputs, change)
    if not good:
        wrong = "; ".join(f"{citation.label} ({citation.why_not})" for citation in choice.citations)
        change = tuple(f"{citation.label}: {citation.mend}." for citation in choice.citations)
        fix = f"{'One of these is enough. ' * (len(change) > 1)}{' '.join(change)}"
        message = f'{choice.name} has nothing under "Rests on" that can carry it: {wrong}.'
        return Said(UNSATISFIED, message, choice.citations[0].path, fix, inputs, change)
    message = f"{choice.name} rests on {', '.join(citation.label for citation in good)}."
    if choice.rests_on_untested_alone and choice.raw.get("polarity") in (ADOPTS, KEEPS):
        message += " These are UNTESTED rows alone, so a prediction and a kill threshold are needed too."
    return Said(SATISFIED, message, inputs=inputs, change=_what_would_break(good))


def _what_would_break(good: list[Cited]) -> tuple[str, ...]:
    if len(good) == 1:
        return (f"{good[0].label} {good[0].falls_away}.",)
    each = ", ".join(f"{citation.label} ({citation.falls_away})" for citation in good)
    return (f"All of these together: {each}.",)


def _fresh(choice: Choice) -> Said:
    """AL2: the pinned revision of each cited row is its head, or the change since is acknowledged."""
    rows = [citation for citation in choice.citations if citation.row is not None]
    if not rows:
        return _not_applicable(f"{choice.name} cites no evidence row.")
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
        codes = ", ".join(dict.fromkeys(pin["code"] for pin in pins))
        message = f"{choice.name} cites {codes} at the newest revision, or acknowledges what changed."
        return Said(SATISFIED, message, "", "", inputs, change)
    codes = ", ".join(dict.fromkeys(citation.row.code for citation in stale))
    fix = (
        f'Press "Pin newest" beside {codes} under "Rests on" and check that the choice still stands, or say under '
        '"Changes acknowledged" why the change does not matter.'
    )
    change = (f"Pin the head of {codes}.", f"Acknowledge the change of {codes}.")
    message = f"{choice.name} cites {codes} at a revision that is not the newest."
    return Said(UNSATISFIED, message, f"{stale[0].path}.revision", fix, inputs, change)


def _stance(choice: Choice) -> Said:
    """AL3: every blocking DEAD row of the adopted lever, its aliases and ancestors that touches the scope is
    cited.
    """
    if choice.levers and choice.polarity != ADOPTS:
        message = f"{choice.name} {choice.polarity} {choice.lever}; only an adopted lever must answer its DEAD rows."
        return _not_applicable(message)
    if choice.polarity != ADOPTS:
        return _not_applicable(f"{choice.name} adopts no lever.")
    if outside := _outside_of_ops(choice):
        return outside
    cited = {citation.row.code for citation in choice.citations if citation.row}
    inputs = _dead_inputs(choice) | {"cited": sorted(cited)}
    unanswered = [match for match in choice.against if match.row.code not in cited]
    if unanswered:
        codes = ", ".join(match.row.code for match in unanswered)
        dead = "; ".join(
            f"{match.row.code} (DEAD for {describe(match.row.head.get('scope'))}: {match.relation})"
            for match in unanswered
        )
        fix = (
            f'Cite {codes} under "Rests on" with the stance that you hold, and say in "Rationale" why it still stands.'
        )
        change = tuple(f"Cite {match.row.code}." for match in unanswered)
        message = f"{choice.name} adopts {choice.lever} and does not cite {dead}. {_scopes(choice)}"
        return Said(UNSATISFIED, message, f"{choice.path}.citations", fix, inputs, change)
    if choice.against:
        codes = ", ".join(match.row.code for match in choice.against)
        message = f"{choice.name} cites every blocking DEAD row of {choice.lever} that meets its scope: {codes}."
    else:
        message = (
            f"No blocking DEAD row of {choice.lever}, an alias or an ancestor meets the scope of choice {choice.id}."
        )
    change = ("A new blocking DEAD row of the lever in a scope that touches this one.", *_near_misses(choice))
    return Said(SATISFIED, message, "", "", inputs, change)


def _scopes(choice: Choice) -> str:
    """Name the scope of the choice and that of each op."""
    ops = "".join(f" Scope of the op {op}: {describe(scope)}." for op, scope in choice.op_scopes)
    return f"Scope of the choice: {choice.scope}.{ops}"


def _near_misses(choice: Choice) -> tuple[str, ...]:
    return tuple(f"{match.row.code}, if it were not that {match.why}." for match in choice.dead if not match.counts)


def _dead_inputs(choice: Choice) -> dict[str, Any]:
    return {
        "levers": choice.snapshot.family(choice.levers),
        "scope": choice.scope,
        "op_scopes": [{"op": op, "scope": describe(scope)} for op, scope in choice.op_scopes],
        "dead_rows": [match.as_document() for match in choice.dead],
        "new_mechanism": text(choice.raw.get("new_mechanism")),
    }


def _outside_of_ops(choice: Choice) -> Said | None:
    """Refuse a scope that has nothing to do with the spec's ops: it would only serve to miss DEAD rows."""
    scope = choice.raw.get("scope")
    aliases = choice.snapshot.aliases
    if not choice.op_scopes or any(relation(scope, other, aliases) != DISJOINT for _, other in choice.op_scopes):
        return None
    message = f"The scope of choice {choice.id} lies outside that of every op of the spec. {_scopes(choice)}"
    inputs = {
        "scope": choice.scope,
        "op_scopes": [{"op": op, "scope": describe(scope)} for op, scope in choice.op_scopes],
    }
    fix = 'State under "Scope of this choice" where the lever will be used: a scope that meets that of an op.'
    return Said(UNSATISFIED, message, f"{choice.path}.scope", fix, inputs, ("A scope that touches an op's scope.",))


def _new_mechanism(choice: Choice) -> Said:
    """AL4: against a DEAD match, what is new is written down and a reviewer who is no author marked it new."""
    if choice.polarity != ADOPTS:
        return _not_applicable(f"{choice.name} adopts no lever; citing a DEAD row to avoid it asks for nothing.")
    if not choice.against:
        return _not_applicable(f"No blocking DEAD row stands against choice {choice.id}.")
    codes = ", ".join(match.row.code for match in choice.against)
    inputs, path = _dead_inputs(choice), f"{choice.path}.new_mechanism"
    written = text(choice.raw.get("new_mechanism"))
    if not written:
        fix = f'Write into "New mechanism" what differs from how {codes} died, or stop: a stop is a good outcome.'
        message = f"{choice.name} adopts {choice.lever} against {codes}, and no new mechanism is written."
        change = ("A new mechanism, marked new by a reviewer.",)
        return Said(UNSATISFIED, message, path, fix, inputs, change)
    for match in choice.against:
        if _words(written) == _words(text(match.row.head.get("mechanism"))):
            message = f'"New mechanism" of choice {choice.id} repeats the mechanism of {match.row.code}.'
            fix = f'Write into "New mechanism" what differs from how {match.row.code} died.'
            return Said(UNSATISFIED, message, path, fix, inputs, ("A different mechanism.",))
    own = choice_hash(choice.raw)
    marks = [
        m for m in map(mapping, items(choice.context.get("new_mechanism_marks"))) if m.get("choice_id") == choice.id
    ]
    current = [mark for mark in marks if mark.get("choice_hash") == own]
    valid = [mark for mark in current if _may_mark(mark.get("by"), choice.context)]
    inputs |= {"choice_hash": own, "marks": [_mark_document(mark, own) for mark in marks]}
    if valid:
        by = ", ".join(sorted({str(mark.get("by")) for mark in valid}))
        message = f"The mechanism of choice {choice.id} differs from {codes} and was signed as new by {by}."
        return Said(SATISFIED, message, "", "", inputs, ("Any change of this choice: the mark is bound to its text.",))
    mechanism = f"The new mechanism of choice {choice.id} against {codes}"
    if current:
        message = f"{mechanism} was signed by an author of the spec, which does not count."
    elif marks:
        message = f"{mechanism} was signed on an earlier text of the choice, which does not count."
    else:
        message = f"{mechanism} was not signed as new by anybody."
    fix = (
        "Hand the spec in, and ask a curator who wrote no revision of it to press "
        f'"Sign the mechanism as new" at {choice.id} on its page.'
    )
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


def _needs_prediction(choice: Choice) -> str:
    """Say why AL5 and AL6 apply: the choice adopts a lever, or keeps one on UNTESTED rows alone. Empty when they
    don't.
    """
    if choice.polarity == ADOPTS:
        return f"adopts {choice.lever or 'a lever'}"
    if choice.polarity == KEEPS and choice.rests_on_untested_alone:
        return "rests on UNTESTED rows alone"
    return ""


def _prediction(choice: Choice) -> Said:
    """AL5: metric, unit, direction, anchor with its method, tier, predicted gain, cases and rounds."""
    if not (reason := _needs_prediction(choice)):
        message = f"{choice.name} adopts no lever and keeps none on UNTESTED rows alone, so it predicts nothing."
        return _not_applicable(message)
    raw, path = choice.raw.get("prediction"), f"{choice.path}.prediction"
    if not isinstance(raw, Mapping):
        wanted = ", ".join(map(named, ("metric", "unit", "anchor", "gain_percent", "cases", "rounds")))
        problems = [("", f"{choice.name} {reason} and predicts nothing.", f'Fill in "Prediction": {wanted}.')]
        return _prediction_refused("", problems, path, {"prediction": _plain(raw), "row": ""})
    problems = [(p.field, p.message, p.fix) for p in parse_prediction(raw).problems if p.rule == "AL5"]
    inputs = {"prediction": _plain(raw), "row": text(raw.get("row"))}
    if row := inputs["row"]:
        if row not in choice.snapshot.rows:
            message = f"{named('row')} names {row!r}, and there is no such evidence row."
            raise Unknown(message, f"{path}.row", f"Type the code of an existing row into {named('row')}.")
        inputs["row_bound"] = text(choice.snapshot.rows[row].head.get("bound"))
    if anchor := text(raw.get("anchor")):
        methods = {text(a.get("name")): text(a.get("method")) for a in map(mapping, items(choice.spec.get("anchors")))}
        inputs["anchor_method"] = methods.get(anchor, "")
        if problem := _anchor_problem(anchor, methods):
            problems.append(problem)
    if problems:
        return _prediction_refused(f"The prediction of choice {choice.id} is not complete: ", problems, path, inputs)
    message = f"The prediction of choice {choice.id} names metric, anchor, gain, workloads and rounds."
    return Said(SATISFIED, message, "", "", inputs, ("Any change of the prediction.",))


def _anchor_problem(anchor: str, methods: Mapping[str, str]) -> tuple[str, str, str] | None:
    where = 'the table "Anchors" of the spec'
    if anchor not in methods:
        message = f"{named('anchor')} names {anchor}, which is not in {where}."
        return "anchor", message, f"Add {anchor} to {where}, or choose an anchor that is there."
    if not methods[anchor]:
        message = f"{named('anchor')} names {anchor}, which has no method in {where}."
        return "anchor", message, f"Write in {where} how {anchor} will be measured."
    return None


def _kill(choice: Choice) -> Said:
    """AL6: a kill threshold outside the noise, with deadline or run budget; a park threshold for the watch
    metric.
    """
    if not (reason := _needs_prediction(choice)):
        message = f"{choice.name} adopts no lever and keeps none on UNTESTED rows alone, so there is nothing to kill."
        return _not_applicable(message)
    raw, path = choice.raw.get("prediction"), f"{choice.path}.prediction"
    inputs = {"prediction": _plain(raw)}
    if not isinstance(raw, Mapping):
        kill, end = (
            " or ".join(map(named, pair)) for pair in (("kill_percent", "kill_event"), ("budget_runs", "deadline"))
        )
        fix = f'Fill in under "Prediction" {kill}, and {end}.'
        problems = [("", f"{choice.name} {reason} and has no kill threshold.", fix)]
        return _prediction_refused("", problems, path, inputs)
    found = parse_prediction(raw, today=_today(choice.context)).problems
    problems = [(p.field, p.message, p.fix) for p in found if p.rule == "AL6" or p.field == "delta_percent"]
    if problems:
        what = f"The kill threshold of choice {choice.id} is not complete: "
        return _prediction_refused(what, problems, path, inputs)
    change = ("The deadline passing.",) if text(raw.get("deadline")) else ("Any change of the prediction.",)
    message = f"The kill threshold of choice {choice.id} is more than what counts as nothing, and the attempt ends."
    return Said(SATISFIED, message, "", "", inputs, change)


def _prediction_refused(what: str, problems: list[tuple[str, str, str]], path: str, inputs: dict[str, Any]) -> Said:
    name = problems[0][0]
    message = f"{what}{' '.join(message for _, message, _ in problems)}"
    listed = [{"field": f"{path}.{n}" if n else path, "message": m, "fix": f} for n, m, f in problems]
    change = tuple(dict.fromkeys(fix for _, _, fix in problems))
    field = f"{path}.{name}" if name else path
    return Said(UNSATISFIED, message, field, " ".join(change), inputs | {"problems": listed}, change)


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
        "AL1", "cite", "Each choice cites an accepted, unflagged, unsuperseded revision, a section or code.", "3", _cite
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
