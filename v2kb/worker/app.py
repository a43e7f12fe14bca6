"""The worker's Celery app: one task, taken one at a time, acknowledged when it is over.

Start it with `python -m v2kb.worker`, or with
`celery -A v2kb.worker.app worker -Q cpu --pool solo --prefetch-multiplier=1` and the settings in the environment.
"""

import logging
from dataclasses import replace
from typing import Any

from celery import Celery, signals
from celery.exceptions import Reject
from pydantic import ValidationError

from v2kb import broker
from v2kb.wire import TASK_NAME, RunMessage, WorkerInfo
from v2kb.worker import execute as execution
from v2kb.worker.client import HelloClient
from v2kb.worker.hello import HelloThread, describe
from v2kb.worker.settings import from_environment

log = logging.getLogger(__name__)

settings = from_environment()
app = Celery("v2kb-worker")
broker.configure(app, settings.broker_url, settings.data_dir, {*broker.RUN_QUEUES, settings.queue})


class _State:
    """What the started worker knows of itself."""

    worker: WorkerInfo | None = None
    hello: HelloThread | None = None


@app.task(name=TASK_NAME, acks_late=True)
def execute_run(**kwargs: Any) -> str:
    """Do one run. The arguments are a RunMessage; anything else is dropped with a log line.

    A message whose app can't be reached goes back to the queue, for this worker or for one that can reach it.
    """
    try:
        message = RunMessage.model_validate(kwargs)
    except ValidationError as error:
        log.error("a message that is no RunMessage was dropped: %s", error)
        return "dropped"
    worker = _State.worker or describe(settings)
    ended = execution.execute(message, worker, replace(settings, queue=worker.queue).device)
    if ended == "unclaimed":
        raise Reject(f"run {message.run_id} could not be claimed", requeue=True)
    return ended


@signals.celeryd_after_setup.connect
def _take_queue(sender: str, instance: Any, **_: Any) -> None:
    """The queue given on the command line is what the worker says of itself."""
    queues = list(instance.app.amqp.queues.consume_from)
    if len(queues) != 1:
        raise SystemExit("Name exactly one queue with -Q, such as -Q cpu: a worker holds one device.")
    _State.worker = describe(replace(settings, queue=queues[0]))


@signals.worker_ready.connect
def _begin_hello(**_: Any) -> None:
    if not (settings.app_url and settings.token):
        log.warning("V2KB_APP_URL or V2KB_WORKER_TOKEN is not set: this worker is not shown on the workers page")
        return
    _State.hello = HelloThread(HelloClient(settings.app_url, settings.token), _State.worker)
    _State.hello.start()


@signals.worker_shutting_down.connect
def _give_up_run(**_: Any) -> None:
    execution.stopping.set()


@signals.worker_shutdown.connect
def _end_hello(**_: Any) -> None:
    if _State.hello is not None:
        _State.hello.stop()
