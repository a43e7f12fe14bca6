"""What an evidence row says that a lever can gain at most, and whether a prediction goes beyond it.

Rule R64 and the gate's AL7 share this reading. Percentages are of the cost, so that a ceiling of 1.18x is a gain of
15.25%. Source: the evidence map (m1-decode-evidence), rows D2, D3, D10 and U1, and its section 5.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from v2kb.rules.numbers import read_decimal
from v2kb.rules.units import TIME_UNITS_NS, trim_decimal

RATIO, PERCENT, GAIN, FLOOR = "ratio", "percent", "gain", "floor"
BOUND = "bound"
_NOTHING = {"x": 1, "percent": 0}  # what a bound in this unit must exceed to allow any gain


@dataclass(frozen=True, slots=True)
class Ceiling:
    """One ceiling: a `ratio` of old to new time, a gain in `percent` of the cost, a `gain` in microseconds, or a
    `floor` in microseconds that the time can't fall below.
    """

    kind: str
    value: Decimal

    def text(self) -> str:
        """ "1.18x", "7%", "0.61 us" or "a floor of 6.24 us"."""
        shown = trim_decimal(self.value)
        words = {RATIO: f"{shown}x", PERCENT: f"{shown}%", GAIN: f"{shown} us", FLOOR: f"a floor of {shown} us"}
        return words[self.kind]


# Rows whose ceiling is a time: nothing in a row's numbers tells a gain from a floor.
PUBLISHED: Mapping[str, tuple[Ceiling, ...]] = {
    "U1": (Ceiling(RATIO, Decimal("1.18")),),
    "D2": (Ceiling(GAIN, Decimal("0.61")),),
    "D3": (Ceiling(FLOOR, Decimal("6.24")),),
    "D10": (Ceiling(GAIN, Decimal("3.2")),),
}


def ceilings_of(code: str, content: Mapping[str, Any]) -> tuple[Ceiling, ...]:
    """Return the ceilings in the content of an evidence revision: its bounds in x and in percent, and the published
    ones of this code that the content still has among its bounds.
    """
    bounds = [number for number in content.get("numbers") or [] if number.get("role") == BOUND]
    found = [
        Ceiling(RATIO if number["unit"] == "x" else PERCENT, value)
        for number in bounds
        if number.get("unit") in _NOTHING and (value := _most(number)) is not None and value > _NOTHING[number["unit"]]
    ]
    times = {_most(number) for number in bounds if number.get("unit") == "us"}
    found += [ceiling for ceiling in PUBLISHED.get(code, ()) if ceiling.value in times]
    return tuple(dict.fromkeys(found))


def _most(number: Mapping[str, Any]) -> Decimal | None:
    return read_decimal(number.get("value") or number.get("high"))


@dataclass(frozen=True, slots=True)
class Predicted:
    """The most that a prediction promises. `percent` of the cost or `gain_us`, and `lows_us`, the low ends of its bands
    in microseconds by what they are about.
    """

    percent: Decimal | None = None
    gain_us: Decimal | None = None
    lows_us: Mapping[str, Decimal] | None = None


def read_predicted(prediction: Mapping[str, Any]) -> Predicted:
    """Read a choice's prediction; what is no number or no time is left out."""
    shares = [read_decimal(prediction.get(name)) for name in ("gain_percent", "gain_high_percent")]
    known = [share for share in shares if share is not None]
    lows = {}
    for band in prediction.get("bands") or []:
        low = _microseconds(read_decimal(band.get("low")), band.get("unit"))
        if low is not None:
            lows[str(band.get("what"))] = low
    gain = _microseconds(read_decimal(prediction.get("gain_absolute")), prediction.get("unit"))
    return Predicted(max(known, default=None), gain, lows)


def _microseconds(value: Decimal | None, unit: Any) -> Decimal | None:
    if value is None or unit not in TIME_UNITS_NS:
        return None
    return value * TIME_UNITS_NS[unit] / TIME_UNITS_NS["us"]


def beyond(predicted: Predicted, ceiling: Ceiling, now_us: Decimal | None) -> str | None:
    """Return in words what goes beyond the ceiling, "" for a prediction that respects it, and None when that can't be
    said without `now_us`, the time of the body before the change.
    """
    percent, gain = _both(predicted, now_us)
    if ceiling.kind in (RATIO, PERCENT):
        most = ceiling.value if ceiling.kind == PERCENT else 100 - 100 / ceiling.value
        if percent is None:
            return None
        return f"a gain of {_shown(percent)}% ({_shown(most)}% at most)" if percent > most else ""
    if ceiling.kind == GAIN:
        if gain is None:
            return None
        return f"a gain of {_shown(gain)} us" if gain > ceiling.value else ""
    for what, low in (predicted.lows_us or {}).items():
        if low < ceiling.value:
            return f"{_shown(low)} us for {what}"
    if gain is None or now_us is None:
        return "" if predicted.lows_us else None
    return f"a time of {_shown(now_us - gain)} us" if now_us - gain < ceiling.value else ""


def _both(predicted: Predicted, now_us: Decimal | None) -> tuple[Decimal | None, Decimal | None]:
    """The gain in percent and in microseconds, as far as one follows from the other."""
    percent, gain = predicted.percent, predicted.gain_us
    if now_us:
        if percent is None and gain is not None:
            percent = 100 * gain / now_us
        elif gain is None and percent is not None:
            gain = percent * now_us / 100
    return percent, gain


def _shown(value: Decimal) -> str:
    return trim_decimal(Decimal(f"{value:.2f}"))
