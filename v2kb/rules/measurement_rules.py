"""Rules R67 to R72: how a number is taken that may decide.

They concern choices that predict something, and any spec whose measurement part is filled in. Inside a megakernel the
whole part is asked for; elsewhere only what was begun. Sources: m1-decode-evidence section 4; domain page 2.12.
"""

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import Any

from v2kb.rules.numbers import read_decimal
from v2kb.rules.prediction_rules import inside_megakernel, predicting
from v2kb.rules.rule_registry import ERROR, WARNING, Context, Reporter, Rule, spec_rule
from v2kb.rules.spec_view import Missing, SpecView
from v2kb.rules.units import trim_decimal

PART = "measurement"
MIN_LAUNCHES = 3
SHORT_BODY_US = 40
COLD_BYTES = 252_000_000  # twice an L2 of 126 MB
DTYPE_BYTES = {
    "float64": 8, "int64": 8, "float32": 4, "int32": 4, "float16": 2, "bfloat16": 2, "float8_e4m3fn": 1,
    "float8_e5m2": 1, "int8": 1, "uint8": 1,
}  # fmt: skip
QUESTIONS = {
    "tier": ("The tier of the deciding number is not stated.", "Choose 1, 2 or 3."),
    "timer": ("How the body is timed is not stated.", "Choose globaltimer, cupti or events."),
    "statistic": ("The statistic over launches is not stated.", "Choose min or median."),
    "body_us": ("The time of the body today is not stated.", "Write it in microseconds, as far as it is known."),
    "cold": ("Whether the L2 is cold is not stated.", "Answer yes or no."),
    "floor": ("The floor that the body is held against is not stated.", "Choose one, or none."),
    "launches": ("The number of launches is not stated.", f"Write {MIN_LAUNCHES} or more."),
    "grid": ("The grid of the measurement is not stated.", "Write how many blocks run in production."),
    "layers": ("It isn't said over how many layers one iteration runs.", "Write their number."),
    "weight_bytes": (
        "The weights of one layer are not given, and no contract gives them.",
        "Write their bytes; or name workloads in the prediction, at whose sizes the ops' contracts give them.",
    ),
    "adds_block_maxima": ("Whether block maxima are added up is not stated.", "Answer yes or no."),
    "reads_block_sum": ("Whether the sum over blocks is read is not stated.", "Answer yes or no."),
}


def _on_cpu(view: SpecView) -> bool:
    return bool(view.contracts) and all(contract.get("envelope") == "cpu" for contract in view.contracts)


def _demanded(view: SpecView) -> bool:
    """Say whether the whole measurement part is asked for: a prediction for an op inside a megakernel."""
    return any(inside_megakernel(view, choice) for _, choice in predicting(view))


def _inside(view: SpecView) -> bool:
    """Say whether what is measured runs inside a megakernel."""
    return _demanded(view) if predicting(view) else view.in_megakernel


def _concerned(view: SpecView, report: Reporter) -> bool:
    if _on_cpu(view):
        report.skip("A CPU op has no blocks, no card's cache and no device timer.")
        return False
    part = view.doc[PART]
    if not _demanded(view) and not any(value for name, value in part.items() if name != "targets"):
        report.skip("No choice predicts anything inside a megakernel, and no measurement is described.")
        return False
    return True


def _answer(view: SpecView, report: Reporter, name: str, needed: bool = False) -> str:
    """A cell of the measurement part; an empty one is missing where the part is asked for or `needed` says so."""
    value: str = view.doc[PART][name]
    if not value and (needed or _demanded(view)):
        report.missing(Missing(f"{PART}.{name}", *QUESTIONS[name]))
    return value


def _number(view: SpecView, report: Reporter, name: str, default: str = "") -> int | None:
    """The number in a cell of the measurement part; None after reporting what keeps it from having one."""
    value = view.field(f"{PART}.{name}", default)
    if isinstance(value, int):
        return value
    message, fix = QUESTIONS[name]
    report.missing(replace(value, message=message, fix=fix) if value.is_empty else value)
    return None


@spec_rule(
    "R67",
    severity=ERROR,
    title="Deciding grade",
    version=2,
    source="m1-decode-evidence section 4; measurement page, section 3",
    formula="megakernel: TIER 1, production grid, cold, n >= 3, min or median over launches; TIER 2 is pending "
    "TIER-1; TIER 3 decides nothing",
    inputs=(
        "measurement.tier",
        "measurement.cold",
        "measurement.launches",
        "measurement.statistic",
        "measurement.grid",
        "choices[].prediction.tier",
    ),
)
def r67(view: SpecView, report: Reporter, context: Context) -> None:
    for path, choice in predicting(view):
        inside = inside_megakernel(view, choice)
        _judge_tier(report, f"{path}.prediction.tier", choice["prediction"]["tier"], choice["id"], inside)
    if not _concerned(view, report):
        return
    tier = _answer(view, report, "tier")
    _judge_tier(report, f"{PART}.tier", tier, "The measurement", _inside(view))
    statistic = _answer(view, report, "statistic")
    if statistic == "median_over_blocks":
        report.add(
            f"{PART}.statistic",
            "A median over blocks lands on idle ones.",
            "Take the slowest block of each launch, then the minimum or median over launches.",
        )
    if _inside(view) and tier in ("", "1"):
        _judge_tier_1(view, report, statistic)


def _judge_tier(report: Reporter, path: str, tier: str, who: str, inside: bool) -> None:
    if tier == "3":
        report.add(path, f"{who} is of TIER 3, which can neither promote nor reject.", "Take a deciding tier.")
    elif tier == "2" and inside:
        report.add(
            path,
            f"{who} is of TIER 2; inside a megakernel the verdict stays pending TIER-1.",
            "Plan the run at TIER 1 too: in the megakernel, at the production grid, cold.",
            severity=WARNING,
        )


def _judge_tier_1(view: SpecView, report: Reporter, statistic: str) -> None:
    if _answer(view, report, "cold") == "no":
        report.add(
            f"{PART}.cold",
            "The L2 is warm; production is cold, and a warm number stays pending TIER-1.",
            "Measure cold.",
        )
    if statistic == "mean":
        report.add(
            f"{PART}.statistic",
            "A mean over launches decides nothing.",
            "Take the minimum or the median over launches.",
        )
    launches = _number(view, report, "launches")
    if launches is not None and launches < MIN_LAUNCHES:
        report.add(
            f"{PART}.launches",
            f"n is {launches}; under {MIN_LAUNCHES} the verdict stays pending TIER-1.",
            f"Plan {MIN_LAUNCHES} launches or more.",
            launches=launches,
        )
    grids = sorted({int(contract["grid"]) for contract in view.contracts if contract.get("grid")})
    grid = _number(view, report, "grid", str(grids[0]) if len(grids) == 1 else "")
    if grid is not None and grids and grid not in grids:
        report.add(
            f"{PART}.grid",
            f"The grid is {grid:,}; the op runs in production at {', '.join(map(str, grids))}.",
            "Measure at the production grid.",
            grid=grid,
            production=grids,
        )


@spec_rule(
    "R68",
    severity=ERROR,
    title="Timer of short bodies",
    version=2,
    source="m1-decode-evidence section 4",
    formula="body <= 40 us: %globaltimer, since events quantise 10 to 40 us; a device-side span outside a megakernel",
    inputs=("measurement.body_us", "measurement.timer"),
)
def r68(view: SpecView, report: Reporter, context: Context) -> None:
    if not _concerned(view, report):
        return
    written = view.doc[PART]["body_us"]
    timer = _answer(view, report, "timer", needed=bool(written))
    if timer not in ("", "globaltimer"):
        written = _answer(view, report, "body_us", needed=True)
    body_us = read_decimal(written)
    if written and (body_us is None or body_us <= 0):
        report.add(f"{PART}.body_us", f"{written} is no time.", "Write microseconds as 16 or 12.2.")
    if not timer or body_us is None or body_us > SHORT_BODY_US or timer == "globaltimer":
        return
    if timer == "cupti" and not _inside(view):
        return
    why = "quantise 10 to 40 us" if timer == "events" else "sees the whole megakernel, not this body"
    report.add(
        f"{PART}.timer",
        f"The body takes about {trim_decimal(body_us)} us, and {timer} {why}.",
        "Time it with %globaltimer from inside.",
        timer=timer,
    )


@spec_rule(
    "R69",
    severity=ERROR,
    title="Achievable floor",
    version=2,
    source="m1-decode-evidence section 4; measurement page, section 1",
    formula="floor by a load-only or xor-consumer probe at the same grid; W: bytes at a bandwidth that was reached; "
    "E: a peak roofline",
    inputs=("measurement.floor",),
)
def r69(view: SpecView, report: Reporter, context: Context) -> None:
    floor = _answer(view, report, "floor") if _concerned(view, report) else ""
    if floor == "achievable_bandwidth":
        report.add(
            f"{PART}.floor",
            "The floor is bytes at a bandwidth that was reached; what these bytes take depends on grid and size.",
            "Plan by it, and probe the floor at the same grid with an xor consumer before a verdict.",
            severity=WARNING,
        )
    elif floor == "peak_roofline":
        report.add(
            f"{PART}.floor",
            "The floor is a theoretical peak: 8 TB/s on paper are 2.0 to 2.5 TB/s at this geometry.",
            "Measure it at the same grid with an xor consumer.",
        )


@spec_rule(
    "R70",
    severity=ERROR,
    title="Block maxima are not added",
    source="m1-decode-evidence, row D10",
    formula="gain = wall of the later phase - wall of the earlier one; never a sum of slowCTA over phases",
    inputs=("measurement.adds_block_maxima",),
)
def r70(view: SpecView, report: Reporter, context: Context) -> None:
    if _concerned(view, report) and _answer(view, report, "adds_block_maxima") == "yes":
        report.add(
            f"{PART}.adds_block_maxima",
            "The slowest blocks of different phases are different ones; their times don't add up.",
            "Take the wall of the later phase less that of the earlier one.",
        )


@spec_rule(
    "R71",
    severity=ERROR,
    title="Sloughing",
    source="the faithful gate's rules",
    formula="slowCTA down with sumCTA up is work moved elsewhere: reject; so sumCTA is read",
    inputs=("measurement.reads_block_sum",),
)
def r71(view: SpecView, report: Reporter, context: Context) -> None:
    if _concerned(view, report) and _answer(view, report, "reads_block_sum") == "no":
        report.add(
            f"{PART}.reads_block_sum",
            "Only the slowest block is read: a fall of slowCTA with a rise of sumCTA is sloughing and would pass.",
            "Read the sum over blocks too, and reject where it rises.",
        )


@spec_rule(
    "R72",
    severity=ERROR,
    title="Cold stream",
    source="measurement page, section 3; domain page, disagreements 3 and 16",
    formula="weight bytes per layer * layers >= 252,000,000 (twice the L2)",
    inputs=("measurement.cold", "measurement.weight_bytes", "measurement.layers", "ops[]"),
)
def r72(view: SpecView, report: Reporter, context: Context) -> None:
    if not _concerned(view, report):
        return
    if view.doc[PART]["cold"] != "yes":
        report.skip("The plan doesn't call its numbers cold.")
        return
    derived = contract_weight_bytes(view)
    per_layer = _number(view, report, "weight_bytes", "" if derived is None else str(derived))
    layers = _number(view, report, "layers")
    if per_layer is None or layers is None:
        return
    if derived is not None and per_layer < derived:
        report.add(
            f"{PART}.weight_bytes",
            f"{per_layer:,} B per layer are stated; the contracts of the ops give {derived:,} B.",
            "Leave the field empty to use the contracts, or correct it.",
            severity=WARNING,
            stated=per_layer,
            derived=derived,
        )
    stream = per_layer * layers
    if stream < COLD_BYTES:
        report.add(
            f"{PART}.layers",
            f"{per_layer:,} B of weights over {layers:,} layers stream {stream:,} B per iteration; a cold one streams "
            f"at least {COLD_BYTES:,} B.",
            "Run over more layers, or count all weights that the program streams per layer.",
            stream_bytes=stream,
        )


def contract_weight_bytes(view: SpecView) -> int | None:
    """Return the bytes of weights that one layer of the spec's ops reads by their contracts, in the smallest workload
    that a prediction names; None while an op has no contract or no such workload.
    """
    ops = view.doc["ops"]
    if not ops or not all(op["op"] for op in ops) or len(view.contracts) < len({op["op"] for op in ops}):
        return None
    cases = {case for _, choice in predicting(view) for case in choice["prediction"]["cases"]}
    total = 0
    for contract in view.contracts:
        sizes = [
            _weight_bytes(contract, workload)
            for workload in contract.get("workloads") or []
            if workload.get("name") in cases or not workload.get("axes")
        ]
        if not sizes:
            return None
        total += min(sizes)
    return total


def _weight_bytes(contract: Mapping[str, Any], workload: Mapping[str, Any]) -> int:
    """Bytes of a contract's weights in one workload; an axis without a value counts as 1, as in `resolve_shape`."""
    sizes = {name: axis.get("value") for name, axis in (contract.get("axes") or {}).items()}
    sizes |= workload.get("axes") or {}
    total = 0
    for tensor in contract.get("inputs") or []:
        if tensor.get("kind") == "weight":
            lengths = [d if d.isdigit() else sizes.get(d) or "1" for d in tensor["shape"] if d]
            total += prod(map(int, lengths)) * DTYPE_BYTES[tensor.get("dtype") or "float32"]
    return total


MEASUREMENT_RULES: tuple[Rule, ...] = (r67, r68, r69, r70, r71, r72)
