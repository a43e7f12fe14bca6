"""The form of a measured number: its fields, units, written text, and what it states as an interval.

`v2kb.rules.number_reading` reads numbers from free text.
"""

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from v2kb.rules.problem import Problem

UNITS = (
    "us",
    "ms",
    "ns",
    "s",
    "percent",
    "TB/s",
    "GB/s",
    "MB/s",
    "x",
    "B",
    "KB",
    "MB",
    "GB",
    "KiB",
    "MiB",
    "GiB",
    "TFLOPS",
)
QUALIFIERS = ("", "<=", ">=", "~", "+-")
ROLES = ("verdict", "bound", "data_point")
DIRECTIONS = ("", "lower", "higher")
TIERS = ("", "1", "2", "3")
FIELDS = (
    "text", "readable", "value", "low", "high", "unit", "direction", "qualifier", "compared_with", "tier", "n",
    "verified", "role",
)  # fmt: skip
MAX_DIGITS = 40
SPELLINGS = {"%": "percent", "kB": "KB", "TFLOP/s": "TFLOPS"}

_BASE = {
    "ns": ("ns", 1), "us": ("ns", 1000), "ms": ("ns", 10**6), "s": ("ns", 10**9),
    "MB/s": ("MB/s", 1), "GB/s": ("MB/s", 1000), "TB/s": ("MB/s", 10**6),
    "B": ("B", 1), "KB": ("B", 1000), "MB": ("B", 10**6), "GB": ("B", 10**9),
    "KiB": ("B", 2**10), "MiB": ("B", 2**20), "GiB": ("B", 2**30),
}  # fmt: skip
_PLUS = re.compile(r"(?<![0-9A-Za-z.)])\+\s?[0-9.]", re.ASCII)  # a sign, and neither an exponent's nor of an addition


def new_number(text: str, role: str, verified: bool = False) -> dict[str, Any]:
    """Return the document of a number that has not been read yet, with all `FIELDS`."""
    return {
        "text": text, "readable": False, "value": None, "low": None, "high": None, "unit": "", "direction": "",
        "qualifier": "", "compared_with": "", "tier": "", "n": "", "verified": verified, "role": role,
    }  # fmt: skip


def read_decimal(text: Any) -> Decimal | None:
    """Read a decimal string of at most 40 digits and exponent 30; None for anything else, NaN and infinity
    included.
    """
    if not isinstance(text, str) or not re.fullmatch(
        r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?", text
    ):
        return None
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    digits, exponent = value.as_tuple()[1:]
    return value if len(digits) <= MAX_DIGITS and isinstance(exponent, int) and abs(exponent) <= 30 else None


def plain_decimal(value: Decimal) -> str:
    """Return a decimal without exponent, and with no sign on zero."""
    return format(abs(value) if value == 0 else value, "f")


def format_number(number: dict[str, Any]) -> str:
    """Return a number as text that `parse_numbers` reads back to the same values, for example `−9..−7%`,
    `≤6%`, `6.24 µs`. A change keeps its plus: `+67%`, `+0.058..+0.342 ms`.
    """
    unit = number.get("unit") or ""
    value, low, high = (number.get(name) for name in ("value", "low", "high"))
    if not number.get("readable") or not unit or (value is None and (low is None or high is None)):
        return str(number.get("text", ""))
    shown = {"percent": "%", "x": "×", "us": " µs"}.get(unit, f" {unit}")
    mark = {"<=": "≤", ">=": "≥", "~": "~", "+-": "±"}.get(number.get("qualifier") or "", "")
    signed = is_change(number)
    if value is not None and low is not None and high is not None and mark == "±":
        centre, top = read_decimal(value), read_decimal(high)
        if centre is not None and top is not None:
            return f"{_with_sign(value, signed)} ± {plain_decimal(top - centre)}{shown}".replace("-", "−")
    body = _with_sign(value, signed) if value is not None else "..".join(_with_sign(end, signed) for end in (low, high))
    return f"{mark}{body}{shown}".replace("-", "−")


def is_change(number: dict[str, Any]) -> bool:
    """Say whether a number states a change: its text writes a plus, or its range goes from below zero to above."""
    if _PLUS.search(str(number.get("text", ""))):
        return True
    low, high = read_decimal(number.get("low")), read_decimal(number.get("high"))
    return number.get("value") is None and low is not None and high is not None and low < 0 < high


def _with_sign(figure: str, signed: bool) -> str:
    value = read_decimal(figure)
    return f"+{figure.lstrip('+')}" if signed and value is not None and value > 0 else figure


def base_unit(unit: str) -> str:
    """Return the unit in which numbers of `unit` are compared: `ns` for times, `MB/s` for rates, `B` for
    sizes.
    """
    return _BASE.get(unit, (unit, 1))[0]


def interval(number: dict[str, Any]) -> tuple[Decimal | None, Decimal | None] | None:
    """Return the (low, high) that a number states, in `base_unit`; None at an end means without end.

    None for an unreadable number. `~` states no interval of its own and counts as the value.
    """
    if not number.get("readable"):
        return None
    factor = _BASE.get(str(number.get("unit")), ("", 1))[1]
    value, low, high = (
        None if item is None else item * factor
        for item in (read_decimal(number.get(n)) for n in ("value", "low", "high"))
    )
    if low is not None and high is not None:
        return (low, high)
    if value is None:
        return None
    qualifier = number.get("qualifier")
    if qualifier == "<=":
        return (None, value)
    if qualifier == ">=":
        return (value, None)
    return (-abs(value), abs(value)) if qualifier == "+-" else (value, value)


def contains(outer: dict[str, Any], inner: dict[str, Any]) -> bool:
    """Say whether what `inner` states lies within what `outer` states. Different kinds of unit never do."""
    a, b = interval(outer), interval(inner)
    if a is None or b is None or base_unit(str(outer.get("unit"))) != base_unit(str(inner.get("unit"))):
        return False
    low_fits = a[0] is None or (b[0] is not None and b[0] >= a[0])
    high_fits = a[1] is None or (b[1] is not None and b[1] <= a[1])
    return low_fits and high_fits


def read_number(raw: Any, units: Mapping[str, str] = SPELLINGS) -> tuple[dict[str, Any], list[Problem]]:
    """Return (number document with all `FIELDS`, problems); field names are relative to the number. A unit that is one
    of the spellings in `units` becomes the unit that it stands for.
    """
    if not isinstance(raw, dict):
        return new_number(str(raw)[:200], "verdict"), [Problem("", "A number must be a set of named fields.")]
    number = new_number("", "verdict") | {name: raw[name] for name in FIELDS if name in raw}
    if isinstance(number["unit"], str):
        number["unit"] = units.get(number["unit"], number["unit"])
    problems = [
        Problem(str(n), f"A number has no field {str(n)[:40]!r}.", "Remove it.") for n in raw if n not in FIELDS
    ]
    for name, allowed in (("unit", ("", *UNITS)), ("qualifier", QUALIFIERS), ("direction", DIRECTIONS), ("role", ROLES),
                          ("tier", TIERS)):  # fmt: skip
        if number[name] not in allowed:
            shown = ", ".join(item or "nothing" for item in allowed)
            problems.append(Problem(name, f"{name} {str(number[name])[:40]!r} is not known.", f"Use one of: {shown}."))
            number[name] = allowed[0]
    for name in ("text", "compared_with", "n"):
        if not isinstance(number[name], str) or len(number[name]) > 300:
            problems.append(Problem(name, f"{name} must be text of at most 300 characters.", "Shorten it."))
            number[name] = ""
    if number["n"] and not re.fullmatch(r"[1-9][0-9]{0,5}", number["n"]):
        problems.append(Problem("n", "n is the count of independent runs.", "Write a whole number, for example 3."))
    for name in ("readable", "verified"):
        if not isinstance(number[name], bool):
            problems.append(Problem(name, f"{name} must be true or false.", "Tick it or leave it."))
            number[name] = False
    problems += _value_problems(number, any(problem.field == "unit" for problem in problems))
    return number, problems


def _value_problems(number: dict[str, Any], unit_reported: bool) -> list[Problem]:
    problems = []
    for name in ("value", "low", "high"):
        if number[name] is not None and read_decimal(number[name]) is None:
            problems.append(Problem(name, f"{name} is not a decimal number.", "Write for example 6.24 or -9."))
            number[name] = None
    low, high = read_decimal(number["low"]), read_decimal(number["high"])
    if (low is None) != (high is None):
        problems.append(Problem("high" if high is None else "low", "A range needs both ends.", "Give low and high."))
    if low is not None and high is not None and low > high:
        problems.append(Problem("low", "The range's low end is above its high end.", "Swap the two."))
    if number["readable"] and number["value"] is None and (low is None or high is None):
        problems.append(Problem("value", "The number has neither a value nor a range.", "Give one of them."))
    if number["readable"] and not number["unit"] and not unit_reported:
        problems.append(Problem("unit", "The number has no unit.", f"Use one of {', '.join(UNITS)}."))
    if not number["readable"] and not str(number["text"]).strip():
        problems.append(Problem("text", "An unreadable number needs its text.", "Keep the words of the source."))
    return problems
