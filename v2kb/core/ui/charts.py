"""Plots: what each kind needs, its legend, and the table of the same points that stands below it."""

from collections.abc import Callable, Mapping
from typing import Any

from v2kb.core.ui.numbers import num_html, unit_label

ANCHOR = ("anchor", "anchor")
CANDIDATE = ("candidate", "candidate")
FLOOR = ("floor", "floor (measured bound)")
DECIMALS = 3


def _head(label: str, unit: str = "", numeric: bool = False) -> dict[str, Any]:
    return {"label": label, "unit": unit_label(unit), "numeric": numeric}


def _text(value: Any) -> dict[str, Any]:
    return {"html": "–" if value in (None, "") else str(value), "numeric": False, "exact": str(value or "")}


def _number(value: Any, decimals: int | None = DECIMALS, signed: bool = False) -> dict[str, Any]:
    exact = "" if value is None else str(value)
    return {"html": num_html(value, decimals, signed=signed), "numeric": True, "exact": exact}


def _ladder(data: Mapping[str, Any]) -> dict[str, Any]:
    unit = data["unit"]
    heads = [_head("Version"), _head("Value", unit, True), _head("Low", unit, True), _head("High", unit, True)]
    rows = [
        [_text(v["name"]), _number(v.get("value")), _number(v.get("low")), _number(v.get("high"))]
        for v in data["versions"]
    ]
    for role in ("anchor", "floor"):
        line = data.get(role)
        if line:
            named = _text(f"{role}: {line['name']}")
            rows.append([named, _number(line.get("value")), _number(None), _number(None)])
    legend = [CANDIDATE, *([ANCHOR] if data.get("anchor") else []), *([FLOOR] if data.get("floor") else [])]
    return {"heads": heads, "rows": rows, "legend": legend}


def _samples(data: Mapping[str, Any]) -> dict[str, Any]:
    heads = [
        _head("Run"),
        _head("Launch", numeric=True),
        _head("Time", data["unit"], True),
        _head("Clock", "MHz", True),
    ]
    rows = []
    for run in data["runs"]:
        clocks = run.get("clock_mhz") or []
        for index, value in enumerate(run["values"]):
            clock = clocks[index] if index < len(clocks) else None
            rows.append([_text(run["label"]), _number(index + 1, 0), _number(value), _number(clock, 0)])
    return {"heads": heads, "rows": rows, "legend": [CANDIDATE, ANCHOR]}


def _paired(data: Mapping[str, Any]) -> dict[str, Any]:
    unit = data["unit"]
    heads = [
        _head("Round", numeric=True),
        _head("Anchor", unit, True),
        _head("Candidate", unit, True),
        _head("Change", "percent", True),
    ]
    rows = []
    for pair in data["rounds"]:
        anchor, candidate = pair.get("anchor"), pair.get("candidate")
        percent = (float(candidate) / float(anchor) - 1) * 100 if anchor and candidate else None
        rows.append([_number(pair["round"], 0), _number(anchor), _number(candidate), _number(percent, 2, True)])
    return {"heads": heads, "rows": rows, "legend": [CANDIDATE, ANCHOR]}


def _forest(data: Mapping[str, Any]) -> dict[str, Any]:
    heads = [
        _head("Case"),
        _head("Change", "percent", True),
        _head("Low", "percent", True),
        _head("High", "percent", True),
        _head("Judgement"),
    ]
    rows = [
        [
            _text(c["name"]),
            *(_number(c.get(k), 2, True) for k in ("change_percent", "low", "high")),
            _text(c.get("judgement")),
        ]
        for c in data["cases"]
    ]
    return {"heads": heads, "rows": rows, "legend": [CANDIDATE]}


def _counts(data: Mapping[str, Any]) -> dict[str, Any]:
    heads = [_head("Day"), *(_head(series["name"], data["unit"], True) for series in data["series"])]
    rows = [
        [_text(day), *(_number(series["values"][place], 0) for series in data["series"])]
        for place, day in enumerate(data["days"])
    ]
    return {"heads": heads, "rows": rows, "legend": [(s["name"].lower(), s["name"]) for s in data["series"]]}


def _sweep(data: Mapping[str, Any]) -> dict[str, Any]:
    heads = [
        _head(data["symbol"], numeric=True),
        _head("Shared memory", data["unit"], True),
        *(_head(name, numeric=True) for name in ("Pages", "Regions", "Semaphores", "Tasks")),
        _head("Breaks"),
        _head("Planner"),
    ]
    counts = ("bytes", "pages", "regions", "semaphores", "tasks")
    rows = [
        [
            _number(point["value"], 0),
            *(_number(point[name], 0) for name in counts),
            _text(", ".join(point["breaks"])),
            _text(point["planner"]),
        ]
        for point in data["points"]
    ]
    legend = [("candidate", "all rules hold that held"), ("dead", "a rule breaks"), ("anchor", data["limit"]["name"])]
    return {"heads": heads, "rows": rows, "legend": legend}


_KINDS: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "ladder": _ladder,
    "samples": _samples,
    "paired": _paired,
    "forest": _forest,
    "counts": _counts,
    "sweep": _sweep,
}


def chart_parts(kind: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Table twin (`heads`, `rows`) and `legend` of a plot; KeyError for an unknown kind or a missing part.

    ladder: unit, direction, versions [{name, value, low, high}], anchor and floor {name, value} or None.
    samples: unit, direction, runs [{label, role, values, clock_mhz}] in the order in which they ran.
    paired: unit, direction, rounds [{round, anchor, candidate}].
    forest: direction, cases [{name, change_percent, low, high, judgement}], band [low, high],
    thresholds [{label, value}], all in percent.
    sweep: unit, symbol, limit {name, value},
    points [{value, bytes, pages, regions, semaphores, tasks, breaks, planner}].
    counts: unit, days [ISO dates], series [{name: a verdict, values: one per day}].
    """
    return _KINDS[kind](data)


def unit_note(kind: str, data: Mapping[str, Any]) -> str:
    """Unit and direction in words, for the title of a plot."""
    unit = "%" if kind == "forest" else unit_label(data.get("unit", ""))
    direction = data.get("direction", "")
    return f"{unit}, {direction} is better" if direction else unit
