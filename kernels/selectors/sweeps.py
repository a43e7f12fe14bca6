"""A spec document tried at every value of one of its symbols."""

from typing import Any

from kernels.selectors.checks import contracts_of
from v2kb.core.errors import refuse_problems
from v2kb.rules.problem import Problem
from v2kb.rules.sweep import sweep, swept_symbols


def symbols_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    """{name, value, low, high} of each symbol that a size, count or ordinal follows, with the range claimed for it."""
    return swept_symbols(document, contracts_of(document))


def sweep_of(document: dict[str, Any], *, symbol: str, low: str, high: str) -> dict[str, Any]:
    """What each value of `symbol` makes of the document; see `v2kb.rules.sweep`."""
    return sweep(document, symbol, low, high, contracts_of(document))


def sweep_or_refuse(document: dict[str, Any], *, symbol: str, low: str, high: str) -> dict[str, Any]:
    """The same without problems. Raises Refusal spec.sweep, which names each field that can't be swept."""
    found = sweep_of(document, symbol=symbol, low=low, high=high)
    problems = [Problem(problem["field"], problem["message"], problem["fix"]) for problem in found["problems"]]
    refuse_problems("spec.sweep", problems, message=problems[0].message if problems else "")
    return {name: value for name, value in found.items() if name != "problems"}
