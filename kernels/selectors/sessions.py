"""From a stored result to the plain facts that the verdict rules judge."""

import statistics
from datetime import UTC, datetime
from typing import Any

from kernels.models import Anchor, Run
from kernels.selectors.ladder import standing_of_run
from v2kb.rules.grades import DEVICE_SPAN
from v2kb.rules.prediction_reading import FIELDS, parse_prediction
from v2kb.rules.session import ANCHOR, CANDIDATE, Case, RunSamples, Session, pair_runs
from v2kb.rules.stats import median_ns
from v2kb.rules.verdict_gates import Registration

# Facts of the machine that an anchor is bound to; a change of any of them makes its number stale.
FINGERPRINT = ("arch", "card", "driver", "cpu", "torch", "python", "threads")


def machine_fingerprint(run: Run) -> str:
    """The machine that a finished run measured on, as one line."""
    environment = run.result.content["environment"]
    return "; ".join(f"{name}={environment[name]}" for name in FINGERPRINT if environment.get(name))


def _moment(text: str) -> datetime:
    """A date-time of a result; one without a zone is UTC, for the rules compare it with the server's clock."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _tick(environment: dict[str, str]) -> float | None:
    text = environment.get("timer_tick_ns", "")
    return float(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None


def _samples(run: Run) -> list[dict[str, Any]]:
    return run.result.content["rounds"]


def anchor_values(run: Run) -> dict[str, Any]:
    """Workload -> median of the run medians in ns, their smallest and largest, and how many runs."""
    medians: dict[str, list[float]] = {}
    for timed in _samples(run):
        reading = median_ns(timed["samples_ns"])
        if reading.value is not None:
            medians.setdefault(timed["workload"], []).append(reading.value)
    return {
        workload: {
            "median_ns": str(round(statistics.median(values))),
            "low_ns": str(round(min(values))),
            "high_ns": str(round(max(values))),
            "runs": len(values),
        }
        for workload, values in medians.items()
    }


def registration_of(run: Run) -> Registration | None:
    """The sealed pre-registration that a run is bound to."""
    stored = run.preregistration
    if stored is None:
        return None
    parsed = parse_prediction({name: stored.content[name] for name in FIELDS if name in stored.content})
    return Registration(parsed.prereg, stored.sealed_at)


def hardware_of(run: Run) -> str:
    """What the run really ran on: "cpu" or an architecture such as "sm_90"."""
    return run.result.content["environment"].get("arch", "")


def _anchor_state(run: Run) -> str:
    anchor = run.anchor
    if anchor is None:
        return Anchor.State.UNVERIFIED
    if anchor.state != Anchor.State.PINNED:
        return anchor.state
    moved = anchor.machine != machine_fingerprint(run) or anchor.version_id != run.anchor_version_id
    return Anchor.State.STALE if moved else Anchor.State.PINNED


def session_of(run: Run) -> Session:
    """The facts of a finished perf run, for grading and judging. Times in ns."""
    content, contract = run.result.content, run.contract.content
    environment = {key: value for key, value in content["environment"].items() if value}
    timed = _samples(run)
    pairs = pair_runs(
        RunSamples(t["round"], t["side"], t["workload"], tuple(t["samples_ns"]), t["position"]) for t in timed
    )
    checked = {case["workload"]: case for case in content["cases"]}
    methods = {t["method"].partition(" ")[0] for t in timed}
    candidate_starts = [_moment(t["started_at"]) for t in timed if t["side"] == CANDIDATE]
    started, finished = (_moment(content[name]) for name in ("started_at", "finished_at"))
    rounds = len({t["round"] for t in timed})
    method = methods.pop() if len(methods) == 1 else ""
    return Session(
        candidate=f"v{run.version.number}",
        anchor=run.anchor.name if run.anchor else "",
        metric=run.anchor.metric if run.anchor else "time_us",
        unit="ns",
        direction="lower",
        envelope=contract["envelope"],
        target=contract["target"],
        hardware=hardware_of(run),
        method=method,
        cases=tuple(_case(workload, found, checked.get(workload)) for workload, found in pairs.items()),
        outcome=run.outcome,
        ladder_fault=standing_of_run(run).fault,
        fresh_processes=True,
        # The harness flushes the L2 before every call whose device span it takes. An op launched alone chooses its own
        # grid, unless its contract names one, which this harness can't check.
        cold=True if method in DEVICE_SPAN else None,
        production_grid=True if method in DEVICE_SPAN and not contract["grid"] else None,
        timer_tick=_tick(environment),
        anchor_state=_anchor_state(run),
        anchor_environment=environment if any(t["side"] == ANCHOR for t in timed) else {},
        candidate_environment=environment if candidate_starts else {},
        first_candidate_sample_at=min(candidate_starts, default=None),
        machine=environment.get("card") or environment.get("cpu", ""),
        seconds_per_round=(finished - started).total_seconds() / rounds if rounds else None,
    )


def _case(workload: str, pairs: tuple, checked: dict[str, Any] | None) -> Case:
    return Case(
        workload=workload,
        pairs=pairs,
        output_right=None if checked is None else checked["passed"],
        failure="" if checked is None else checked["reason"],
    )
