"""`manage.py embed`: has the encoder read rows whose words have changed, so that search can compare meanings."""

import signal
import threading

from django.core.management import BaseCommand, CommandError
from django.db import DatabaseError, close_old_connections

from evidence.services.vectors import due_rows, keep_vectors, store_vectors
from v2kb.core.actor import Actor
from v2kb.core.encoder import EncoderAway, encode

BATCH = 32
ENCODE_S = 60.0


class Command(BaseCommand):
    help = "Have the encoder (V2KB_MEANING_URL) read rows whose words have changed, again and again until stopped."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--every", type=float, default=5.0, help="Seconds to wait when nothing is due.")
        parser.add_argument("--once", action="store_true", help="Read what is due and end.")

    def handle(self, *args, every: float, once: bool, **options) -> None:
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        actor = Actor.system(label="embedder")
        read = 0
        while not stop.is_set():
            try:
                found = read_batch(actor)
            except (EncoderAway, DatabaseError) as error:
                if once:
                    raise CommandError(str(error)) from error
                found = 0
            read += found
            if once and not found:
                self.stdout.write(f"{read} rows read; nothing is due.")
                return
            if not found:
                stop.wait(every)
                close_old_connections()


def read_batch(actor: Actor) -> int:
    """Read up to `BATCH` rows that are due. Returns how many were settled. Raises EncoderAway."""
    model, _ = encode(["ready?"], timeout_s=ENCODE_S)
    due = due_rows(model, BATCH)
    changed = keep_vectors(actor, model, due)
    if changed:
        _, vectors = encode([row.text for row in changed], timeout_s=ENCODE_S)
        store_vectors(actor, model, changed, vectors)
    return len(due)
