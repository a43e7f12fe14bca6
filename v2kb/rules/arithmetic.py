"""The bounded reader behind `expressions`: tokens, one recursive descent, exact fractions.

Whole values are ints, others fractions.
`/` is true division; `//` and `%` round towards minus infinity, as in Python. A power has a whole exponent.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

MAX_LENGTH = 400
MAX_DEPTH = 32
MAX_BITS = 256

Number = int | Fraction

FUNCTIONS: dict[str, Callable[..., Number]] = {
    "ceil": math.ceil,
    "floor": math.floor,
    "min": min,
    "max": max,
}
ONE_ARGUMENT = frozenset({"ceil", "floor"})
SYMBOL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")

_SPELLINGS = {"×": "*", "·": "*", "⋅": "*", "∗": "*", "÷": "/", "−": "-", "–": "-"}
_GROUPED = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?![0-9_])")
_PLAIN = re.compile(r"[0-9]+(?:_[0-9]+)*")
_OPERATORS = ("**", "//", "+", "-", "*", "/", "%", "(", ")", ",")
_CARET_WINDOW = 60


class ExpressionError(ValueError):
    """An expression without a value. `position` counts from 0; `fix` says what to write instead."""

    def __init__(self, message: str, text: str, position: int, fix: str) -> None:
        super().__init__(message)
        self.message = message
        self.text = text
        self.position = position
        self.fix = fix

    @property
    def caret(self) -> str:
        """Two lines: the text around the error, and a caret under the place."""
        start = max(0, self.position - _CARET_WINDOW // 2)
        shown = self.text[start : start + _CARET_WINDOW].replace("\n", " ").replace("\t", " ")
        return f"{shown}\n{' ' * (self.position - start)}^"


@dataclass(frozen=True)
class Token:
    kind: str  # "number", "name", "end", or the operator itself
    text: str
    position: int
    value: int = 0


def _read_number(text: str, position: int, commas_separate: bool) -> Token:
    match = (None if commas_separate else _GROUPED.match(text, position)) or _PLAIN.match(text, position)
    digits = match.group().replace(",", "").replace("_", "")
    following = text[match.end() : match.end() + 1]
    if following == ".":
        raise ExpressionError(
            "Decimals are not read here.", text, match.end(), "Write a fraction, such as 3/2 for 1.5."
        )
    if following.isalpha() or following == "_":
        raise ExpressionError(
            f'"{following}" follows a number directly.',
            text,
            match.end(),
            "Write units out, such as 16*1024 for 16 KB.",
        )
    if len(digits) > 1 and digits[0] == "0":
        raise ExpressionError(
            f"{match.group()} starts with a zero.",
            text,
            position,
            "Leave the zero out; inside min and max a comma parts arguments, not thousands.",
        )
    return Token("number", match.group(), position, int(digits))


@lru_cache(maxsize=2048)
def tokenise(text: str) -> tuple[Token, ...]:
    """Split `text`; a comma inside min(...) or max(...) parts arguments, elsewhere it may group thousands."""
    if len(text) > MAX_LENGTH:
        raise ExpressionError(
            f"The expression has {len(text)} characters; {MAX_LENGTH} are read.",
            text,
            MAX_LENGTH,
            "Split it over named symbols.",
        )
    tokens: list[Token] = []
    brackets: list[bool] = []  # True where commas part arguments
    position = 0
    while position < len(text):
        character = _SPELLINGS.get(text[position], text[position])
        if character.isspace():
            position += 1
            continue
        if character in "0123456789":
            token = _read_number(text, position, bool(brackets) and brackets[-1])
        elif match := SYMBOL_NAME.match(text, position):
            token = Token("name", match.group(), position)
        else:
            pair = character + text[position + 1 : position + 2]
            operator = pair if pair in _OPERATORS else character
            if operator not in _OPERATORS:
                raise _unreadable(text, position)
            if operator == "(":
                caller = tokens[-1] if tokens and tokens[-1].kind == "name" else None
                brackets.append(caller is not None and caller.text not in ONE_ARGUMENT)
            elif operator == ")" and brackets:
                brackets.pop()
            token = Token(operator, text[position : position + len(operator)], position)
        tokens.append(token)
        position += len(token.text)
    tokens.append(Token("end", "", len(text)))
    return tuple(tokens)


def _unreadable(text: str, position: int) -> ExpressionError:
    fix = {
        "^": "Write a power as **.",
        ".": "Attributes and decimals are not read; use a named symbol or a fraction.",
    }.get(text[position], "Use whole numbers, symbols, + - * / // % ** and parentheses.")
    return ExpressionError(f'"{text[position]}" is not read here.', text, position, fix)


def whole_if_it_is(value: Fraction) -> Number:
    """Return `value` as an int where it is whole."""
    return value.numerator if value.denominator == 1 else value


class Parser:
    """Recursive descent over the tokens of one expression; evaluates while it reads."""

    def __init__(self, text: str, lookup: Callable[[str, str, int], Number]) -> None:
        self.text = text
        self.lookup = lookup
        self.tokens = tokenise(text)
        self.index = 0
        self.depth = 0

    def run(self) -> Number:
        if self.tokens[0].kind == "end":
            raise ExpressionError("The expression is empty.", self.text, 0, "Write a number or a formula.")
        value = self._sum()
        token = self._peek()
        if token.kind == "end":
            return value
        if token.kind == ",":
            raise ExpressionError(
                "This comma parts nothing.",
                self.text,
                token.position,
                "Group thousands by three digits, or drop it.",
            )
        message = (
            "A closing parenthesis without an opening one." if token.kind == ")" else "An operator is missing here."
        )
        raise ExpressionError(
            message, self.text, token.position, "Check the parentheses and operators before this place."
        )

    def _peek(self) -> Token:
        return self.tokens[self.index]

    def _next(self) -> Token:
        token = self.tokens[self.index]
        self.index += 1
        return token

    def _nested(self, read: Callable[[], Number]) -> Number:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ExpressionError(
                f"More than {MAX_DEPTH} levels deep.",
                self.text,
                self._peek().position,
                "Split it over named symbols.",
            )
        value = read()
        self.depth -= 1
        return value

    def _bounded(self, value: Number, position: int) -> Number:
        if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
            raise self._too_large(position)
        return value

    def _too_large(self, position: int) -> ExpressionError:
        return ExpressionError(
            f"The value passes {MAX_BITS} bits.",
            self.text,
            position,
            "Sizes and counts are smaller; check the formula.",
        )

    def _sum(self) -> Number:
        value = self._product()
        while self._peek().kind in ("+", "-"):
            token = self._next()
            right = self._product()
            value = self._bounded(value + right if token.kind == "+" else value - right, token.position)
        return value

    def _product(self) -> Number:
        value = self._signed()
        while self._peek().kind in ("*", "/", "//", "%"):
            token = self._next()
            right = self._signed()
            if token.kind == "*":
                result = value * right
            elif right == 0:
                raise ExpressionError("Division by zero.", self.text, token.position, "Check the value right of it.")
            elif token.kind == "/":
                result = whole_if_it_is(Fraction(value) / right)
            else:
                result = value // right if token.kind == "//" else value % right
            value = self._bounded(result, token.position)
        return value

    def _signed(self) -> Number:
        if self._peek().kind in ("+", "-"):
            token = self._next()
            value = self._nested(self._signed)
            return -value if token.kind == "-" else value
        return self._power()

    def _power(self) -> Number:
        base = self._atom()
        if self._peek().kind != "**":
            return base
        token = self._next()
        exponent = self._nested(self._signed)
        if exponent.denominator != 1 or not 0 <= exponent <= MAX_BITS:
            raise ExpressionError(
                "The exponent is not a whole number from 0 to 256.",
                self.text,
                token.position,
                "Write 1/2**n for 2**-n.",
            )
        bits = max(base.numerator.bit_length(), base.denominator.bit_length())
        if bits > 1 and (bits - 1) * exponent > MAX_BITS:
            raise self._too_large(token.position)
        return self._bounded(base ** int(exponent), token.position)

    def _atom(self) -> Number:
        token = self._next()
        if token.kind == "number":
            return self._bounded(token.value, token.position)
        if token.kind == "name":
            if self._peek().kind == "(":
                return self._nested(lambda: self._call(token))
            if token.text in FUNCTIONS:
                raise ExpressionError(
                    f"{token.text} is a function.",
                    self.text,
                    token.position,
                    f"Write {token.text}(...) with its argument.",
                )
            return self.lookup(token.text, self.text, token.position)
        if token.kind == "(":
            value = self._nested(self._sum)
            self._close(token)
            return value
        place = "The expression ends" if token.kind == "end" else f'"{token.text}" stands'
        raise ExpressionError(
            f"{place} where a number, a symbol or a parenthesis is expected.",
            self.text,
            token.position,
            "Complete or remove the operator before it.",
        )

    def _close(self, opening: Token) -> None:
        token = self._next()
        if token.kind == ")":
            return
        if token.kind == ",":
            raise ExpressionError(
                "This comma parts nothing.",
                self.text,
                token.position,
                "Only min and max take several arguments.",
            )
        raise ExpressionError(
            "This parenthesis is not closed." if token.kind == "end" else "An operator or ) is missing here.",
            self.text,
            opening.position if token.kind == "end" else token.position,
            "Add the missing ) or operator.",
        )

    def _call(self, name: Token) -> Number:
        if name.text not in FUNCTIONS:
            known = ", ".join(FUNCTIONS)
            raise ExpressionError(
                f"{name.text} is not a function here.",
                self.text,
                name.position,
                f"Use {known}, or * before the parenthesis.",
            )
        opening = self._next()
        arguments = [self._sum()]
        while self._peek().kind == "," and name.text not in ONE_ARGUMENT:
            self._next()
            arguments.append(self._sum())
        self._close(opening)
        if name.text not in ONE_ARGUMENT and len(arguments) < 2:
            raise ExpressionError(
                f"{name.text} compares at least two values.",
                self.text,
                name.position,
                "Add a second argument.",
            )
        return self._bounded(FUNCTIONS[name.text](*arguments), name.position)
