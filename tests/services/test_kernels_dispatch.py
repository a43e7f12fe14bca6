"""The run path between app and worker, through the worker's own door: keys, claims, leases, logs, results."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from kernels.models import Kernel, Run, RunLog, RunResult, Worker
from kernels.services.dispatch import key_hash, reap, reap_run, resend_run
from kernels.services.runs import cancel_run, submit_run
from tests import factories as f
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict, Forbidden
from v2kb.core.models import Activity

pytestmark = pytest.mark.django_db

BASE = "/worker/v1"
REAPER = Actor.system(label="reaper")


class Door:
    """A worker's side of the run protocol, over HTTP."""

    def __init__(self, client):
        self.client = client

    def post(self, path, body, key="", scheme="Run", **headers):
        if key:
            headers["Authorization"] = f"{scheme} {key}"
        content = body if isinstance(body, bytes) else json.dumps(body)
        return self.client.post(f"{BASE}/{path}", content, content_type="application/json", headers=headers)

    def claim(self, run, key, worker=None):
        info = (worker or f.WORKER).model_dump(mode="json")
        return self.post(f"runs/{run.public_id}/claim", {"worker": info}, key)

    def ping(self, run, key, fence, **more):
        return self.post(f"runs/{run.public_id}/ping", {"fence": fence, "done": 1, "total": 3, **more}, key)

    def log(self, run, key, fence, seq, text):
        return self.post(f"runs/{run.public_id}/log", {"fence": fence, "seq": seq, "text": text}, key)

    def result(self, run, key, fence, body):
        return self.post(f"runs/{run.public_id}/result", {"fence": fence, "result": body}, key)

    def file(self, run, key, sha256):
        return self.client.get(f"{BASE}/runs/{run.public_id}/files/{sha256}", headers={"Authorization": f"Run {key}"})


@pytest.fixture
def door(client):
    return Door(client)


@pytest.fixture
def version():
    return f.kernel_version(f.op(), slug="mine", basis=Kernel.Basis.EXPLORATORY)


@pytest.fixture
def run(version):
    return submit_run(f.designer(), kind="validate", version=version)


def known_key(run) -> str:
    """Give the newest attempt a key that the test knows."""
    attempt = run.attempt_rows.latest("number")
    key = f"{'k' * 30}-{run.pk}-{attempt.number}"
    attempt.key_hash = key_hash(key)
    attempt.save(update_fields=["key_hash"])
    return key


def code(response) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def silent(run):
    """The lease has run out a second ago."""
    Run.objects.filter(pk=run.pk).update(lease_expires_at=timezone.now() - timedelta(seconds=1))


PASSED = {"rounds": []}


def body(run, outcome="PASS", **changes):
    return f.result(run, [], [], outcome, **changes)


# --- keys ---


def test_hello_wants_the_workers_token(door, settings):
    info = {"worker": f.WORKER.model_dump(mode="json")}
    assert code(door.post("hello", info)) == (403, "run.no_key")
    assert code(door.post("hello", info, "wrong", "Worker")) == (403, "run.bad_worker_token")
    assert code(door.post("hello", info, "wr\u00f6ng", "Worker")) == (403, "run.bad_worker_token")
    assert code(door.post("hello", info, settings.WORKER_TOKEN, "Run")) == (403, "run.no_key")
    assert not Worker.objects.exists()
    for _ in range(2):
        assert door.post("hello", info, settings.WORKER_TOKEN, "Worker").status_code == 200
    assert Worker.objects.get().queue == "cpu"
    info["worker"]["queue"] = "gpu.sm_1"
    assert code(door.post("hello", info, settings.WORKER_TOKEN, "Worker")) == (422, "run.unknown_queue")


@pytest.mark.parametrize("case", ["none", "wrong", "expired", "of another run", "worker token", "a session"])
def test_only_the_key_of_this_run_opens_it(door, client, run, version, settings, case):
    key = known_key(run)
    if case == "expired":
        run.attempt_rows.update(key_expires_at=timezone.now() - timedelta(seconds=1))
    if case == "of another run":
        key = known_key(submit_run(f.designer(), kind="validate", version=version))
    if case == "a session":
        client.force_login(f.designer().user)
    key = {"none": "", "wrong": "x" * 40, "worker token": settings.WORKER_TOKEN, "a session": ""}.get(case, key)
    expected = (403, "run.bad_key" if key else "run.no_key")
    assert code(door.claim(run, key)) == expected
    assert code(door.ping(run, key, 1)) == expected
    assert code(door.log(run, key, 1, 0, "x")) == expected
    assert code(door.result(run, key, 1, body(run))) == expected
    run.refresh_from_db()
    assert (run.state, run.fence) == ("queued", 0)


def test_only_the_hash_of_a_key_is_kept(run, django_capture_on_commit_callbacks, monkeypatch, version):
    sent = []
    monkeypatch.setattr("v2kb.core.jobs.app.send_task", lambda name, queue, kwargs, retry: sent.append((queue, kwargs)))
    with django_capture_on_commit_callbacks(execute=True):
        other = submit_run(f.designer(), kind="validate", version=version)
    ((queue, message),) = sent
    assert (queue, message["run_id"]) == ("cpu", other.public_id)
    assert other.attempt_rows.get().key_hash == key_hash(message["run_key"])
    assert message["run_key"] not in json.dumps(list(other.attempt_rows.values()), default=str)


# --- claims and fences ---


def test_a_run_is_claimed_once(door, run):
    key = known_key(run)
    reply = door.claim(run, key)
    assert reply.status_code == 200
    assert (reply.json()["fence"], reply.json()["attempt"], reply.json()["job"]["run_id"]) == (1, 1, run.public_id)
    assert code(door.claim(run, key)) == (409, "run.not_claimable")
    run.refresh_from_db()
    assert (run.state, run.fence) == ("claimed", 1)
    assert run.lease_expires_at > timezone.now()


def test_a_worker_of_another_queue_gets_nothing(door, run):
    other = f.WORKER.model_copy(update={"queue": "gpu.sm_90"})
    assert code(door.claim(run, known_key(run), other)) == (409, "run.wrong_queue")
    run.refresh_from_db()
    assert run.state == "queued"


@pytest.mark.parametrize("fence", [0, 2, 2**31 - 1])
def test_a_wrong_fence_is_refused_everywhere(door, run, fence):
    key = known_key(run)
    door.claim(run, key)
    assert code(door.ping(run, key, fence)) == (409, "run.stale_fence")
    assert code(door.log(run, key, fence, 0, "x")) == (409, "run.stale_fence")
    assert code(door.result(run, key, fence, body(run))) == (409, "run.stale_fence")
    run.refresh_from_db()
    assert run.state == "claimed"
    assert not RunLog.objects.exists()
    assert not RunResult.objects.exists()


def test_a_ping_renews_the_lease_and_shows_progress(door, run):
    key = known_key(run)
    door.claim(run, key)
    silent(run)
    reply = door.ping(run, key, 1, phase="round 2")
    assert reply.json()["cancel"] is False
    run.refresh_from_db()
    assert run.lease_expires_at > timezone.now()
    assert (run.state, run.progress_done, run.progress_total, run.progress_phase) == ("running", 1, 3, "round 2")


# --- the reaper ---


def test_a_silent_worker_costs_one_more_attempt_then_the_run_is_closed_as_infra(door, run):
    first = known_key(run)
    door.claim(run, first)
    assert reap(REAPER) == 0
    silent(run)
    assert reap(REAPER) == 1
    run.refresh_from_db()
    assert (run.state, run.attempts) == ("queued", 2)
    assert code(door.ping(run, first, 1)) == (409, "run.stale_fence")
    assert code(door.claim(run, first)) == (409, "run.not_claimable")
    second = known_key(run)
    assert door.claim(run, second).json()["fence"] == 2
    assert code(door.result(run, first, 1, body(run))) == (409, "run.stale_fence")
    assert code(door.result(run, first, 2, body(run))) == (409, "run.stale_fence")
    silent(run)
    assert reap(REAPER) == 1
    run.refresh_from_db()
    assert (run.state, run.outcome, run.attempts) == ("finished", "INFRA", 2)
    assert "20 s" in run.message
    assert code(door.result(run, second, 2, body(run))) == (409, "run.stale_fence")
    assert reap(REAPER) == 0


def test_the_reaper_looks_again_under_the_lock(door, run):
    door.claim(run, known_key(run))
    reap_run(REAPER, run_id=run.pk)
    run.refresh_from_db()
    assert (run.state, run.attempts) == ("claimed", 1)


def test_a_lost_message_is_sent_again_and_the_old_key_opens_nothing(door, run):
    old = known_key(run)
    f.claimed(submit_run(f.designer(), kind="validate", version=run.version))
    Run.objects.filter(pk=run.pk).update(sent_at=timezone.now() - timedelta(minutes=3))
    assert reap(REAPER) == 0, "its only worker is busy"
    Run.objects.exclude(pk=run.pk).update(state="cancelled")
    assert reap(REAPER) == 1
    assert code(door.claim(run, old)) == (403, "run.bad_key")
    assert reap(REAPER) == 0, "it was sent a moment ago"
    assert door.claim(run, known_key(run)).status_code == 200
    with pytest.raises(Forbidden):
        resend_run(f.designer(), run_id=run.pk)


# --- cancelling ---


def test_cancelling_a_queued_run_is_at_once(door, run):
    cancel_run(f.designer(), run=run)
    run.refresh_from_db()
    assert run.state == "cancelled"
    assert code(door.claim(run, known_key(run))) == (409, "run.not_claimable")
    assert code(door.result(run, known_key(run), 0, body(run))) == (409, "run.stale_fence")
    with pytest.raises(Conflict) as caught:
        cancel_run(f.designer(), run=run)
    assert caught.value.code == "run.over"


def test_cancelling_a_running_run_reaches_its_worker_with_the_next_ping(door, run):
    key = known_key(run)
    door.claim(run, key)
    cancel_run(f.designer(), run=run)
    run.refresh_from_db()
    assert run.state == "claimed"
    assert door.ping(run, key, 1).json()["cancel"] is True
    assert door.result(run, key, 1, body(run, "CANCELLED")).status_code == 200
    run.refresh_from_db()
    assert (run.state, run.outcome) == ("cancelled", "")


def test_a_cancelled_run_whose_worker_dies_is_not_attempted_again(door, run):
    door.claim(run, known_key(run))
    cancel_run(f.designer(), run=run)
    silent(run)
    reap(REAPER)
    run.refresh_from_db()
    assert (run.state, run.attempts) == ("cancelled", 1)


def test_who_cancels(run, make_actor):
    with pytest.raises(Forbidden):
        cancel_run(make_actor("val", "validator"), run=run)
    assert cancel_run(make_actor("opal", "operator"), run=run).state == "cancelled"


# --- logs and files ---


def test_the_log_is_kept_in_order_once_and_up_to_its_cap(door, run, settings):
    settings.RUN_LOG_BYTES = 10
    key = known_key(run)
    door.claim(run, key)
    for seq, text in [(1, "second"), (0, "first"), (0, "other"), (2, "third")]:
        assert door.log(run, key, 1, seq, text).status_code == 200
    assert list(run.log_chunks.values_list("seq", "text")) == [(0, "firs"), (1, "second")]
    assert code(door.log(run, key, 1, 3, "x" * (16 * 1024 + 1))) == (400, "run.bad_message")


def test_only_the_files_of_this_run_are_handed_out(door, run):
    other = f.kernel_version(run.op, slug="other", basis=Kernel.Basis.EXPLORATORY, source=b"def run(i): return 1\n")
    key = known_key(run)
    own = run.version.files.get().blob
    answer = door.file(run, key, own.sha256)
    assert (answer.status_code, answer.content) == (200, f.SOURCE)
    assert code(door.file(run, key, other.files.get().blob.sha256)) == (404, "run.no_such_file")
    assert code(door.file(run, key, "0" * 64)) == (404, "run.no_such_file")
    assert code(door.file(run, "x" * 40, own.sha256)) == (403, "run.bad_key")


# --- results ---


def test_the_same_result_twice_is_harmless_and_another_one_is_refused(door, run):
    key = known_key(run)
    door.claim(run, key)
    first = body(run)
    assert door.result(run, key, 1, first).status_code == 200
    lines = Activity.objects.filter(verb="kernels.store_result").count()
    assert door.result(run, key, 1, dict(reversed(first.items()))).status_code == 200
    assert code(door.result(run, key, 1, body(run, "FAIL_NUMERIC"))) == (409, "run.stale_fence")
    run.refresh_from_db()
    assert (run.state, run.outcome) == ("finished", "PASS")
    assert RunResult.objects.count() == 1
    assert Activity.objects.filter(verb="kernels.store_result").count() == lines + 1


def test_infra_is_attempted_once_more_then_kept(door, run):
    key = known_key(run)
    door.claim(run, key)
    infra = body(run, "INFRA", message="no sandbox here")
    assert door.result(run, key, 1, infra).status_code == 200
    run.refresh_from_db()
    assert (run.state, run.attempts) == ("queued", 2)
    assert run.attempt_rows.get(number=1).ended_why == "no sandbox here"
    assert not RunResult.objects.exists()
    key = known_key(run)
    door.claim(run, key)
    door.result(run, key, 2, infra)
    run.refresh_from_db()
    assert (run.state, run.outcome, run.result.content["message"]) == ("finished", "INFRA", "no sandbox here")


@pytest.mark.parametrize("outcome", ["WEDGE", "CRASHED", "OOM", "TIMEOUT", "TAMPERED"])
def test_other_ends_are_never_attempted_again(door, run, outcome):
    key = known_key(run)
    door.claim(run, key)
    door.result(run, key, 1, body(run, outcome))
    run.refresh_from_db()
    assert (run.state, run.outcome, run.attempts) == ("finished", outcome, 1)


@pytest.mark.parametrize(
    "message",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"fence": 1}', b'{"fence": -1, "result": {}}', b"[" * 5000],
)
def test_a_body_that_is_no_result_is_a_400(door, run, message):
    key = known_key(run)
    door.claim(run, key)
    assert code(door.post(f"runs/{run.public_id}/result", message, key)) == (400, "run.bad_message")
    run.refresh_from_db()
    assert run.state == "claimed"


@pytest.mark.parametrize(
    "change",
    [
        {"outcome": "GREAT"},
        {"verdict": "WIN"},
        {"environment": {"arch": 1}},
        {"started_at": "yesterday"},
        {"cases": [{"workload": "small"}]},
    ],
)
def test_a_result_with_unknown_or_wrong_fields_is_refused(door, run, change):
    key = known_key(run)
    door.claim(run, key)
    answer = door.result(run, key, 1, {**body(run), **change})
    assert code(answer) == (400, "run.bad_message")
    assert answer.json()["field"].startswith("result.")


@pytest.mark.parametrize("mebibytes", [9, 13])  # beyond our bound, and beyond what Django reads at all
def test_a_body_of_many_megabytes_is_refused(door, run, mebibytes):
    key = known_key(run)
    door.claim(run, key)
    large = {**body(run), "environment": {"x": "y" * (mebibytes * 1024 * 1024)}}
    assert code(door.result(run, key, 1, large)) == (413, "run.body_too_large")


def test_nul_bytes_of_a_candidates_message_do_not_lose_the_result(door, run):
    key = known_key(run)
    door.claim(run, key)
    assert door.log(run, key, 1, 0, "a\x00b").status_code == 200
    assert door.ping(run, key, 1, phase="c\x00d").status_code == 200
    ended = body(run, "CRASHED", message="ValueError: \x00 and \\u0000")
    assert door.result(run, key, 1, ended).status_code == 200
    run.refresh_from_db()
    assert run.message == "ValueError: \ufffd and \\u0000"
    assert run.log_chunks.get().text == "a\ufffdb"


@pytest.mark.parametrize(("done", "seq"), [(2**31, 0), (0, 2**40)])
def test_counts_beyond_their_columns_are_a_400(door, run, done, seq):
    key = known_key(run)
    door.claim(run, key)
    answers = [door.ping(run, key, 1, done=done), door.log(run, key, 1, seq, "x")]
    assert [a.status_code for a in answers] == [400 if done else 200, 400 if seq else 200]


def test_wrong_methods_are_405(client, run):
    for path in ("claim", "ping", "log", "result"):
        assert client.get(f"{BASE}/runs/{run.public_id}/{path}").status_code == 405
    assert client.post(f"{BASE}/runs/{run.public_id}/files/{'0' * 64}").status_code == 405
