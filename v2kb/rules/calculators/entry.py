"""What a person typed into a calculator, and the problems with it."""

from collections.abc import Mapping
from typing import Any

from v2kb.rules import document_shape as shape
from v2kb.rules.expressions import ExpressionError, evaluate_whole
from v2kb.rules.problem import Problem
from v2kb.rules.spec_fields import MAX_SYMBOLS
from v2kb.rules.spec_view import symbol_table

MALFORMED, MISSING, UNREADABLE, TOO_SMALL, TOO_LARGE = ("malformed", "missing", "unreadable", "too_small", "too_large")
MAX_NUMBER = 10**18
SYMBOLS = shape.named(
    r"[A-Za-z_][A-Za-z0-9_]{0,63}", shape.formula(), MAX_SYMBOLS, "Name symbols such as STAGES or W13_N."
)


class Entry:
    """What was typed into one calculator, read field by field; collects problems with their codes."""

    def __init__(self, given: Any, fields: Mapping[str, shape.Shape]) -> None:
        found: list[Problem] = []
        self.values = shape.record({**fields, "symbols": SYMBOLS})(given, "", found)
        self.problems: list[dict[str, str]] = []
        for problem in found:
            self.add(MALFORMED, problem.field, problem.message, problem.fix)
        self.symbols = symbol_table(self.values["symbols"])
        for name, error in self.symbols.problems.items():
            self.add(UNREADABLE, f"symbols.{name}", error.message, error.fix)

    def add(self, code: str, field: str, message: str, fix: str) -> None:
        """Note one problem."""
        self.problems.append({"code": code, "field": field, "message": message, "fix": fix})

    def whole(self, field: str, text: str, least: int | None = 1, most: int = MAX_NUMBER) -> int | None:
        """Return the whole number of a formula between `least` (None: any) and `most`, or None after a problem."""
        if not text:
            self.add(MISSING, field, "Nothing is given here.", "Write a number or a formula.")
            return None
        try:
            value = evaluate_whole(text, self.symbols)
        except ExpressionError as error:
            self.add(UNREADABLE, field, f"{text} has no value: {error.message}", error.fix)
            return None
        if least is not None and value < least:
            self.add(TOO_SMALL, field, f"{value:,} is too small.", f"Write {least:,} or more.")
            return None
        if value > most:
            self.add(TOO_LARGE, field, "The number is too large.", f"Write {most:,} or less.")
            return None
        return value

    def answer(self, result: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the calculator's answer."""
        return {"result": None if result is None else dict(result), "problems": self.problems}
