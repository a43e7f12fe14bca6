"""The estimator of paired runs: log ratios, t intervals, detectable effects, many cases.

Rules: measurement page, section 4. One observation is one round: d = ln(median of the candidate's run /
median of the anchor's run); raw samples are never pooled across runs. scipy is imported inside functions, so
that importing the rules stays fast.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

AA_SD_SHARE = 0.25
POWER = 0.80
LEVEL = 0.95
MAX_ROUNDS_SEARCHED = 10_000
POWER_GRID = 2048
ROUNDING_SD = 1e-12
LARGEST_LOG_RATIO = 1500.0


@dataclass(frozen=True)
class Reading:
    """A number, or the reason why there is none."""

    value: float | None
    reason: str = ""


@dataclass(frozen=True)
class Interval:
    """A closed range of log ratios."""

    low: float
    high: float


@dataclass(frozen=True)
class NoiseFloor:
    """What the spread of d can't honestly fall below.

    `aa_sd` is the spread of an A/A session in log units, `tick_share` the timer's tick / the median.
    """

    aa_sd: float | None = None
    tick_share: float | None = None

    def limits(self) -> dict[str, float]:
        """Return the usable floors by source, in log units."""
        limits = {}
        if _positive(self.aa_sd):
            limits["aa"] = AA_SD_SHARE * self.aa_sd
        if _positive(self.tick_share):
            limits["timer"] = self.tick_share
        return limits


@dataclass(frozen=True)
class Estimate:
    """Mean and spread of n paired log ratios. `reason` says what is missing; a mean may lack an interval."""

    n: int
    mean: float | None = None
    sd_of_runs: float | None = None
    sd: float | None = None
    sd_source: str = ""
    reason: str = ""

    @property
    def usable(self) -> bool:
        """Say whether intervals exist."""
        return self.mean is not None and self.sd is not None and self.n >= 2

    def interval(self, level: float = LEVEL) -> Interval | None:
        """Return mean +- t(n-1)*sd/sqrt(n) at confidence `level`, or None when there is no spread."""
        if not self.usable:
            return None
        half = half_width(self.sd, self.n, level)
        return Interval(self.mean - half, self.mean + half)

    def p_value(self) -> float | None:
        """Return the two-sided p-value of "no difference" (one-sample t test with the floored sd)."""
        if not self.usable:
            return None
        return t_p_value(self.mean * math.sqrt(self.n) / self.sd, self.n - 1)


def _positive(value: float | None) -> bool:
    return value is not None and math.isfinite(value) and value > 0


def median_ns(samples: Sequence[int]) -> Reading:
    """Return the median of one run's samples in ns.

    Refuses an empty run, a time of 0 or less, and what is no integer.
    """
    if not samples:
        return Reading(None, "The run has no samples.")
    for index, sample in enumerate(samples):
        if isinstance(sample, bool) or not isinstance(sample, int):
            return Reading(None, f"Sample {index} is not an integer number of nanoseconds.")
        if sample <= 0:
            return Reading(None, f"Sample {index} is {sample} ns; a time must be above 0.")
    ordered = sorted(samples)
    middle = len(ordered) // 2
    twice = ordered[middle] * 2 if len(ordered) % 2 else ordered[middle - 1] + ordered[middle]
    try:
        return Reading(twice / 2)
    except OverflowError:
        return Reading(None, "The median is too large to be a time.")


def log_ratio(anchor: float | None, candidate: float | None) -> Reading:
    """Return ln(candidate/anchor) of two run medians in one unit.

    Refuses missing, non-finite, zero and negative values.
    """
    for name, value in (("anchor", anchor), ("candidate", candidate)):
        if value is None:
            return Reading(None, f"The {name}'s median is missing.")
        try:
            number = float(value)
        except (OverflowError, TypeError, ValueError):
            return Reading(None, f"The {name}'s median is not a number that a float can hold.")
        if not math.isfinite(number):
            return Reading(None, f"The {name}'s median is not a finite number.")
        if number <= 0:
            return Reading(None, f"The {name}'s median is {number:g}; a ratio needs a value above 0.")
    return Reading(math.log(candidate) - math.log(anchor))


def estimate(log_ratios: Sequence[float], noise: NoiseFloor | None = None) -> Estimate:
    """Return the estimate over paired log ratios, sd = max(sd of runs, 0.25 * A/A sd, timer tick / median).

    n = 0 and non-finite input give no mean; n = 1 gives a mean without an interval; so does a spread of 0
    without a known floor. `reason` says which.
    """
    n = len(log_ratios)
    if n == 0:
        return Estimate(0, reason="There are no paired runs.")
    if not all(math.isfinite(d) for d in log_ratios):
        return Estimate(n, reason="A log ratio is not a finite number.")
    if any(abs(d) > LARGEST_LOG_RATIO for d in log_ratios):
        return Estimate(n, reason="A log ratio is larger than any two floats allow.")
    mean = math.fsum(log_ratios) / n
    if n == 1:
        return Estimate(1, mean, reason="One paired run has no spread.")
    spread = math.hypot(*(d - mean for d in log_ratios)) / math.sqrt(n - 1)
    if spread < ROUNDING_SD:
        spread = 0.0
    limits = {"runs": spread, **(noise.limits() if noise else {})}
    source = max(limits, key=lambda name: limits[name])
    if limits[source] == 0:
        return Estimate(n, mean, 0.0, reason="The runs do not differ at all; no timer tick or A/A spread is known.")
    return Estimate(n, mean, spread, limits[source], source)


@lru_cache(maxsize=4096)
def t_quantile(probability: float, degrees: int) -> float:
    """Return the quantile of Student's t distribution."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, probability))


def t_p_value(t: float, degrees: int) -> float:
    """Return the two-sided p-value of a t statistic."""
    from scipy.special import stdtr

    return float(min(1.0, 2 * stdtr(degrees, -abs(t))))


def half_width(sd: float, n: int, level: float) -> float:
    """Return t(n-1)*sd/sqrt(n) of a two-sided interval at confidence `level`."""
    return t_quantile((1 + level) / 2, n - 1) * sd / math.sqrt(n)


@lru_cache(maxsize=512)
def _noncentrality(n: int, level: float, power: float) -> float:
    """Return the shift in standard errors that a two-sided t test with n pairs finds with `power`.

    The normal power is averaged over the distribution of the estimated spread: scipy's noncentral t gives
    NaN for few pairs.
    """
    from scipy.special import chdtri, ndtr

    degrees = n - 1
    critical = t_quantile((1 + level) / 2, degrees)
    shares = [(index + 0.5) / POWER_GRID for index in range(POWER_GRID)]
    bars = critical * (chdtri(degrees, shares) / degrees) ** 0.5
    low, high = 0.0, 2 * critical + 10
    for _ in range(60):
        middle = (low + high) / 2
        reached = float((ndtr(middle - bars) + ndtr(-middle - bars)).mean())
        low, high = (middle, high) if reached < power else (low, middle)
    return high


def minimum_detectable_effect(sd: float, n: int, level: float = LEVEL, power: float = POWER) -> float | None:
    """Return the smallest |log ratio| that n pairs with spread `sd` tell from 0 with `power`.

    None for n < 2 or a spread that is no positive number.
    """
    if n < 2 or not _positive(sd):
        return None
    return _noncentrality(n, level, power) * sd / math.sqrt(n)


def rounds_to_detect(sd: float, effect: float, level: float = LEVEL, power: float = POWER) -> int | None:
    """Return the fewest rounds (3 or more) that detect `effect` (log units), or None beyond the search."""
    if not (_positive(sd) and _positive(abs(effect))):
        return None
    return _first(3, lambda n: minimum_detectable_effect(sd, n, level, power) <= abs(effect))


def rounds_to_settle(mean: float, sd: float, bar: float, level: float = LEVEL) -> int | None:
    """Return the fewest rounds at which the interval would leave the bar k, at this mean and spread.

    The other rows of the verdict table need a narrower interval than that, so they never come first. None
    when no reasonable number of rounds decides.
    """
    distance = abs(mean - bar)
    if not (_positive(sd) and _positive(distance)):
        return None
    return _first(3, lambda n: half_width(sd, n, level) < distance)


def _first(start: int, holds) -> int | None:
    """Return the first n >= start from which `holds` is true for good, or None up to the search limit."""
    if not holds(MAX_ROUNDS_SEARCHED):
        return None
    low, high = start, MAX_ROUNDS_SEARCHED
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p-values in the order given."""
    count, adjusted, largest = len(p_values), [0.0] * len(p_values), 0.0
    for rank, index in enumerate(sorted(range(count), key=lambda i: p_values[i])):
        largest = max(largest, min(1.0, (count - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return Benjamini and Hochberg's q-values in the order given."""
    count, q_values, smallest = len(p_values), [0.0] * len(p_values), 1.0
    ranked = sorted(range(count), key=lambda i: p_values[i])
    for rank in range(count, 0, -1):
        index = ranked[rank - 1]
        smallest = min(smallest, p_values[index] * count / rank)
        q_values[index] = smallest
    return q_values


@dataclass(frozen=True)
class AACheck:
    """The anchor against itself: whether the set-up can be trusted, and its spread (log units)."""

    passed: bool
    sd: float | None
    reason: str


def aa_check(log_ratios: Sequence[float], margin: float, tick_share: float | None = None) -> AACheck:
    """Judge an A/A session: 0 lies in the 95% interval, or the 90% interval within +-`margin` (log units)."""
    found = estimate(log_ratios, NoiseFloor(tick_share=tick_share))
    if found.n < 3 or not found.usable:
        return AACheck(False, None, found.reason or f"An A/A check needs 3 paired runs; there are {found.n}.")
    wide, narrow = found.interval(LEVEL), found.interval(1 - 2 * (1 - LEVEL))
    if wide.low <= 0 <= wide.high:
        return AACheck(True, found.sd, "The anchor does not differ from itself.")
    if -margin < narrow.low and narrow.high < margin:
        return AACheck(True, found.sd, "The anchor differs from itself by less than the margin.")
    return AACheck(False, found.sd, "The anchor differs from itself: something beside the kernel changes.")
