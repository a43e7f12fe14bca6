"""One job from messages in to a result out. Whatever a kernel does, a RunResult comes back."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime

import torch

from v2kb.wire import CaseResult, Job, JobKind, Outcome, RoundRun, RunResult
from v2kb.worker.harness import facts, perf, sandbox, validate
from v2kb.worker.harness.endings import Failure
from v2kb.worker.harness.inputs import ContractError, Workload, find_workload
from v2kb.worker.harness.session import THREADS, Session
from v2kb.worker.harness.supervisor import InfraError, Stopped, Supervisor
from v2kb.worker.harness.watch import CappedLog, Watch

_SEVERITY = (Outcome.TAMPERED, Outcome.FAIL_SHAPE, Outcome.FAIL_NUMERIC, Outcome.PASS)


def run_job(job: Job, contents: Mapping[str, bytes], device: str, watch: Watch | None = None) -> RunResult:
    """Measure a job on `device` ("cpu" or "cuda"); `contents` maps sha256 to the bytes of every bundle file.

    Never raises for what a kernel, a contract or the machine does: that is the result's outcome and message.
    """
    return _Run(job, contents, device, watch or Watch()).result()


class _Run:
    """The work on one job, with what is known so far."""

    def __init__(self, job: Job, contents: Mapping[str, bytes], device: str, watch: Watch) -> None:
        self.job, self.contents, self.device, self.watch = job, contents, device, watch
        self.cases: list[CaseResult] = []
        self.rounds: list[RoundRun] = []
        self.done = 0
        self.log = CappedLog(job.limits.log_bytes, watch.log)
        self.started_at = datetime.now(UTC)
        self.hashes = facts.harness_hash(), facts.checker_hash()

    def result(self) -> RunResult:
        environment = facts.environment(self.device)
        try:
            outcome, message = self._measure()
        except Failure as failure:
            outcome, message = failure.outcome, failure.message
        except Stopped as stop:
            outcome = stop.outcome
            message = "The run was cancelled." if outcome is Outcome.CANCELLED else "The worker was stopped."
        except InfraError as error:
            outcome, message = Outcome.INFRA, str(error)
        if (facts.harness_hash(), facts.checker_hash()) != self.hashes:
            outcome, message = Outcome.TAMPERED, "The harness's files changed while the job ran."
        self._say(f"outcome {outcome.value}")
        self.log.close()
        return RunResult(
            outcome=outcome,
            message=message[:4000],
            cases=self.cases,
            rounds=self.rounds,
            environment=environment | {"threads": str(THREADS)},
            harness_hash=self.hashes[0],
            checker_hash=self.hashes[1],
            sandbox=sandbox.probe().said,
            started_at=self.started_at,
            finished_at=datetime.now(UTC),
        )

    def _say(self, text: str) -> None:
        elapsed_s = (datetime.now(UTC) - self.started_at).total_seconds()
        self.log.write(f"[harness {elapsed_s:.1f} s] {text}\n".encode())

    def _step(self, phase: str) -> None:
        self.watch.progress(self.done, self._total(), phase)
        self._say(phase)
        self.done += 1

    def _total(self) -> int:
        names, kind = len(self.job.workloads), self.job.kind
        checks = names * (2 if kind is JobKind.PERF else 1)
        runs = 0 if self.job.plan is None else names * len(perf.order(self.job.plan, kind is JobKind.PERF))
        return checks + (0 if kind is JobKind.VALIDATE else runs)

    def _measure(self) -> tuple[Outcome, str]:
        if self.device == "cuda" and not facts.query_card("name"):
            raise InfraError("This worker has no CUDA card that nvidia-smi knows; send the run to another queue.")
        if not self.job.workloads:
            raise Failure(Outcome.NO_CASES, "The job names no workloads, so there is nothing to check.")
        torch.set_num_threads(THREADS)
        try:
            workloads = [find_workload(self.job.contract, name) for name in self.job.workloads]
        except ContractError as error:
            raise Failure(Outcome.INVALID_REFERENCE, str(error)) from error
        job_end = time.monotonic() + self.job.limits.total_s
        with Supervisor(self.job.limits, self.watch, self.log.write, self.device) as supervisor:
            supervisor.start()
            session = Session(self.job, self.contents, supervisor, self.device, job_end, self._say)
            outcome, message = self._check_all(session, workloads)
            if outcome is not Outcome.PASS or self.job.kind is JobKind.VALIDATE:
                return outcome, message
            return self._time_all(session, workloads)

    def _check_all(self, session: Session, workloads: list[Workload]) -> tuple[Outcome, str]:
        """Check the candidate over all workloads, and a perf job's anchor too, which must pass to be an anchor."""
        outcomes: list[Outcome] = []
        for workload in workloads:
            self._step(f"checking workload {workload.name}")
            prepared = validate.prepare_case(session, workload)
            case, outcome = validate.check_case(session, self.job.candidate, prepared, "The candidate")
            self.cases.append(case)
            outcomes.append(outcome)
            self._say(f"workload {workload.name}: {outcome.value} {case.reason}".rstrip())
            if self.job.kind is JobKind.PERF and outcome is Outcome.PASS:
                self._step(f"checking the anchor on workload {workload.name}")
                anchor, anchored = validate.check_case(session, self.job.anchor, prepared, "The anchor")
                if anchored is not Outcome.PASS:
                    text = f"The anchor kernel itself fails workload {workload.name}: {anchor.reason}"
                    raise Failure(Outcome.INVALID_REFERENCE, text)
        worst = min(outcomes, key=_SEVERITY.index)
        failed = [case for case in self.cases if not case.passed]
        if not failed:
            return Outcome.PASS, f"{self._of(self.cases)} passed."
        first = f"{failed[0].workload}: {failed[0].reason}"
        return worst, f"{self._of(failed)} failed. {first}"

    def _of(self, cases: list[CaseResult]) -> str:
        return f"{len(cases)} of {len(self.cases)} workload{'' if len(self.cases) == 1 else 's'}"

    def _time_all(self, session: Session, workloads: list[Workload]) -> tuple[Outcome, str]:
        plan, both = self.job.plan, self.job.kind is JobKind.PERF
        runs = perf.order(plan, both)
        for workload in workloads:
            feed, feed_round = None, -1
            for number, side in runs:
                if number != feed_round:
                    feed, feed_round = perf.make_feed(session, workload, number), number
                self._step(f"round {number + 1} of {plan.rounds}, {side.value}, workload {workload.name}")
                bundle = self.job.anchor if both and side.value == "anchor" else self.job.candidate
                place = (number, side, len(self.rounds))
                self.rounds.append(perf.time_run(session, bundle, workload, feed, place))
        return Outcome.PASS, f"{len(self.rounds)} timed runs of {plan.launches} calls each; all outputs passed."
