"""How the benches sum up their times."""

import statistics

Timing = tuple[float, float]
"""p50 and p95, in the unit of the times."""


def timing(times: list[float]) -> Timing:
    return statistics.median(times), sorted(times)[min(len(times) - 1, round(0.95 * len(times)))]
