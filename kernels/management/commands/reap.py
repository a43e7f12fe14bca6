"""`manage.py reap`: takes back runs whose worker has gone silent. One process of these runs beside the web."""

import logging
import signal
import threading

from django.core.management import BaseCommand
from django.db import DatabaseError, close_old_connections

from kernels.services.dispatch import reap
from v2kb.core.actor import Actor

log = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Take back runs whose worker has gone silent, again and again until stopped."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--every", type=float, default=2.0, help="Seconds between two looks.")
        parser.add_argument("--once", action="store_true", help="Look once and end.")

    def handle(self, *args, every: float, once: bool, **options) -> None:
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        actor = Actor.system(label="reaper")
        while True:
            close_old_connections()
            try:
                taken = reap(actor)
                if taken:
                    log.info("took back or sent again %d runs", taken)
            except DatabaseError:
                log.exception("the database did not answer; looking again in %s s", every)
            if once or stop.wait(every):
                return
