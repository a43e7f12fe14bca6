"""Reading the prediction of a choice as it is written: a pre-registration, or every problem with its field.

Source: rules AL5 to AL7 of the gate and the measurement page, section 4.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from v2kb.rules.numbers import read_decimal
from v2kb.rules.prediction_words import LABELS, SUCH_AS, named
from v2kb.rules.prereg import Band, Prereg, Threshold
from v2kb.rules.problem import Problem
from v2kb.rules.session import HIGHER, LOWER
from v2kb.rules.units import trim_decimal

MIN_ROUNDS, MAX_ROUNDS = 3, 1000
MAX_LOOKS = 10
MAX_TEXT = 200
MAX_CASES = 200
MAX_BANDS = 16
FIELDS = tuple(LABELS)


@dataclass(frozen=True, slots=True)
class PredictionProblem(Problem):
    """A problem of one field of a prediction, and the gate rule that it breaks."""

    rule: str = "AL5"


@dataclass(frozen=True)
class Parsed:
    """`prereg` exists exactly when there are no `problems`."""

    prereg: Prereg | None
    problems: tuple[PredictionProblem, ...]


class _Reader:
    """Reads fields of one prediction and collects what is wrong with them."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.raw = raw
        self.problems: list[PredictionProblem] = []

    def add(self, name: str, message: str, fix: str, rule: str = "AL5") -> None:
        self.problems.append(PredictionProblem(name, message, fix, rule))

    def empty(self, name: str) -> bool:
        return self.raw.get(name) in (None, "")

    def text(self, name: str, required: bool = False, rule: str = "AL5") -> str:
        value = self.raw.get(name)
        if value is None:
            value = ""
        if not isinstance(value, str) or len(value) > MAX_TEXT:
            self.add(name, f"{named(name)} must be text of at most {MAX_TEXT} characters.", "Shorten it.", rule)
            return ""
        if required and not value.strip():
            self.add(name, f"{named(name)} is empty.", f"Fill in {named(name)}, {SUCH_AS[name]}.", rule)
        return value.strip()

    def one_of(self, name: str, allowed: tuple[str, ...]) -> str:
        value = self.raw.get(name)
        if isinstance(value, str) and value in allowed:
            return value
        choose = f"Choose {' or '.join(allowed)} under {named(name)}."
        self.add(name, f"{named(name)} must be {' or '.join(allowed)}.", choose)
        return ""

    def decimal(self, name: str, low: str, high: str, open_low: bool, rule: str = "AL5") -> Decimal | None:
        """Return a decimal in [low, high), or (low, high); None and no problem when the field is empty."""
        if self.empty(name):
            return None
        raw = self.raw[name]
        value = read_decimal(str(raw) if isinstance(raw, int) and not isinstance(raw, bool) else raw)
        if value is None:
            self.add(name, f"{named(name)} is no decimal number.", f"Write {named(name)} as 5 or 2.5.", rule)
            return None
        if value < Decimal(low) or (open_low and value == Decimal(low)) or value >= Decimal(high):
            bound = "above" if open_low else "at least"
            limit = f"{bound} {low} and below {high}"
            said = f"{named(name)} is {trim_decimal(value)}; it must be {limit}."
            self.add(name, said, f"Give {named(name)} as a number {limit}.", rule)
            return None
        return value

    def whole(self, name: str, low: int, high: int, default: int | None, rule: str = "AL5") -> int | None:
        """Return a whole number in [low, high], or `default` when the field is empty."""
        if self.empty(name):
            return default
        raw = self.raw[name]
        value = read_decimal(str(raw) if isinstance(raw, int) and not isinstance(raw, bool) else raw)
        if value is None or value != value.to_integral_value() or not low <= value <= high:
            rule_text = f"a whole number from {low} to {high}"
            self.add(name, f"{named(name)} must be {rule_text}.", f"Write {rule_text} into {named(name)}.", rule)
            return default
        return int(value)


def parse_prediction(raw: Any, *, today: date | None = None) -> Parsed:
    """Read the `prediction` object of a choice. Every problem names its field; nothing raises.

    With `today` a deadline before it is a problem too.
    """
    if not isinstance(raw, Mapping):
        message = "There is no prediction."
        fix = "Register metric, predicted gain, kill threshold and rounds."
        return Parsed(None, (PredictionProblem("", message, fix, "AL5"),))
    reader = _Reader(raw)
    for name in raw:
        if name not in FIELDS:
            reader.add(str(name)[:60], f"A prediction has no field {str(name)[:60]}.", "Remove it.")
    plan = {
        "row": reader.text("row"),
        "metric": reader.text("metric", required=True),
        "unit": reader.text("unit", required=True),
        "anchor": reader.text("anchor", required=True),
        "direction": reader.one_of("direction", (LOWER, HIGHER)),
        "tier": _tier(reader),
        "cases": _cases(reader),
        "looks": reader.whole("looks", 1, MAX_LOOKS, 1),
        "rounds": _rounds(reader),
        "bands": _bands(reader),
    }
    thresholds = _thresholds(reader)
    limits = _limits(reader, today)
    if reader.problems:
        return Parsed(None, tuple(reader.problems))
    return Parsed(Prereg(**plan, **thresholds, **limits), ())


def _tier(reader: _Reader) -> int:
    tier = reader.one_of("tier", ("1", "2", "3"))
    if tier == "3":
        fix = f"Choose 1 or 2 under {named('tier')}."
        reader.add("tier", "TIER 3 is diagnostic and can't decide.", fix)
    return int(tier or 0)


def _rounds(reader: _Reader) -> int:
    if reader.empty("rounds"):
        fix = f"Write {MIN_ROUNDS} or more into {named('rounds')}; 5 is usual."
        reader.add("rounds", f"{named('rounds')} is empty.", fix)
        return MIN_ROUNDS
    return reader.whole("rounds", MIN_ROUNDS, MAX_ROUNDS, MIN_ROUNDS)


def _cases(reader: _Reader) -> tuple[str, ...]:
    cases, label = reader.raw.get("cases"), named("cases")
    if not isinstance(cases, (list, tuple)) or not cases:
        reader.add("cases", f"{label} is empty.", "Name the workloads of the op's contract that are judged.")
        return ()
    if len(cases) > MAX_CASES or not all(isinstance(c, str) and 0 < len(c) <= MAX_TEXT for c in cases):
        reader.add("cases", f"{label} must hold names of workloads.", f"Give at most {MAX_CASES} names.")
        return ()
    if len(set(cases)) != len(cases):
        reader.add("cases", f"{label} names a workload twice.", "Name each workload once.")
    return tuple(cases)


def _bands(reader: _Reader) -> tuple[Band, ...]:
    """Read the bands in absolute terms that stand beside the predicted gain; there may be none."""
    given = reader.raw.get("bands") or []
    if not isinstance(given, (list, tuple)) or len(given) > MAX_BANDS:
        reader.add("bands", f"{named('bands')} must be a list of at most {MAX_BANDS}.", "Shorten it.")
        return ()
    bands = []
    for number, raw in enumerate(given, start=1):
        band = raw if isinstance(raw, Mapping) else {}
        low, high = read_decimal(band.get("low")), read_decimal(band.get("high"))
        what, unit = band.get("what"), band.get("unit")
        if not what or not unit or not isinstance(what, str) or not isinstance(unit, str):
            reader.add("bands", f"Band {number} doesn't say what it is about or in which unit.", "Fill in both.")
        elif low is None or high is None or not 0 < low <= high:
            said = f"The band of {what[:60]} has no range from a number above 0 to one that is at least as large."
            reader.add("bands", said, "Write the low and the high end as 12 and 20.")
        else:
            bands.append(Band(what.strip(), low, high, unit.strip()))
    return tuple(bands)


def _thresholds(reader: _Reader) -> dict[str, Any]:
    """Read gain, bar and margin, and check their order: delta < kill < gain."""
    gain = reader.decimal("gain_percent", "0", "99.99", open_low=True)
    gain_absolute = reader.decimal("gain_absolute", "0", "1e15", open_low=True)
    high = reader.decimal("gain_high_percent", "0", "99.99", open_low=True)
    delta = reader.decimal("delta_percent", "0", "99.99", open_low=False)
    kill = reader.decimal("kill_percent", "0", "99.99", open_low=True, rule="AL6")
    kill_absolute = reader.decimal("kill_absolute", "0", "1e15", open_low=True, rule="AL6")
    event = reader.text("kill_event", rule="AL6")
    given = {name: not reader.empty(name) for name in FIELDS}
    _given(reader, given, event)
    if high is not None and gain is not None and high < gain:
        said = f"{named('gain_high_percent')} is {trim_decimal(high)}, less than {named('gain_percent')}."
        reader.add("gain_high_percent", said, "Swap the two.")
    _ordered(reader, gain, gain_absolute, kill, kill_absolute, delta)
    return {
        "gain": Threshold(gain, gain_absolute),
        "gain_high": None if high is None else Threshold(high),
        "kill": Threshold(kill, kill_absolute) if given["kill_percent"] or given["kill_absolute"] else None,
        "delta_percent": delta,
        "kill_event": event,
    }


def _given(reader: _Reader, given: Mapping[str, bool], event: str) -> None:
    """Check that gain, margin and kill are there, each of them once."""
    once = "Give it in percent or as an amount, not both."
    if not given["gain_percent"] and not given["gain_absolute"]:
        fix = f"Write the gain that you expect into {named('gain_percent')}."
        reader.add("gain_percent", f"{named('gain_percent')} is empty.", fix)
    if given["gain_percent"] and given["gain_absolute"]:
        reader.add("gain_absolute", "The gain is given twice.", once)
    if given["gain_high_percent"] and not given["gain_percent"]:
        fix = f"Give the low end of the range as {named('gain_percent')}."
        reader.add("gain_high_percent", f"{named('gain_high_percent')} is the end of a range without a beginning.", fix)
    if not given["delta_percent"]:
        fix = f"Write the change that counts as nothing into {named('delta_percent')}, such as 1."
        reader.add("delta_percent", f"{named('delta_percent')} is empty.", fix)
    if not given["kill_percent"] and not given["kill_absolute"] and not event:
        said = f"{named('kill_percent')} and {named('kill_event')} are both empty."
        fix = "Write the gain that must be exceeded, or the event that ends the attempt."
        reader.add("kill_percent", said, fix, "AL6")
    if given["kill_percent"] and given["kill_absolute"]:
        reader.add("kill_absolute", "The kill threshold is given twice.", once, "AL6")


def _ordered(
    reader: _Reader,
    gain: Decimal | None,
    gain_absolute: Decimal | None,
    kill: Decimal | None,
    kill_absolute: Decimal | None,
    delta: Decimal | None,
) -> None:
    """Check delta < kill < gain where both sides are in the same terms."""
    pairs = (
        ("kill_percent", kill, "gain_percent", gain),
        ("kill_absolute", kill_absolute, "gain_absolute", gain_absolute),
    )
    for name, low, above, high in pairs:
        if low is not None and high is not None and low >= high:
            said = f"{named(name)} is {trim_decimal(low)}, which is not below {named(above)}, {trim_decimal(high)}."
            reader.add(name, said, f"Lower {named(name)}, or predict more.", "AL6")
    above, smallest = ("kill_percent", kill) if kill is not None else ("gain_percent", gain)
    if delta is not None and smallest is not None and delta >= smallest:
        said = f"{named('delta_percent')} is {trim_decimal(delta)}, which is not below {named(above)}, "
        fix = f"Make {named('delta_percent')} smaller than {named(above)}."
        reader.add("delta_percent", f"{said}{trim_decimal(smallest)}.", fix)


def _limits(reader: _Reader, today: date | None) -> dict[str, Any]:
    """Read deadline, run budget and park threshold (AL6)."""
    budget = reader.whole("budget_runs", 1, 10_000, None, "AL6")
    deadline_text, deadline = reader.text("deadline", rule="AL6"), None
    if deadline_text:
        try:
            deadline = date.fromisoformat(deadline_text)
        except ValueError:
            fix = f"Write {named('deadline')} as 2026-12-31."
            reader.add("deadline", f"{named('deadline')} is no date.", fix, "AL6")
    if deadline and today and deadline < today:
        fix = f"Set a later date in {named('deadline')}."
        reader.add("deadline", f"{named('deadline')}, {deadline}, has passed.", fix, "AL6")
    if reader.empty("budget_runs") and not deadline_text:
        said = f"{named('budget_runs')} and {named('deadline')} are both empty."
        reader.add("budget_runs", said, "Fill in one of them, so that the attempt ends.", "AL6")
    metric = reader.text("park_metric", rule="AL6")
    percent = reader.decimal("park_percent", "0", "1000", open_low=False, rule="AL6")
    if metric and reader.empty("park_percent"):
        said = f"{named('park_metric')} is {metric}, and {named('park_percent')} is empty."
        fix = f"Write into {named('park_percent')} by how many percent {metric} may get worse."
        reader.add("park_percent", said, fix, "AL6")
    if not metric and not reader.empty("park_percent"):
        said = f"{named('park_percent')} is given, and {named('park_metric')} is empty."
        reader.add("park_metric", said, f"Fill in {named('park_metric')}.", "AL6")
    return {"budget_runs": budget, "deadline": deadline, "park_metric": metric, "park_percent": percent}
