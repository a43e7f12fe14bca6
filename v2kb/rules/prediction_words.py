"""The fields of a prediction in the words of the form in which it is written. The form and the gate share them."""

from collections.abc import Mapping

LABELS: Mapping[str, str] = {
    "row": "Row probed",
    "anchor": "Anchor",
    "metric": "Metric",
    "unit": "Unit",
    "direction": "Better is",
    "tier": "Tier",
    "gain_percent": "Predicted gain (%)",
    "gain_high_percent": "up to (%)",
    "gain_absolute": "Predicted gain (amount)",
    "kill_percent": "Kill below (%)",
    "kill_absolute": "Kill below (amount)",
    "delta_percent": "Practically nothing (%)",
    "rounds": "Rounds",
    "looks": "Looks",
    "cases": "Workloads",
    "bands": "Predicted bands",
    "kill_event": "Kill event",
    "budget_runs": "Runs allowed",
    "deadline": "Deadline",
    "park_metric": "Watch metric",
    "park_percent": "Park above (%)",
}
SUCH_AS = {"metric": "such as time_us", "unit": "such as us", "anchor": "one of the spec's anchors"}


def named(name: str) -> str:
    """Return a field as the form calls it, in quotation marks."""
    return f'"{LABELS[name]}"'
