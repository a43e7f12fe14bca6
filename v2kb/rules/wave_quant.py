"""Rule R65: more warps per task help only when a whole wave of items disappears.

Items are dealt to warps in whole trips, so that the time follows ceil(items / (tasks * warps)). A change of
the warp count that leaves this number as it was is expected to regress, since the extra warps cost without
saving a trip. Source: the evidence map's row on the seven-warp MAC fold (m1-decode-evidence, W1).
"""

import re
from dataclasses import dataclass

from v2kb.rules.names import lever_key
from v2kb.rules.rule_registry import ERROR, Context, Reporter, Rule, spec_rule
from v2kb.rules.spec_view import Missing, SpecView

MAY_WIN, TIE, MORE_TRIPS = "may_win", "tie", "more_trips"
FIELDS = ("items", "tasks", "old_warps", "new_warps")
_CLAIM = re.compile(r"(?<![0-9])7warp|sevenwarp|nwarps|macfold|warpscaling")


@dataclass(frozen=True, slots=True)
class WaveQuant:
    """Trips per warp before and after a change of the warp count."""

    old_trips: int
    new_trips: int

    @property
    def outcome(self) -> str:
        """may_win, tie (a regression is to be predicted) or more_trips."""
        if self.new_trips < self.old_trips:
            return MAY_WIN
        return TIE if self.new_trips == self.old_trips else MORE_TRIPS


def wave_quant(items: int, tasks: int, old_warps: int, new_warps: int) -> WaveQuant:
    """Return the trips for `items` over `tasks` tasks of old_warps and of new_warps each.

    Raises ValueError unless all four are positive.
    """
    if min(items, tasks, old_warps, new_warps) < 1:
        raise ValueError("items, tasks and warps must be positive")
    return WaveQuant(-(-items // (tasks * old_warps)), -(-items // (tasks * new_warps)))


def claims_more_warps(lever: str, title: str = "") -> bool:
    """True when a choice's lever or title speaks of the seven-warp fold in any of its spellings."""
    return any(_CLAIM.search(lever_key(text)) for text in (lever, title))


@spec_rule(
    "R65",
    severity=ERROR,
    title="Wave quantisation",
    source="m1-decode-evidence, row W1",
    formula="ceil(items / (tasks * new_warps)) < ceil(items / (tasks * old_warps))",
    inputs=("choices[].wave_quant",),
)
def r65(view: SpecView, report: Reporter, context: Context) -> None:
    claims = 0
    for index, choice in enumerate(view.doc["choices"]):
        if choice["polarity"] != "adopts":
            continue
        path = f"choices[{index}].wave_quant"
        given = choice["wave_quant"]
        if given is None:
            if claims_more_warps(choice["lever"], choice["title"]):
                claims += 1
                report.missing(
                    Missing(path, "A claim from more warps needs its arithmetic.", "Fill items, tasks and warps.")
                )
            continue
        claims += 1
        values = report.need(view.row(path, given, FIELDS), *FIELDS)
        if values is not None:
            _judge(report, path, values)
    if not claims:
        report.skip("No choice claims a gain from more warps.")


def _judge(report: Reporter, path: str, values: tuple[int, ...]) -> None:
    items, tasks, old_warps, new_warps = values
    for name, value in zip(FIELDS, values, strict=True):
        if value < 1:
            report.add(f"{path}.{name}", f"{name} is {value}.", "Write a positive number.")
    if min(values) < 1:
        return
    result = wave_quant(items, tasks, old_warps, new_warps)
    if result.outcome == MAY_WIN:
        return
    sums = (
        f"{items:,} items over {tasks:,} tasks take {result.old_trips:,} trips with {old_warps} warps "
        f"and {result.new_trips:,} with {new_warps}"
    )
    verdict = "a tie, so a regression is predicted" if result.outcome == TIE else "more than before"
    report.add(
        path,
        f"{sums}: {verdict}.",
        "Keep the old warp count here, or show a count of warps or tasks that saves a trip.",
        old_trips=result.old_trips,
        new_trips=result.new_trips,
        outcome=result.outcome,
    )


WAVE_QUANT_RULES: tuple[Rule, ...] = (r65,)
