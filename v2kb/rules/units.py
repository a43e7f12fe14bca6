"""Numbers for people: times in the scale that fits, percentages, and decimals as strings for documents."""

import math
from decimal import Decimal, InvalidOperation

NOT_AVAILABLE = "n/a"
TIME_UNITS_NS = {"ns": Decimal(1), "us": Decimal(1000), "ms": Decimal(1_000_000), "s": Decimal(1_000_000_000)}
SIGNIFICANT_DIGITS = 4
LARGEST_PLAIN_S = 1e6
SMALLEST_PLAIN_NS = 1e-3
LARGEST_PERCENT = 1e6

Number = int | float | Decimal | str | None


class UnitMismatch(ValueError):
    """Two quantities that are no times, or a time and something else, have different units."""

    def __init__(self, unit: str, other: str) -> None:
        self.unit, self.other = unit, other
        super().__init__(f"{unit or 'no unit'} cannot be converted to {other or 'no unit'}.")


def finite(value: Number) -> float | None:
    """Return `value` as a finite float; None when it is missing, unreadable, NaN or beyond a float."""
    if value is None or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError, InvalidOperation):
        return None
    return number if math.isfinite(number) else None


def is_time(unit: str) -> bool:
    """Say whether `unit` is one of ns, us, ms, s."""
    return unit in TIME_UNITS_NS


def conversion_factor(unit: str, wanted: str) -> float:
    """Return what a value in `unit` is multiplied with to be in `wanted`. Raises UnitMismatch naming both."""
    if unit == wanted:
        return 1.0
    if not (is_time(unit) and is_time(wanted)):
        raise UnitMismatch(unit, wanted)
    return float(TIME_UNITS_NS[unit] / TIME_UNITS_NS[wanted])


def _significant(number: float, digits: int) -> str:
    """Return a non-zero number with at least `digits` significant digits and no exponent."""
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(number))))
    return f"{number:.{decimals}f}"


def format_time(value: Number, unit: str = "ns", digits: int = SIGNIFICANT_DIGITS) -> str:
    """Return a time in the scale that fits, with at least `digits` significant digits: 4.7e-6 s is "4.700
    us".

    `value` is in `unit` (ns, us, ms or s); missing, NaN and infinite values give "n/a". Raises UnitMismatch
    for any other unit.
    """
    if unit not in TIME_UNITS_NS:
        raise UnitMismatch(unit, "ns")
    number = finite(value)
    if number is None:
        return NOT_AVAILABLE
    if number == 0:
        return "0 ns"
    scale_ns = float(TIME_UNITS_NS[unit])
    magnitude_s = abs(number) * (scale_ns / 1e9)
    if magnitude_s >= LARGEST_PLAIN_S or magnitude_s * 1e9 < SMALLEST_PLAIN_NS:
        return f"{Decimal(number) * TIME_UNITS_NS[unit] / TIME_UNITS_NS['s']:.{digits - 1}e} s"
    nanoseconds = number * scale_ns
    for name, size in TIME_UNITS_NS.items():
        scaled = nanoseconds / float(size)
        rounded = float(f"{scaled:.{digits - 1}e}")
        if abs(rounded) < 1000 or name == "s":
            return f"{_significant(scaled if abs(scaled) >= 1000 else rounded, digits)} {name}"
    raise AssertionError("seconds close the list")


def format_quantity(value: Number, unit: str, digits: int = SIGNIFICANT_DIGITS) -> str:
    """Return a value with its unit: times in the scale that fits, all else with `digits` significant
    digits.
    """
    if is_time(unit):
        return format_time(value, unit, digits)
    number = finite(value)
    if number is None:
        return NOT_AVAILABLE
    if number == 0:
        text = "0"
    elif 1e-6 <= abs(number) < 1e15:
        text = _significant(number, digits)
    else:
        text = f"{number:.{digits - 1}e}"
    return f"{text} {unit}".rstrip()


def format_percent(value: Number, signed: bool = False, digits: int = 2) -> str:
    """Return a percentage with one decimal, or more where it is small: 5.8%, 0.034%, <0.001%.

    `digits` is the least number of significant digits. Missing and non-finite values give "n/a".
    """
    number = finite(value)
    if number is None:
        return NOT_AVAILABLE
    if number == 0:
        return "0%"
    sign = "-" if number < 0 else ("+" if signed else "")
    magnitude = abs(number)
    if magnitude < 0.001:
        return ">-0.001%" if number < 0 else "<0.001%"
    if magnitude >= LARGEST_PERCENT:
        return "<-1,000,000%" if number < 0 else ">1,000,000%"
    decimals = max(1, digits - 1 - math.floor(math.log10(magnitude)))
    return f"{sign}{magnitude:.{decimals}f}%"


def trim_decimal(value: Decimal) -> str:
    """Return a decimal without trailing zeros and without an exponent: Decimal("5.00") is "5"."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def decimal_text(value: Number, digits: int = 9) -> str | None:
    """Return a number as a decimal string with `digits` significant digits, for canonical documents.

    None, NaN, infinities and what a float can't hold give None, so that no document carries them.
    """
    number = finite(value)
    if number is None:
        return None
    if number == 0:
        return "0"
    if 1e-12 <= abs(number) < 1e15:
        return trim_decimal(Decimal(f"{number:.{digits - 1}e}"))
    return f"{number:.{digits - 1}e}"


def log_to_percent(log_ratio: float | None) -> float | None:
    """Return 100*(exp(log_ratio) - 1), or None when it is missing or beyond a float."""
    if log_ratio is None or not math.isfinite(log_ratio):
        return None
    try:
        percent = 100 * math.expm1(log_ratio)
    except OverflowError:
        return None
    return percent if math.isfinite(percent) else None
