"""The judgement of a perf session against its registration (measurement page, section 4).

| order | condition | judgement |
|---|---|---|
| 0 | a gate of verdict_gates.py failed | INVALID |
| 1 | 95% interval wholly below k | WIN |
| 2 | 90% interval wholly inside (-delta, +delta) | NULL |
| 3 | 95% interval wholly above 0 | REGRESS |
| 4 | 95% interval wholly above k | KILLED |
| 5 | otherwise | INCONCLUSIVE |
"""

from dataclasses import dataclass
from typing import Any

from v2kb.rules.effects import Effects, effects_of
from v2kb.rules.grades import DecidingSession, Grade, GradedSession, grade_of, measured_of
from v2kb.rules.prereg import Prereg
from v2kb.rules.session import Session
from v2kb.rules.stats import Estimate, rounds_to_settle
from v2kb.rules.units import finite
from v2kb.rules.verdict_gates import Gate, JudgePolicy, Registration, anchor_value, check_gates, sample_gates
from v2kb.rules.verdict_table import INCONCLUSIVE, INVALID, REGRESS, WIN, Thresholds, judge_interval, resolution
from v2kb.rules.verdict_text import NOISE, shown_document, verdict_document

RULE_VERSION = "verdict/2"
SHIP, KILL, PARK, NO_DISPOSITION = "ship", "kill", "park", "none"
DISPOSITIONS = (SHIP, KILL, PARK, NO_DISPOSITION)
BEATS, MEETS, FALLS_SHORT = "beats", "meets", "falls short of"


@dataclass(frozen=True)
class Verdict:
    """A judgement and all that it rests on. `gate` is the first failed gate of an INVALID session."""

    judgement: str
    gate: str
    gates: tuple[Gate, ...]
    against_prediction: str
    disposition: str
    disposition_reason: str
    held_back: str
    rounds_to_settle: int | None
    effects: Effects
    thresholds: Thresholds | None
    case_judgements: dict[str, str]
    session: Session
    grade: Grade
    prereg: Prereg
    notes: tuple[str, ...] = ()

    @property
    def primary(self) -> Estimate:
        return self.effects.primary

    def as_document(self) -> dict[str, Any]:
        """Return the canonical document of this judgement: whole numbers and text only."""
        return {"rule_version": RULE_VERSION, **verdict_document(self)}


def judge(deciding: DecidingSession, registration: Registration, policy: JudgePolicy | None = None) -> Verdict:
    """Judge a deciding session against its registration. Raises TypeError for any other grade."""
    if not isinstance(deciding, DecidingSession):
        raise TypeError("Only a deciding session can be judged; others show an estimate and its interval.")
    prereg = registration.prereg
    effects = effects_of(deciding.session, prereg.cases)
    gates = check_gates(deciding, registration, effects, policy or JudgePolicy())
    return _judged(deciding.session, deciding.grade, prereg, effects, gates)


def judge_samples(session: Session, prereg: Prereg, policy: JudgePolicy | None = None) -> Verdict:
    """What the table says of bare samples, as if they decided: only the gates that samples answer are looked at.

    It is no judgement to be kept: how the samples were taken, and what was registered when, nobody has shown.
    """
    effects = effects_of(session, prereg.cases)
    gates = sample_gates(session, prereg, effects, policy or JudgePolicy())
    return _judged(session, grade_of(measured_of(session)), prereg, effects, gates)


def _judged(session: Session, grade: Grade, prereg: Prereg, effects: Effects, gates: tuple[Gate, ...]) -> Verdict:
    failed = next((gate for gate in gates if not gate.passed), None)
    value = anchor_value(session, prereg, effects)
    bar, prediction = prereg.bar(value), prereg.prediction(value)
    thresholds = None if bar is None or prediction is None else Thresholds(bar, prereg.margin, prediction)
    case_judgements: dict[str, str] = {}
    judgement, held_back, against = INVALID, "", ""
    if failed is None:
        case_judgements = _judge_cases(effects, prereg, thresholds)
        held_back = _win_held_back(effects, prereg, session, case_judgements)
        judgement, held_back = _judge_primary(effects, prereg, thresholds, held_back)
        against = _against_prediction(effects.primary, prereg, thresholds) if judgement == WIN else ""
    settle = None
    if judgement == INCONCLUSIVE and held_back == NOISE:
        settle = rounds_to_settle(effects.primary.mean, effects.primary.sd, bar, prereg.level)
    disposition, why = _disposition(judgement, effects.primary, session, prereg, thresholds)
    return Verdict(
        judgement=judgement,
        gate=failed.id if failed else "",
        gates=gates,
        against_prediction=against,
        disposition=disposition,
        disposition_reason=why,
        held_back=held_back,
        rounds_to_settle=settle,
        effects=effects,
        thresholds=thresholds,
        case_judgements=case_judgements,
        session=session,
        grade=grade,
        prereg=prereg,
        notes=_notes(session),
    )


def _judge_primary(effects: Effects, prereg: Prereg, thresholds: Thresholds, held_back: str) -> tuple[str, str]:
    """Return the primary's judgement; for INCONCLUSIVE also what held it back (`NOISE` or a sentence)."""
    primary, ticks = effects.primary, effects.tick_share
    judgement = judge_interval(primary, thresholds, prereg.level, ticks)
    if judgement == WIN and held_back:
        return INCONCLUSIVE, held_back
    if judgement != INCONCLUSIVE:
        return judgement, ""
    if -thresholds.bar < resolution(ticks):
        return INCONCLUSIVE, "The registered bar is under three ticks of the timer. Measure a larger workload."
    if judge_interval(primary, thresholds, prereg.level) != INCONCLUSIVE:
        return INCONCLUSIVE, "The difference is under three ticks of the timer. Measure a larger workload."
    return INCONCLUSIVE, NOISE


def _judge_cases(effects: Effects, prereg: Prereg, thresholds: Thresholds) -> dict[str, str]:
    """Judge each registered case on its own; REGRESS among several only at the Holm-adjusted level."""
    judged = {}
    for case in effects.cases:
        if case.workload not in prereg.cases:
            continue
        slower_for_sure = case.p_holm is not None and case.p_holm < 1 - prereg.level
        judged[case.workload] = judge_interval(
            case.estimate, thresholds, prereg.level, case.tick_share, may_regress=slower_for_sure
        )
    return judged


def _win_held_back(effects: Effects, prereg: Prereg, session: Session, case_judgements: dict[str, str]) -> str:
    """Return why a WIN would not count: a case that regresses, or a watch metric without a value."""
    slower = sorted(name for name, judgement in case_judgements.items() if judgement == REGRESS)
    if slower:
        return f"The mean wins, but {', '.join(slower)} regresses. Mend it, or register the cases that gain."
    if prereg.park_metric and _watched(session, prereg.park_metric) is None:
        return f"The watch metric {prereg.park_metric} was not measured; without it there is no WIN."
    return ""


def _watched(session: Session, metric: str) -> float | None:
    """Return how many percent worse the watch metric got, or None when it was not measured."""
    return next((finite(watch.worse_percent) for watch in session.watches if watch.metric == metric), None)


def _against_prediction(primary: Estimate, prereg: Prereg, thresholds: Thresholds) -> str:
    """Say whether a WIN beats, meets or falls short of the predicted gain or range."""
    wide, (least, most) = primary.interval(prereg.level), thresholds.prediction
    if wide.high < most:
        return BEATS
    return FALLS_SHORT if wide.low > least else MEETS


def _disposition(
    judgement: str, primary: Estimate, session: Session, prereg: Prereg, thresholds: Thresholds | None
) -> tuple[str, str]:
    """Return what follows from the judgement and the watch metric, with the reason."""
    if judgement == INVALID:
        return NO_DISPOSITION, "An invalid session neither ships nor kills."
    if judgement == INCONCLUSIVE:
        return PARK, "Nothing was decided."
    if judgement == WIN:
        worse = _watched(session, prereg.park_metric) if prereg.park_metric else None
        if worse is not None and worse > float(prereg.park_percent):
            return PARK, f"The watch metric {prereg.park_metric} got worse beyond its threshold."
        return SHIP, "The registered bar was exceeded."
    if primary.interval(prereg.level).low > thresholds.bar:
        return KILL, "The registered bar is excluded."
    return PARK, "There is practically no change, yet the bar is not excluded at the registered level."


def _notes(session: Session) -> tuple[str, ...]:
    """Return what a reader should know although no gate failed."""
    notes = []
    if session.aa_passed is None:
        notes.append("No A/A check of this set-up is on record.")
    if not session.timer_tick:
        notes.append("The timer's tick is unknown.")
    return tuple(notes)


@dataclass(frozen=True)
class Shown:
    """What every session may show, whatever its grade: estimates with intervals, and no judgement."""

    session: Session
    grade: Grade
    effects: Effects
    level: float

    def as_document(self) -> dict[str, Any]:
        """Return the canonical document of these estimates: whole numbers and text only."""
        return {"rule_version": RULE_VERSION, **shown_document(self)}


def show(session: GradedSession, level: float = 0.95) -> Shown:
    """Return estimates and intervals of a session of any grade."""
    return Shown(session.session, session.grade, effects_of(session.session), level)
