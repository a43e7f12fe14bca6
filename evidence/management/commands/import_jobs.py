"""`manage.py import_jobs`: works on uploaded files in the background. One process of these runs beside the web."""

import logging
import signal
import threading

from django.core.management import BaseCommand
from django.db import DatabaseError, close_old_connections

from evidence.services.import_work import due_jobs, work_on

log = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Read, check and import uploaded files, again and again until stopped."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--every", type=float, default=1.0, help="Seconds to wait when nothing is due.")
        parser.add_argument("--once", action="store_true", help="Work on what is due and end.")

    def handle(self, *args, every: float, once: bool, **options) -> None:
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        while not stop.is_set():
            close_old_connections()
            worked = False
            try:
                for pk in due_jobs():
                    worked = work_on(pk, stop=stop.is_set) or worked
            except DatabaseError:
                log.exception("the database did not answer; looking again in %s s", every)
            if once and not worked:
                return
            if not worked:
                stop.wait(every)
