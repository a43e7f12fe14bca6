"""One run from its broker message to its posted result."""

import logging
import threading
import traceback
from collections.abc import Callable
from datetime import UTC, datetime

from v2kb.wire import ClaimReply, Job, Outcome, ResultRequest, RunMessage, RunResult, WorkerInfo
from v2kb.worker.client import Refused, RunClient, Unreachable
from v2kb.worker.harness import facts, sandbox
from v2kb.worker.harness.watch import Watch
from v2kb.worker.stream import Heartbeat, LogStream

log = logging.getLogger(__name__)

stopping = threading.Event()
"""Set when the worker is told to end: a run in hand is given up and reported as INFRA."""

Harness = Callable[[Job, dict[str, bytes], str, Watch], RunResult]


def execute(message: RunMessage, worker: WorkerInfo, device: str, harness: Harness | None = None) -> str:
    """Claim, measure, report. Returns what became of it in a word; never raises for what the app or a run does."""
    client = RunClient(message)
    try:
        claim = client.claim(worker)
    except Refused as refusal:
        log.info("run %s is not ours to do (%s)", message.run_id, refusal)
        return "dropped"
    except (Unreachable, ValueError) as trouble:
        log.error("run %s could not be claimed: %s", message.run_id, trouble)
        return "unclaimed"
    log.info("run %s claimed, fence %d, attempt %d", message.run_id, claim.fence, claim.attempt)
    with Heartbeat(client, claim.fence, claim.ping_s, claim.lease_s) as heartbeat:
        result = _measure(client, claim, heartbeat, device, harness or _real_harness)
    if heartbeat.lost:
        log.warning("run %s was lost to another claim; its result is dropped", message.run_id)
        return "lost"
    return _report(client, claim, result)  # no ping beside it: one that comes after the result is refused


def _real_harness(job: Job, contents: dict[str, bytes], device: str, watch: Watch) -> RunResult:
    from v2kb.worker.harness.job import run_job  # imports torch, so only with the first run

    return run_job(job, contents, device, watch)


def _measure(client: RunClient, claim: ClaimReply, heartbeat: Heartbeat, device: str, harness: Harness) -> RunResult:
    started_at = datetime.now(UTC)
    with LogStream(client, claim.fence) as stream:

        def stopped() -> Outcome | None:
            return Outcome.INFRA if stopping.is_set() else heartbeat.verdict

        try:
            contents = _files(client, claim.job)
            return harness(claim.job, contents, device, Watch(stream.write, heartbeat.progress, stopped))
        except Exception as error:
            log.exception("run %s failed in the worker", claim.job.run_id)
            stream.write(traceback.format_exc())
            return infra_result(f"The worker failed: {type(error).__name__}: {error}", started_at)


def _files(client: RunClient, job: Job) -> dict[str, bytes]:
    wanted = {
        file.sha256: file for bundle in (job.candidate, job.anchor) if bundle is not None for file in bundle.files
    }
    return {sha256: client.file(file) for sha256, file in wanted.items()}


def infra_result(message: str, started_at: datetime) -> RunResult:
    """Return the result of a run that the machine, not the kernel, ended."""
    return RunResult(
        outcome=Outcome.INFRA,
        message=message[:4000],
        harness_hash=facts.harness_hash(),
        checker_hash=facts.checker_hash(),
        sandbox=sandbox.probe().said,
        started_at=started_at,
        finished_at=datetime.now(UTC),
    )


def _report(client: RunClient, claim: ClaimReply, result: RunResult) -> str:
    try:
        client.result(ResultRequest(fence=claim.fence, result=result))
    except Refused as refusal:
        log.error("the result of run %s was refused: %s", claim.job.run_id, refusal)
        return "refused"
    except Unreachable as trouble:
        log.error("the result of run %s could not be posted: %s", claim.job.run_id, trouble)
        return "unposted"
    log.info("run %s ended: %s", claim.job.run_id, result.outcome.value)
    return result.outcome.value
