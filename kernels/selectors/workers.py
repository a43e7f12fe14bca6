"""Reading workers and their queues."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Min, Q
from django.utils import timezone

from kernels.models import Run, Worker
from v2kb.broker import RUN_QUEUES

ALIVE = timedelta(seconds=30)


def alive_since() -> datetime:
    """A worker that was heard of after this moment is alive."""
    return timezone.now() - ALIVE


def queue_status() -> list[dict[str, Any]]:
    """Per queue: runs that wait and since when, runs on a worker, workers alive. A constant number of queries."""
    live = Q(state__in=[Run.State.CLAIMED, Run.State.RUNNING])
    waiting = Q(state=Run.State.QUEUED)
    counted = {
        line["queue"]: line
        for line in Run.objects.filter(live | waiting)
        .order_by()
        .values("queue")
        .annotate(
            waiting=Count("id", filter=waiting),
            running=Count("id", filter=live),
            waiting_since=Min("submitted_at", filter=waiting),
        )
    }
    alive = dict(
        Worker.objects.filter(last_seen__gt=alive_since()).order_by().values_list("queue").annotate(workers=Count("id"))
    )
    nothing = {"waiting": 0, "running": 0, "waiting_since": None}
    return [
        {**nothing, **counted.get(queue, {}), "queue": queue, "workers_alive": alive.get(queue, 0)}
        for queue in RUN_QUEUES
    ]
