"""Taking over what the dry run of an import found: lines of the history, rows, changes of rows as proposals."""

from typing import Any

from evidence.baseline import compare_rows
from evidence.importers.load import load_map
from evidence.importers.log_mapping import ENTRY, ROW
from evidence.models import ExperimentEntry, ImportedLine, ImportJob, ImportLine
from evidence.services.baseline import BaselineRow, import_baseline, lock_for_import
from evidence.services.experiments import import_entries
from evidence.services.import_check import baseline_row, find_twins, log_of, rows_of_lines, sure_code
from evidence.services.revisions import next_code
from evidence.vocabulary import unit_spellings
from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.rules.experiments import FIELDS

BATCH = 500
ROWS_BATCH = 50
MAX_KEPT = 20
State = ImportLine.State


def apply_batch(actor: Actor, job: ImportJob) -> tuple[int, int]:
    """Take over the next lines. Returns (records that this moves on by, how many lines were in the batch)."""
    after = job.counts.get("applied_to", 0)
    wanted = job.lines.filter(state__in=(State.NEW, State.CHANGED, State.UNCHANGED), number__gt=after)
    batch = _cut(list(wanted.order_by("number")[:BATCH]))
    if not batch:
        return 0, 0
    _apply_entries(actor, job, [line for line in batch if line.kind == ENTRY])
    rows = [line for line in batch if line.kind == ROW]
    if rows:
        _apply_rows(actor, job, rows)
    last = batch[-1].number
    job.counts = job.counts | {"applied_to": last}
    return last - after, len(batch)


def _cut(batch: list[ImportLine]) -> list[ImportLine]:
    """The batch up to its ROWS_BATCH-th row: rows take longer than lines of the history."""
    rows = [index for index, line in enumerate(batch) if line.kind == ROW]
    return batch[: rows[ROWS_BATCH]] if len(rows) > ROWS_BATCH else batch


def _apply_entries(actor: Actor, job: ImportJob, lines: list[ImportLine]) -> None:
    known = {line.pk: int(line.target) for line in lines if line.state == State.UNCHANGED and line.target}
    fresh = [line for line in lines if line.state in (State.NEW, State.CHANGED)]
    # A line of which an equal one came in since the dry run, by another import or by hand, is not written again.
    hashes = [line.hash for line in fresh]
    current = ExperimentEntry.objects.filter(content_hash__in=hashes, corrections__isnull=True)
    stored = dict(current.values_list("content_hash", "pk"))
    batch: list[tuple[ImportLine, int | None]] = []
    for line in fresh:
        if line.hash in stored:
            known[line.pk] = stored[line.hash]
        elif line.state == State.CHANGED:
            batch.append((line, int(line.target)))
        elif prior := str(line.document.get("corrects", "")):
            batch = _flush(actor, job, batch, known)
            batch.append((line, _prior(prior)))
        else:
            batch.append((line, None))
    _flush(actor, job, batch, known)
    _remember_entries(job, lines, known)


def _flush(
    actor: Actor, job: ImportJob, batch: list[tuple[ImportLine, int | None]], known: dict[int, int]
) -> list[tuple[ImportLine, int | None]]:
    """Write what waits, so that a correction finds the line above it. Returns an empty batch."""
    if batch:
        entries = [({name: line.document[name] for name in FIELDS}, corrects) for line, corrects in batch]
        made = import_entries(actor, job=job, entries=entries)
        known |= {line.pk: entry.pk for (line, _), entry in zip(batch, made, strict=True)}
    return []


def _prior(hash_: str) -> int | None:
    found = ExperimentEntry.objects.filter(content_hash__startswith=hash_, corrections__isnull=True)
    return found.order_by("-pk").values_list("pk", flat=True).first()


def _remember_entries(job: ImportJob, lines: list[ImportLine], known: dict[int, int]) -> None:
    remembered: dict[str, Any] = {}
    for line in lines:
        if line.pk in known:
            key = line.key or line.hash
            remembered[key] = ImportedLine(log=log_of(job), key=key, entry_id=known[line.pk])
    ImportedLine.objects.bulk_create(
        remembered.values(), update_conflicts=True, unique_fields=["log", "key"], update_fields=["entry"]
    )


def _apply_rows(actor: Actor, job: ImportJob, lines: list[ImportLine]) -> None:
    log, units = log_of(job), unit_spellings()
    known = rows_of_lines(job, lines)
    named = [line.document["code"] or sure_code(line, known.get(line.key, {}), log) for line in lines]
    lock_for_import([code for code in named if code])
    # A line of which an equal row came in since the dry run, by another import or by hand, is not written again.
    fresh = [line for line, code in zip(lines, named, strict=True) if not code]
    find_twins(list(zip(fresh, compare_rows([baseline_row(job, line, units) for line in fresh]), strict=True)))
    rows: list[BaselineRow] = []
    for line, code in zip(lines, named, strict=True):
        code = code or (line.target if line.state == State.UNCHANGED else "")
        verdict = line.document["content"]["verdict"]
        rows.append(baseline_row(job, line, units, code or next_code(verdict)))
    reason = f"Import of {job.name}" + (f" ({job.source})" if job.source else "")
    report = import_baseline(actor, rows=rows, source=reason, log=log)
    counts = dict(job.counts)
    for name, found in (("rows_added", report.added), ("proposed", report.proposed), ("kept", report.kept)):
        counts[name] = counts.get(name, 0) + len(found)
    job.counts = counts
    kept = [f"{code} stays as it is: {why}" for code, why in report.kept]
    job.message = "; ".join([*filter(None, [job.message]), *kept][:MAX_KEPT])
    for line, row in zip(lines, rows, strict=True):
        line.target = row.code
    ImportLine.objects.bulk_update(lines, ["state", "target"])


def apply_map(actor: Actor, job: ImportJob, data: bytes) -> int:
    """Import a map whole, without the lines that can't be read."""
    typing = job.profile.get("typing", "")
    plan = load_map(
        actor, name=job.name, data=data, typing=typing.encode() or None, source=job.source, skip_unreadable=True
    )
    report = plan.report
    job.counts = job.counts | {
        "rows_added": len(report.added),
        "proposed": len(report.proposed),
        "kept": len(report.kept),
    }
    job.message = "; ".join(f"{code} stays as it is: {why}" for code, why in report.kept)
    record(actor, "evidence.apply_import", job, f"{job.name}: {report.summary}")
    return 0
