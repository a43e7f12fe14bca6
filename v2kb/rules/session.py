"""Facts of one perf session as plain values: paired run medians per workload and what is known about them.

The run is the unit (measurement page, section 3): a round is one run of the anchor and one of the candidate,
each a fresh process. Callers build a `Session`; grades.py sorts it, verdict.py judges it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from v2kb.rules.stats import median_ns

LOWER, HIGHER = "lower", "higher"
ANCHOR, CANDIDATE = "anchor", "candidate"


@dataclass(frozen=True)
class RunSamples:
    """One workload timed in one process. `samples_ns` in order; `position` is the run's place in its round
    (0 or 1).
    """

    round: int
    side: str
    workload: str
    samples_ns: tuple[int, ...]
    position: int | None = None


@dataclass(frozen=True)
class Pair:
    """One round of one workload: both run medians in the session's unit, None where there is none (`reason`).

    `launches` is the smaller number of samples of the two runs, `first` the side that ran first; None or ""
    if unknown.
    """

    round: int
    anchor: float | None
    candidate: float | None
    launches: int | None = None
    first: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Case:
    """One workload. `output_right` None means unchecked; `floor` is the physical bound in the session's
    unit.
    """

    workload: str
    pairs: tuple[Pair, ...]
    output_right: bool | None = None
    failure: str = ""
    floor: float | None = None


@dataclass(frozen=True)
class Watch:
    """A second metric: how much worse the candidate is, in percent of the anchor (negative: better)."""

    metric: str
    worse_percent: float | None


@dataclass(frozen=True)
class Session:
    """Everything that the verdict needs to know of one session; no field is optional by accident.

    Times (`Pair`, `Case.floor`, `timer_tick`) are in `unit`; `aa_sd` is in log units; `aa_passed` None means
    that no A/A check is on record; date-times carry a time zone. `machine` is text for people ("GPU 0, 1,980
    MHz"). `ladder_fault` says which rungs below perf do not stand, empty if all do, None if nobody looked.
    """

    candidate: str
    anchor: str
    metric: str
    unit: str
    direction: str
    envelope: str
    target: str
    hardware: str
    method: str
    cases: tuple[Case, ...]
    outcome: str = "PASS"
    ladder_fault: str | None = None
    cold: bool | None = None
    fresh_processes: bool | None = None
    production_grid: bool | None = None
    timer_tick: float | None = None
    aa_sd: float | None = None
    aa_passed: bool | None = None
    anchor_state: str = "UNVERIFIED"
    anchor_environment: Mapping[str, str] = field(default_factory=dict)
    candidate_environment: Mapping[str, str] = field(default_factory=dict)
    first_candidate_sample_at: datetime | None = None
    machine: str = ""
    seconds_per_round: float | None = None
    watches: tuple[Watch, ...] = ()
    tier1_log_interval: tuple[float, float] | None = None


class ConflictingSamples(ValueError):
    """Two different sets of samples claim the same run: round, side and workload."""


def pair_runs(runs: Iterable[RunSamples]) -> dict[str, tuple[Pair, ...]]:
    """Group runs by workload and round into pairs of medians in ns, workloads and rounds in order.

    The same run delivered twice counts once. Raises ConflictingSamples when a second delivery differs,
    ValueError for a side that is neither "anchor" nor "candidate".
    """
    seen: dict[tuple[str, int, str], RunSamples] = {}
    for run in runs:
        if run.side not in (ANCHOR, CANDIDATE):
            raise ValueError(f"Side {run.side!r} is neither {ANCHOR!r} nor {CANDIDATE!r}.")
        key = (run.workload, run.round, run.side)
        known = seen.setdefault(key, run)
        if tuple(known.samples_ns) != tuple(run.samples_ns):
            raise ConflictingSamples(
                f"Round {run.round}, {run.side}, {run.workload}: two deliveries hold different samples."
            )
    rounds = sorted({(workload, number) for workload, number, _ in seen})
    pairs: dict[str, list[Pair]] = {}
    for workload, number in rounds:
        sides = {side: seen.get((workload, number, side)) for side in (ANCHOR, CANDIDATE)}
        pairs.setdefault(workload, []).append(_pair(number, sides[ANCHOR], sides[CANDIDATE]))
    return {workload: tuple(found) for workload, found in pairs.items()}


def _pair(number: int, anchor: RunSamples | None, candidate: RunSamples | None) -> Pair:
    """Return one pair, with the reason when a side is missing or has no usable median."""
    medians, reasons = [], []
    for side, run in ((ANCHOR, anchor), (CANDIDATE, candidate)):
        if run is None:
            medians.append(None)
            reasons.append(f"Round {number} has no run of the {side}.")
            continue
        reading = median_ns(run.samples_ns)
        medians.append(reading.value)
        if reading.reason:
            reasons.append(f"Round {number}, {side}: {reading.reason}")
    launches = min(len(run.samples_ns) for run in (anchor, candidate)) if anchor and candidate else None
    return Pair(number, medians[0], medians[1], launches, _first_side(anchor, candidate), " ".join(reasons))


def _first_side(anchor: RunSamples | None, candidate: RunSamples | None) -> str:
    if not (anchor and candidate) or None in (anchor.position, candidate.position):
        return ""
    return ANCHOR if anchor.position < candidate.position else CANDIDATE
