"""Rows 1 to 5 of the verdict table, applied to one estimate (measurement page, section 4)."""

from dataclasses import dataclass

from v2kb.rules.stats import Estimate

WIN, NULL, REGRESS, KILLED = "WIN", "NULL", "REGRESS", "KILLED"
INCONCLUSIVE, INVALID = "INCONCLUSIVE", "INVALID"
JUDGEMENTS = (WIN, NULL, REGRESS, KILLED, INCONCLUSIVE, INVALID)
TICKS_TO_TELL_APART = 3


@dataclass(frozen=True)
class Thresholds:
    """What the table compares with, in cost log units: k < 0, delta, and the predicted gains (least,
    most).
    """

    bar: float
    margin: float
    prediction: tuple[float, float]


def resolution(tick_share: float | None) -> float:
    """Return the smallest log ratio that the timer can tell, three ticks; `tick_share` is timer tick /
    median.
    """
    return TICKS_TO_TELL_APART * (tick_share or 0.0)


def judge_interval(
    found: Estimate,
    thresholds: Thresholds,
    level: float,
    tick_share: float | None = None,
    may_regress: bool = True,
) -> str:
    """Return the first row that holds. `level` is that of the 95% interval; `tick_share` is timer tick /
    median.

    A difference under three ticks is never called a WIN or a REGRESS, and a bar under three ticks kills
    nothing. With `may_regress` false the row REGRESS is passed over (a case that fails Holm's test).
    """
    wide, narrow = found.interval(level), found.interval(1 - 2 * (1 - level))
    if wide is None or narrow is None:
        return INCONCLUSIVE
    smallest = resolution(tick_share)
    if wide.high < thresholds.bar and abs(found.mean) >= smallest:
        return WIN
    if -thresholds.margin < narrow.low and narrow.high < thresholds.margin:
        return NULL
    if may_regress and wide.low > 0 and abs(found.mean) >= smallest:
        return REGRESS
    if wide.low > thresholds.bar and -thresholds.bar >= smallest:
        return KILLED
    return INCONCLUSIVE
