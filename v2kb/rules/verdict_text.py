"""A verdict as one sentence for people and as one document for machines (measurement page, section 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from v2kb.rules.effects import change_interval, change_percent, effects_document
from v2kb.rules.envelopes import CPU
from v2kb.rules.grades import DECIDES, Grade, tier_text
from v2kb.rules.prereg import Prereg, Threshold
from v2kb.rules.session import HIGHER, Session
from v2kb.rules.stats import Estimate, minimum_detectable_effect
from v2kb.rules.units import decimal_text, format_percent, is_time, log_to_percent
from v2kb.rules.verdict_table import INCONCLUSIVE, INVALID, KILLED, NULL, WIN

if TYPE_CHECKING:
    from v2kb.rules.verdict import Shown, Verdict

NOISE = "noise"  # what held a decision back, when it was the spread of the runs alone


def verdict_sentence(verdict: Verdict) -> str:
    """Return the whole verdict in words: effect, interval, where it was measured, thresholds, judgement,
    what next.
    """
    session, prereg, primary = verdict.session, verdict.prereg, verdict.primary
    head = reading_text(session, verdict.grade, primary, prereg.level, len(prereg.cases))
    if verdict.judgement == INVALID:
        gate = next(gate for gate in verdict.gates if gate.id == verdict.gate)
        return f"{head}. INVALID, first failed gate {gate.id}: {gate.reason}"
    judged = verdict.judgement
    if judged == WIN:
        judged += f", {verdict.against_prediction} the prediction"
    parts = [f"{head}: registered bar {_bar_text(prereg)}, prediction {_prediction_text(prereg)}: {judged}."]
    if verdict.judgement in (NULL, KILLED):
        parts.append(_largest_gain(verdict))
    if verdict.judgement == WIN and verdict.disposition == "park":
        parts.append(f"Parked: {verdict.disposition_reason}")
    parts.append(_detectable_text(primary, prereg.level))
    if verdict.judgement == INCONCLUSIVE:
        parts.append(next_action(verdict))
    return " ".join(parts)


def reading_text(session: Session, grade: Grade, found: Estimate, level: float, workloads: int = 1) -> str:
    """Return "v7 is 5.8% faster than the anchor (95% interval 5.4 to 6.2%, 3 paired runs, TIER 2 ...)".

    Why there is no estimate or no interval is left to the caller.
    """
    pairs = f"{found.n} paired run{'' if found.n == 1 else 's'}"
    spread = f"{workloads} workloads" if workloads > 1 else ""
    facts = [pairs, spread, tier_text(grade, session.envelope), session.machine]
    interval = found.interval(level)
    if interval is not None:
        facts.insert(0, f"{_level_text(level)} interval {_range_text(session, found, level)}")
    where = ", ".join(fact for fact in facts if fact)
    name = session.candidate or "The candidate"
    if found.mean is None:
        return f"{name} has no estimate ({where})"
    change = change_percent(found.mean, session.direction)
    if change is None:
        effect = "differs from the anchor by more than a percentage can show"
    elif change == 0:
        effect = "reads the same as the anchor"
    else:
        effect = f"is {_directed(session, change)} than the anchor"
    return f"{name} {effect} ({where})"


def _level_text(level: float) -> str:
    return f"{round(100 * level, 3):g}%"


def _word(session: Session, change: float) -> str:
    """Return how a percent change of the metric is called."""
    if is_time(session.unit) and session.direction != HIGHER:
        return "faster" if change < 0 else "slower"
    return "higher" if change > 0 else "lower"


def _directed(session: Session, change: float) -> str:
    return f"{format_percent(abs(change))} {_word(session, change)}"


def _range_text(session: Session, found: Estimate, level: float) -> str:
    """Return "5.4 to 6.2%", or "1.0% slower to 9.1% faster" for an interval around no change."""
    low, high = change_interval(found.interval(level), session.direction)
    if low is None or high is None:
        return "beyond what a percentage can show"
    if (low < 0) == (high < 0) and low != 0 and high != 0:
        small, large = sorted((abs(low), abs(high)))
        return f"{format_percent(small).rstrip('%')} to {format_percent(large)}"
    worst, best = (low, high) if session.direction == HIGHER else (high, low)
    return f"{_end_text(session, worst)} to {_end_text(session, best)}"


def _end_text(session: Session, change: float) -> str:
    return "no change" if change == 0 else _directed(session, change)


def _bar_text(prereg: Prereg) -> str:
    return "none" if prereg.kill is None else _threshold_text(prereg.kill, prereg)


def _threshold_text(threshold: Threshold, prereg: Prereg) -> str:
    """Return a threshold as registered; for a rate also what its percentage of the cost means for the
    rate.
    """
    text = threshold.text(prereg.unit)
    if prereg.direction == HIGHER and threshold.percent is not None:
        return f"{text} of the cost ({format_percent(log_to_percent(threshold.log()))} higher)"
    return text


def _prediction_text(prereg: Prereg) -> str:
    low = _threshold_text(prereg.gain, prereg)
    return f"{low} to {_threshold_text(prereg.gain_high, prereg)}" if prereg.gain_high else low


def _detectable_text(found: Estimate, level: float) -> str:
    effect = minimum_detectable_effect(found.sd, found.n, level)
    if effect is None:
        return "Could have detected no effect of a plausible size."
    return f"Could have detected {format_percent(-log_to_percent(-effect), digits=1)}."


def _largest_gain(verdict: Verdict) -> str:
    """Return the largest gain that the interval still allows."""
    interval = verdict.primary.interval(verdict.prereg.level)
    if interval.low >= 0:
        return "No gain is compatible with the runs."
    gain = abs(change_percent(interval.low, verdict.session.direction))
    return f"The largest gain still compatible is {format_percent(gain)}."


def next_action(verdict: Verdict) -> str:
    """Return what to do next, with its cost, for INCONCLUSIVE and INVALID; an empty text otherwise."""
    if verdict.judgement == INVALID:
        return next(gate.reason for gate in verdict.gates if gate.id == verdict.gate)
    if verdict.judgement != INCONCLUSIVE:
        return ""
    if verdict.held_back != NOISE:
        return f"Next: {verdict.held_back}"
    if verdict.rounds_to_settle is None:
        return "Next: more rounds will not settle it at this noise; measure a larger workload or a quieter set-up."
    total, seen = verdict.rounds_to_settle, verdict.primary.n
    look = next((rounds for rounds in verdict.prereg.allowed_rounds() if rounds > seen), None)
    if look is not None:
        cost = _cost(verdict, look - seen)
        return f"Next: go on to the registered look at {look} rounds ({cost}); about {total} would settle it."
    return f"Next: register a fresh session; about {total} rounds would settle it ({_cost(verdict, total)})."


def _cost(verdict: Verdict, rounds: int) -> str:
    """Return "2.3 GPU minutes"."""
    seconds = verdict.session.seconds_per_round
    if not seconds:
        return "cost not known yet"
    machine = "CPU" if verdict.session.envelope == CPU else "GPU"
    return f"{max(rounds * seconds / 60, 0.1):.1f} {machine} minutes"


def verdict_document(verdict: Verdict) -> dict[str, Any]:
    """Return a judgement as whole numbers and text."""
    prereg, limits = verdict.prereg, verdict.thresholds
    return {
        "judgement": verdict.judgement,
        "gate": verdict.gate,
        "gates": [
            {"id": gate.id, "title": gate.title, "passed": gate.passed, "reason": gate.reason} for gate in verdict.gates
        ],
        "against_prediction": verdict.against_prediction,
        "disposition": verdict.disposition,
        "disposition_reason": verdict.disposition_reason,
        "sentence": verdict_sentence(verdict),
        "next_action": next_action(verdict),
        "rounds_to_settle": verdict.rounds_to_settle,
        "thresholds": {
            "bar_log": decimal_text(limits.bar if limits else None),
            "margin_log": decimal_text(limits.margin if limits else None),
            "prediction_log": [decimal_text(edge) for edge in limits.prediction] if limits else [],
            "bar_text": _bar_text(prereg),
            "prediction_text": _prediction_text(prereg),
        },
        "registration": prereg.as_document(),
        "case_judgements": verdict.case_judgements,
        "notes": list(verdict.notes),
        **_measured_document(verdict.session, verdict.grade),
        **effects_document(verdict.effects, verdict.session, prereg.level),
    }


def _measured_document(session: Session, grade: Grade) -> dict[str, Any]:
    """Return what was measured, how, and what it may decide."""
    return {
        "candidate": session.candidate,
        "anchor": session.anchor,
        "metric": session.metric,
        "unit": session.unit,
        "direction": session.direction,
        "method": session.method,
        "machine": session.machine,
        "tier": grade.tier,
        "grade": grade.name,
        "grade_reason": grade.reason,
    }


def shown_sentence(shown: Shown) -> str:
    """Return estimate and interval in words, and why there is no judgement."""
    workloads = len(shown.effects.cases)
    head = reading_text(shown.session, shown.grade, shown.effects.primary, shown.level, workloads)
    missing = f"{shown.effects.primary.reason} " if shown.effects.primary.reason else ""
    if shown.grade.name == DECIDES:
        return f"{head}. {missing}Not judged: nothing was registered."
    return f"{head}. {missing}Not judged, {shown.grade.name}: {shown.grade.reason}"


def shown_document(shown: Shown) -> dict[str, Any]:
    """Return a session without a judgement as whole numbers and text."""
    return {
        "judgement": None,
        "sentence": shown_sentence(shown),
        **_measured_document(shown.session, shown.grade),
        **effects_document(shown.effects, shown.session, shown.level),
    }
