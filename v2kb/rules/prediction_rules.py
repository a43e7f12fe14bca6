"""Rules R64, R66 and R73: what a choice may predict, and what it must watch. AL1 and AL4 to AL6 of the gate judge the
rest of a choice (R60 to R63).
"""

from collections.abc import Iterator
from typing import Any

from v2kb.rules.ceilings import beyond, read_predicted
from v2kb.rules.envelopes import MEGAKERNEL
from v2kb.rules.granularity import total_tasks
from v2kb.rules.numbers import read_decimal
from v2kb.rules.rule_registry import ERROR, INFO, WARNING, Context, Reporter, Rule, spec_rule
from v2kb.rules.spec_view import Missing, SpecView

WAVE_QUANT_ROW = "W1"
PARK_PERCENT = 5  # of the FFN wall
KILL_PERCENT = 10  # of the op wall, for a phase of the rewrite plan


def predicting(view: SpecView) -> list[tuple[str, dict[str, Any]]]:
    """(path, choice) of the choices that predict something."""
    choices = enumerate(view.doc["choices"])
    return [(f"choices[{index}]", choice) for index, choice in choices if choice["prediction"] is not None]


def inside_megakernel(view: SpecView, choice: dict[str, Any]) -> bool:
    """Say whether what a choice predicts happens inside a megakernel: by the contracts of the spec's ops, else by the
    choice's own scope, else by the spec's family.
    """
    envelopes = choice["scope"].get("envelope")
    return MEGAKERNEL in envelopes if envelopes and not view.contracts else view.in_megakernel


def _rows_of(choice: dict[str, Any]) -> Iterator[str]:
    """Codes of the evidence rows that a choice probes, rests on or argues against; context binds nobody."""
    codes = [choice["prediction"]["row"]] if choice["prediction"] else []
    codes += [c["code"] for c in choice["citations"] if c["kind"] == "evidence" and c["stance"] != "context"]
    yield from dict.fromkeys(code for code in codes if code)


@spec_rule(
    "R64",
    severity=ERROR,
    title="Ceiling of the evidence",
    source="m1-decode-evidence, rows U1, D2, D3, D10 and section 5",
    formula="predicted gain <= ceiling of the row probed and of each row cited for or against",
    inputs=("choices[].prediction", "choices[].citations", "measurement.body_us"),
)
def r64(view: SpecView, report: Reporter, context: Context) -> None:
    now_us = read_decimal(view.doc["measurement"]["body_us"])
    judged = 0
    for path, choice in predicting(view):
        predicted = read_predicted(choice["prediction"])
        for code in _rows_of(choice):
            for ceiling in context.ceilings.get(code, ()):
                judged += 1
                said = beyond(predicted, ceiling, now_us)
                if said is None:
                    message = f"{code} allows {ceiling.text()}; the prediction can't be compared with that."
                    fix = "Predict a gain, and give the time of the body before the change."
                    report.missing(Missing("measurement.body_us", message, fix))
                elif said:
                    report.add(
                        f"{path}.prediction",
                        f"{choice['id']} predicts {said}; {code} allows {ceiling.text()}.",
                        "Predict within the ceiling, or show in the evidence why it no longer holds.",
                        row=code,
                        ceiling=ceiling.text(),
                    )
    if not judged:
        report.skip("No choice with a prediction rests on a row that has a ceiling.")


@spec_rule(
    "R66",
    severity=INFO,
    title="Bodies without MAC warps",
    source="the grouped GEMM's spec, section 1; m1-decode-evidence, row W1",
    formula="the trip count of W1 says nothing of a body without MAC warps",
    inputs=("engine.family", "choices[].citations"),
)
def r66(view: SpecView, report: Reporter, context: Context) -> None:
    if view.family != "A":
        report.skip("Only a role pipeline is known to have no MAC warps.")
        return
    for index, choice in enumerate(view.doc["choices"]):
        supported = any(
            citation["kind"] == "evidence" and citation["code"] == WAVE_QUANT_ROW and citation["stance"] == "supports"
            for citation in choice["citations"]
        )
        if choice["polarity"] == "adopts" and supported:
            report.add(
                f"choices[{index}].citations",
                f"{choice['id']} rests on {WAVE_QUANT_ROW}, whose trip count governs MAC warps; in this pipeline the "
                "tensor core multiplies.",
                "Cite the row as context, or rest the choice on another one.",
            )


@spec_rule(
    "R73",
    severity=ERROR,
    title="Park threshold",
    version=2,
    source="the grouped GEMM's spec, section 1; the rewrite plan's phase 1",
    formula="a choice that adopts a lever over several tasks watches the wall: W: it parks above +5% at most; "
    "E: above +10% the phase is killed",
    inputs=(
        "choices[].polarity",
        "choices[].prediction",
        "granularity[].num_tasks",
        "granularity[].mode",
    ),
)
def r73(view: SpecView, report: Reporter, context: Context) -> None:
    tasks = total_tasks(view) or 0
    wide = any(row.source["mode"] != "per_tile" for row in view.tasks)
    adopting = [(path, choice) for path, choice in predicting(view) if choice["polarity"] == "adopts"]
    adopting = [(path, choice) for path, choice in adopting if inside_megakernel(view, choice)]
    if not adopting or (tasks < 2 and not wide):
        report.skip("No choice that predicts changes how the runtime cuts the op into tasks.")
        return
    for path, choice in adopting:
        for name, what in (("park_metric", "watch metric"), ("park_percent", "park threshold")):
            if not choice["prediction"][name]:
                message = f"{choice['id']} cuts the op into {tasks:,} tasks and has no {what}."
                fix = "Watch the wall time with its waits, and park above the change that you would not ship (5%)."
                report.missing(Missing(f"{path}.prediction.{name}", message, fix))
        _judge_park(report, path, choice)


def _judge_park(report: Reporter, path: str, choice: dict[str, Any]) -> None:
    written = choice["prediction"]["park_percent"]
    percent = read_decimal(written)
    if percent is None or percent <= PARK_PERCENT:
        return
    late = percent > KILL_PERCENT
    why = f"a phase is killed above {KILL_PERCENT}%, so it never parks" if late else "such losses would ship"
    report.add(
        f"{path}.prediction.park_percent",
        f"{choice['id']} parks only where the wall grows by more than {written}%: {why}.",
        f"Park above {PARK_PERCENT}% or less.",
        severity=ERROR if late else WARNING,
        park_percent=written,
    )


PREDICTION_RULES: tuple[Rule, ...] = (r64, r66, r73)
