"""A broker without a server: a kombu transport that keeps each message in a file of its own.

Layout under `<data_dir>/broker`:
  tmp/                       messages being written
  queues/<queue>/<name>      waiting; names sort by time of sending
  claimed/<consumer>/<name>  handed out, not yet acknowledged; `owner.lock` is held for the consumer's life
  broken/                    files that are no message, and messages delivered too often

A message is written under a temporary name, synced and renamed, so a reader never sees half of one. Handing out is a
rename, which one consumer wins. When a consumer's process ends in any way the kernel drops its lock, and the next
consumer puts its messages back. Needs a local file system with flock (Linux).
"""

import fcntl
import json
import logging
import os
import re
import shutil
import time
import uuid
from collections import deque
from itertools import count
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.transport import virtual

from v2kb.broker.config import DELIVERY_LIMIT, EMBEDDED_SCHEME, POLLING_INTERVAL_S

log = logging.getLogger(__name__)

RECOVERY_INTERVAL_S = 1.0
LOCK_NAME = "owner.lock"
_QUEUE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,100}\Z")
_FILE_NAME = re.compile(r"(?P<stamp>\d{20}-\d{10}-\d{10})-(?P<unique>[0-9a-f]{32})\.r(?P<returned>\d{3})\.msg\Z")
_sequence = count()


def message_name() -> str:
    """Return a new file name of fixed width; names of one process sort in the order of sending."""
    return f"{time.time_ns():020d}-{os.getpid():010d}-{next(_sequence):010d}-{uuid.uuid4().hex}.r000.msg"


class Folder:
    """The files of one broker folder, as seen by one consumer or sender. Not shared between processes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.consumer: Path | None = None
        self._lock_fd: int | None = None
        self._listed: dict[str, deque[str]] = {}
        self._next_recovery = 0.0
        for name in ("tmp", "queues", "claimed", "broken"):
            (root / name).mkdir(parents=True, exist_ok=True)

    def queue(self, name: str) -> Path:
        """Return the folder of a queue. Raises ValueError for a name that is no plain file name."""
        if not _QUEUE_NAME.match(name):
            raise ValueError(f"The queue name {name!r} is refused: use letters, digits, '_', '.' and '-'.")
        path = self.root / "queues" / name
        path.mkdir(exist_ok=True)
        return path

    def put(self, queue: str, payload: dict[str, Any]) -> None:
        """Store a message: complete on disk before it can be seen."""
        name = message_name()
        temporary = self.root / "tmp" / name
        with open(temporary, "wb") as file:
            file.write(json.dumps(payload).encode())
            file.flush()
            os.fsync(file.fileno())
        os.rename(temporary, self.queue(queue) / name)

    def take(self, queue: str) -> tuple[dict[str, Any], Path]:
        """Claim the oldest message. Returns it with its claimed file; raises queue.Empty when there is none."""
        self._recover_now_and_then()
        waiting = self._listed.get(queue)
        if not waiting:
            waiting = self._listed[queue] = deque(sorted(os.listdir(self.queue(queue))))
        while waiting:
            name = waiting.popleft()
            claimed = self._own() / f"{queue}@{name}"
            try:
                os.rename(self.queue(queue) / name, claimed)
            except FileNotFoundError:
                continue
            payload = self._read(claimed)
            if payload is not None:
                return payload, claimed
        raise Empty

    def give_back(self, claimed: Path, delivered: bool) -> None:
        """Put a claimed message back at its old place; one that was delivered too often is set aside."""
        queue, _, name = claimed.name.partition("@")
        match = _FILE_NAME.match(name)
        returned = int(match["returned"]) + int(delivered) if match else 0
        if not match or returned > DELIVERY_LIMIT:
            log.error("message %s of queue %s came back %d times and is set aside", name, queue, returned)
            self._set_aside(claimed)
            return
        back = f"{match['stamp']}-{match['unique']}.r{returned:03d}.msg"
        try:
            os.rename(claimed, self.queue(queue) / back)
        except FileNotFoundError:
            return
        self._listed.pop(queue, None)

    def recover(self) -> int:
        """Put back the messages of consumers whose process has ended. Returns how many."""
        recovered = 0
        for folder in sorted((self.root / "claimed").iterdir()):
            if folder == self.consumer or folder.name.startswith("."):
                continue
            try:
                lock = os.open(folder / LOCK_NAME, os.O_RDWR)
            except FileNotFoundError:
                continue
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                for claimed in sorted(folder.glob("*.msg")):
                    self.give_back(claimed, delivered=True)
                    recovered += 1
                shutil.rmtree(folder, ignore_errors=True)
            except BlockingIOError:
                continue
            finally:
                os.close(lock)
        return recovered

    def close(self) -> None:
        """Give back what is still claimed and drop the lock."""
        if self.consumer is not None and self._lock_fd is not None:
            for claimed in sorted(self.consumer.glob("*.msg")):
                self.give_back(claimed, delivered=False)
            shutil.rmtree(self.consumer, ignore_errors=True)
            os.close(self._lock_fd)
        self.consumer = self._lock_fd = None

    def _own(self) -> Path:
        """The folder of this consumer; it appears under its name only once its lock is held."""
        if self.consumer is None:
            name = f"{os.getpid():010d}-{uuid.uuid4().hex}"
            hidden = self.root / "claimed" / f".{name}"
            hidden.mkdir()
            self._lock_fd = os.open(hidden / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(self._lock_fd, fcntl.LOCK_EX)
            self.consumer = self.root / "claimed" / name
            os.rename(hidden, self.consumer)
        return self.consumer

    def _recover_now_and_then(self) -> None:
        now = time.monotonic()
        if now >= self._next_recovery:
            self._next_recovery = now + RECOVERY_INTERVAL_S
            if recovered := self.recover():
                log.warning("%d message(s) of ended consumers were put back", recovered)

    def _read(self, claimed: Path) -> dict[str, Any] | None:
        try:
            payload = json.loads(claimed.read_bytes())
            if _FILE_NAME.match(claimed.name.partition("@")[2]) and payload["properties"]["delivery_tag"]:
                return payload
        except (ValueError, KeyError, TypeError):
            pass
        log.error("file %s in the queue is no message and is set aside", claimed.name)
        self._set_aside(claimed)
        return None

    def _set_aside(self, claimed: Path) -> None:
        os.rename(claimed, self.root / "broken" / f"{claimed.name}.{uuid.uuid4().hex[:8]}")


class QoS(virtual.QoS):
    """Unacknowledged messages are files, so acknowledging deletes the file and rejecting renames it."""

    def ack(self, delivery_tag: str) -> None:
        self.channel.settle(delivery_tag)
        super().ack(delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        self.channel.settle(delivery_tag, requeue=requeue)
        self._quick_ack(delivery_tag)

    def restore_unacked(self) -> list[Any]:
        self._flush()
        for tag in list(self._delivered):
            self.channel.settle(tag, requeue=True)
        self._delivered.clear()
        return []


class Channel(virtual.Channel):
    """One sender or consumer."""

    QoS = QoS
    supports_fanout = False

    def __init__(self, connection: "Transport", **kwargs: Any) -> None:
        super().__init__(connection, **kwargs)
        self.folder = Folder(Path(connection.client.transport_options["data_dir"]) / "broker")
        self._claimed: dict[str, Path] = {}

    def settle(self, delivery_tag: str, requeue: bool = False) -> None:
        """End a delivery: delete its file, or put it back."""
        claimed = self._claimed.pop(delivery_tag, None)
        if claimed is None:
            return
        if requeue:
            self.folder.give_back(claimed, delivered=True)
        else:
            claimed.unlink(missing_ok=True)

    def basic_get(self, queue: str, no_ack: bool = False, **kwargs: Any) -> Any:
        message = super().basic_get(queue, no_ack=no_ack, **kwargs)
        if message is not None and no_ack:
            self.settle(message.delivery_tag)
        return message

    def close(self) -> None:
        was_open = not self.closed
        super().close()
        if was_open:
            self._claimed.clear()
            self.folder.close()

    def _put(self, queue: str, message: dict[str, Any], **kwargs: Any) -> None:
        self.folder.put(queue, message)

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:
        payload, claimed = self.folder.take(queue)
        self._claimed[payload["properties"]["delivery_tag"]] = claimed
        return payload

    def _get_and_deliver(self, queue: str, callback: Any) -> None:
        message = self._get(queue)
        callback(message, queue)
        tag = message["properties"]["delivery_tag"]
        if tag not in self.qos._delivered:  # a consumer without acknowledgements
            self.settle(tag)

    def _new_queue(self, queue: str, **kwargs: Any) -> None:
        self.folder.queue(queue)

    def _has_queue(self, queue: str, **kwargs: Any) -> bool:
        return (self.folder.root / "queues" / queue).is_dir()

    def _size(self, queue: str) -> int:
        return len(os.listdir(self.folder.queue(queue)))

    def _purge(self, queue: str) -> int:
        purged = 0
        for path in self.folder.queue(queue).iterdir():
            path.unlink(missing_ok=True)
            purged += 1
        return purged

    def _delete(self, queue: str, *args: Any, **kwargs: Any) -> None:
        shutil.rmtree(self.folder.queue(queue), ignore_errors=True)


class Transport(virtual.Transport):
    """`embedded://`; the connection needs the transport option `data_dir`."""

    Channel = Channel
    driver_type = EMBEDDED_SCHEME
    driver_name = EMBEDDED_SCHEME
    polling_interval = POLLING_INTERVAL_S
    implements = virtual.Transport.implements.extend(
        asynchronous=False, exchange_type=frozenset(["direct", "topic"]), heartbeats=False
    )

    @property
    def default_connection_params(self) -> dict[str, Any]:
        """No host and no port: kombu would otherwise warn that it takes localhost."""
        return {}

    def driver_version(self) -> str:
        return "1"
