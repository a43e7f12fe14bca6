"""One place that sets up Celery for every kind of broker, alike on the sending and the receiving side."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from celery import Celery
from kombu import Exchange, Queue
from kombu.transport import TRANSPORT_ALIASES

CPU_QUEUE = "cpu"
RUN_QUEUES = (CPU_QUEUE, "gpu.sm_90", "gpu.sm_100")
DELIVERY_LIMIT = 5
"""Deliveries after the first before a message that ends its worker each time is set aside."""
VISIBILITY_TIMEOUT_S = 6 * 3600
"""Redis hands a message out again after this time; it must outlast the longest run."""
EMBEDDED_SCHEME = "embedded"
POLLING_INTERVAL_S = 0.05


def register_embedded() -> None:
    """Make kombu know `embedded://` URLs (an import path can't be written as a URL's scheme)."""
    TRANSPORT_ALIASES[EMBEDDED_SCHEME] = "v2kb.broker.embedded:Transport"


def run_queue(name: str, broker_url: str) -> Queue:
    """Return the declaration of a run queue. On RabbitMQ its arguments are fixed for the queue's life."""
    arguments: dict[str, Any] = {}
    if _scheme(broker_url) == "amqp":
        arguments = {"x-queue-type": "quorum", "x-delivery-limit": DELIVERY_LIMIT}
    return Queue(name, Exchange(name, type="direct"), routing_key=name, durable=True, queue_arguments=arguments)


def configure(app: Celery, broker_url: str, data_dir: Path | str, queues: Iterable[str] = RUN_QUEUES) -> None:
    """Set up `app` for `broker_url`: acknowledge late, one message at a time, JSON only, no result backend.

    `embedded://` keeps messages under `data_dir`/broker; `amqp://` gets quorum queues with a delivery limit;
    `redis://` a long visibility timeout. Sending to a broker that is away fails at once, for the reaper sends again;
    a worker goes on trying to connect. Both sides must call this with the same queues. Raises ValueError for another
    scheme.
    """
    scheme = _scheme(broker_url)
    options: dict[str, Any] = {}
    if scheme == EMBEDDED_SCHEME:
        register_embedded()
        options = {"data_dir": str(data_dir), "polling_interval": POLLING_INTERVAL_S}
    elif scheme == "redis":
        options = {"visibility_timeout": VISIBILITY_TIMEOUT_S}
    elif scheme == "amqp":
        options = {"confirm_publish": True}
        app.conf.broker_heartbeat = 0  # a solo worker at a long run sends none, and RabbitMQ would hang up on it
    app.conf.update(
        broker_url=broker_url,
        broker_transport_options={**options, "max_retries": 0},
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_connection_timeout=5,
        task_queues=[run_queue(name, broker_url) for name in queues],
        task_default_queue=CPU_QUEUE,
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        task_acks_on_failure_or_timeout=True,
        task_ignore_result=True,
        task_serializer="json",
        accept_content=["json"],
        worker_prefetch_multiplier=1,
        worker_enable_remote_control=False,
        worker_send_task_events=False,
        worker_cancel_long_running_tasks_on_connection_loss=False,
    )


def _scheme(broker_url: str) -> str:
    scheme = urlsplit(broker_url).scheme
    known = {
        EMBEDDED_SCHEME: EMBEDDED_SCHEME,
        "amqp": "amqp",
        "amqps": "amqp",
        "pyamqp": "amqp",
        "redis": "redis",
        "rediss": "redis",
        "memory": "memory",
    }
    if scheme not in known:
        raise ValueError(f"The broker URL begins with {scheme!r}; write embedded://, amqp://... or redis://...")
    return known[scheme]
