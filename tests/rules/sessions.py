"""Perf sessions for tests of the verdict: everything in order, so that a test breaks one thing at a time."""

from datetime import UTC, datetime
from typing import Any

from v2kb.rules.grades import DecidingSession, graded
from v2kb.rules.prediction_reading import parse_prediction
from v2kb.rules.session import Case, Pair, Session
from v2kb.rules.verdict import Verdict, judge
from v2kb.rules.verdict_gates import JudgePolicy, Registration

SEALED = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
FIRST_SAMPLE = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)
BASE = (100.0, 101.0, 99.5)
WIN = (94.0, 95.2, 93.8)
NULL = (100.1, 100.9, 99.6)
REGRESS = (103, 104.3, 102.1)
UNCLEAR = (94, 99, 95)
LONG, LONG_KILLED = (100, 101, 99.5, 100.4, 99.9), (98.4, 99.6, 98.1, 98.7, 98.3)
QUIET = {"aa_sd": None, "timer_tick": None}
ENVIRONMENT = {"driver": "570.1", "card": "H200", "torch": "2.11"}


def prediction(**changes: Any) -> dict[str, Any]:
    """Return the prediction of the golden vectors (P 5%, K 3%, delta 1%) with some fields changed."""
    return {
        "row": "U1",
        "metric": "time_us",
        "unit": "us",
        "direction": "lower",
        "anchor": "base",
        "tier": "2",
        "gain_percent": "5",
        "gain_high_percent": "",
        "cases": ["decode"],
        "rounds": "3",
        "delta_percent": "1",
        "kill_percent": "3",
        "kill_event": "",
        "budget_runs": "3",
        "deadline": "",
        "park_metric": "",
        "park_percent": "",
    } | changes


def registration(**changes: Any) -> Registration:
    """Return the sealed registration of a prediction, which must be valid."""
    parsed = parse_prediction(prediction(**changes))
    assert parsed.prereg is not None, parsed.problems
    return Registration(parsed.prereg, SEALED)


def case(anchor, candidate, workload: str = "decode", **changes: Any) -> Case:
    """Return one workload whose output is right, with a pair for each round."""
    pairs = tuple(Pair(number, a, c) for number, (a, c) in enumerate(zip(anchor, candidate, strict=True)))
    return Case(workload, pairs, **({"output_right": True} | changes))


def session(*cases: Case, **changes: Any) -> Session:
    """Return a session of an op launched alone on the card it is meant for, with nothing to object to."""
    facts = {
        "candidate": "v7",
        "anchor": "base",
        "metric": "time_us",
        "unit": "us",
        "direction": "lower",
        "envelope": "standalone",
        "target": "sm_90",
        "hardware": "sm_90",
        "method": "cupti_span",
        "cases": cases,
        "ladder_fault": "",
        "cold": True,
        "fresh_processes": True,
        "production_grid": True,
        "aa_passed": True,
        "aa_sd": 0.0004,
        "timer_tick": 0.001,
        "anchor_state": "PINNED",
        "anchor_environment": ENVIRONMENT,
        "candidate_environment": ENVIRONMENT,
        "first_candidate_sample_at": FIRST_SAMPLE,
        "machine": "GPU 0, 1,980 MHz",
        "seconds_per_round": 8.0,
    }
    return Session(**(facts | changes))


def verdict(
    anchor, candidate, /, *, plan: dict[str, Any] | None = None, policy: JudgePolicy | None = None, **facts
) -> Verdict:
    """Judge one workload; `plan` changes the prediction, `facts` the session. Rounds are registered as
    they were run.
    """
    rounds = {"rounds": str(max(3, len(anchor)))}
    deciding = graded(session(case(anchor, candidate), **facts))
    assert isinstance(deciding, DecidingSession), deciding.grade.reason
    return judge(deciding, registration(**(rounds | (plan or {}))), policy)


def judged(*cases, plan=None, policy=None, registered=None, **facts):
    """Judge several workloads, all of them registered."""
    names = [one.workload for one in cases]
    sealed = registered or registration(**({"cases": names} | (plan or {})))
    return judge(graded(session(*cases, **facts)), sealed, policy)
