"""The work of an import, in batches: each is one transaction that also moves the job's cursor, so that any process can
go on where another stopped. One process works on a job at a time, under a lease.
"""

import datetime
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from django.db import DatabaseError
from django.utils import timezone

from evidence.importers.load import try_map
from evidence.importers.log_mapping import columns_of, suggest
from evidence.importers.records import (
    MAP,
    SAMPLE_LINES,
    Layout,
    NoLog,
    Record,
    find_layout,
    read_records,
)
from evidence.importers.texts import NoText, encoding_of, lines_of
from evidence.models import ImportJob, ImportLine, ImportMapping
from evidence.policies import require_curator
from evidence.services.import_apply import apply_batch, apply_map
from evidence.services.import_check import check_batch, check_map, finish_check, read_batch
from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.errors import Refusal
from v2kb.core.service import service

log = logging.getLogger(__name__)
State = ImportJob.State
IMPORTER = Actor.system(label="importer")
"""Who ends an import that can't go on: its author may have no right any more."""
PAUSE = datetime.timedelta(seconds=10)
"""Between two tries after the database refused a step, times the number of tries."""
AGAIN = "Start it again when the cause is gone; the log of the server says more."
BATCH = 500
MAX_WORDS = 60
MAX_SAMPLES = 4
MAX_SAMPLE_CHARS = 120
MAX_RECORDS = 500_000


def due_jobs() -> list[int]:
    """Jobs that wait for work and that no process holds."""
    free = ImportJob.objects.filter(state__in=ImportJob.WORKING).exclude(leased_until__gt=timezone.now())
    return list(free.order_by("pk").values_list("pk", flat=True))


def work_on(pk: int, *, stop: Callable[[], bool] = lambda: False) -> bool:
    """Work on a job until it waits for a person, is over, or `stop` says so. False where another process has it.

    A step that the database refuses is tried again after a pause; a job that gets no further in `MAX_TRIES` fails.
    """
    now = timezone.now()
    free = ImportJob.objects.filter(pk=pk, state__in=ImportJob.WORKING).exclude(leased_until__gt=now)
    if not free.update(leased_until=now + ImportJob.LEASE):
        return False
    job = ImportJob.objects.select_related("author").get(pk=pk)
    tries = job.counts.get("tries", 0) + 1
    if tries > ImportJob.MAX_TRIES:
        fail_import(IMPORTER, pk, message=f"Its process ended {tries - 1} times before it got further. {AGAIN}")
        return True
    ImportJob.objects.filter(pk=pk, state=job.state).update(counts=job.counts | {"tries": tries})
    actor, free_at = Actor.of_user(job.author, "system"), None
    try:
        {State.READING: _read, State.CHECKING: _check, State.APPLYING: _apply}[job.state](actor, job, stop)
    except (NoText, NoLog) as error:
        fail_import(IMPORTER, pk, message=f"{error.message} {error.fix}")
    except Refusal as refusal:
        fail_import(IMPORTER, pk, message=" ".join(part for part in (refusal.message, refusal.fix) if part))
    except DatabaseError as error:
        log.exception("import %s: the database refused a step, try %s", job.public_id, tries)
        free_at = timezone.now() + PAUSE * tries
        if tries == ImportJob.MAX_TRIES:
            said = str(error).strip().partition("\n")[0][:300]
            fail_import(IMPORTER, pk, message=f"The database refused it {tries} times, last with: {said}. {AGAIN}")
    except Exception:  # else the job would be taken up, and end the process, again and again
        log.exception("import %s ended by a fault of the program", job.public_id)
        fail_import(IMPORTER, pk, message="A fault of the program ended it; the log of the server says which.")
    finally:
        ImportJob.objects.filter(pk=pk, state__in=ImportJob.WORKING).update(leased_until=free_at)
    return True


@service("evidence.fail_import")
def fail_import(actor: Actor, pk: int, *, message: str) -> None:
    """Note why an import can't go on. What it took over so far stays. Raises Forbidden core.role."""
    require_curator(actor)
    job = ImportJob.objects.select_for_update().get(pk=pk)
    job.state, job.message, job.leased_until = State.FAILED, message[:2000], None
    job.counts.pop("tries", None)
    job.save(update_fields=["state", "message", "leased_until", "counts", "updated_at"])
    record(actor, "evidence.fail_import", job, f"{job.name}: import failed: {message[:500]}")


@service("evidence.import_batch", silent=True)
def import_batch(
    actor: Actor, pk: int, *, phase: str, work: Callable[[ImportJob], int], over: str = "", message: str = ""
) -> bool:
    """Do one batch of a phase and move the cursor by what `work` returns; with `over`, end the phase in that state.

    False where the job is not in this phase any more (it was cancelled). Raises Forbidden core.role.
    """
    require_curator(actor)
    job = ImportJob.objects.select_for_update().get(pk=pk)
    if job.state != phase:
        return False
    job.cursor += work(job)
    job.counts.pop("tries", None)
    job.leased_until = timezone.now() + ImportJob.LEASE
    if over:
        job.state, job.leased_until, job.message = over, None, message or job.message
        record(actor, "evidence.import_batch", job, f"{job.name}: {job.get_state_display()}", after=job.counts)
    job.save()
    return True


# --- the phases ---


def _chunks(job: ImportJob) -> Iterator[bytes]:
    for number in range(job.chunks.count()):
        yield bytes(job.chunks.values_list("data", flat=True).get(number=number))


def _records(job: ImportJob, layout: Layout) -> Iterator[Record]:
    return read_records(lines_of(_chunks(job), job.encoding), layout)


def _layout(job: ImportJob) -> Layout:
    return Layout(job.format, job.profile["header"], job.profile["delimiter"])


def _read(actor: Actor, job: ImportJob, stop: Callable[[], bool]) -> None:
    """Find encoding, format, columns and words; then the mapping waits for a person, or a map is checked."""
    encoding = encoding_of(_chunks(job))
    job.encoding = encoding
    layout = find_layout(list(islice(lines_of(_chunks(job), encoding), SAMPLE_LINES)))
    job.format = layout.format
    profile = job.profile | {"header": layout.header, "delimiter": layout.delimiter}
    total, mapping = 1, {}
    if layout.format != MAP:
        total, found = _profile(job, layout)
        profile |= found
        saved = ImportMapping.objects.values_list("name", "document")
        profile["suggested"], mapping = suggest(layout.header, [], saved)
        words = [word for name in columns_of(mapping, "verdict") for word in profile["words"].get(name) or {}]
        profile["suggested"], mapping = suggest(layout.header, words, saved)

    def keep(stored: ImportJob) -> int:
        stored.encoding, stored.format, stored.profile = encoding, layout.format, profile
        stored.total, stored.mapping, stored.cursor = total, mapping, 0
        return 0

    over = State.CHECKING if layout.format == MAP else State.MAPPING
    import_batch(actor, job.pk, phase=State.READING, work=keep, over=over)
    if over == State.CHECKING:
        job.refresh_from_db()
        _check(actor, job, stop)


def _profile(job: ImportJob, layout: Layout) -> tuple[int, dict[str, Any]]:
    """(number of records, {samples, words, others}): per column some cells, and its words where they are few."""
    samples: dict[str, list[str]] = {name: [] for name in layout.header}
    words: dict[str, Counter[str] | None] = {name: Counter() for name in layout.header}
    total = 0
    for one in _records(job, layout):
        total += 1
        if total > MAX_RECORDS:
            raise NoLog(f"The file has more than {MAX_RECORDS:,} lines.", "Split it.")
        if one.problem:
            continue
        for name, cell in zip(layout.header, one.cells, strict=True):
            short = " ".join(cell.split())[:MAX_SAMPLE_CHARS]
            if short and len(samples[name]) < MAX_SAMPLES and short not in samples[name]:
                samples[name].append(short)
            counter = words[name]
            if counter is not None:
                counter[short] += 1
                if len(counter) > MAX_WORDS:
                    words[name] = None
    if not total:
        raise NoLog("No line below the header was found.", "Check that the table has lines.")
    counted = {name: dict(counter.most_common()) if counter is not None else None for name, counter in words.items()}
    return total, {"samples": samples, "words": counted, "others": layout.others[:50]}


def _check(actor: Actor, job: ImportJob, stop: Callable[[], bool]) -> None:
    if job.format == MAP:
        typing, data = job.profile.get("typing", "").encode(), b"".join(_chunks(job))
        plan, refusal = try_map(actor, name=job.name, data=data, typing=typing or None, source=job.source)
        work = lambda stored: check_map(stored, plan)  # noqa: E731
        if refusal:
            said = " ".join(part for part in (refusal.message, refusal.fix) if part)
            import_batch(actor, job.pk, phase=State.CHECKING, work=work, over=State.FAILED, message=said)
        else:
            import_batch(actor, job.pk, phase=State.CHECKING, work=work, over=State.CHECKED)
        return
    records = islice(enumerate(_records(job, _layout(job)), start=1), job.cursor, None)
    while batch := list(islice(records, BATCH)):
        read = read_batch(job, batch)
        work = lambda stored, read=read: check_batch(stored, read)  # noqa: E731
        if stop() or not import_batch(actor, job.pk, phase=State.CHECKING, work=work):
            return
    import_batch(actor, job.pk, phase=State.CHECKING, work=finish_check, over=State.CHECKED)


def _apply(actor: Actor, job: ImportJob, stop: Callable[[], bool]) -> None:
    if job.format == MAP:
        work = lambda stored: apply_map(actor, stored, b"".join(_chunks(stored)))  # noqa: E731
        import_batch(actor, job.pk, phase=State.APPLYING, work=work)
    else:
        going = True
        while going:
            if stop():
                return
            left: list[int] = []

            def work(stored: ImportJob, left: list[int] = left) -> int:
                done, more = apply_batch(actor, stored)
                left.append(more)
                return done

            if not import_batch(actor, job.pk, phase=State.APPLYING, work=work):
                return
            going = bool(left and left[0])
    import_batch(actor, job.pk, phase=State.APPLYING, work=_tidy, over=State.DONE)


def _tidy(job: ImportJob) -> int:
    """Drop the file and the lines that need no further look."""
    job.chunks.all().delete()
    settled = (ImportLine.State.NEW, ImportLine.State.UNCHANGED, ImportLine.State.SKIPPED)
    lines = job.lines.filter(state__in=settled)
    lines._raw_delete(lines.db)
    return job.total - job.cursor
