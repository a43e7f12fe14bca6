"""Whether a verdict plan can disagree with its prediction (rule AL7; measurement page, section 4)."""

from dataclasses import dataclass

from v2kb.rules.prereg import Prereg
from v2kb.rules.stats import AA_SD_SHARE, minimum_detectable_effect, rounds_to_detect
from v2kb.rules.units import UnitMismatch, conversion_factor, format_percent, log_to_percent, trim_decimal


@dataclass(frozen=True)
class PlanCheck:
    """Whether a plan is good for a verdict, and why.

    `detectable` and `distance` are log units; `rounds_needed` is None when no reasonable number of rounds
    would do.
    """

    ok: bool
    detectable: float | None
    distance: float | None
    rounds_needed: int | None
    message: str


def check_plan(prereg: Prereg, sd: float | None, anchor_value: float | None = None) -> PlanCheck:
    """Compare the smallest effect that the plan detects (80% power) with |prediction - kill threshold|.

    `sd` is the spread of paired log ratios to plan with, from an A/A session or earlier runs of the anchor;
    unknown is refused. `anchor_value` (in the prediction's unit) turns absolute thresholds into shares. The
    margin delta has to be at least the noise floor that the estimator applies.
    """
    predicted, bar = prereg.prediction(anchor_value), prereg.bar(anchor_value)
    if bar is None or predicted is None:
        missing = "The kill is an event" if prereg.kill is None else "An absolute threshold needs the anchor's value"
        return PlanCheck(False, None, None, None, f"{missing}, so nothing can be compared with the noise.")
    distance = min(abs(edge - bar) for edge in predicted)
    detectable = None if sd is None else minimum_detectable_effect(sd, prereg.rounds, prereg.level)
    if detectable is None:
        message = "The noise of this measurement is unknown. Run the anchor against itself first."
        return PlanCheck(False, None, distance, None, message)
    if prereg.margin < AA_SD_SHARE * sd:
        floor = format_percent(log_to_percent(AA_SD_SHARE * sd))
        delta = trim_decimal(prereg.delta_percent)
        message = f"delta {delta}% is below the noise floor of {floor}. Register a larger one."
        return PlanCheck(False, detectable, distance, None, message)
    shown, apart = _percent(detectable), _percent(distance)
    if detectable <= distance:
        message = f"{prereg.rounds} rounds detect {shown}; prediction and kill threshold are {apart} apart."
        return PlanCheck(True, detectable, distance, prereg.rounds, message)
    needed = rounds_to_detect(sd, distance, prereg.level)
    advice = f"About {needed} rounds would do." if needed else "No reasonable number of rounds would do."
    message = f"{prereg.rounds} rounds detect {shown}; prediction and kill threshold are only {apart} apart."
    return PlanCheck(False, detectable, distance, needed, f"{message} {advice}")


def _percent(log_gain: float) -> str:
    """Return a gain in log units as a percentage of the cost."""
    return format_percent(-log_to_percent(-log_gain))


def anchor_in_unit(value: float, unit: str, prereg: Prereg) -> float | None:
    """Return a measured anchor value in the prediction's unit, or None when the two units do not convert."""
    try:
        return value * conversion_factor(unit, prereg.unit)
    except UnitMismatch:
        return None
