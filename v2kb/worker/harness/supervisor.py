"""The parent's side of the fence: starts the fork server, runs tasks in it under limits, and says how each ended."""

import contextlib
import json
import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from v2kb.wire import Limits, Outcome
from v2kb.worker.harness import sandbox, zygote
from v2kb.worker.harness.watch import Watch

START_TIMEOUT_S = 120
POLL_S = 0.05
INSPECT_EVERY_S = 0.25
DRAIN_S = 5.0
WORKSPACE_PREFIX = "v2kb-run-"
FENCE_PROCESSES = 3
"""The fence, the fence within it, and the fork server; without the second one more is allowed than was asked."""
FORK_SERVER_LEAST_BYTES = 24 * 1024 * 1024
"""A process with torch imported holds more than this, the fence's own processes far less."""
STATUS_LIMIT_BYTES = 4 * 1024 * 1024


class InfraError(RuntimeError):
    """The machine, not the kernel, is at fault; the text says what to look at."""


class Stopped(RuntimeError):
    """The caller asked to stop. `outcome` is CANCELLED or INFRA."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.value)
        self.outcome = outcome


@dataclass(frozen=True)
class Ending:
    """How a run ended, from the parent's own observation; `status` is what the child claims and is not trusted.

    `cause` is exit, signal, compile_timeout, timeout, total_timeout, memory, processes, output or lost (the fork
    server died under the run). `wall_ns` is measured by the parent.
    """

    cause: str
    code: int = 0
    wall_ns: int = 0
    detail: str = ""
    status: dict[str, Any] | None = None


@dataclass(frozen=True)
class Deadlines:
    """Seconds for loading and for the rest of a run, and the monotonic time at which the whole job ends."""

    compile_s: float
    case_s: float
    job_end: float


def sweep_workspaces() -> None:
    """Remove what workers that were killed left in the temporary folder."""
    for folder in Path(tempfile.gettempdir()).glob(f"{WORKSPACE_PREFIX}*"):
        owner = folder.name.removeprefix(WORKSPACE_PREFIX).partition("-")[0]
        with contextlib.suppress(OSError):
            if owner.isdigit() and not psutil.pid_exists(int(owner)) and folder.stat().st_uid == os.geteuid():
                shutil.rmtree(folder, ignore_errors=True)


class Supervisor:
    """One job's fork server in its fence, with its workspace. Use as a context manager; not thread-safe."""

    def __init__(self, limits: Limits, watch: Watch, output: Callable[[bytes], None], device: str) -> None:
        self.limits = limits
        self.watch = watch
        self.device = device
        self.sandbox = sandbox.fresh()
        sweep_workspaces()
        self.workspace = Path(tempfile.mkdtemp(prefix=f"{WORKSPACE_PREFIX}{os.getpid()}-"))
        self.paths = self.sandbox.paths(self.workspace)
        self._output = output
        self._process: subprocess.Popen[bytes] | None = None
        self._answers = b""
        self._log_thread: threading.Thread | None = None
        self._log_bytes = 0
        self._ready = False

    def __enter__(self) -> "Supervisor":
        self.sandbox.prepare(self.workspace)
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        shutil.rmtree(self.workspace, ignore_errors=True)

    def start(self) -> None:
        """Start the fork server and return at once; the first run waits until it is ready."""
        self._ready, self._answers = False, b""
        log_read, log_write = os.pipe()
        config = {"uid": self.sandbox.uid_to_take, "log_fd": log_write, "wipe": self._wipe_folders(), "preload": []}
        code = zygote.CODE.format(paths=sandbox.python_paths())
        command = self.sandbox.command(self.workspace, code, json.dumps(config))
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log_write,
                pass_fds=[log_write],
                env=self.sandbox.environment(self.workspace),
                cwd=self.workspace / "tmp",
                start_new_session=True,
            )
        except OSError as error:
            raise InfraError(f"The fork server could not be started: {error}.") from error
        finally:
            os.close(log_write)
        self._log_thread = threading.Thread(target=self._pump, args=(log_read,), daemon=True)
        self._log_thread.start()

    def _wipe_folders(self) -> list[str]:
        return ["/tmp", "/dev/shm"] if self.sandbox.namespaces else [str(self.workspace / "tmp")]

    def _pump(self, descriptor: int) -> None:
        with open(descriptor, "rb", buffering=0) as pipe:
            while data := pipe.read(65536):
                self._log_bytes += len(data)
                self._output(data)

    def run(self, task: dict[str, Any], deadlines: Deadlines, on_poll: Callable[[], None] | None = None) -> Ending:
        """Run a task in a fresh process and return how it ended. Clears `out` first.

        Raises InfraError when the fork server can't be used and Stopped when the caller asked to stop; both leave it
        dead.
        """
        self._wait_ready()
        self.clear_out()
        (self.workspace / "in" / "task.json").write_text(json.dumps(task))
        (self.workspace / "in" / "audit").unlink(missing_ok=True)
        command = {"task": f"{self.paths['in']}/task.json", "limits": self._limits(deadlines)}
        started = time.monotonic_ns()
        self._send(command)
        ending = self._watch_run(deadlines, on_poll)
        wall_ns = time.monotonic_ns() - started
        if ending.cause != "exit" or ending.code:
            self._settle_log()
        return Ending(ending.cause, ending.code, wall_ns, ending.detail, self._status())

    def clear_out(self) -> None:
        for entry in (self.workspace / "out").iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)

    def kill(self) -> None:
        """End the fork server and everything that descends from it."""
        process, self._process = self._process, None
        if process is None:
            return
        if not self.sandbox.namespaces:
            _kill_tree(process.pid)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                stream.close()
        if self._log_thread is not None:
            self._log_thread.join(DRAIN_S)

    def _limits(self, deadlines: Deadlines) -> dict[str, Any]:
        processes = self.limits.processes
        if not self.sandbox.namespaces:  # the kernel counts all of this user's threads on the machine
            processes += _threads_of(os.getuid() if self.sandbox.uid is None else self.sandbox.uid)
        return {
            "file_bytes": self.limits.output_bytes,
            "cpu_s": int((deadlines.compile_s + deadlines.case_s) * (os.cpu_count() or 1)) + 10,
            "processes": processes,
            "address_bytes": None if self.device == "cuda" else self.limits.memory_bytes,
        }

    def _send(self, command: dict[str, Any]) -> None:
        try:
            self._process.stdin.write((json.dumps(command) + "\n").encode())
            self._process.stdin.flush()
        except OSError as error:
            raise InfraError("The fork server has ended.") from error

    def _wait_ready(self) -> None:
        if self._process is None:
            raise InfraError("The fork server has ended.")
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self._ready:
            answer = self._answer(POLL_S)
            if answer is not None and answer.get("event") == "ready":
                self._ready = True
            elif self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise InfraError(
                    "The fork server did not start; the log shows why. Is torch installed for the worker's Python?"
                )
            self._check_stop()

    def _check_stop(self) -> None:
        outcome = self.watch.stopped()
        if outcome is not None:
            self.kill()
            raise Stopped(outcome)

    def _answer(self, timeout_s: float) -> dict[str, Any] | None:
        """Return the fork server's next answer, or None when there is none yet."""
        stream = self._process.stdout
        if b"\n" not in self._answers and select.select([stream], [], [], timeout_s)[0]:
            self._answers += os.read(stream.fileno(), 65536)
        if b"\n" not in self._answers:
            return None
        line, _, self._answers = self._answers.partition(b"\n")
        return json.loads(line)

    def _watch_run(self, deadlines: Deadlines, on_poll: Callable[[], None] | None) -> Ending:
        now = time.monotonic()
        load_end, case_end, next_look = now + deadlines.compile_s, None, now + INSPECT_EVERY_S
        while True:
            answer = self._answer(POLL_S)
            if answer is not None:
                return _ending_of(answer)
            if self._process.poll() is not None:
                self.kill()
                return Ending("lost")
            self._check_stop()
            now = time.monotonic()
            if case_end is None and (self.workspace / "out" / "loaded").exists():
                case_end = now + deadlines.case_s
            cause = _overdue(now, load_end, case_end, deadlines.job_end)
            detail = ""
            if not cause and now >= next_look:
                cause, detail = self._look()
                next_look = time.monotonic() + INSPECT_EVERY_S
            if cause:
                self.kill()
                return Ending(cause, detail=detail)
            if on_poll is not None:
                on_poll()

    def _look(self) -> tuple[str, str]:
        """Compare the run's processes and files with the limits. Returns cause and detail, or two empty strings."""
        sizes = _tree_sizes(self._process.pid)
        if len(sizes) - FENCE_PROCESSES > self.limits.processes:
            return "processes", f"more than {self.limits.processes} processes"
        memory = sum(sizes)
        if memory > self.limits.memory_bytes and self.device != "cuda":
            return "memory", f"{memory >> 20} MiB in use; {self.limits.memory_bytes >> 20} MiB are allowed"
        written = _bytes_in(self.workspace / "out")
        if written > 2 * self.limits.output_bytes:
            return "output", f"{written >> 20} MiB written; {self.limits.output_bytes >> 20} MiB are allowed"
        return "", ""

    def _status(self) -> dict[str, Any] | None:
        path = self.workspace / "out" / "status.json"
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with open(descriptor, "rb") as file:
                status = json.loads(file.read(STATUS_LIMIT_BYTES))
            whole = json.dumps(status, ensure_ascii=False).encode("utf-8", "replace")  # halves of characters go
            status = json.loads(whole)
        except (OSError, ValueError, RecursionError):
            return None
        return status if isinstance(status, dict) else None

    def _settle_log(self) -> None:
        """Give the log's reader a moment to take what a run printed before it died."""
        seen = -1
        deadline = time.monotonic() + DRAIN_S
        while seen != self._log_bytes and time.monotonic() < deadline:
            seen = self._log_bytes
            time.sleep(POLL_S)


def _ending_of(answer: dict[str, Any]) -> Ending:
    detail = f"{answer['left_behind']} left-over process(es) were killed" if answer["left_behind"] else ""
    if answer["signal"] is not None:
        return Ending("signal", code=answer["signal"], detail=detail)
    return Ending("exit", code=answer["code"], detail=detail)


def _overdue(now: float, load_end: float, case_end: float | None, job_end: float) -> str:
    if now > job_end:
        return "total_timeout"
    if case_end is None:
        return "compile_timeout" if now > load_end else ""
    return "timeout" if now > case_end else ""


def _tree_sizes(root: int) -> list[int]:
    """Bytes of memory that each process of the run holds beyond what it got from the fork server by forking."""
    try:
        below = psutil.Process(root).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
    sizes = [(process.pid, _own_memory(process.pid)) for process in sorted(below, key=lambda process: process.pid)]
    server = next((size for _, size in [(root, _own_memory(root)), *sizes] if size > FORK_SERVER_LEAST_BYTES), 0)
    return [max(0, size - server) for _, size in sizes]


def _own_memory(pid: int) -> int:
    """Anonymous and shared resident memory; a fork has all of its parent's, so the difference is its own."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(errors="replace")
    except OSError:
        return 0
    return sum(int(kib) * 1024 for kib in re.findall(r"^Rss(?:Anon|Shmem):\s*(\d+) kB", status, re.M))


def _bytes_in(folder: Path) -> int:
    total = 0
    for entry in os.scandir(folder):
        with contextlib.suppress(OSError):
            total += entry.stat(follow_symlinks=False).st_size
    return total


def _threads_of(uid: int) -> int:
    total = 0
    for process in psutil.process_iter(["uids", "num_threads"]):
        if process.info["uids"] is not None and process.info["uids"].real == uid:
            total += process.info["num_threads"] or 1
    return total


def _kill_tree(root: int) -> None:
    """Without a fence: stop the fork server, then kill what it adopted until nothing is left, then the server."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(root, signal.SIGSTOP)
    for _ in range(50):
        found = zygote.descendants(root)
        if not found:
            break
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in found:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
        time.sleep(0.01)
    with contextlib.suppress(ProcessLookupError):
        os.kill(root, signal.SIGKILL)
