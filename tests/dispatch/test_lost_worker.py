"""Workers that die and runs that are cancelled: the run goes on or ends, and nothing of it stays behind."""

import os
import time

import psutil
import requests

from kernels.services.dispatch import reap
from kernels.services.runs import cancel_run
from tests import factories as f
from tests.dispatch import kernels
from tests.dispatch.harness import living, log_of, send_run, until, wait_for_log, wait_until_over
from v2kb.core.activity import activity_of


def post(dispatcher, run, key, what, body):
    """Send a worker's message with this run key; returns the answer's status and error code."""
    answer = requests.post(
        f"{dispatcher.app_url}/worker/v1/runs/{run.public_id}/{what}",
        json={"schema_version": 1, **body},
        headers={"Authorization": f"Run {key}"},
        timeout=60,
    )
    return answer.status_code, answer.json().get("code")


def test_a_killed_workers_run_is_done_by_another_and_its_late_result_is_refused(dispatcher, settings, system):
    settings.RUN_LEASE_S, settings.RUN_PING_S = 5, 1
    first = dispatcher.start_worker("first")
    run = send_run(kernels.WAITING, "waiting")
    wait_for_log(run, kernels.RUNNING, fence=1)
    children = first.descendants()
    assert children
    first.kill()
    until(lambda: not living(children), "the end of the killed worker's processes", 60)

    def taken_back() -> bool:
        reap(system)
        run.refresh_from_db()
        return run.attempts == 2

    killed = time.monotonic()
    until(taken_back, "the second attempt")
    print(f"\nqueued again {time.monotonic() - killed:.1f} s after the worker's end, lease {settings.RUN_LEASE_S} s")
    assert run.state == "queued"
    old_key, late = dispatcher.key_of(run), {"fence": 1, "result": f.result(run, [], [])}
    assert post(dispatcher, run, old_key, "result", late) == (409, "run.stale_fence")

    second = dispatcher.start_worker("second")
    wait_for_log(run, kernels.RUNNING, fence=2)
    assert post(dispatcher, run, old_key, "result", late) == (409, "run.stale_fence")
    assert post(dispatcher, run, old_key, "ping", {"fence": 1, "done": 0, "total": 1}) == (409, "run.stale_fence")
    assert post(dispatcher, run, old_key, "log", {"fence": 1, "seq": 99, "text": "late"}) == (409, "run.stale_fence")
    second.let_go()
    run = wait_until_over(run)
    assert (run.outcome, run.fence, run.attempts) == ("PASS", 2, 2)
    assert post(dispatcher, run, old_key, "result", late) == (409, "run.stale_fence")
    assert run.result.fence == 2
    assert "late" not in log_of(run)
    killed_attempt, finished_attempt = run.attempt_rows.all()
    assert (killed_attempt.worker.name, finished_attempt.worker.name) == ("first", "second")
    assert "not been heard of" in killed_attempt.ended_why
    verbs = [line.verb for line in activity_of(run, 50)]
    assert (verbs.count("kernels.requeue_run"), verbs.count("kernels.store_result")) == (1, 1)
    if not dispatcher.broker_url.startswith("redis"):  # Redis gives it back only after its visibility timeout
        until(lambda: f"run {run.public_id} is not ours to do" in second.log, "the killed worker's message to return")


def test_a_run_that_kills_two_workers_is_closed_and_the_next_run_passes(dispatcher, settings, system):
    settings.RUN_LEASE_S, settings.RUN_PING_S = 5, 1
    run = send_run(kernels.WAITING, "waiting")
    for number in (1, 2):
        worker = dispatcher.start_worker(f"victim-{number}")
        wait_for_log(run, kernels.RUNNING, fence=number)
        worker.kill()

        def closed_or_queued(number=number) -> bool:
            reap(system)
            run.refresh_from_db()
            return run.is_over or run.attempts > number

        until(closed_or_queued, f"the end of attempt {number}")
    assert (run.state, run.outcome) == ("finished", "INFRA")
    assert "Both attempts are used up" in run.message
    dispatcher.start_worker("survivor")
    assert wait_until_over(send_run(kernels.HONEST, "honest")).outcome == "PASS"
    run.refresh_from_db()
    assert (run.outcome, run.fence) == ("INFRA", 2)


def test_cancelling_a_running_run_leaves_no_process_and_the_next_run_passes(dispatcher, settings):
    settings.RUN_PING_S = 1
    worker = dispatcher.start_worker()
    run = send_run(kernels.WITH_GRANDCHILD, "hanging")
    wait_for_log(run, kernels.RUNNING, fence=1)
    children = worker.descendants()
    groups = {group_of(process) for process in children}
    assert len(groups) >= 3, "the fence, the kernel and its grandchild are in groups of their own"
    asked = time.monotonic()
    cancel_run(f.designer(), run=run)
    run = wait_until_over(run)
    print(f"\ncancelled {time.monotonic() - asked:.1f} s after it was asked for")
    assert (run.state, run.outcome, run.message) == ("cancelled", "", "The run was cancelled.")
    until(lambda: not living(children), "the end of the kernel's processes", 60)
    assert not [p for p in psutil.process_iter() if group_of(p) in groups and living([p])]
    assert wait_until_over(send_run(kernels.HONEST, "honest")).outcome == "PASS"
    worker.check_alive()


def test_a_run_cancelled_while_it_waits_is_never_claimed(dispatcher):
    waiting = send_run(kernels.HONEST, "first")
    cancel_run(f.designer(), run=waiting)
    dispatcher.start_worker()
    assert wait_until_over(send_run(kernels.HONEST, "second")).outcome == "PASS"
    waiting.refresh_from_db()
    assert (waiting.state, waiting.fence, log_of(waiting)) == ("cancelled", 0, "")


def group_of(process: psutil.Process) -> int:
    """The process group of a process; 0 when it has just ended."""
    try:
        return os.getpgid(process.pid)
    except ProcessLookupError:
        return 0
