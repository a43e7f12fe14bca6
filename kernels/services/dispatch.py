"""The run path between app and worker: keys, claims with fencing numbers, pings, logs, the reaper.

The database row is the truth. A message may be lost, doubled or late; only a claim that fits the row counts.
"""

import hashlib
import secrets
from datetime import timedelta

from django.conf import settings
from django.db.models import Sum
from django.db.models.functions import Length
from django.utils import timezone

from evidence.services.watching import note_driver
from kernels import policies
from kernels.models import FileBlob, Run, RunAttempt, RunLog, VersionFile, Worker
from v2kb.broker import RUN_QUEUES
from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict, Forbidden, Missing, Refusal
from v2kb.core.jobs import send_on_commit
from v2kb.core.moves import move, require_move
from v2kb.core.service import service
from v2kb.rules.states import requeue_refused
from v2kb.wire.messages import TASK_NAME, ClaimReply, Job, LogChunk, Ping, PingReply, RunMessage, WorkerInfo
from v2kb.wire.outcomes import Outcome

KEY_LIFE = timedelta(hours=24)
RESEND_AFTER = timedelta(minutes=2)
LIVE = (Run.State.CLAIMED, Run.State.RUNNING)


def key_hash(key: str) -> str:
    """What is kept of a run key."""
    return hashlib.sha256(key.encode()).hexdigest()


def issue_attempt(run: Run) -> RunAttempt:
    """Make the next attempt with a key of its own and send its message after the commit."""
    key = secrets.token_urlsafe(32)
    run.attempts += 1
    run.sent_at = timezone.now()
    run.save(update_fields=["attempts", "sent_at"])
    attempt = RunAttempt.objects.create(
        run=run, number=run.attempts, key_hash=key_hash(key), key_expires_at=timezone.now() + KEY_LIFE
    )
    _send(run, key)
    return attempt


def _send(run: Run, key: str) -> None:
    message = RunMessage(run_id=run.public_id, base_url=settings.BASE_URL, run_key=key)
    send_on_commit(TASK_NAME, run.queue, message.model_dump(mode="json"))


def attempt_of_key(run_id: str, key: str) -> RunAttempt:
    """The attempt that this key opens. Raises Forbidden for a wrong or expired key, one answer for both."""
    attempt = (
        RunAttempt.objects.select_related("run")
        .filter(key_hash=key_hash(key), run__public_id=run_id, key_expires_at__gt=timezone.now())
        .first()
    )
    if attempt is None:
        raise Forbidden("run.bad_key", "This run key opens no attempt of this run.")
    return attempt


def _locked(attempt: RunAttempt) -> Run:
    return Run.objects.select_for_update().get(pk=attempt.run_id)


def _check_fence(run: Run, attempt: RunAttempt, fence: int) -> None:
    if run.fence != fence or attempt.fence != fence or run.state not in LIVE:
        raise Conflict(
            "run.stale_fence",
            f"{run.public_id} has moved on: fence {run.fence}, state {run.state}.",
            fix="Stop working on it.",
            facts={"fence": run.fence, "state": run.state},
        )


@service("kernels.worker_hello", silent=True)
def worker_hello(actor: Actor, *, info: WorkerInfo) -> Worker:
    """Note that a worker is alive, and what it is; rows measured on another driver are flagged. Raises Refusal
    run.unknown_queue."""
    policies.may_report(actor)
    if info.queue not in RUN_QUEUES:
        raise Refusal(
            "run.unknown_queue",
            f"No run queue is called {info.queue!r}.",
            field="worker.queue",
            facts={"known": list(RUN_QUEUES)},
        )
    facts = info.model_dump(mode="json", exclude={"name", "queue"})
    worker, _ = Worker.objects.update_or_create(
        name=info.name, defaults={"queue": info.queue, "facts": facts, "last_seen": timezone.now()}
    )
    if info.driver:
        watcher = Actor.system("worker", label="watcher")
        note_driver(watcher, driver=info.driver, arch=info.queue.removeprefix("gpu."), worker=info.name)
    return worker


@service("kernels.claim_run")
def claim_run(actor: Actor, *, attempt: RunAttempt, info: WorkerInfo) -> ClaimReply:
    """Give the run to a worker, under a new fencing number. Raises Conflict when it is not to be had."""
    policies.may_report(actor)
    run = _locked(attempt)
    require_move(run, Run.State.CLAIMED, "run.not_claimable")
    if attempt.number != run.attempts or attempt.fence is not None:
        raise Conflict("run.not_claimable", f"{run.public_id} is {run.state}; this attempt can't claim it.")
    if info.queue != run.queue:
        raise Conflict("run.wrong_queue", f"{run.public_id} waits on {run.queue}, not on {info.queue}.")
    worker = worker_hello(actor, info=info)
    now = timezone.now()
    run.fence += 1
    move(run, Run.State.CLAIMED, "run.not_claimable")
    run.claimed_at = now
    run.lease_expires_at = now + timedelta(seconds=settings.RUN_LEASE_S)
    run.save(update_fields=["fence", "state", "claimed_at", "lease_expires_at"])
    attempt.fence, attempt.worker, attempt.claimed_at, attempt.last_ping_at = run.fence, worker, now, now
    attempt.save(update_fields=["fence", "worker", "claimed_at", "last_ping_at"])
    record(
        actor,
        "kernels.claim_run",
        run,
        f"claimed by {worker.name}",
        after={"fence": run.fence, "attempt": attempt.number},
    )
    return ClaimReply(
        fence=run.fence,
        attempt=attempt.number,
        lease_s=settings.RUN_LEASE_S,
        ping_s=settings.RUN_PING_S,
        job=Job.model_validate(run.job),
    )


@service("kernels.ping_run", silent=True)
def ping_run(actor: Actor, *, attempt: RunAttempt, ping: Ping) -> PingReply:
    """Renew the lease, note the progress, and say whether to stop."""
    policies.may_report(actor)
    run = _locked(attempt)
    _check_fence(run, attempt, ping.fence)
    now = timezone.now()
    if run.state == Run.State.CLAIMED:
        move(run, Run.State.RUNNING, "run.stale_fence")
    run.lease_expires_at = now + timedelta(seconds=settings.RUN_LEASE_S)
    run.progress_done, run.progress_total, run.progress_phase = ping.done, ping.total, ping.phase[:80]
    run.save(update_fields=["state", "lease_expires_at", "progress_done", "progress_total", "progress_phase"])
    attempt.last_ping_at = now
    attempt.save(update_fields=["last_ping_at"])
    return PingReply(cancel=run.cancel_requested_at is not None)


@service("kernels.append_log", silent=True)
def append_log(actor: Actor, *, attempt: RunAttempt, chunk: LogChunk) -> None:
    """Keep a piece of the log, up to the cap of a run; the same piece twice is kept once."""
    policies.may_report(actor)
    run = _locked(attempt)
    _check_fence(run, attempt, chunk.fence)
    used = run.log_chunks.aggregate(size=Sum(Length("text")))["size"] or 0
    room = settings.RUN_LOG_BYTES - used
    if room > 0:
        RunLog.objects.get_or_create(
            run=run,
            fence=chunk.fence,
            seq=chunk.seq,
            defaults={"text": chunk.text[:room].replace("\x00", "\N{REPLACEMENT CHARACTER}")},
        )


def file_of_run(attempt: RunAttempt, sha256: str) -> bytes:
    """The content of a file that this run needs. Raises Missing for any other."""
    run = attempt.run
    versions = [run.version_id, run.anchor_version_id]
    if not VersionFile.objects.filter(version__in=versions, blob__sha256=sha256).exists():
        raise Missing("run.no_such_file", "This run needs no such file.")
    return bytes(FileBlob.objects.get(sha256=sha256).content)


def requeue_or_close(actor: Actor, run: Run, why: str) -> None:
    """Queue a run once more under a new key, or close it as INFRA when its attempts are used up. Holds the row lock."""
    run.attempt_rows.filter(number=run.attempts).update(ended_at=timezone.now(), ended_why=why[:200])
    if run.cancel_requested_at is not None:
        move(run, Run.State.CANCELLED, "run.over")
        run.message, run.finished_at = f"Cancelled; {why}", timezone.now()
        run.save(update_fields=["state", "message", "finished_at"])
        record(actor, "kernels.close_run", run, f"cancelled: {why}")
    elif not requeue_refused(run.attempts):
        move(run, Run.State.QUEUED, "run.over")
        run.lease_expires_at = None
        run.save(update_fields=["state", "lease_expires_at"])
        issue_attempt(run)
        record(actor, "kernels.requeue_run", run, f"queued once more: {why}", after={"attempt": run.attempts})
    else:
        move(run, Run.State.FINISHED, "run.over")
        run.outcome, run.finished_at = Outcome.INFRA.value, timezone.now()
        run.message = f"{why} Both attempts are used up."
        run.save(update_fields=["state", "outcome", "finished_at", "message"])
        record(actor, "kernels.close_run", run, f"closed as INFRA: {why}", after={"outcome": run.outcome})


@service("kernels.reap_run")
def reap_run(actor: Actor, *, run_id: int) -> None:
    """Take back one run whose worker has gone silent. Looks again under the lock."""
    policies.may_reap(actor)
    run = Run.objects.select_for_update().get(pk=run_id)
    if run.state in LIVE and run.lease_expires_at < timezone.now():
        requeue_or_close(actor, run, f"The worker has not been heard of for {settings.RUN_LEASE_S} s.")
    else:
        record(actor, "kernels.reap_run", run, "alive after all")


@service("kernels.resend_run")
def resend_run(actor: Actor, *, run_id: int) -> None:
    """Send the message of a queued run again, under a new key; the old message then opens nothing."""
    policies.may_reap(actor)
    run = Run.objects.select_for_update().get(pk=run_id)
    if run.state != Run.State.QUEUED:
        record(actor, "kernels.resend_run", run, "taken meanwhile")
        return
    key = secrets.token_urlsafe(32)
    run.attempt_rows.filter(number=run.attempts).update(
        key_hash=key_hash(key), key_expires_at=timezone.now() + KEY_LIFE
    )
    run.sent_at = timezone.now()
    run.save(update_fields=["sent_at"])
    _send(run, key)
    record(actor, "kernels.resend_run", run, "its message was sent again")


def reap(actor: Actor) -> int:
    """Take back runs with an expired lease; send again what waits although a worker is idle. Returns how many."""
    now = timezone.now()
    lost = list(Run.objects.filter(state__in=LIVE, lease_expires_at__lt=now).values_list("pk", flat=True))
    for pk in lost:
        reap_run(actor, run_id=pk)
    alive = Worker.objects.filter(last_seen__gt=now - timedelta(seconds=30)).values_list("queue", flat=True)
    busy = Run.objects.filter(state__in=LIVE).values_list("queue", flat=True)
    idle_queues = set(alive) - set(busy)
    waiting = list(
        Run.objects.filter(state=Run.State.QUEUED, queue__in=idle_queues, sent_at__lt=now - RESEND_AFTER).values_list(
            "pk", flat=True
        )
    )
    for pk in waiting:
        resend_run(actor, run_id=pk)
    return len(lost) + len(waiting)
