"""Sending work to workers: by task name, never before the transaction that wrote the row has committed."""

import logging
from typing import Any

from django.db import transaction

from v2kb.celery import app

log = logging.getLogger(__name__)


def send_on_commit(task_name: str, queue: str, kwargs: dict[str, Any]) -> None:
    """Send the task after the commit. A broker that is down loses nothing: the reaper sends what nobody claimed."""

    def send() -> None:
        try:
            app.send_task(task_name, queue=queue, kwargs=kwargs, retry=False)
        except Exception as error:
            log.warning("%s for %s could not be sent (%s); the reaper will send it again", task_name, queue, error)

    transaction.on_commit(send)
