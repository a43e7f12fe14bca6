"""From a session's pairs to estimates: one per workload, and the primary over all of them.

The primary of a round is the mean of its cases' log ratios; the estimate runs over rounds, never over samples
(measurement page, section 4). Log ratios are of the cost: negative is better, for rates as for times.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

from v2kb.rules.session import HIGHER, Case, Session
from v2kb.rules.stats import (
    Estimate,
    Interval,
    NoiseFloor,
    benjamini_hochberg,
    estimate,
    holm,
    log_ratio,
    minimum_detectable_effect,
)
from v2kb.rules.units import decimal_text, format_quantity, log_to_percent


@dataclass(frozen=True)
class CaseEffect:
    """One workload: estimate, adjusted p-values, geometric means of both sides' medians (session's unit)."""

    workload: str
    estimate: Estimate
    anchor: float | None
    candidate: float | None
    tick_share: float | None = None
    p_holm: float | None = None
    q_value: float | None = None


@dataclass(frozen=True)
class Effects:
    """All estimates of a session. `anchor` and `candidate` are None for several workloads."""

    primary: Estimate
    cases: tuple[CaseEffect, ...]
    anchor: float | None
    candidate: float | None
    tick_share: float | None

    def case(self, workload: str) -> CaseEffect:
        return next(case for case in self.cases if case.workload == workload)


def effects_of(session: Session, workloads: tuple[str, ...] = ()) -> Effects:
    """Estimate every case, and the primary over `workloads` (all cases when empty).

    There is no primary when a named case is missing, has a wrong output or an unusable round, or when cases
    differ in their rounds: a case that fails never improves a mean.
    """
    found = {case.workload: _case_effect(session, case) for case in session.cases}
    named = workloads or tuple(found)
    primary = _primary(session, named, found)
    adjusted = _adjusted([found[name] for name in named if name in found])
    cases = tuple(adjusted.get(name, found[name]) for name in found)
    alone = found.get(named[0]) if len(named) == 1 else None
    shares = [found[name].tick_share for name in named if name in found and found[name].tick_share is not None]
    return Effects(
        primary,
        cases,
        alone.anchor if alone else None,
        alone.candidate if alone else None,
        max(shares, default=None),
    )


def _ratios(session: Session, case: Case) -> tuple[dict[int, float], str]:
    """Return the cost log ratio of each round, or the reason why the case has none."""
    sign, ratios = (-1 if session.direction == HIGHER else 1), {}
    for pair in case.pairs:
        reading = log_ratio(pair.anchor, pair.candidate)
        if reading.value is None:
            return {}, pair.reason or f"Round {pair.round}: {reading.reason}"
        if pair.round in ratios:
            return {}, f"Round {pair.round} is listed twice."
        ratios[pair.round] = sign * reading.value
    return ratios, ""


def _case_effect(session: Session, case: Case) -> CaseEffect:
    """Return the estimate of one workload."""
    ratios, reason = _ratios(session, case)
    if reason:
        return CaseEffect(case.workload, Estimate(len(case.pairs), reason=reason), None, None)
    if not ratios:
        return CaseEffect(case.workload, estimate(()), None, None)
    anchor = _geometric_mean([pair.anchor for pair in case.pairs])
    candidate = _geometric_mean([pair.candidate for pair in case.pairs])
    share = _tick_share(session, case)
    found = estimate(list(ratios.values()), NoiseFloor(session.aa_sd, share))
    return CaseEffect(case.workload, found, anchor, candidate, share)


def _tick_share(session: Session, case: Case) -> float | None:
    """Return timer tick / median; the smallest median, so that both sides weigh alike."""
    if not session.timer_tick or not case.pairs:
        return None
    return session.timer_tick / min(min(pair.anchor, pair.candidate) for pair in case.pairs)


def _geometric_mean(values: list[float]) -> float:
    """Return the mean, that of equal values exactly; the largest is factored out, for `exp` then can't overflow."""
    largest = max(values)
    mean = math.fsum(math.log(value) - math.log(largest) for value in values) / len(values)
    return max(min(values), largest * math.exp(mean))


def _primary(session: Session, named: tuple[str, ...], found: dict[str, CaseEffect]) -> Estimate:
    """Return the estimate over rounds of the mean log ratio of the named cases."""
    by_name, per_case = {case.workload: case for case in session.cases}, []
    if len(by_name) != len(session.cases):
        return Estimate(0, reason="A workload is listed twice.")
    for name in named:
        case = by_name.get(name)
        if case is None:
            return Estimate(0, reason=f"Workload {name} was not measured.")
        if case.output_right is False:
            return Estimate(0, reason=f"Workload {name} gave a wrong output, so its time means nothing.")
        ratios, reason = _ratios(session, case)
        if reason:
            return Estimate(len(case.pairs), reason=f"Workload {name}: {reason}")
        per_case.append(ratios)
    if not per_case:
        return Estimate(0, reason="No workload was measured.")
    rounds = per_case[0].keys()
    if any(ratios.keys() != rounds for ratios in per_case):
        return Estimate(0, reason="The workloads do not have the same rounds.")
    means = [math.fsum(ratios[number] for ratios in per_case) / len(per_case) for number in sorted(rounds)]
    shares = [found[name].tick_share for name in named if found[name].tick_share is not None]
    return estimate(means, NoiseFloor(session.aa_sd, max(shares, default=None)))


def _adjusted(cases: list[CaseEffect]) -> dict[str, CaseEffect]:
    """Return the named cases with Holm's p and Benjamini and Hochberg's q, over those that have a p-value."""
    tested = [(case, p) for case in cases if (p := case.estimate.p_value()) is not None]
    p_values = [p for _, p in tested]
    rows = zip(tested, holm(p_values), benjamini_hochberg(p_values), strict=True)
    return {case.workload: replace(case, p_holm=p_holm, q_value=q) for (case, _), p_holm, q in rows}


def change_interval(interval: Interval | None, direction: str) -> tuple[float | None, float | None]:
    """Return an interval of cost log ratios as percent change of the metric itself, low end first."""
    if interval is None:
        return None, None
    if direction == HIGHER:
        return log_to_percent(-interval.high), log_to_percent(-interval.low)
    return log_to_percent(interval.low), log_to_percent(interval.high)


def change_percent(mean: float | None, direction: str) -> float | None:
    """Return a cost log ratio as percent change of the metric itself."""
    if mean is None:
        return None
    return log_to_percent(-mean if direction == HIGHER else mean)


def estimate_document(found: Estimate, direction: str, level: float) -> dict[str, Any]:
    """Return an estimate for a canonical document: percent change of the metric, intervals, spread."""
    wide, narrow = found.interval(level), found.interval(1 - 2 * (1 - level))
    low, high = change_interval(wide, direction)
    low_narrow, high_narrow = change_interval(narrow, direction)
    detectable = minimum_detectable_effect(found.sd, found.n, level) if found.usable else None
    return {
        "n": found.n,
        "reason": found.reason,
        "level": decimal_text(level),
        "change_percent": decimal_text(change_percent(found.mean, direction)),
        "low_percent": decimal_text(low),
        "high_percent": decimal_text(high),
        "equivalence_low_percent": decimal_text(low_narrow),
        "equivalence_high_percent": decimal_text(high_narrow),
        "log_mean": decimal_text(found.mean),
        "log_low": decimal_text(wide.low if wide else None),
        "log_high": decimal_text(wide.high if wide else None),
        "sd_of_runs": decimal_text(found.sd_of_runs),
        "sd": decimal_text(found.sd),
        "sd_source": found.sd_source,
        "p_value": decimal_text(found.p_value()),
        "detectable_percent": decimal_text(None if detectable is None else -log_to_percent(-detectable)),
    }


def effects_document(effects: Effects, session: Session, level: float) -> dict[str, Any]:
    """Return estimates and case table of a session for a canonical document."""
    return {
        "estimate": estimate_document(effects.primary, session.direction, level),
        "cases": [_case_document(case, session, level) for case in effects.cases],
        "anchor_text": format_quantity(effects.anchor, session.unit),
        "candidate_text": format_quantity(effects.candidate, session.unit),
    }


def _case_document(case: CaseEffect, session: Session, level: float) -> dict[str, Any]:
    return {
        "workload": case.workload,
        "estimate": estimate_document(case.estimate, session.direction, level),
        "anchor": decimal_text(case.anchor),
        "candidate": decimal_text(case.candidate),
        "anchor_text": format_quantity(case.anchor, session.unit),
        "candidate_text": format_quantity(case.candidate, session.unit),
        "p_holm": decimal_text(case.p_holm),
        "q_value": decimal_text(case.q_value),
    }
