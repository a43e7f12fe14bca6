"""From broker message to posted result, against an app that knows only the protocol."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest
from celery import Celery

from v2kb import broker
from v2kb.wire import MAX_LOG_CHUNK, TASK_NAME, Outcome, RunMessage, WorkerInfo
from v2kb.worker import execute as execution
from v2kb.worker.client import HelloClient, RunClient
from v2kb.worker.execute import execute, infra_result
from v2kb.worker.hello import HelloThread, describe
from v2kb.worker.settings import WorkerSettings
from v2kb.worker.stream import LogStream, cut

from .conftest import LIMITS, make_job, sample
from .fake_app import RUN_KEY, WORKER_TOKEN, FakeApp, serve

ROOT = Path(__file__).resolve().parents[2]
WORKER = WorkerInfo(name="w1", queue="cpu")


@pytest.fixture
def app():
    return FakeApp(*make_job(sample("honest_plain")))


def message(url, key=RUN_KEY):
    return RunMessage(run_id="run-1", base_url=url, run_key=key)


def quick_result(outcome=Outcome.PASS):
    return infra_result("made up", datetime.now(UTC)).model_copy(update={"outcome": outcome})


def test_a_run_is_claimed_measured_and_reported(app):
    with serve(app) as url:
        assert execute(message(url), WORKER, "cpu") == "PASS"
    (request,) = app.results
    assert request.fence == 3
    assert request.result.outcome is Outcome.PASS
    assert request.result.cases[0].passed
    assert "checking workload small" in app.log
    assert app.pings[0]["fence"] == 3


def test_a_run_that_another_worker_has_is_dropped(app):
    app.claimed = True
    with serve(app) as url:
        assert execute(message(url), WORKER, "cpu") == "dropped"
    assert not app.results
    assert not app.pings


def test_a_wrong_key_is_dropped(app):
    with serve(app) as url:
        assert execute(message(url, "another-run-key-000"), WORKER, "cpu") == "dropped"
    assert not app.claimed


def test_an_app_that_is_briefly_away_is_asked_again(app):
    app.failures = 3
    with serve(app) as url:
        assert execute(message(url), WORKER, "cpu", lambda *_: quick_result()) == "PASS"
    assert len(app.results) == 1


def test_an_app_that_is_gone_costs_only_the_time_for_trying(monkeypatch):
    monkeypatch.setattr(RunClient, "CLAIM_TRY_S", 0.3)
    assert execute(message("http://127.0.0.1:9"), WORKER, "cpu") == "unclaimed"


def test_an_exception_in_the_worker_is_reported_as_infra(app):
    def broken(*_):
        raise ZeroDivisionError("a bug of ours")

    with serve(app) as url:
        assert execute(message(url), WORKER, "cpu", broken) == "INFRA"
    assert app.results[0].result.outcome is Outcome.INFRA
    assert "a bug of ours" in app.results[0].result.message
    assert "Traceback" in app.log


def test_a_file_with_other_content_than_its_hash_is_refused(app):
    app.contents = {sha256: data + b"\nimport os" for sha256, data in app.contents.items()}
    with serve(app) as url:
        assert execute(message(url), WORKER, "cpu") == "INFRA"
    assert "hash" in app.results[0].result.message


def test_cancel_in_a_ping_kills_the_kernel(app):
    job, app.contents = make_job(sample("hog_loop"), limits=LIMITS.model_copy(update={"case_s": 60}))
    app.job = job
    app.on_ping = lambda: setattr(app, "cancel", "checking workload small" in app.pings[-1]["phase"])
    began, others = time.monotonic(), set(psutil.Process().children(recursive=True))
    with serve(app) as url:
        assert execute(message(url), WORKER, "cpu") == "CANCELLED"
    assert time.monotonic() - began < 30
    assert set(psutil.Process().children(recursive=True)) <= others


def test_a_lost_claim_ends_the_kernel_and_posts_nothing(app):
    job, app.contents = make_job(sample("hog_loop"), limits=LIMITS.model_copy(update={"case_s": 60}))
    app.job = job
    app.on_ping = lambda: setattr(app, "stale", len(app.pings) > 1)
    with serve(app) as url:
        assert execute(message(url), WORKER, "cpu") == "lost"
    assert not app.results


def test_no_ping_comes_while_or_after_the_result_is_posted(app):
    app.on_result = lambda: (app.pinged.clear(), app.pinged.wait(1.5))
    with serve(app) as url:
        assert execute(message(url), WORKER, "cpu", lambda *_: app.pinged.wait(10) and quick_result()) == "PASS"
    assert not app.pinged.is_set(), "a ping after the result is a refusal in the app's log"


def test_log_arrives_whole_in_order_and_in_small_chunks(app):
    text = "äöü€ and more\n" * 20_000
    app.failures = 2
    with serve(app) as url, LogStream(RunClient(message(url)), 3) as stream:
        for start in range(0, len(text), 777):
            stream.write(text[start : start + 777])
    assert app.log == text


def test_cut_never_splits_a_character():
    for length in range(1, 12):
        piece = cut("a€ü𝄞z" * 3, length)
        assert len(piece.encode()) <= length
        assert ("a€ü𝄞z" * 3).startswith(piece)
    assert cut("x" * (2 * MAX_LOG_CHUNK), MAX_LOG_CHUNK) == "x" * MAX_LOG_CHUNK


def test_hello_goes_on_and_survives_an_app_that_is_away(app, caplog):
    app.failures = 1
    settings = WorkerSettings("", WORKER_TOKEN, "cpu", "w1", "embedded://", ROOT)
    with serve(app) as url:
        thread = HelloThread(HelloClient(url, WORKER_TOKEN), describe(settings), interval_s=0.05)
        thread.start()
        assert app.greeted.wait(10)
        thread.stop()
    said = app.hellos[0]["worker"]
    assert said["queue"] == "cpu"
    assert said["sandbox"]
    assert len(said["harness_hash"]) == 64
    assert "can't be reached" in caplog.text


def start_worker(url, data_dir, **environment):
    command = [sys.executable, "-m", "v2kb.worker", "--app-url", url, "--queue", "cpu", "--name", "w1",
               "--broker-url", "embedded://", "--data-dir", str(data_dir)]  # fmt: skip
    return subprocess.Popen(command, cwd=ROOT, env=os.environ | {"V2KB_WORKER_TOKEN": WORKER_TOKEN} | environment)


def send(data_dir, url):
    sender = Celery("sender")
    broker.configure(sender, "embedded://", data_dir)
    sender.send_task(TASK_NAME, queue="cpu", kwargs=message(url).model_dump(), retry=False)


def test_a_worker_process_takes_a_message_from_the_broker_and_ends_cleanly(app, tmp_path):
    with serve(app) as url:
        sender = Celery("sender")
        broker.configure(sender, "embedded://", tmp_path)
        sender.send_task(TASK_NAME, queue="cpu", kwargs={"run_id": "../x"}, retry=False)  # dropped, not fatal
        worker = start_worker(url, tmp_path)
        assert app.greeted.wait(60)
        send(tmp_path, url)
        assert app.ended.wait(60)
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(20) == 0
    assert app.results[0].result.outcome is Outcome.PASS
    assert app.hellos[0]["worker"]["name"] == "w1"
    assert not list((tmp_path / "broker").glob("*/*/*.msg")), "both messages are acknowledged"


@contextmanager
def worker_in_a_run(app, tmp_path):
    """(address of the app, worker, its child processes) while a kernel that doesn't end runs."""
    job, app.contents = make_job(sample("hog_loop"), limits=LIMITS.model_copy(update={"case_s": 100}))
    app.job = job
    running = threading.Event()
    app.on_ping = lambda: "workload" in json.dumps(app.pings[-1]) and running.set()
    with serve(app) as url:
        worker = start_worker(url, tmp_path)
        send(tmp_path, url)
        assert running.wait(60)
        yield url, worker, psutil.Process(worker.pid).children(recursive=True)


def test_a_worker_told_to_end_gives_its_run_up_and_says_so(app, tmp_path):
    with worker_in_a_run(app, tmp_path) as (_, worker, children):
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(30) == 0
    assert app.results[0].result.outcome is Outcome.INFRA
    assert "stopped" in app.results[0].result.message
    assert not [child for child in children if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]


def test_a_killed_workers_kernel_dies_with_it_and_its_message_comes_back(app, tmp_path):
    with worker_in_a_run(app, tmp_path) as (url, worker, children):
        worker.kill()
        worker.wait()
        _, alive = psutil.wait_procs(children, timeout=10)
        assert not [child for child in alive if child.status() != psutil.STATUS_ZOMBIE]
        app.job, app.contents = make_job(sample("honest_plain"))
        app.claimed = False
        second = start_worker(url, tmp_path)
        assert app.ended.wait(60)
        second.send_signal(signal.SIGTERM)
        assert second.wait(20) == 0
    assert [request.result.outcome for request in app.results] == [Outcome.PASS]


def test_a_stopping_worker_reports_infra_for_the_run_in_hand(app, monkeypatch):
    stop = threading.Event()
    stop.set()
    monkeypatch.setattr(execution, "stopping", stop)
    with serve(app) as url:
        assert execute(message(url), WORKER, "cpu") == "INFRA"


def test_the_command_says_what_is_wrong_with_its_token_file(tmp_path):
    done = subprocess.run([sys.executable, "-m", "v2kb.worker", "--token-file", str(tmp_path / "none")], cwd=ROOT,
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 2
    assert "can't be read" in done.stderr
