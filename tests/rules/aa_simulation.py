"""Simulated A/A sessions: the same kernel on both sides, so that every difference found is a false one.

A run has an offset of its own (fresh process) and samples around it; the card drifts over the session.
"""

import math
import random
from collections.abc import Iterator

from v2kb.rules.stats import NoiseFloor, estimate
from v2kb.rules.verdict_table import Thresholds, judge_interval

RUN_SD = 0.004
LEVEL = 0.95
NOTHING_REGISTERED = Thresholds(bar=-1e-9, margin=0.0, prediction=(-1e-9, -1e-9))
"""A bar and a margin of practically 0: every interval that leaves out 0 is a WIN or a REGRESS."""
REGISTERED = Thresholds(bar=math.log(0.97), margin=-math.log(0.99), prediction=(math.log(0.95),) * 2)


def order(rounds: int, rng: random.Random, alternate: bool = True) -> list[str]:
    """Return the sides in the order in which they run: ABBA with a random first letter, or all of one side
    first.
    """
    if not alternate:
        return ["anchor"] * rounds + ["candidate"] * rounds
    first = rng.choice((("anchor", "candidate"), ("candidate", "anchor")))
    return [side for number in range(rounds) for side in (first if number % 2 == 0 else first[::-1])]


def sessions(
    count: int, rounds: int, drift: float, seed: int, alternate: bool = True
) -> Iterator[dict[str, list[float]]]:
    """Yield the log medians of `count` sessions by side, in round order; `drift` is the log change over a
    session.
    """
    rng = random.Random(seed)
    for _ in range(count):
        sides = order(rounds, rng, alternate)
        logs: dict[str, list[float]] = {"anchor": [], "candidate": []}
        for slot, side in enumerate(sides):
            logs[side].append(drift * slot / (len(sides) - 1) + rng.gauss(0.0, RUN_SD))
        yield logs


def false_share(
    thresholds: Thresholds, count: int, rounds: int, drift: float, seed: int, alternate: bool = True
) -> float:
    """Return the share of A/A sessions that the table calls WIN or REGRESS."""
    wrong = 0
    for logs in sessions(count, rounds, drift, seed, alternate):
        ratios = [c - a for a, c in zip(logs["anchor"], logs["candidate"], strict=True)]
        found = estimate(ratios, NoiseFloor(aa_sd=RUN_SD))
        wrong += judge_interval(found, thresholds, LEVEL) in ("WIN", "REGRESS")
    return wrong / count
