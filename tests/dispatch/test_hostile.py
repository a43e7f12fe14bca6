"""Hostile kernels through the whole path, on one worker: each ends with a clear message and the next run passes."""

import functools
import html
from dataclasses import dataclass

import pytest
from django.test import Client

from kernels.models import RunLog
from tests.dispatch import kernels
from tests.dispatch.harness import BROKER_URL, Dispatcher, log_of, send_run, until, wait_until_over
from v2kb.core.models import User
from v2kb.wire.messages import Limits
from v2kb.worker.harness import sandbox

SHORT = functools.partial(
    Limits, case_s=10, memory_bytes=512 * 1024**2, output_bytes=32 * 1024**2, processes=16, log_bytes=64 * 1024
)


@pytest.fixture(scope="module")
def shared(live_server, tmp_path_factory):
    """A dispatcher with one worker for all tests of this module."""
    made = Dispatcher(BROKER_URL, tmp_path_factory.mktemp("broker"), live_server.url)
    made.start_worker("shared", hello=False)
    yield made
    made.stop()


@pytest.fixture
def worker(shared, connect, monkeypatch):
    """The shared worker; runs are submitted with short limits."""
    connect(shared)
    monkeypatch.setattr("kernels.services.runs.Limits", SHORT)
    return shared.workers[0]


def page_of(run) -> str:
    """The run's page as a designer sees it, as plain text with its marks resolved."""
    client = Client()
    client.force_login(User.objects.get(username="dora"), backend="django.contrib.auth.backends.ModelBackend")
    answer = client.get(run.get_absolute_url())
    assert answer.status_code == 200
    return html.unescape(answer.content.decode())


def check_page(run) -> None:
    """The page says how the run ended: the message's sentence, and every line of a traceback, be it in the log."""
    page = page_of(run)
    for line in run.message.splitlines():
        assert line in page
    assert f"outcome {run.outcome}" in page, "the log is on the page"


@dataclass(frozen=True)
class Hostile:
    name: str
    source: str
    outcomes: tuple[str, ...]
    words: tuple[str, ...]


HOSTILE = [
    Hostile("raises", kernels.RAISES, ("CRASHED",), ("raised ValueError when it was called: the tile is odd",)),
    Hostile("raises-at-load", kernels.RAISES_AT_LOAD, ("COMPILE_ERROR",), ("ModuleNotFoundError while it was loaded",)),
    Hostile("loops", kernels.LOOPS, ("TIMEOUT",), ("ran for more than 10 s in one case",)),
    Hostile("allocates", kernels.ALLOCATES, ("OOM",), ("memory",)),
    Hostile("forks", kernels.FORKS, ("CRASHED",), ("too many processes", "BlockingIOError")),
    Hostile("segfaults", kernels.SEGFAULTS, ("CRASHED",), ("ended by SIGSEGV",)),
    Hostile("wrong-shape", kernels.WRONG_SHAPE, ("FAIL_SHAPE",), ("shape [1, 64]",)),
    Hostile("nan", kernels.NAN, ("FAIL_NUMERIC",), ("NaN",)),
]


def check_next_run(worker) -> None:
    """An honest run passes on the same worker, and nothing of the runs before is left."""
    run = wait_until_over(send_run(kernels.HONEST, "honest"))
    assert run.outcome == "PASS", run.message
    worker.check_alive()
    until(lambda: not worker.descendants(), "the end of every process of the runs", 30)


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda hostile: hostile.name)
def test_a_hostile_kernel_ends_with_a_clear_message_and_the_next_run_passes(worker, hostile):
    run = wait_until_over(send_run(hostile.source, hostile.name))
    assert run.state == "finished"
    assert run.outcome in hostile.outcomes, run.message
    assert any(word in run.message for word in hostile.words), run.message
    assert run.attempts == 1, "a kernel's own fault is no reason for another attempt"
    check_page(run)
    check_next_run(worker)


def test_a_hundred_megabytes_of_print_become_a_short_log_with_head_and_tail(worker, settings):
    run = wait_until_over(send_run(kernels.PRINTS, "prints"))
    assert run.outcome == "PASS", run.message
    log = log_of(run)
    assert len(log.encode()) <= SHORT().log_bytes + 1000
    assert "bytes left out" in log
    assert log.index("checking workload") < log.index("bytes left out") < log.index("the last line")
    assert RunLog.objects.filter(run=run).count() < 50
    assert "the last line" in page_of(run)
    check_next_run(worker)


def test_a_kernel_that_prints_past_the_apps_own_cap_is_cut_there(worker, settings):
    settings.RUN_LOG_BYTES = 20_000
    run = wait_until_over(send_run(kernels.PRINTS, "prints"))
    assert run.outcome == "PASS", run.message
    assert len(log_of(run)) == 20_000
    check_next_run(worker)


@pytest.mark.skipif(
    sandbox.probe().level == "process-group",
    reason="without bubblewrap and without root a kernel sees the file system",
)
def test_a_kernel_cannot_write_outside_its_folder(worker, tmp_path):
    target = tmp_path / "planted"
    run = wait_until_over(send_run(kernels.writes_to(target), "writes"))
    assert run.outcome == "CRASHED", run.message
    assert "Error when it was called" in run.message
    assert not target.exists()
    check_page(run)
    check_next_run(worker)
