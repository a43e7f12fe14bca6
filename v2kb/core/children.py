"""Child processes of `manage.py up`: each in a process group of its own, none left when the parent goes."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

PR_SET_PDEATHSIG = 1
GRACE_S = 12.0


def _die_with_parent() -> None:
    """Ask the kernel to end this process when its parent dies (Linux; elsewhere only a clean stop ends it)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


@dataclass
class Child:
    """One long-running child and how to start it again."""

    name: str
    command: Sequence[str]
    environment: dict[str, str] = field(default_factory=dict)
    restarts_left: int = 5
    process: subprocess.Popen | None = None

    def start(self) -> None:
        """Start the process in a session of its own, so that a terminal's Ctrl-C reaches the parent alone."""
        self.process = subprocess.Popen(
            self.command,
            env={**os.environ, **self.environment},
            start_new_session=True,
            preexec_fn=_die_with_parent,
            stdin=subprocess.DEVNULL,
        )

    def exit_status(self) -> int | None:
        """The exit status of a child that has ended, else None."""
        return None if self.process is None else self.process.poll()

    def signal_group(self, number: int) -> None:
        """Send a signal to the child and everything it started."""
        if self.process is None:
            return
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            return


def stop_all(children: Sequence[Child], grace_s: float = GRACE_S) -> list[str]:
    """End all children: SIGTERM, up to `grace_s` seconds, then SIGKILL. Returns the names that had to be killed."""
    for child in children:
        child.signal_group(signal.SIGTERM)
    until = time.monotonic() + grace_s
    killed = []
    for child in children:
        if child.process is None:
            continue
        try:
            child.process.wait(max(0.1, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            killed.append(child.name)
        child.signal_group(signal.SIGKILL)
        child.process.wait()
    return killed
