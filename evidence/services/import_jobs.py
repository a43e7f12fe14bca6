"""What people do with an import: upload, say how the file is read, check, import, cancel. The work is import_work's."""

import hashlib
from collections.abc import Iterable
from typing import Any

from django.utils import timezone

from evidence.import_jobs import as_uuid
from evidence.importers.load import checked_typing
from evidence.importers.log_mapping import read_mapping
from evidence.importers.records import MAP
from evidence.models import ImportChunk, ImportJob, ImportMapping
from evidence.policies import require_curator
from evidence.vocabulary import added_causes
from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict, Missing, Refusal
from v2kb.core.policies import require_user
from v2kb.core.service import service
from v2kb.core.uploads import file_name
from v2kb.core.values import check_values
from v2kb.rules.sizes import MIB, too_much_text
from v2kb.rules.words import counted

MAX_FILE_BYTES = 50 * MIB
MAX_OPEN_JOBS = 20
CHUNK_BYTES = MIB
State = ImportJob.State


@service("evidence.start_import")
def start_import(
    actor: Actor, *, name: str, chunks: Iterable[bytes], source: str = "", typing: bytes = b""
) -> ImportJob:
    """Keep an uploaded file; its format and columns are read in the background.

    `typing` is a typing file for an evidence map. Raises Forbidden core.role; Refusal evidence.import.too_large,
    evidence.import.empty, evidence.import.typing_*; Conflict evidence.import_many.
    """
    require_curator(actor)
    require_user(actor)
    name = file_name(name, "log")
    checked_typing(typing)
    check_values(ImportJob, name=name)
    if source:
        check_values(ImportJob, source=source)
    if ImportJob.objects.exclude(state__in=ImportJob.OVER).count() >= MAX_OPEN_JOBS:
        raise Conflict(
            "evidence.import_many", f"{MAX_OPEN_JOBS} imports are open.", fix="Finish or cancel one of them first."
        )
    profile = {"typing": typing.decode("utf-8-sig")} if typing else {}
    job = ImportJob.objects.create(name=name, source=source, author=actor.user, profile=profile)
    digest = hashlib.sha256()
    for number, data in enumerate(_sized(chunks)):
        digest.update(data)
        job.size += len(data)
        if job.size > MAX_FILE_BYTES:
            raise Refusal(
                "evidence.import.too_large",
                too_much_text(name, job.size, "a log", MAX_FILE_BYTES),
                field="file",
                fix="Split it.",
            )
        ImportChunk.objects.create(job=job, number=number, data=data)
    if not job.size:
        raise Refusal("evidence.import.empty", "The file is empty.", field="file", fix="Choose another.")
    job.sha256 = digest.hexdigest()
    job.save(update_fields=["size", "sha256"])
    record(actor, "evidence.start_import", job, f"{name} uploaded, {job.size:,} bytes", after={"sha256": job.sha256})
    return job


def _sized(chunks: Iterable[bytes]) -> Iterable[bytes]:
    """The same bytes in pieces of CHUNK_BYTES."""
    waiting = b""
    for chunk in chunks:
        waiting += chunk
        while len(waiting) >= CHUNK_BYTES:
            yield waiting[:CHUNK_BYTES]
            waiting = waiting[CHUNK_BYTES:]
    if waiting:
        yield waiting


@service("evidence.map_import")
def map_import(
    actor: Actor, public_id: str, *, mapping: dict[str, Any], save_as: str = "", check: bool = True
) -> ImportJob:
    """Say how the file is read, and with `check` begin the dry run. `save_as` keeps the mapping for the next file.

    Raises Forbidden core.role; Missing evidence.no_import; Conflict evidence.import_state; Refusal evidence.mapping.
    """
    require_curator(actor)
    require_user(actor)
    job = locked_job(public_id, State.MAPPING, State.CHECKED, State.FAILED)
    if job.format == MAP or not job.format:
        raise _wrong_state(job)
    read, problems = read_mapping(mapping, job.profile["header"], added_causes())
    if problems and check:
        raise Refusal(
            "evidence.mapping",
            problems[0][1],
            field=problems[0][0],
            problems=[
                {"code": "evidence.mapping", "message": text, "field": place, "rule": None, "fix": None}
                for place, text in problems
            ],
        )
    job.mapping = read
    if check:
        _begin(job, State.CHECKING)
    job.save()
    if save_as.strip():
        _save_mapping(actor, save_as.strip(), read)
    record(
        actor, "evidence.map_import", job, f"{job.name}: mapping set" + ("; dry run begun" if check else ""), after=read
    )
    return job


def _save_mapping(actor: Actor, name: str, document: dict[str, Any]) -> None:
    check_values(ImportMapping, name=name)
    ImportMapping.objects.update_or_create(name=name, defaults={"document": document, "author": actor.user})


@service("evidence.apply_import")
def apply_import(actor: Actor, public_id: str, *, skip_unreadable: bool = False) -> ImportJob:
    """Begin to take over what the dry run found: new lines are added, changed rows become proposals, changed lines of
    the history corrections.

    Raises Forbidden core.role; Missing evidence.no_import; Conflict evidence.import_state; Refusal
    evidence.import_unreadable while lines can't be read and are not to be left out.
    """
    require_curator(actor)
    require_user(actor)
    job = locked_job(public_id, State.CHECKED)
    unreadable = job.counts.get("unreadable", 0)
    if unreadable and not skip_unreadable:
        raise Refusal(
            "evidence.import_unreadable",
            f"{counted(unreadable, 'line')} can't be read.",
            field="skip_unreadable",
            fix="Correct them in the file, or leave them out.",
        )
    _begin(job, State.APPLYING)
    job.save()
    record(actor, "evidence.apply_import", job, f"{job.name}: import begun", after={"counts": job.counts})
    return job


@service("evidence.retry_import")
def retry_import(actor: Actor, public_id: str) -> ImportJob:
    """Take up again an import that failed while its file was read, or of a map; a dry run comes first in any case.

    A log that has a mapping goes on by `map_import`. Raises Forbidden core.role; Missing evidence.no_import; Conflict
    evidence.import_state.
    """
    require_curator(actor)
    require_user(actor)
    job = locked_job(public_id, State.FAILED)
    if job.profile.get("header"):
        raise _wrong_state(job, "Begin its dry run again, with the mapping.")
    _begin(job, State.READING)
    job.save()
    record(actor, "evidence.retry_import", job, f"{job.name}: import begun again")
    return job


@service("evidence.cancel_import")
def cancel_import(actor: Actor, public_id: str) -> ImportJob:
    """Stop an import. What it took over so far stays; the file is dropped.

    Raises Forbidden core.role; Missing evidence.no_import; Conflict evidence.import_state.
    """
    require_curator(actor)
    require_user(actor)
    job = locked_job(public_id, *(state for state in State if state not in ImportJob.OVER), State.FAILED)
    job.state = State.CANCELLED
    job.leased_until = None
    job.save(update_fields=["state", "leased_until", "updated_at"])
    job.chunks.all().delete()
    job.lines.all().delete()
    record(actor, "evidence.cancel_import", job, f"{job.name}: import cancelled")
    return job


def _begin(job: ImportJob, state: str) -> None:
    job.state, job.cursor, job.message, job.leased_until = state, 0, "", None
    if state != State.APPLYING:
        job.counts = {}
        job.lines.all().delete()


def locked_job(public_id: str, *states: str) -> ImportJob:
    """The job, locked, in one of `states`. Raises Missing evidence.no_import, Conflict evidence.import_state."""
    job = ImportJob.objects.select_for_update().filter(public_id=as_uuid(public_id)).first()
    if job is None:
        raise Missing("evidence.no_import", "There is no such import.", fix="Pick one from the list.")
    if job.state not in states:
        raise _wrong_state(job)
    return job


def _wrong_state(job: ImportJob, fix: str = "Look at its page.") -> Conflict:
    return Conflict(
        "evidence.import_state",
        f"The import of {job.name} is in the state {job.get_state_display()}.",
        fix=fix,
        facts={"state": job.state, "at": timezone.now().isoformat()},
    )
