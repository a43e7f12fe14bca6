"""Rules R74 and R76: the numeric targets of a body, what a scored run makes of them, and their arithmetic."""

from decimal import Decimal

from v2kb.rules.measurement_rules import PART
from v2kb.rules.numbers import read_decimal
from v2kb.rules.rule_registry import INFO, WARNING, Context, Reporter, Rule, spec_rule
from v2kb.rules.spec_view import Missing, SpecView

FERRET_SLACK = Decimal("0.02")


def ferret_score(body_us: Decimal, trusted: bool = True) -> Decimal:
    """Return the score of a body (p50 in microseconds): 1e6 / body, and 0 on any trust failure.

    Raises ValueError for a time that is not above 0.
    """
    if body_us <= 0:
        raise ValueError("the time of a body must be above 0")
    return Decimal(1_000_000) / body_us if trusted else Decimal(0)


def ferret_cap(target_ratio: Decimal, baseline_us: Decimal) -> Decimal:
    """Return the score beyond which nothing counts: (target + 0.02) times the score of the baseline."""
    return (target_ratio + FERRET_SLACK) * ferret_score(baseline_us)


@spec_rule(
    "R74",
    severity=INFO,
    title="Score of a ferret run",
    source="the ferret agent's page",
    formula="score = 1e6 / body_p50, at most (target + 0.02) * baseline, 0 on any trust failure",
    inputs=("engine.routing.route", "measurement.targets[]"),
)
def r74(view: SpecView, report: Reporter, context: Context) -> None:
    if view.doc["engine"]["routing"]["route"] != "ferret":
        report.skip("The body isn't written by a scored run.")
        return
    targets = view.doc[PART]["targets"]
    if not targets:
        message = "A scored run needs a numeric target."
        report.missing(Missing(f"{PART}.targets", message, "Add what the body takes now and what it should take."))
    for index, target in enumerate(targets):
        now, wanted = read_decimal(target["now"]), read_decimal(target["target"])
        if now is None or wanted is None or min(now, wanted) <= 0:
            continue
        score, cap = ferret_score(wanted), ferret_cap(now / wanted, now)
        report.add(
            f"{PART}.targets[{index}]",
            f"{target['what'] or 'The body'} at its target scores {score:,.0f}; above {cap:,.0f} nothing counts, and a "
            "trust failure scores 0.",
            "Nothing to do; the run's gate must use the same arithmetic.",
            score=f"{score:.0f}",
            cap=f"{cap:.0f}",
        )


@spec_rule(
    "R76",
    severity=WARNING,
    title="Arithmetic of targets",
    source="the grouped GEMM's dispatch brief, section 2",
    formula="ratio = now / target, within the rounding of what is written",
    inputs=("measurement.targets[]",),
)
def r76(view: SpecView, report: Reporter, context: Context) -> None:
    targets = view.doc[PART]["targets"]
    if not targets:
        report.skip("The spec sets no numeric target.")
    for index, target in enumerate(targets):
        path = f"{PART}.targets[{index}]"
        values = {name: read_decimal(target[name]) for name in ("now", "target", "ratio")}
        for name, value in values.items():
            if value is None or value <= 0:
                message = f"{name} of {target['what'] or f'target {index + 1}'} is no number above 0."
                report.missing(Missing(f"{path}.{name}", message, "Write it as 27 or 12.2."))
        if any(value is None or value <= 0 for value in values.values()):
            continue
        right = values["now"] / values["target"]
        written = values["ratio"]
        places = max(0, -written.as_tuple().exponent)
        if abs(right - written) > Decimal(5).scaleb(-places - 1):
            shown = f"{right:.2f}"
            report.add(
                f"{path}.ratio",
                f"{target['what'] or 'The target'}: {target['now']} / {target['target']} is {shown}, and {written} is "
                "written.",
                f"Write {shown}.",
                ratio=shown,
            )


TARGET_RULES: tuple[Rule, ...] = (r74, r76)
