"""Reading imports: the jobs, one job as its page shows it."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.urls import reverse

from evidence.importers.records import LABELS, MAP
from evidence.importers.texts import LABELS as ENCODINGS
from evidence.models import ImportJob, ImportLine
from v2kb.core.errors import Missing

PHASES = {
    ImportJob.State.READING: "Reading the file",
    ImportJob.State.CHECKING: "Dry run",
    ImportJob.State.APPLYING: "Importing",
}


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
