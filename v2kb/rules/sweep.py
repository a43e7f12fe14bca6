"""A spec at every value of one symbol: its totals, its plan, and the rules that break there."""

from collections.abc import Mapping
from typing import Any

from v2kb.rules.claims import TRIED, follows, states_of, work, worsened
from v2kb.rules.problem import Problem
from v2kb.rules.rule_registry import Context
from v2kb.rules.smem import PlanError
from v2kb.rules.spec_rules import RULES, totals
from v2kb.rules.spec_view import Missing, SpecView

MAX_VALUES = 256
MAX_WORK = 1_000_000


def sweep(
    doc: Any,
    symbol: str,
    low: str | int,
    high: str | int,
    ops: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Return what each value of `symbol` from `low` to `high` (numbers or formulas) makes of a spec document.

    `rows` has, per value, the totals of `spec_report`, what the planner refuses ("" where it doesn't), and the rules
    that break there although they hold at the written value. `first_breaks` has the first of them per rule.
    `problems` says what can't be swept, with a field (symbol, low, high); then `rows` is empty. Never raises for text.
    """
    view = SpecView(doc, ops)
    span, problems = _span(view, symbol, str(low), str(high))
    rules = [RULES[name] for name in TRIED if name in RULES]
    context = Context()
    before = states_of(view, rules, context) if span else {}
    rows = []
    first: dict[str, dict[str, Any]] = {}
    for value in span:
        tried = view.at({symbol: value})
        found = [worsened(now, before[name]) for name, now in states_of(tried, rules, context).items()]
        breaks = [
            {"rule": f.rule, "severity": f.severity, "path": f.path, "message": f.message}
            for f in found
            if f is not None
        ]
        for item in breaks:
            first.setdefault(item["rule"], {"value": value, **item})
        rows.append({"value": value, **totals(tried), "plan_error": _refusal(tried), "breaks": breaks})
    written = view.symbols.values.get(symbol)
    return {
        "symbol": symbol,
        "written": int(written) if written is not None and written.denominator == 1 else None,
        "rows": rows,
        "first_breaks": list(first.values()),
        "problems": [{"field": p.field, "message": p.message, "fix": p.fix} for p in problems],
    }


def swept_symbols(doc: Any, ops: Mapping[str, Mapping[str, Any]] | None = None) -> list[dict[str, Any]]:
    """Return {name, value, low, high} of each symbol that `sweep` takes, in the order of the document.

    `value` is the written one (None where it has none or is no whole number); `low` and `high` are the range that the
    spec claims for it, as written, "" where it claims none.
    """
    view = SpecView(doc, ops)
    claims = {claim["symbol"]: claim for claim in reversed(view.doc["claims"])}
    found = []
    for name in view.symbols.definitions:
        if not follows(view, name):
            continue
        value, claim = view.symbols.values.get(name), claims.get(name, {})
        whole = int(value) if value is not None and value.denominator == 1 else None
        found.append({"name": name, "value": whole, "low": claim.get("low", ""), "high": claim.get("high", "")})
    return found


def _span(view: SpecView, symbol: str, low: str, high: str) -> tuple[range, list[Problem]]:
    problems = []
    if symbol not in view.symbols.definitions:
        problems.append(
            Problem("symbol", f'"{symbol[:40]}" is not a symbol of this spec.', "Choose one of its symbols.")
        )
    elif not follows(view, symbol):
        message = f"No size, count or ordinal is written with {symbol}."
        problems.append(Problem("symbol", message, "Write what depends on it with the symbol."))
    ends = [view.number(name, text.strip()) for name, text in (("low", low), ("high", high))]
    problems += [Problem(end.path, end.message, end.fix) for end in ends if isinstance(end, Missing)]
    if problems:
        return range(0), problems
    first, last = ends
    if first > last:
        return range(0), [Problem("high", f"The range ends at {last:,}, before it starts.", "Swap the two.")]
    most = min(MAX_VALUES, MAX_WORK // work(view))
    if last - first + 1 > most:
        message = f"The range has {last - first + 1:,} values; {most} of this spec can be swept."
        return range(0), [Problem("high", message, "Narrow it.")]
    return range(first, last + 1), []


def _refusal(view: SpecView) -> str:
    if isinstance(view.plan, PlanError):
        return f"{view.planner_input[0][view.plan.index].name}: {view.plan.reason}"
    missing = view.planner_input[1]
    return missing[0].message if missing else ""
