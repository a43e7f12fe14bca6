"""What the harness tells its caller while it works, and asks: log, progress, shall I stop."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from v2kb.wire import Outcome


def _nothing(*_: object) -> None:
    return None


@dataclass(frozen=True)
class Watch:
    """`log` gets text, `progress` gets (done, total, phase), `stopped` gives CANCELLED or INFRA to end the job."""

    log: Callable[[str], None] = _nothing
    progress: Callable[[int, int, str], None] = _nothing
    stopped: Callable[[], Outcome | None] = _nothing


@dataclass
class CappedLog:
    """Keeps the head of a log as it comes and its tail for the end; counts what is left out between. Thread-safe."""

    limit_bytes: int
    emit: Callable[[str], None]
    seen_bytes: int = 0
    _tail: deque[bytes] = field(default_factory=deque)
    _tail_bytes: int = 0
    _lock: Lock = field(default_factory=Lock)

    def write(self, data: bytes) -> None:
        """Take bytes of any encoding. The first half of the limit goes out at once, the last half at `close`."""
        head_bytes = self.limit_bytes // 2
        with self._lock:
            room = max(0, head_bytes - self.seen_bytes)
            self.seen_bytes += len(data)
            if room:
                self.emit(data[:room].decode("utf-8", "replace"))
            if len(data) > room:
                self._keep(data[room:])

    def _keep(self, data: bytes) -> None:
        tail_limit = self.limit_bytes - self.limit_bytes // 2
        self._tail.append(data[-tail_limit:])
        self._tail_bytes += len(self._tail[-1])
        while self._tail_bytes - len(self._tail[0]) >= tail_limit:
            self._tail_bytes -= len(self._tail.popleft())

    def close(self) -> None:
        """Send the tail, after a line that says how much is missing before it."""
        with self._lock:
            tail_limit = self.limit_bytes - self.limit_bytes // 2
            tail = b"".join(self._tail)[-tail_limit:]
            left_out = self.seen_bytes - min(self.seen_bytes, self.limit_bytes // 2) - len(tail)
            if left_out > 0:
                self.emit(f"\n[... {left_out} bytes left out ...]\n")
            if tail:
                self.emit(tail.decode("utf-8", "replace"))
            self._tail.clear()
            self._tail_bytes = 0
