"""The worker's settings, all from the environment."""

import os
import socket
from dataclasses import dataclass
from pathlib import Path

DEFAULT_BROKER_URL = "embedded://"
DEFAULT_DATA_DIR = "data"
GPU_PREFIX = "gpu."


@dataclass(frozen=True)
class WorkerSettings:
    """`app_url` and `token` are for the hello; a run's own message says where to claim it and with which key."""

    app_url: str
    token: str
    queue: str
    name: str
    broker_url: str
    data_dir: Path

    @property
    def device(self) -> str:
        """What kernels run on: CUDA on the queues of cards, else the processor."""
        return "cuda" if self.queue.startswith(GPU_PREFIX) else "cpu"


def from_environment() -> WorkerSettings:
    """Read V2KB_APP_URL, V2KB_WORKER_TOKEN, V2KB_WORKER_QUEUE, V2KB_WORKER_NAME, V2KB_BROKER_URL, V2KB_DATA_DIR."""
    queue = os.environ.get("V2KB_WORKER_QUEUE") or "cpu"
    return WorkerSettings(
        app_url=os.environ.get("V2KB_APP_URL", "").rstrip("/"),
        token=os.environ.get("V2KB_WORKER_TOKEN", ""),
        queue=queue,
        name=os.environ.get("V2KB_WORKER_NAME") or f"{socket.gethostname()}-{queue}"[:120],
        broker_url=os.environ.get("V2KB_BROKER_URL") or DEFAULT_BROKER_URL,
        data_dir=Path(os.environ.get("V2KB_DATA_DIR") or DEFAULT_DATA_DIR).resolve(),
    )
