"""Worker processes on the broker under test, and how the tests wait: on database rows, never on the clock alone."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import psutil
import pytest
from celery import Celery
from django.conf import settings
from django.utils import timezone

from kernels.models import Op, Run, Worker
from kernels.services.runs import submit_run
from tests import factories as f
from v2kb.broker import CPU_QUEUE, RUN_QUEUES, configure, run_queue
from v2kb.wire import TASK_NAME

ROOT = Path(__file__).resolve().parents[2]
BROKER_URL = os.environ.get("V2KB_TEST_BROKER_URL", "embedded://")
LONGEST_WAIT_S = 180
T = TypeVar("T")


def until(condition: Callable[[], T], what: str, timeout_s: float = LONGEST_WAIT_S) -> T:
    """Look again and again until `condition()` is true; returns what it gave. Fails the test when it never is."""
    deadline = time.monotonic() + timeout_s
    while not (value := condition()):
        if time.monotonic() > deadline:
            pytest.fail(f"waited {timeout_s} s in vain for {what}")
        time.sleep(0.1)
    return value


class WorkerProcess:
    """`python -m v2kb.worker` in a process of its own, with a folder for temporary files that the test can see."""

    def __init__(self, dispatcher: "Dispatcher", name: str, token: str, claim_try_s: float | None) -> None:
        self.name = name
        self.folder = Path(tempfile.mkdtemp(prefix="v2kb-dispatch-"))
        self.folder.chmod(0o711)  # the fenced processes have another user id
        self._log = self.folder / "worker.log"
        start = ["-m", "v2kb.worker"]
        if claim_try_s is not None:
            patience = f"client.RunClient.CLAIM_TRY_S = {claim_try_s}"
            start = [
                "-c",
                f"import sys; from v2kb.worker import __main__ as w, client; {patience}; w.main(sys.argv[1:])",
            ]
        options = {"--app-url": dispatcher.app_url, "--queue": CPU_QUEUE, "--name": name,
                   "--broker-url": dispatcher.broker_url, "--data-dir": str(dispatcher.data_dir)}  # fmt: skip
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, *start, *(text for option in options.items() for text in option)],
                cwd=ROOT,
                env={**os.environ, "V2KB_WORKER_TOKEN": token, "TMPDIR": str(self.folder)},
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def log(self) -> str:
        """What the worker has written so far."""
        return self._log.read_text(errors="replace")

    def check_alive(self) -> None:
        if self.process.poll() is not None:
            pytest.fail(f"worker {self.name} ended with {self.process.returncode}:\n{self.log}")

    def wait_for_hello(self) -> None:
        """Wait until the app has heard of this worker."""

        def heard() -> bool:
            self.check_alive()
            return Worker.objects.filter(name=self.name).exists()

        until(heard, f"the hello of {self.name}")

    def descendants(self) -> list[psutil.Process]:
        """The living processes that the worker has started."""
        return living(psutil.Process(self.process.pid).children(recursive=True))

    def let_go(self) -> None:
        """Let a WAITING kernel return."""
        for folder in self.folder.glob("v2kb-run-*/in"):
            (folder / "go").touch()

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """End the worker as its operator would, by force when it does not."""
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def living(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those that still run; a zombie does not."""
    alive = []
    for process in processes:
        try:
            if process.status() != psutil.STATUS_ZOMBIE:
                alive.append(process)
        except psutil.NoSuchProcess:
            continue
    return alive


class Dispatcher:
    """One broker with its sending app and its workers."""

    def __init__(self, broker_url: str, data_dir: Path, app_url: str) -> None:
        self.broker_url, self.data_dir, self.app_url = broker_url, data_dir, app_url
        self.sender = sending_app(broker_url, data_dir)
        self.workers: list[WorkerProcess] = []
        self.sent: list[dict[str, Any]] = []
        self.purge()

    def purge(self) -> None:
        """Forget messages of earlier tests: the queues of a broker have fixed names."""
        with self.sender.connection_for_write() as connection:
            for name in RUN_QUEUES:
                queue = run_queue(name, self.broker_url)(connection.default_channel)
                queue.declare()
                queue.purge()

    def start_worker(
        self, name: str = "w1", token: str | None = None, claim_try_s: float | None = None, hello: bool = True
    ) -> WorkerProcess:
        worker = WorkerProcess(self, name, settings.WORKER_TOKEN if token is None else token, claim_try_s)
        self.workers.append(worker)
        if hello:
            worker.wait_for_hello()
        return worker

    def send_again(self, message: dict[str, Any]) -> None:
        """Deliver a message that was sent already once more."""
        self.sender.send_task(TASK_NAME, queue=CPU_QUEUE, kwargs=message, retry=False)

    def note_sent(self, headers: dict[str, Any], body: tuple[Any, ...], **_: Any) -> None:
        """Receiver of Celery's signal that a task is about to be sent."""
        if headers["task"] == TASK_NAME:
            self.sent.append(body[1])

    def key_of(self, run: Run, number: int = 1) -> str:
        """The run key of the run's `number`-th message; the database keeps only its hash."""
        return [message["run_key"] for message in self.sent if message["run_id"] == run.public_id][number - 1]

    def stop(self) -> None:
        for worker in self.workers:
            worker.stop()


def sending_app(broker_url: str, data_dir: Path) -> Celery:
    """A Celery app as the application has one, for this broker."""
    app = Celery("v2kb-test-sender", set_as_current=False)
    configure(app, broker_url, data_dir)
    return app


def send_run(source: str, slug: str) -> Run:
    """Submit a validate run of this kernel; the op is made with the first one."""
    op = Op.objects.filter(slug="rmsnorm-cpu").first() or f.op()
    version = f.kernel_version(op, slug=slug, source=source.encode())
    return submit_run(f.designer(), kind="validate", version=version)


def log_of(run: Run, fence: int | None = None) -> str:
    """What a run has logged so far; of one claim alone when `fence` is given."""
    chunks = run.log_chunks.all() if fence is None else run.log_chunks.filter(fence=fence)
    return "".join(chunks.values_list("text", flat=True))


def wait_for_log(run: Run, text: str, fence: int) -> None:
    until(lambda: text in log_of(run, fence), f"{text!r} in the log of {run.public_id} under fence {fence}")


def wait_until_over(run: Run) -> Run:
    """Wait until a run is finished or cancelled; returns it as it then is."""

    def over() -> bool:
        run.refresh_from_db()
        return run.is_over

    until(over, f"the end of {run.public_id}")
    return run


def claim_ms(run: Run) -> float:
    """Time from submit to claim, in milliseconds."""
    return (run.claimed_at - run.submitted_at).total_seconds() * 1000


def make_late(run: Run) -> None:
    """Make a queued run look as if its message had been sent an hour ago."""
    Run.objects.filter(pk=run.pk).update(sent_at=timezone.now() - timedelta(hours=1))
