"""Timing: rounds of an anchor run and a candidate run in fresh processes, ABBA, with one output audited in full."""

import math
import random
import statistics
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from v2kb.wire import Bundle, Outcome, PerfPlan, RoundRun, Side
from v2kb.worker.harness import facts, timers
from v2kb.worker.harness.compare import compare_output
from v2kb.worker.harness.endings import Failure, raise_for_ending, texts
from v2kb.worker.harness.inputs import Workload, make_inputs
from v2kb.worker.harness.session import Session, Tensors
from v2kb.worker.harness.shift import rolled
from v2kb.worker.harness.supervisor import Ending

POOL_BYTES = 64 * 1024 * 1024
HOLD_BYTES = 256 * 1024 * 1024
BURST_FACTOR, BURST_SLACK_NS = 3, 100_000_000


@dataclass(frozen=True)
class Feed:
    """The inputs of one round, equal for both sides: base sets, and per call which set and how far it is rolled."""

    pool: list[Tensors]
    schedule: list[tuple[int, int]]

    def inputs(self, call: int) -> Tensors:
        base, places = self.schedule[call]
        return {name: rolled(tensor, places) for name, tensor in self.pool[base].items()}


def order(plan: PerfPlan, both: bool) -> list[tuple[int, Side]]:
    """Return (round, side) of every run in order: A B, B A, A B ... with A the anchor; one side alone for a capture."""
    if not both:
        return [(number, Side.ANCHOR) for number in range(plan.rounds)]
    first, second = (Side.ANCHOR, Side.CANDIDATE) if plan.first_letter == "A" else (Side.CANDIDATE, Side.ANCHOR)
    runs: list[tuple[int, Side]] = []
    for number in range(plan.rounds):
        pair = (first, second) if number % 2 == 0 else (second, first)
        runs += [(number, side) for side in pair]
    return runs


def make_feed(session: Session, workload: Workload, round_number: int) -> Feed:
    """Return fresh inputs for one round. No two calls of the round see the same contents."""
    plan = session.job.plan
    calls = plan.warmup + plan.launches
    set_bytes = max(1, sum(spec.size_bytes for spec in workload.inputs))
    size = max(2, min(calls, POOL_BYTES // set_bytes))
    secret = session.job.seed_secret
    pool = [make_inputs(workload, secret, "time", round_number, index) for index in range(size)]
    dice = random.Random(f"{secret}|{workload.name}|{round_number}|shifts")
    most = max([2, *(math.prod(spec.shape) for spec in workload.inputs)])
    return Feed(pool, [(call % size, dice.randrange(1, most)) for call in range(calls)])


def time_run(
    session: Session, bundle: Bundle, workload: Workload, feed: Feed, place: tuple[int, Side, int]
) -> RoundRun:
    """Time one kernel in one fresh process. `place` is (round, side, position).

    Raises Failure when it did not end well, when the audited output is wrong, or when its times can't be true.
    """
    number, side, position = place
    who = f"The {side.value}"
    task = _timing_task(session, bundle, workload, feed)
    asked = random.SystemRandom().choice(task["keep"])
    clocks = facts.Clocks(session.device)
    started_at = datetime.now(UTC)

    def poll() -> None:
        clocks.sample()
        audit = session.folder("in") / "audit"
        if (session.folder("out") / "status.json").exists() and not audit.exists():
            # In one step: the child must never read a file that is there and still empty.
            audit.with_suffix(".new").write_text(str(asked))
            audit.with_suffix(".new").rename(audit)

    ending = session.supervisor.run(task, session.deadlines, poll)
    status = raise_for_ending(ending, who, session.job.limits, session.device)
    if problems := texts(status.get("problems")):
        raise Failure(Outcome.FAIL_SHAPE, f"{who}, {problems[0]}.")
    if changed := texts(status.get("tampered")):
        raise Failure(Outcome.TAMPERED, f"{who} changed {', '.join(changed[:5])} in the timed run.")
    samples = _believable(session, status, ending, who)
    _audit(session, workload, feed, asked, who)
    return RoundRun(
        round=number,
        side=side,
        position=position,
        workload=workload.name,
        samples_ns=samples,
        clock_mhz=clocks.mhz(),
        method=_method(session, status, who),
        started_at=started_at,
        setup_ns=_whole(status.get("setup_ns")),
    )


def _timing_task(session: Session, bundle: Bundle, workload: Workload, feed: Feed) -> dict[str, Any]:
    plan = session.job.plan
    task = session.task("time", session.place_inputs(feed.pool), workload)
    set_bytes = max(1, sum(spec.size_bytes for spec in workload.inputs))
    output_bytes = max(1, sum(spec.size_bytes for spec in workload.outputs))
    budget = session.job.limits.memory_bytes // 4
    keep = list(range(plan.launches))
    if len(keep) * output_bytes > budget:  # not all outputs fit: keep a few whose numbers only the parent chose
        keep = sorted(random.SystemRandom().sample(keep, max(1, budget // output_bytes)))
    return task | {
        "files": session.place(bundle),
        "entry": bundle.entry,
        "warmup": plan.warmup,
        "launches": plan.launches,
        "schedule": feed.schedule,
        "keep": keep,
        "hold": max(2, min(plan.launches, min(HOLD_BYTES, budget) // set_bytes)),
    }


def _method(session: Session, status: dict[str, Any], who: str) -> str:
    """The timer's name, one of the few that the device has: it decides what the numbers may be used for."""
    if session.device != "cuda":
        return timers.CPU_METHOD
    if status.get("method") not in (timers.CUPTI_METHOD, timers.EVENT_METHOD):
        raise Failure(Outcome.TAMPERED, f"{who} reported a timer that the harness does not have.")
    return status["method"]


def _whole(value: object) -> int:
    return value if type(value) is int and 0 <= value < 2**63 else 0


def _believable(session: Session, status: dict[str, Any], ending: Ending, who: str) -> list[int]:
    """Return the samples, after comparing the self-timed numbers with clocks that the child does not own."""
    samples = status.get("samples_ns")
    launches = session.job.plan.launches
    if not isinstance(samples, list) or len(samples) != launches or not all(type(s) is int for s in samples):
        raise Failure(Outcome.TAMPERED, f"{who} did not report {launches} whole-number samples.")
    if min(samples) <= 0:
        raise Failure(Outcome.TAMPERED, f"{who} reported a time of {min(samples)} ns, which is impossible.")
    if sum(samples) > ending.wall_ns:
        raise Failure(
            Outcome.TAMPERED,
            f"{who}'s samples add up to {sum(samples)} ns, more than the {ending.wall_ns} ns its process lived.",
        )
    burst_ns, calls = _burst(session, status)
    typical = statistics.median(samples)
    if calls and burst_ns > BURST_FACTOR * calls * typical + BURST_SLACK_NS:
        raise Failure(
            Outcome.TAMPERED,
            f"{who} took {burst_ns // calls} ns a call by the file system's clock, but reported {typical:.0f} ns.",
        )
    return samples


def _burst(session: Session, status: dict[str, Any]) -> tuple[int, int]:
    """Wall time of the untimed burst between two files' change times, which only the operating system sets."""
    calls = min(_whole(status.get("burst")), session.job.plan.launches)
    try:
        begin, end = (
            (session.folder("out") / f"burst.{name}").stat(follow_symlinks=False).st_ctime_ns
            for name in ("begin", "end")
        )
    except OSError:
        raise Failure(Outcome.TAMPERED, "The marks of the untimed burst are missing.") from None
    return end - begin, calls


def _audit(session: Session, workload: Workload, feed: Feed, asked: int, who: str) -> None:
    """Check the output of the one timed call that was asked for after the timing was over."""
    outputs = session.read_out("audit.tensors")
    reference = session.references(workload, [feed.inputs(session.job.plan.warmup + asked)])[0]
    for spec in workload.outputs:
        _, reason = compare_output(outputs.get(spec.name), spec, reference, workload.tolerance)
        if reason:
            raise Failure(
                Outcome.FAIL_NUMERIC,
                f"{who} passed the check, but the audited timed call {asked} of workload {workload.name} is wrong: "
                f"{reason}.",
            )
