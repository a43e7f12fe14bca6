"""Rule R12: a symbol that a spec claims to be free in a range is tried at every value of it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from v2kb.rules.expressions import ExpressionError, names_in
from v2kb.rules.rule_registry import (
    ERROR,
    FAILED,
    INCOMPLETE,
    MISSING_INPUT,
    SEVERITIES,
    WARNED,
    WARNING,
    Context,
    Finding,
    Reporter,
    Rule,
    spec_rule,
)
from v2kb.rules.spec_view import Missing, SpecView

# Rules whose answer may change with a symbol. R04 is not tried: its queue holds other specs at their own values.
TRIED = (
    "R01", "R02", "R03", "R05", "R06", "R07", "R08", "R11", "R13", "R14", "R15", "R20", "R21", "R22", "R29", "R33",
    "R35", "R40", "R43", "R44", "R45", "R72",
)  # fmt: skip
# Values that all claims of a spec may span together, and what they may cost (see `work`), so that a check stays quick
# enough for every keystroke.
MAX_CLAIMED = 64
MAX_CLAIMED_WORK = 250_000
_RANK = {FAILED: 2, INCOMPLETE: 2, WARNED: 1}
_PARTS = ("smem", "tmem", "sems", "roles", "granularity", "engine", "measurement")
_NUMBERS = frozenset(
    {
        "ordinal", "slots", "size_bytes", "alignment", "page_count", "release_step", "offset_bytes", "columns", "start",
        "alloc_columns", "static_shared_bytes", "count", "tx_bytes", "num_op_sems", "depth", "full_base", "empty_base",
        "full_arrivals", "empty_arrivals", "arrivals", "stages", "num_tasks", "listed", "iterations", "active_low",
        "active_high", "m", "tile_m", "tiles_per_task", "grid", "weight_bytes", "layers",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Break:
    """The first value at which a rule judges worse than at the written one, and the finding that says why."""

    rule: str
    value: int
    finding: Finding


def states_of(view: SpecView, rules: Iterable[Rule], context: Context) -> dict[str, Reporter]:
    """Run `rules` over one view; the result is by rule id."""
    return {rule.id: rule.run(view, context) for rule in rules}


def worsened(now: Reporter, before: Reporter) -> Finding | None:
    """Return the worst finding of a rule that judges worse than `before`, None where it doesn't."""
    if _RANK.get(now.state, 0) <= _RANK.get(before.state, 0):
        return None
    return min(now.findings, key=lambda found: (SEVERITIES.index(found.severity), found.kind == MISSING_INPUT))


def first_breaks(
    view: SpecView, symbol: str, values: Iterable[int], rules: Sequence[Rule], context: Context
) -> list[Break]:
    """Return, for each of `rules`, the first of `values` at which it breaks, by value."""
    before = states_of(view, rules, context)
    left = [rule for rule in rules if _RANK.get(before[rule.id].state, 0) < _RANK[FAILED]]
    broken: list[Break] = []
    for value in values:
        tried = view.at({symbol: value})
        for rule in tuple(left):
            finding = worsened(rule.run(tried, context), before[rule.id])
            if finding is not None:
                broken.append(Break(rule.id, value, finding))
                left.remove(rule)
    return broken


def work(view: SpecView) -> int:
    """Return what trying one value costs: about the characters of all formulas, at least 1."""
    return 1 + sum(8 + len(text) for part in _PARTS for text in _formulas(view.doc[part]))


def follows(view: SpecView, symbol: str) -> bool:
    """True when a size, count or ordinal of the spec is written with `symbol`, directly or through other symbols."""
    reached = _reached(view, symbol)
    return any(_written_with(view.doc[part], reached) for part in _PARTS)


def unfollowed(view: SpecView, symbol: str) -> list[str]:
    """What of a ring whose stages follow `symbol` is written as a number, so that it stays as it is at other values."""
    reached = _reached(view, symbol)
    if not _written_with(view.doc["roles"], reached):
        return []
    stages = view.field("roles.stages")
    named = []
    for table, rows in (("the table of regions", view.regions), ("the table of semaphores", view.sems)):
        plain = [row for row in rows if row.source["slots"].isdecimal()]
        fixed = [row for row in plain if row.values["slots"] == stages]
        if rows and not fixed and not _written_with([row.source for row in rows], reached):
            fixed = [row for row in plain if row.values["slots"] != 1]
            named += [] if fixed else [table]
        named += [f"{row.label()} ({row.values['slots']} slots)" for row in fixed]
    return named


def _reached(view: SpecView, symbol: str) -> set[str]:
    """The symbol and those that are written with it."""
    reached = {symbol}
    grown = True
    while grown:
        more = {name for name, text in view.symbols.definitions.items() if reached.intersection(_names(text))}
        grown = not more <= reached
        reached |= more
    return reached


def _written_with(part: Any, reached: set[str]) -> bool:
    return any(reached.intersection(_names(text)) for text in _formulas(part))


def _names(text: str) -> list[str]:
    try:
        return names_in(text)
    except ExpressionError:
        return []


def _formulas(part: Any) -> Iterator[str]:
    if isinstance(part, list):
        for item in part:
            yield from _formulas(item)
    elif isinstance(part, dict):
        for name, value in part.items():
            if isinstance(value, str):
                if name in _NUMBERS:
                    yield value
            else:
                yield from _formulas(value)


def claim_rule(rules: Mapping[str, Rule]) -> Rule:
    """Return rule R12 over those of `rules` that it tries."""
    tried = [rules[name] for name in TRIED if name in rules]

    @spec_rule(
        "R12",
        severity=ERROR,
        title="Claimed ranges",
        source="ffn_item1_spec sections 2 and 3",
        formula="every rule that holds at the written value of a symbol holds at each value that the spec claims",
        inputs=("claims[]", "symbols"),
        version=2,
    )
    def r12(view: SpecView, report: Reporter, context: Context) -> None:
        if not view.doc["claims"]:
            report.skip("The spec claims no range for a symbol.")
        budget = min(MAX_CLAIMED, MAX_CLAIMED_WORK // work(view))
        for index, claim in enumerate(view.doc["claims"]):
            path = f"claims[{index}]"
            span = _span(view, report, path, claim)
            if span is None:
                continue
            low, high = span
            if high - low + 1 > budget:
                report.add(
                    path,
                    f"{claim['symbol']} from {low:,} to {high:,} is too much to try; {budget} values can be.",
                    "Narrow the claim, or claim a count of steps instead of every value.",
                )
                continue
            budget -= high - low + 1
            broken = first_breaks(view, claim["symbol"], range(low, high + 1), tried, context)
            if broken:
                _report(view, report, path, claim["symbol"], (low, high), broken)

    return r12


def _span(view: SpecView, report: Reporter, path: str, claim: Mapping[str, str]) -> tuple[int, int] | None:
    """The claimed range, or None after reporting why there is nothing to try."""
    symbol = claim["symbol"]
    ends = [view.number(f"{path}.{name}", claim[name]) for name in ("low", "high")]
    absent = [end for end in ends if isinstance(end, Missing)]
    if not symbol:
        absent.insert(0, Missing(f"{path}.symbol", "The claim names no symbol.", "Name one, such as STAGES."))
    elif symbol not in view.symbols.definitions:
        fix = f"Add {symbol} to the symbols and write sizes, slots and ordinals with it."
        absent.insert(0, Missing(f"{path}.symbol", f"{symbol} is not a symbol of this spec.", fix))
    elif not follows(view, symbol):
        why = f"No size, count or ordinal is written with {symbol}, so the claim can't be tried."
        absent.insert(0, Missing(f"{path}.symbol", why, f"Write what depends on it with {symbol}."))
    elif fixed := unfollowed(view, symbol):
        why = (
            f"The stages follow {symbol}, but written as numbers, so that the claim can't be tried: {', '.join(fixed)}."
        )
        fix = f"Write slots, ordinals and sizes of the ring with {symbol}; give any other count a symbol of its own."
        absent.insert(0, Missing(f"{path}.symbol", why, fix))
    for missing in absent:
        report.missing(missing)
    if absent:
        return None
    low, high = ends
    if low > high:
        report.add(f"{path}.high", f"The claim ends at {high:,}, before it starts at {low:,}.", "Swap the two.")
        return None
    return low, high


def _report(
    view: SpecView, report: Reporter, path: str, symbol: str, span: tuple[int, int], broken: Sequence[Break]
) -> None:
    low, high = span
    written = view.symbols.values.get(symbol)
    grows = written is not None and low <= written <= high and broken[0].value > written
    said = f"may grow to {high:,}" if grows else f"may be {low:,} to {high:,}"
    at: dict[int, list[str]] = {}
    for item in broken:
        at.setdefault(item.value, []).append(f"{item.finding.message.rstrip('.')} ({item.rule})")
    lines = "; ".join(f"at {value:,}: {', '.join(said)}" for value, said in at.items())
    errors = [item.value for item in broken if item.finding.severity == ERROR]
    holds = f"Claim up to {errors[0] - 1:,}" if errors and grows else "Claim only what holds"
    report.add(
        path,
        f"Spec says {symbol} {said}; {lines}.",
        f"{holds}, or change the design so that the rest holds too.",
        severity=ERROR if errors else WARNING,
        symbol=symbol,
        low=low,
        high=high,
        rules=[item.rule for item in broken],
        values=[item.value for item in broken],
    )
