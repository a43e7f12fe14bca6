"""`python -m tests.make_run`: starts `make run` as a newcomer does, fetches the first page, stops it, finds orphans."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parent.parent
START_S = 300
STOP_S = 40


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(
    data: str, port: int, command: Sequence[str] = ("make", "run"), stdout: int | None = None
) -> tuple[subprocess.Popen, float]:
    """Start the site and wait for its sign-in page. Returns the process and the seconds it took."""
    began = time.monotonic()
    url = f"http://127.0.0.1:{port}"
    environment = {**os.environ, "V2KB_DATA_DIR": data, "V2KB_BASE_URL": url}
    environment.pop("V2KB_DATABASE_URL", None)
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=stdout, start_new_session=True)
    while time.monotonic() < began + START_S:
        if process.poll() is not None:
            sys.exit(f"{' '.join(command)} ended with {process.returncode} before its page was up")
        try:
            with urllib.request.urlopen(f"{url}/sign-in/", timeout=5) as page:
                assert b"<form" in page.read()
                return process, time.monotonic() - began
        except OSError:
            time.sleep(0.2)
    os.killpg(process.pid, signal.SIGKILL)
    sys.exit(f"{' '.join(command)} showed no page within {START_S} s")


def stop(process: subprocess.Popen) -> None:
    """Press Ctrl-C and check that nothing is left."""
    family = psutil.Process(process.pid).children(recursive=True)
    os.killpg(process.pid, signal.SIGINT)
    process.wait(STOP_S)
    _, alive = psutil.wait_procs(family, timeout=5)
    if alive:
        sys.exit(f"left behind after Ctrl-C: {alive}")


def main() -> int:
    data = tempfile.mkdtemp(prefix="v2kb-run-")
    try:
        process, first = start(data, free_port())
        logins = (Path(data) / "first-logins.txt").read_text()
        assert len(logins.splitlines()) == 4, logins
        stop(process)
        process, second = start(data, free_port())
        stop(process)
    finally:
        shutil.rmtree(data, ignore_errors=True)
    print(f"first start {first:.1f} s, second start {second:.1f} s, nothing left behind")
    return 0


if __name__ == "__main__":
    sys.exit(main())
