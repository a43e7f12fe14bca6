"""The run queue: one `configure` for the app that sends and the worker that receives, and a broker without a server."""

from v2kb.broker.config import (
    CPU_QUEUE,
    DELIVERY_LIMIT,
    RUN_QUEUES,
    VISIBILITY_TIMEOUT_S,
    configure,
    register_embedded,
    run_queue,
)

__all__ = [
    "CPU_QUEUE",
    "DELIVERY_LIMIT",
    "RUN_QUEUES",
    "VISIBILITY_TIMEOUT_S",
    "configure",
    "register_embedded",
    "run_queue",
]
