"""Numbers as people read them: grouped digits, fixed decimals, a real minus sign, units apart."""

from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

MINUS = "\u2212"
SIGNIFICANT = 4
NEAR_ONE = Decimal("0.9")  # from here to 1 the distance from 1 is what matters
SMALL = Decimal("0.001")
LARGE = Decimal(100_000)
UNITS = {"us": "µs", "percent": "%", "bytes": "B", "GBps": "GB/s", "TBps": "TB/s"}
EMPTY = mark_safe('<span class="num muted">–<span class="visually-hidden"> not known</span></span>')


def to_decimal(value: object) -> Decimal | None:
    """Decimal of an int, float, Decimal or decimal string; None for empty, unreadable or non-finite input."""
    if value is None or value == "" or isinstance(value, bool):
        return None
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def unit_label(unit: str) -> str:
    """The printed form of a unit code ("us" is µs)."""
    return UNITS.get(unit, unit)


def digits(value: object, decimals: int | None = None, signed: bool = False) -> tuple[str, str] | None:
    """(integer part with sign and commas, fraction with its point or ""), or None when there is no number."""
    number = to_decimal(value)
    if number is None:
        return None
    if decimals not in (None, ""):
        number = number.quantize(Decimal(1).scaleb(-int(decimals)), rounding=ROUND_HALF_EVEN)
    text = f"{abs(number):,f}"
    whole, _, fraction = text.partition(".")
    sign = MINUS if number < 0 else ("+" if signed and number > 0 else "")
    return sign + whole, f".{fraction}" if fraction else ""


def num_html(value: object, decimals: int | None = None, unit: str = "", signed: bool = False) -> SafeString:
    """A number for a cell: the fraction stands in a box of its own so that a column lines up on the point."""
    parts = digits(value, decimals, signed)
    if parts is None:
        return EMPTY
    tail = format_html(' <span class="unit">{}</span>', unit_label(unit)) if unit else ""
    return format_html('<span class="num">{}<span class="frac">{}</span>{}</span>', parts[0], parts[1], tail)


def num_text(value: object, decimals: int | None = None, unit: str = "", signed: bool = False) -> str:
    """The same number as plain text, for sentences, CSV heads and labels of drawings."""
    parts = digits(value, decimals, signed)
    if parts is None:
        return "–"
    label = unit_label(unit)
    gap = "" if label in ("", "%") else " "
    return f"{parts[0]}{parts[1]}{gap}{label}"


def duration_text(seconds: float) -> str:
    """A time span in its two largest units: 7 s, 3 min 5 s, 2 h 4 min, 3 d 1 h."""
    left = max(0, int(seconds))
    parts = []
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        count, left = divmod(left, size)
        if count or parts:
            parts.append(f"{count} {unit}" if count else "")
    return " ".join(part for part in parts[:2] if part) or "0 s"


def _scientific(number: Decimal, significant: int) -> str:
    mantissa, _, exponent = f"{number:.{significant - 1}e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


def precise_text(value: object) -> str:
    """A similarity or an error with 4 significant digits: 0.02131, 3.110e-8; close below 1 the distance keeps 3.

    A cosine of 0.99895 must not look like its bar of 0.999, and one of 1 - 3.1e-15 is not 1.
    """
    number = to_decimal(value)
    if number is None:
        return "–"
    if NEAR_ONE <= number < 1:
        distance = 1 - number
        if distance < Decimal("0.0001"):
            return f"1 {MINUS} {_scientific(distance, 3)}"
        return f"{number:.{2 - distance.adjusted()}f}"
    if number == 0 or (number == number.to_integral_value() and abs(number) < LARGE):
        return f"{number:f}".partition(".")[0].replace("-", MINUS)
    if not SMALL <= abs(number) < LARGE:
        return _scientific(number, SIGNIFICANT).replace("-", MINUS, 1 if number < 0 else 0)
    return f"{number:.{max(0, SIGNIFICANT - 1 - number.adjusted())}f}".replace("-", MINUS)
