"""Data of the plots, in the shapes of the chart component. None means that there is nothing to draw."""

import statistics
from typing import Any

from kernels.models import Judgement, Kernel, Run
from v2kb.rules.session import ANCHOR, CANDIDATE, RunSamples, pair_runs
from v2kb.rules.stats import median_ns

NS_PER_US = 1000.0
DIRECTION = "lower"


def _medians(run: Run, side: str, workload: str) -> list[float]:
    """Run medians in microseconds, in the order of the rounds."""
    found = []
    for timed in run.result.content["rounds"]:
        if timed["side"] == side and timed["workload"] == workload:
            reading = median_ns(timed["samples_ns"])
            if reading.value is not None:
                found.append(reading.value / NS_PER_US)
    return found


def timed_workloads(*runs: Run) -> list[str]:
    """The workloads that finished runs timed, in the order in which they were timed, each once."""
    return list(dict.fromkeys(timed["workload"] for run in runs for timed in run.result.content["rounds"]))


def newest_sessions(kernel: Kernel) -> dict[int, Run]:
    """Version number -> its newest session that timed something, versions in order."""
    runs = (
        Run.objects.filter(version__kernel=kernel, kind__in=["perf", "capture"], state="finished", result__isnull=False)
        .select_related("version", "anchor", "result")
        .order_by("id")
    )
    newest = {run.version.number: run for run in runs if run.result.content["rounds"]}
    return dict(sorted(newest.items()))


def ladder_plot(newest: dict[int, Run], workload: str) -> dict[str, Any] | None:
    """Each version's newest session on one workload, against the anchor of the last version's session."""
    versions = []
    for number, run in newest.items():
        values = _medians(run, CANDIDATE, workload)
        if values:
            versions.append(
                {"name": f"v{number}", "value": statistics.median(values), "low": min(values), "high": max(values)}
            )
    if not versions:
        return None
    last = newest[max(newest)]
    against = _medians(last, ANCHOR, workload)
    anchor = (
        {"name": last.anchor.name if last.anchor else "anchor", "value": statistics.median(against)}
        if against
        else None
    )
    return {
        "unit": "us",
        "direction": DIRECTION,
        "versions": versions,
        "anchor": anchor,
        "floor": None,
        "text": f"Workload {workload}: median of the run medians of each version's newest session, lowest to highest",
    }


def samples_plot(run: Run, workload: str) -> dict[str, Any] | None:
    """All samples of one workload in the order in which they were taken."""
    timed = sorted(
        (t for t in run.result.content["rounds"] if t["workload"] == workload),
        key=lambda t: (t["position"], t["round"]),
    )
    runs = [
        {
            "label": f"round {t['round'] + 1}, {t['side']}",
            "role": t["side"],
            "values": [sample / NS_PER_US for sample in t["samples_ns"]],
            "clock_mhz": t["clock_mhz"],
        }
        for t in timed
    ]
    return {"unit": "us", "direction": DIRECTION, "runs": runs, "text": f"Workload {workload}"} if runs else None


def paired_plot(run: Run, workload: str) -> dict[str, Any] | None:
    """Run medians of anchor and candidate per round, on one workload; a side that is missing stays empty."""
    timed = [t for t in run.result.content["rounds"] if t["workload"] == workload]
    pairs = pair_runs(RunSamples(t["round"], t["side"], workload, tuple(t["samples_ns"])) for t in timed)
    rounds = [
        {"round": pair.round + 1, **{side: _us(getattr(pair, side)) for side in (ANCHOR, CANDIDATE)}}
        for pair in pairs.get(workload, ())
    ]
    return {"unit": "us", "direction": DIRECTION, "rounds": rounds, "text": f"Workload {workload}"} if rounds else None


def _us(time_ns: float | None) -> float | None:
    return None if time_ns is None else time_ns / NS_PER_US


def _number(text: str | None) -> float | None:
    return None if text is None else float(text)


def forest_plot(judgement: Judgement) -> dict[str, Any] | None:
    """Change and interval per case, the band of practically nothing, bar and prediction; in percent."""
    content = judgement.content
    cases = [
        {
            "name": case["workload"],
            "change_percent": _number(case["estimate"]["change_percent"]),
            "low": _number(case["estimate"]["low_percent"]),
            "high": _number(case["estimate"]["high_percent"]),
            "judgement": content.get("case_judgements", {}).get(case["workload"], ""),
        }
        for case in content["cases"]
    ]
    if not cases:
        return None
    registration = content.get("registration") or {}
    delta = _number(registration.get("delta_percent") or None)
    thresholds = [
        {"label": label, "value": -float(registration[name])}
        for label, name in (("bar", "kill_percent"), ("prediction", "gain_percent"))
        if registration.get(name)
    ]
    band = [-delta, delta] if delta else None
    return {"direction": DIRECTION, "cases": cases, "band": band, "thresholds": thresholds}
