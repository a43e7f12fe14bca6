"""What goes to the app while a run lasts: pings, which may bring back "cancel", and the log in numbered chunks."""

import logging
import threading
import time
from types import TracebackType
from typing import Self

from v2kb.wire import MAX_LOG_CHUNK, LogChunk, Outcome, Ping
from v2kb.worker.client import Refused, RunClient, Unreachable

log = logging.getLogger(__name__)

LOG_INTERVAL_S = 0.5
LAST_LOG_TRY_S = 20.0


class Background:
    """A thread that runs `_run` while the block does; `_run` ends soon after `_end` is set."""

    def __init__(self, name: str) -> None:
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        raise NotImplementedError


class Heartbeat(Background):
    """Pings in a thread. `verdict` turns CANCELLED when the app asks for it, INFRA when the claim is lost."""

    def __init__(self, client: RunClient, fence: int, ping_s: float, lease_s: float) -> None:
        super().__init__("heartbeat")
        self._client, self._fence, self._ping_s, self._lease_s = client, fence, ping_s, lease_s
        self._progress = (0, 0, "starting")
        self.verdict: Outcome | None = None
        self.lost = False

    def progress(self, done: int, total: int, phase: str) -> None:
        self._progress = (done, total, phase)

    def _run(self) -> None:
        answered = time.monotonic()
        while True:
            done, total, phase = self._progress
            try:
                reply = self._client.ping(Ping(fence=self._fence, done=done, total=total, phase=phase[:300]))
                answered = time.monotonic()
                if reply.cancel:
                    self.verdict = Outcome.CANCELLED
            except Refused as refusal:
                log.warning("the claim is lost: %s", refusal)
                self._lose()
                return
            except Unreachable as trouble:
                log.warning("a ping got no answer: %s", trouble)
                if time.monotonic() - answered > self._lease_s:
                    self._lose()
                    return
            except Exception:
                log.exception("a ping failed")
            if self._end.wait(self._ping_s):
                return

    def _lose(self) -> None:
        self.lost = True
        self.verdict = Outcome.INFRA


class LogStream(Background):
    """Sends text in chunks of at most 16 KB of UTF-8, in order, from a thread; what fails is sent again."""

    def __init__(self, client: RunClient, fence: int) -> None:
        super().__init__("log")
        self._client, self._fence = client, fence
        self._waiting = ""
        self._sequence = 0
        self._pending: LogChunk | None = None
        self._lock = threading.Lock()
        self._open = True

    def write(self, text: str) -> None:
        with self._lock:
            self._waiting += text

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        deadline = time.monotonic() + LAST_LOG_TRY_S
        while self._open and not self._send_all() and time.monotonic() < deadline:
            time.sleep(LOG_INTERVAL_S)

    def _run(self) -> None:
        while not self._end.wait(LOG_INTERVAL_S):
            self._send_all()

    def _next(self) -> LogChunk | None:
        if self._pending is None:
            with self._lock:
                text = cut(self._waiting, MAX_LOG_CHUNK)
                self._waiting = self._waiting[len(text) :]
            if text:
                self._pending = LogChunk(fence=self._fence, seq=self._sequence, text=text)
                self._sequence += 1
        return self._pending

    def _send_all(self) -> bool:
        """Send what waits. Returns False when something is left to try again."""
        while self._open and (chunk := self._next()) is not None:
            try:
                self._client.log(chunk)
            except Refused as refusal:
                log.warning("the log is not taken any more: %s", refusal)
                self._open = False
            except Unreachable:
                return False
            self._pending = None
        return True


def cut(text: str, limit_bytes: int) -> str:
    """Return the longest beginning of `text` that has at most `limit_bytes` bytes as UTF-8."""
    return text[:limit_bytes].encode()[:limit_bytes].decode(errors="ignore")
