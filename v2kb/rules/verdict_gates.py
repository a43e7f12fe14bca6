"""Row 0 of the verdict table: what makes a session INVALID, checked before anyone looks at the effect.

Order and wording follow the measurement page, section 4. An unknown fact fails its gate.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from v2kb.rules.effects import Effects
from v2kb.rules.grades import DecidingSession
from v2kb.rules.prediction_reading import MIN_ROUNDS
from v2kb.rules.prereg import Prereg
from v2kb.rules.session import HIGHER, Case, Session
from v2kb.rules.units import UnitMismatch, conversion_factor, format_quantity

PINNED = "PINNED"


@dataclass(frozen=True)
class Registration:
    """A pre-registration and the server's time at which it was sealed (None: never)."""

    prereg: Prereg
    sealed_at: datetime | None


@dataclass(frozen=True)
class JudgePolicy:
    """What the site demands of a run beyond the table: launches per run, and whether an A/A check must be
    on record.
    """

    min_launches: int = 30
    require_aa: bool = False


@dataclass(frozen=True)
class Gate:
    """One check. `reason` says why it failed and what to do; empty when it passed."""

    id: str
    title: str
    reason: str = ""

    @property
    def passed(self) -> bool:
        return not self.reason


def check_gates(
    deciding: DecidingSession, registration: Registration, effects: Effects, policy: JudgePolicy
) -> tuple[Gate, ...]:
    """Return all gates of row 0 in the table's order; the first that failed names the INVALID judgement."""
    session, prereg = deciding.session, registration.prereg
    rounds, values, bar = sample_gates(session, prereg, effects, policy)
    return (
        Gate("outcome", "The run finished", _outcome(session)),
        Gate("outputs", "Every registered case gave a right output", _outputs(session, prereg)),
        Gate("ladder", "The rungs below stand", _ladder(session)),
        Gate("floor", "No time is below the physical floor", _floor(session, prereg)),
        rounds,
        values,
        Gate("grade", "Data of the registered kind decide", _registered_kind(deciding, prereg)),
        Gate("fingerprint", "Only the candidate differs", _fingerprint(session)),
        Gate("aa", "The anchor does not differ from itself", _aa(session, policy)),
        Gate("registered", "Registered before the first sample", _sealed(session, registration)),
        Gate("anchor", "The anchor is pinned", _anchor(session)),
        bar,
        Gate("tier_1", "TIER 1 is not contradicted", _tier_1(deciding, prereg, effects)),
    )


def sample_gates(session: Session, prereg: Prereg, effects: Effects, policy: JudgePolicy) -> tuple[Gate, Gate, Gate]:
    """Return the gates that samples and thresholds answer by themselves."""
    return (
        Gate("rounds", "The registered rounds were run", _rounds(session, prereg, policy)),
        Gate("values", "Every run has a usable median", effects.primary.reason),
        Gate("bar", "A number was registered as the bar", _bar(session, prereg, effects)),
    )


def _registered_cases(session: Session, prereg: Prereg) -> list[Case]:
    return [case for case in session.cases if case.workload in prereg.cases]


def _outcome(session: Session) -> str:
    return "" if session.outcome == "PASS" else f"The run ended as {session.outcome or 'unknown'}, not as PASS."


def _outputs(session: Session, prereg: Prereg) -> str:
    measured = {case.workload: case for case in session.cases}
    for name in prereg.cases:
        case = measured.get(name)
        if case is None:
            return f"The registered workload {name} was not measured."
        if case.output_right is None:
            return f"Nobody checked the output of workload {name}."
        if not case.output_right:
            why = case.failure.strip().rstrip(".")
            return f"Workload {name} gave a wrong output{': ' + why if why else ''}."
    return ""


def _ladder(session: Session) -> str:
    """A later pass with an earlier one missing is INVALID (domain 2.11), and so is one over a failure on record."""
    if session.ladder_fault is None:
        return "Whether the candidate passed validation is unknown."
    fix = "A validate run over every workload must pass first."
    return f"{session.ladder_fault} {fix}" if session.ladder_fault else ""


def _floor(session: Session, prereg: Prereg) -> str:
    """A time below its floor, or a rate above it, is no record: the work was not done or not seen."""
    for case in _registered_cases(session, prereg):
        if case.floor is None:
            continue
        for pair in case.pairs:
            for side, value in (("anchor", pair.anchor), ("candidate", pair.candidate)):
                if value is None:
                    continue
                if value > case.floor if session.direction == HIGHER else value < case.floor:
                    shown = format_quantity(value, session.unit)
                    bound = format_quantity(case.floor, session.unit)
                    return f"Round {pair.round} of {case.workload}: the {side}'s {shown} breaks the floor of {bound}."
    return ""


def _rounds(session: Session, prereg: Prereg, policy: JudgePolicy) -> str:
    for case in _registered_cases(session, prereg):
        count, allowed = len(case.pairs), prereg.allowed_rounds()
        if count < MIN_ROUNDS:
            return f"Workload {case.workload} has {_counted(count, 'round')}; under {MIN_ROUNDS} there is no verdict."
        if count not in allowed:
            looks = " or ".join(str(number) for number in allowed)
            return f"Workload {case.workload} has {_counted(count, 'round')}; registered were {looks}."
        for pair in case.pairs:
            if pair.launches is not None and pair.launches < policy.min_launches:
                few = f"has a run with {_counted(pair.launches, 'launch')}; {policy.min_launches} are needed"
                return f"Round {pair.round} of {case.workload} {few}."
        first = [pair.first for pair in sorted(case.pairs, key=lambda pair: pair.round)]
        if all(first) and any(a == b for a, b in pairwise(first)):
            return f"The rounds of {case.workload} do not alternate (ABBA), so a drift of the card could decide."
    return ""


def _counted(count: int, noun: str) -> str:
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun}{'es' if noun.endswith('ch') else 's'}"


def _registered_kind(deciding: DecidingSession, prereg: Prereg) -> str:
    session = deciding.session
    if deciding.grade.tier > prereg.tier:
        return f"TIER {prereg.tier} was registered; these numbers are TIER {deciding.grade.tier}."
    if session.metric != prereg.metric:
        return f"The metric {prereg.metric} was registered; measured was {session.metric}."
    if session.direction != prereg.direction:
        return f"{prereg.direction} is better by the registration; the session says {session.direction}."
    if session.anchor != prereg.anchor:
        return f"The anchor {prereg.anchor} was registered; measured against was {session.anchor or 'nothing'}."
    try:
        conversion_factor(session.unit, prereg.unit)
    except UnitMismatch as mismatch:
        return f"The registration is in {prereg.unit}, the session in {session.unit}: {mismatch}"
    return ""


def fingerprint_differences(anchor: Mapping[str, str], candidate: Mapping[str, str]) -> list[str]:
    """Return the names of environment facts that differ or that one side lacks, in order."""
    return sorted(name for name in {*anchor, *candidate} if anchor.get(name) != candidate.get(name))


def _fingerprint(session: Session) -> str:
    if not session.anchor_environment or not session.candidate_environment:
        return "The environment of the runs was not recorded."
    differing = fingerprint_differences(session.anchor_environment, session.candidate_environment)
    return f"Anchor and candidate ran with different {', '.join(differing)}." if differing else ""


def _aa(session: Session, policy: JudgePolicy) -> str:
    if session.aa_passed is False:
        return "The anchor differs from itself in the A/A check: something beside the kernel changes."
    if session.aa_passed is None and policy.require_aa:
        return "No A/A check is on record. Run the anchor against itself first."
    return ""


def _sealed(session: Session, registration: Registration) -> str:
    sealed, first = registration.sealed_at, session.first_candidate_sample_at
    if sealed is None:
        return "The prediction was never sealed."
    if first is None:
        return "The time of the first candidate sample is unknown."
    if sealed.tzinfo is None or first.tzinfo is None:
        return "A time without a time zone can't be ordered."
    return "" if sealed < first else "The prediction was sealed after the candidate's first sample."


def _anchor(session: Session) -> str:
    if session.anchor_state == PINNED:
        return ""
    return f"The anchor {session.anchor} is {session.anchor_state or 'unknown'}; capture and pin it first."


def anchor_value(session: Session, prereg: Prereg, effects: Effects) -> float | None:
    """Return the anchor's measured value in the prediction's unit; None for several cases or an unknown
    unit.
    """
    try:
        factor = conversion_factor(session.unit, prereg.unit)
    except UnitMismatch:
        return None
    return None if effects.anchor is None else effects.anchor * factor


def _bar(session: Session, prereg: Prereg, effects: Effects) -> str:
    if prereg.kill is None:
        return f"Only an event was registered ({prereg.kill_event}); a number can't be judged against it."
    value = anchor_value(session, prereg, effects)
    if prereg.bar(value) is None or prereg.prediction(value) is None:
        return "An absolute threshold needs one workload, and an anchor above it."
    return ""


def _tier_1(deciding: DecidingSession, prereg: Prereg, effects: Effects) -> str:
    """TIER 2 may not contradict TIER 1 in sign."""
    known, own = deciding.session.tier1_log_interval, effects.primary.interval(prereg.level)
    if deciding.grade.tier == 1 or known is None or own is None:
        return ""
    low, high = known
    if not (math.isfinite(low) and math.isfinite(high)):
        return "The TIER 1 interval on record is not a pair of numbers."
    if (own.high < 0 and low > 0) or (own.low > 0 and high < 0):
        return "A TIER 1 measurement says the opposite; TIER 2 can't overrule it."
    return ""
