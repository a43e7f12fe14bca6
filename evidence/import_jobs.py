"""Reading imports: the jobs, one job as its page shows it."""

import datetime
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from evidence.history import entry_document, list_entries
from evidence.importers.log_mapping import ENTRY
from evidence.importers.records import LABELS, MAP
from evidence.importers.texts import LABELS as ENCODINGS
from evidence.models import ImportJob, ImportLine
from v2kb.core.errors import Missing
from v2kb.rules.evidence_change import FieldChange
from v2kb.rules.experiments import FIELDS, entry_diff

PHASES = {
    ImportJob.State.READING: "Reading the file",
    ImportJob.State.CHECKING: "Dry run",
    ImportJob.State.APPLYING: "Importing",
}
QUIET = datetime.timedelta(seconds=15)
"""A batch takes less; longer without one is said."""


def list_jobs() -> QuerySet[ImportJob]:
    """Imports, newest first."""
    return ImportJob.objects.select_related("author").defer("profile", "mapping")


def get_job(public_id: Any) -> ImportJob:
    """The import. Raises Missing evidence.no_import."""
    job = ImportJob.objects.select_related("author").filter(public_id=as_uuid(public_id)).first()
    if job is None:
        raise Missing("evidence.no_import", "There is no such import.", fix="Pick one from the list.")
    return job


def as_uuid(text: Any) -> UUID | None:
    """The id of an import, or None where the text is none."""
    try:
        return UUID(str(text))
    except ValueError:
        return None


def list_lines(job: ImportJob, state: str = "") -> QuerySet[ImportLine]:
    """What the dry run found, in the order of the file; what needs a look where no state is asked for."""
    return job.lines.filter(state=state) if state in ImportLine.State.values else job.lines.all()


def changes_of(lines: Iterable[ImportLine]) -> dict[int, list[FieldChange]]:
    """Line -> what it changes: of a row as the dry run compared it, of the history beside the prior claim."""
    changed = [line for line in lines if line.state == ImportLine.State.CHANGED]
    pks = [int(line.target) for line in changed if line.kind == ENTRY]
    prior = {entry.pk: entry_document(entry) for entry in list_entries().filter(pk__in=pks)} if pks else {}
    return {
        line.pk: entry_diff(prior[int(line.target)], {name: line.document[name] for name in FIELDS})
        if line.kind == ENTRY
        else [FieldChange(**change) for change in line.document.get("diff", ())]
        for line in changed
    }


def silence(job: ImportJob) -> str:
    """Since when a working job got no further and when it is taken up again; empty while it goes on."""
    now, held = timezone.now(), job.leased_until
    heard = max(job.updated_at, held - ImportJob.LEASE) if held else job.updated_at
    if now - heard < QUIET:
        return ""
    since, tries = _clock(job.updated_at), job.counts.get("tries", 0)
    count = f" This is try {tries} of {ImportJob.MAX_TRIES} to get further." if tries > 1 else ""
    if held and held > now:
        return f"No progress since {since}. If its process ended, it goes on where it stopped at {_clock(held)}.{count}"
    return f"No progress since {since}: no process works on it. It goes on as soon as an importer runs.{count}"


def _clock(moment: datetime.datetime) -> str:
    return timezone.localtime(moment).strftime("%H:%M:%S %Z")


def progress(job: ImportJob) -> dict[str, Any]:
    """The job as the progress panel shows it."""
    phase = PHASES.get(job.state, "")
    return {
        "title": job.name,
        "state": job.get_state_display(),
        "phase": phase,
        "done": job.cursor,
        "total": job.total,
        "finished": not phase,
        "message": job.message,
        "silence": silence(job),
        "poll_url": reverse("evidence:import_job_progress", args=[job.public_id]),
        "cancel_lost": "It stops where it is and the file is dropped. What was imported so far stays.",
        "cancel_url": reverse("evidence:import_job_cancel", args=[job.public_id]),
    }


def facts(job: ImportJob) -> list[tuple[str, str]]:
    """What was found of the file, as (label, value)."""
    found = [("Size", f"{job.size:,} bytes")]
    if job.encoding:
        found.append(("Read as", ENCODINGS.get(job.encoding, job.encoding)))
    if job.format:
        found.append(("Format", LABELS[job.format]))
    if job.format and job.format != MAP:
        found.append(("Lines", f"{job.total:,}"))
    return found
