"""The fork server: imports torch once, then forks a fresh process per run. It never loads a candidate's code.

It runs inside the fence. Commands come as JSON lines on stdin, answers go as JSON lines to stdout; both are closed in
the forked process before anything of a candidate is read. What the forked process prints goes to the log pipe.
"""

import contextlib
import ctypes
import importlib
import json
import os
import resource
import shutil
import signal
import sys
import time
import traceback
from pathlib import Path

CODE = "import sys; sys.path += {paths!r}; from v2kb.worker.harness import zygote; zygote.main(sys.argv[1])"
RUNNER = "v2kb.worker.harness.child"

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 1, 4, 36
_libc = ctypes.CDLL(None, use_errno=True)
REAP_TIMEOUT_S = 5.0


def main(argument: str) -> None:
    """Serve runs until stdin closes. `argument` is JSON: uid, log_fd, wipe (folders), preload (modules)."""
    config = json.loads(argument)
    _give_up_root(config["uid"])
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # the fence does this too; here for machines without one
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    importlib.import_module(RUNNER)  # imports torch
    for module in config["preload"]:
        importlib.import_module(module)
    _libc.prctl(_PR_SET_DUMPABLE, 0)  # nobody of the same user may trace this process or its children
    _say({"event": "ready", "pid": os.getpid()})
    for line in sys.stdin:
        _say(_run(json.loads(line), config))


def _say(answer: dict) -> None:
    os.write(1, (json.dumps(answer) + "\n").encode())


def _give_up_root(uid: int | None) -> None:
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)


def _run(command: dict, config: dict) -> dict:
    started = time.monotonic_ns()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        _become_run(command, config)
    status = _wait(pid)
    wall_ns = time.monotonic_ns() - started
    left_behind = _kill_descendants()
    for folder in config["wipe"]:
        _wipe(Path(folder))
    ended = {"event": "exit", "wall_ns": wall_ns, "left_behind": left_behind, "code": None, "signal": None}
    if os.WIFSIGNALED(status):
        return ended | {"signal": os.WTERMSIG(status)}
    return ended | {"code": os.WEXITSTATUS(status)}


def _wait(pid: int) -> int:
    """Wait for the run itself, reaping the orphans that are handed to us meanwhile."""
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == pid:
            return status


def descendants(root: int) -> list[int]:
    """Return all living processes below `root`, from /proc. Zombies don't count."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                fields = Path(f"/proc/{entry}/stat").read_text(errors="replace").rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
            if fields[0] != "Z":
                children.setdefault(int(fields[1]), []).append(int(entry))
    found, waiting = [], [root]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def _kill_descendants() -> int:
    """Kill whatever a run left behind, stopping it first so that it can't breed. Returns how many there were."""
    seen: set[int] = set()
    deadline = time.monotonic() + REAP_TIMEOUT_S
    while time.monotonic() < deadline:
        found = descendants(os.getpid())
        _reap_zombies()
        if not found:
            break
        seen.update(found)
        for signal_number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in found:
                _signal(pid, signal_number)
    return len(seen)


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _reap_zombies() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _wipe(folder: Path) -> None:
    for entry in folder.iterdir() if folder.is_dir() else ():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)


def _become_run(command: dict, config: dict) -> None:
    """In the forked process: cut the control channel, set limits, do the task, end without any clean-up code."""
    code = 70
    try:
        os.setsid()
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(config["log_fd"], 1)
        os.dup2(config["log_fd"], 2)
        os.closerange(3, 4096)
        _set_limits(command["limits"])
        sys.modules[RUNNER].main(command["task"])
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)


def _set_limits(limits: dict) -> None:
    """`address_bytes` is on top of what this process maps already; None leaves a limit alone (GPU jobs)."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _limit(resource.RLIMIT_FSIZE, limits["file_bytes"])
    _limit(resource.RLIMIT_CPU, limits["cpu_s"])
    _limit(resource.RLIMIT_NPROC, limits["processes"])
    if limits["address_bytes"] is not None:
        mapped_pages = int(Path("/proc/self/statm").read_text().split()[0])
        _limit(resource.RLIMIT_AS, mapped_pages * resource.getpagesize() + limits["address_bytes"])


def _limit(which: int, value: int) -> None:
    hard = resource.getrlimit(which)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(which, (value, value))
