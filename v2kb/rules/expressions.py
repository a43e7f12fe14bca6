"""Sizes and counts written as arithmetic: `8*(1024/128)`, `ceil(size/PAGE)`, `STAGES*3,072 + 16`.

The evaluator knows whole numbers, `+ - * / // % **`, parentheses and ceil, floor, min, max over named
symbols. It is exact (fractions, never floats) and bounded in length, depth and magnitude, so that a formula
typed by anyone can neither run code nor hang a page.
"""

from collections.abc import Mapping
from fractions import Fraction

from v2kb.rules.arithmetic import (
    FUNCTIONS,
    MAX_BITS,
    MAX_LENGTH,
    SYMBOL_NAME,
    ExpressionError,
    Number,
    Parser,
    tokenise,
)

__all__ = ["MAX_SYMBOLS", "ExpressionError", "SymbolTable", "evaluate", "evaluate_whole", "names_in"]

MAX_SYMBOLS = 128


class SymbolTable:
    """Named values; a definition may refer to other definitions in any order.

    `definitions` maps names to expressions or ints, `constants` to ints that definitions cannot replace.
    Every symbol is resolved at once; `problems` maps each one without a value (bad text, unknown name, cycle)
    to its error. Raises ExpressionError for more than MAX_SYMBOLS definitions.
    """

    def __init__(
        self, definitions: Mapping[str, str | int] | None = None, constants: Mapping[str, int] | None = None
    ) -> None:
        self.constants: dict[str, Number] = dict(constants or {})
        self.definitions = {str(name): str(text) for name, text in (definitions or {}).items()}
        self.values: dict[str, Number] = dict(self.constants)
        self.problems: dict[str, ExpressionError] = {}
        if len(self.definitions) > MAX_SYMBOLS:
            raise ExpressionError(f"More than {MAX_SYMBOLS} symbols.", "", 0, "Remove the symbols that nothing uses.")
        for name, text in self.definitions.items():
            if name in self.constants or name in FUNCTIONS or not SYMBOL_NAME.fullmatch(name):
                self.problems[name] = ExpressionError(
                    f'"{name}" cannot be a symbol.',
                    text,
                    0,
                    "Choose another name: letters, digits and underscores.",
                )
        self._references = {name: self._names(text) for name, text in self.definitions.items()}
        self._resolve_all()

    def _resolve_all(self) -> None:
        for root in self.definitions:
            path = [root]
            while path:
                name = path[-1]
                if name in self.values or name in self.problems:
                    path.pop()
                    continue
                pending = next((n for n in self._references[name] if self._unresolved(n)), None)
                if pending is None:
                    self._resolve(name)
                elif pending in path:
                    self._mark_cycle(path[path.index(pending) :])
                else:
                    path.append(pending)

    def _unresolved(self, name: str) -> bool:
        return name in self.definitions and name not in self.values and name not in self.problems

    @staticmethod
    def _names(text: str) -> list[str]:
        try:
            return names_in(text)
        except ExpressionError:
            return []

    def _mark_cycle(self, members: list[str]) -> None:
        circle = " -> ".join([*members, members[0]])
        for member in members:
            self.problems[member] = ExpressionError(
                f"{member} refers to itself: {circle}.",
                self.definitions[member],
                0,
                "Give one of them a number.",
            )

    def _resolve(self, name: str) -> None:
        try:
            self.values[name] = Parser(self.definitions[name], self.lookup).run()
        except ExpressionError as error:
            self.problems[name] = error

    def lookup(self, name: str, text: str, position: int) -> Number:
        """Return the value of `name`, used at `position` of `text`; raises ExpressionError without one."""
        if name in self.values:
            return self.values[name]
        if name in self.problems:
            reason = self.problems[name]
            chained = reason.message.startswith("Symbol ")
            message = reason.message if chained else f"Symbol {name} has no value: {reason.message}"
            raise ExpressionError(message, text, position, reason.fix)
        fix = f"Add {name} to the symbols, or write its number."
        raise ExpressionError(f"{name} is not a known symbol.", text, position, fix)


def names_in(text: str) -> list[str]:
    """Return the symbols that `text` uses, in order. Raises ExpressionError when the text is unreadable."""
    return [token.text for token in tokenise(text) if token.kind == "name" and token.text not in FUNCTIONS]


def evaluate(
    text: str | int,
    symbols: SymbolTable | Mapping[str, str | int] | None = None,
    local: Mapping[str, Number] | None = None,
) -> Fraction:
    """Return the exact value of `text` over `symbols`; `local` names (such as `size`) win over them.

    Raises ExpressionError with a position and a fix; never anything else for str and int input.
    """
    return Fraction(_value(text, symbols, local))


def _value(
    text: str | int, symbols: SymbolTable | Mapping[str, str | int] | None, local: Mapping[str, Number] | None
) -> Number:
    if isinstance(text, bool) or not isinstance(text, (str, int)):
        raise ExpressionError("This is not an expression.", str(text)[:MAX_LENGTH], 0, "Write a number or a formula.")
    table = symbols if isinstance(symbols, SymbolTable) else SymbolTable(symbols)
    if isinstance(text, int):
        text = str(text) if text.bit_length() <= MAX_BITS else "9" * MAX_LENGTH

    def lookup(name: str, source: str, position: int) -> Number:
        if local and name in local:
            return local[name]
        return table.lookup(name, source, position)

    return Parser(text, lookup).run()


def evaluate_whole(
    text: str | int,
    symbols: SymbolTable | Mapping[str, str | int] | None = None,
    local: Mapping[str, Number] | None = None,
) -> int:
    """Return the value of `text` as an int. Raises ExpressionError when it has none or is not whole."""
    value = _value(text, symbols, local)
    if value.denominator != 1:
        raise ExpressionError(
            f"The value is {value.numerator}/{value.denominator}, not a whole number.",
            str(text),
            0,
            "Wrap the division in ceil(...) or floor(...), whichever is meant.",
        )
    return value.numerator
