"""The dry run of an import: what each line of the file says, and what taking it over would do. Writes no evidence."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from django.db.models import Count

from evidence.baseline import CHANGED, NEW, UNCHANGED, BaselineRow, ComparedRow, compare_rows
from evidence.exports import ROW_COLUMNS, row_cells
from evidence.families import lever_families
from evidence.history import entry_document
from evidence.importers.entry_matching import pair_lines
from evidence.importers.load import MapPlan
from evidence.importers.log_lines import ReadLine, read_line
from evidence.importers.log_mapping import ENTRY, ROW, SKIP
from evidence.importers.records import Record
from evidence.models import (
    EvidenceRevision,
    ExperimentEntry,
    ImportedLine,
    ImportJob,
    ImportLine,
    Lever,
    LeverAlias,
)
from evidence.services.baseline import already_proposed
from evidence.services.experiments import unknown_links
from evidence.vocabulary import added_causes, unit_spellings
from v2kb.rules.canonical import content_hash
from v2kb.rules.evidence_change import FIELD_LABELS
from v2kb.rules.experiments import FIELDS, entry_hash
from v2kb.rules.names import lever_key

State = ImportLine.State
MAX_NOTE = 300


def log_of(job: ImportJob) -> str:
    """The name under which the lines of a log are remembered: a later file of this name is compared with them."""
    return job.name


# --- one batch ---


def read_batch(job: ImportJob, batch: Sequence[tuple[int, Record]]) -> list[tuple[int, Record, ReadLine]]:
    """What a batch of (number, record) says under the mapping."""
    header, mapping = job.profile["header"], job.mapping
    words = added_causes(), unit_spellings()
    return [(number, record, read_line(record, header, mapping, *words)) for number, record in batch]


def check_batch(job: ImportJob, read: Sequence[tuple[int, Record, ReadLine]]) -> int:
    """Compare what was read with what is stored, and keep it. Returns how many lines."""
    lines = {number: _line(job, number, record, one) for number, record, one in read}
    _check_entries(job, [(lines[number], one) for number, _, one in read if one.kind == ENTRY and not one.problems])
    _check_rows(job, [(lines[number], one) for number, _, one in read if one.kind == ROW and not one.problems])
    ImportLine.objects.bulk_create(lines.values())
    return len(read)


def _line(job: ImportJob, number: int, record: Record, one: ReadLine) -> ImportLine:
    state = State.UNREADABLE if one.problems else State.SKIPPED if one.kind == SKIP else State.NEW
    return ImportLine(
        job=job,
        number=number,
        line=record.line,
        kind=one.kind,
        key=one.key,
        state=state,
        document={} if one.problems else one.document,
        problems=one.problems,
        note=_joined(one.notes),
    )


def _joined(notes: Sequence[str]) -> str:
    """The notes that fit into a line's note, and how many more there are."""
    for kept in range(len(notes), 0, -1):
        left = [f"and {len(notes) - kept} more"] if kept < len(notes) else []
        if len(text := "; ".join([*notes[:kept], *left])) <= MAX_NOTE:
            return text
    return "; ".join(notes)[:MAX_NOTE]


def _unreadable(line: ImportLine, message: str, fix: str, column: str = "") -> None:
    line.state = State.UNREADABLE
    line.problems = [*line.problems, {"line": line.line, "column": column, "message": message, "fix": fix}]


def _check_entries(job: ImportJob, lines: list[tuple[ImportLine, ReadLine]]) -> None:
    levers = dict(LeverAlias.objects.values_list("normalised", "lever__slug")) if lines else {}
    lost = _lost_links(lines)
    for line, _ in lines:
        entry = line.document
        corrects = entry.pop("corrects", "")
        if entry["lever"]:
            slug = levers.get(lever_key(entry["lever"]))
            if slug is None:
                _unreadable(line, f"There is no lever {entry['lever'][:60]!r}.", "Add it, or map the column otherwise.")
                continue
            entry["lever"] = slug
        if missing := [link for link in entry["links"] if link in lost]:
            _unreadable(line, f"{', '.join(missing)} can't be found.", "Correct it, or leave it out.")
            continue
        line.document = entry | ({"corrects": corrects} if corrects else {})
    read = [line for line, _ in lines if line.state != State.UNREADABLE]
    _name_levers(read)
    _compare_entries(job, read)


def _name_levers(lines: list[ImportLine]) -> None:
    """Set the hashes. A lever of which another was merged is called as in the entry that is stored, if one is."""
    families = lever_families()
    slugs = dict(Lever.objects.values_list("pk", "slug"))
    pks = {slug: pk for pk, slug in slugs.items()}
    others: dict[str, tuple[ImportLine, str]] = {}
    for line in lines:
        entry = {name: line.document[name] for name in FIELDS}
        line.hash = entry_hash(entry)
        for pk in families.merged_with([pks[entry["lever"]]]) if entry["lever"] else ():
            others[entry_hash(entry | {"lever": slugs[pk]})] = line, slugs[pk]
    stored = ExperimentEntry.objects.filter(content_hash__in=others).values_list("content_hash", flat=True)
    for hash_ in stored:
        line, slug = others[hash_]
        line.hash, line.document = hash_, line.document | {"lever": slug}


def _lost_links(lines: list[tuple[ImportLine, ReadLine]]) -> set[str]:
    return set(unknown_links(sorted({link for line, _ in lines for link in line.document["links"]})))


def _compare_entries(job: ImportJob, lines: list[ImportLine]) -> None:
    """Lines that the history has are unchanged; those with a key that it knows are changes; the others stay new."""
    hashes = [line.hash for line in lines]
    stored: dict[str, tuple[int, bool]] = {}
    known = ExperimentEntry.objects.filter(content_hash__in=hashes).annotate(later=Count("corrections"))
    for pk, hash_, later in known.order_by("pk").values_list("pk", "content_hash", "later"):
        if hash_ not in stored or not later:
            stored[hash_] = pk, bool(later)
    keyed = {
        line.key: line.entry_id
        for line in ImportedLine.objects.filter(log=log_of(job), key__in=[line.key for line in lines if line.key])
        if line.entry_id
    }
    twins = dict(job.lines.filter(hash__in=hashes).values_list("hash", "line"))
    keys = dict(job.lines.filter(key__in=[line.key for line in lines if line.key]).values_list("key", "line"))
    for line in lines:
        if line.key and line.key in keys:
            _unreadable(line, f"Line {keys[line.key]} has the same id.", "Give each line an id of its own.")
            continue
        if line.hash in stored:
            pk, is_old = stored[line.hash]
            line.state, line.target = State.UNCHANGED, str(pk)
            line.note = "an earlier claim, corrected since" if is_old else line.note
        elif line.hash in twins:
            line.state, line.note = State.UNCHANGED, f"line {twins[line.hash]} says the same"
        elif line.key in keyed:
            line.state, line.target = State.CHANGED, str(_newest(keyed[line.key]))
        twins.setdefault(line.hash, line.line)
        if line.key:
            keys[line.key] = line.line


def _newest(pk: int) -> int:
    while (later := ExperimentEntry.objects.filter(corrects=pk).values_list("pk", flat=True).first()) is not None:
        pk = later
    return pk


def rows_of_lines(job: ImportJob, lines: Sequence[ImportLine]) -> dict[str, dict[str, str]]:
    """Key of a line -> the rows that it may be about: {code: name of the file from which the row came}.

    A line of this log is about one row. A line of a file under another name is found by title, date and environment,
    unless a column of ids names the lines: the ids of two files have nothing to do with each other.
    """
    own = log_of(job)
    known = ImportedLine.objects.filter(key__in=[line.key for line in lines], row__isnull=False)
    if "key" in job.mapping["columns"].values():
        known = known.filter(log=own)
    found: dict[str, dict[str, str]] = defaultdict(dict)
    mine: dict[str, dict[str, str]] = {}
    for key, code, log in known.order_by("pk").values_list("key", "row__code", "log"):
        found[key].setdefault(code, log)
        if log == own:
            mine[key] = {code: own}
    return found | mine


def sure_code(line: ImportLine, rows: dict[str, str], own: str) -> str:
    """The code of the row that a line is surely about, or empty; an undated line of another file is not sure."""
    if len(rows) != 1:
        return ""
    ((code, log),) = rows.items()
    return code if log == own or line.document["content"]["measured_on"] else ""


def _check_rows(job: ImportJob, lines: list[tuple[ImportLine, ReadLine]]) -> None:
    keys, own = [line.key for line, _ in lines], log_of(job)
    known = rows_of_lines(job, [line for line, _ in lines])
    earlier = dict(job.lines.filter(key__in=keys, kind=ROW).values_list("key", "line"))
    wanted = []
    for line, _ in lines:
        if line.key in earlier:
            _unreadable(
                line, f"Line {earlier[line.key]} is about the same row.", "Keep one of them, or give it a code."
            )
            continue
        earlier[line.key] = line.line
        rows = known.get(line.key, {})
        if len(rows) > 1:
            message = (
                f"It may be a change of {', '.join(rows)}, or a new row: title, date and environment are the same."
            )
            _unreadable(line, message, "Map a column with the code of the row.")
            continue
        told = [f"looks like {code}, imported from {log}: same title" for code, log in rows.items() if log != own]
        line.note = "; ".join(note for note in (line.note, *told) if note)[:300]
        wanted.append(line)
    codes = [sure_code(line, known.get(line.key, {}), own) for line in wanted]
    units = unit_spellings()
    compared = compare_rows([baseline_row(job, line, units, code) for line, code in zip(wanted, codes, strict=True)])
    proposed = already_proposed(job.author, compared)
    for line, found in zip(wanted, compared, strict=True):
        _take(line, found, proposed.get(found.row.code, ""))
    find_twins([(line, found) for line, found in zip(wanted, compared, strict=True) if line.state == State.NEW])


def find_twins(lines: list[tuple[ImportLine, ComparedRow]]) -> None:
    """A line without a code that says what a stored row says or said is no new row, whatever file it came from."""
    hashes = {content_hash(found.content): line for line, found in lines if not line.document["code"]}
    stored = EvidenceRevision.objects.filter(content_hash__in=hashes).values_list("content_hash", "row__code")
    for hash_, code in stored:
        hashes[hash_].state, hashes[hash_].target = State.UNCHANGED, code


def baseline_row(job: ImportJob, line: ImportLine, units: Mapping[str, str], code: str = "") -> BaselineRow:
    """The row of a line; one without a code gets its own when it is taken over. `units`: `unit_spellings()`."""
    document = line.document
    header = job.profile["header"]
    is_export = set(ROW_COLUMNS) <= set(header)
    return BaselineRow(
        code=document["code"] or code or f"line {line.line}",
        line=line.line,
        content=document["content"],
        lever_name=document["lever_name"],
        said=frozenset(document["said"]),
        reread=partial(_reread, header, job.mapping, units) if is_export else None,
        key=line.key,
    )


def _reread(
    header: list[str], mapping: dict[str, Any], units: Mapping[str, str], content: dict[str, Any]
) -> dict[str, Any]:
    """What our own CSV of a row gives back when it is read with this mapping."""
    cells = row_cells(content)
    own = {content["cause_class"]: content["cause_class"]}
    read = read_line(Record(1, [cells.get(name, "") for name in header]), header, mapping, own, units)
    return read.document.get("content", {}) if read.kind == ROW else {}


def _take(line: ImportLine, found: ComparedRow, proposed: str) -> None:
    """Keep what the comparison found. `proposed`: why nothing will be proposed of a changed row."""
    if found.refusals:
        for problem in found.refusals:
            _unreadable(line, f"{problem.field}: {problem.message}", problem.fix)
        return
    line.state = {NEW: State.NEW, CHANGED: State.CHANGED, UNCHANGED: State.UNCHANGED}[found.state]
    line.target = "" if found.row.code.startswith("line ") else found.row.code
    stays = f"nothing is proposed: {proposed}" if proposed else ""
    notes = [line.note, found.note, stays, f"new lever {found.new_lever}" if found.new_lever else ""]
    if found.state == NEW and found.missing:
        labels = (FIELD_LABELS.get(problem.field, problem.field) for problem in found.missing)
        notes.append(f"missing: {', '.join(labels)}")
    line.note = _joined([note for note in notes if note])
    if found.changes:
        line.document = line.document | {"diff": [asdict(change) for change in found.changes]}


# --- the end of the dry run ---


def finish_check(job: ImportJob) -> int:
    """Pair changed lines of the history with the entries that they change, and count."""
    _pair_entries(job)
    _check_corrections(job)
    counts = Counter(dict(job.lines.values_list("state").annotate(count=Count("pk")).order_by()))
    kinds = job.lines.filter(state__in=(State.NEW, State.CHANGED)).values_list("kind", "state")
    job.counts = {state: counts.get(state, 0) for state in State.values} | {
        f"{kind}_{state}": count for kind, state, count in kinds.annotate(count=Count("pk")).order_by()
    }
    return 0


def _pair_entries(job: ImportJob) -> None:
    """Entries of an earlier import of this log that no line repeats may be what a new line changes."""
    repeated = job.lines.filter(kind=ENTRY, hash__gt="").values("hash")
    left = ExperimentEntry.objects.filter(imported_lines__log=log_of(job), corrections__isnull=True)
    left = left.exclude(content_hash__in=repeated).select_related("lever").prefetch_related("links").distinct()
    claimed = set(job.lines.filter(kind=ENTRY, state=State.CHANGED).values_list("target", flat=True))
    stored = [(entry.pk, entry_document(entry)) for entry in left if str(entry.pk) not in claimed]
    if not stored:
        return
    fresh = job.lines.filter(kind=ENTRY, state=State.NEW).order_by("number")
    lines = ((line.pk, {name: line.document[name] for name in FIELDS}) for line in fresh.iterator(chunk_size=1000))
    pairs, unclear = pair_lines(lines, stored)
    changed = []
    for line in job.lines.filter(pk__in=[*pairs, *unclear]):
        if line.pk in pairs:
            line.state, line.target = State.CHANGED, str(pairs[line.pk])
        else:
            ids = ", ".join(map(str, unclear[line.pk]))
            _unreadable(
                line, f"It may be a change of experiment {ids}, or a new one.", "Map a column that names each line."
            )
        changed.append(line)
    ImportLine.objects.bulk_update(changed, ["state", "target", "problems"], batch_size=500)


def _check_corrections(job: ImportJob) -> None:
    """A line that corrects another names it by the beginning of its hash; that one stands above it or is stored."""
    for line in job.lines.filter(kind=ENTRY, state=State.NEW, document__has_key="corrects"):
        prior = str(line.document["corrects"])
        above = job.lines.filter(kind=ENTRY, hash__startswith=prior, number__lt=line.number)
        found = len(prior) >= 8 and (
            above.exclude(state=State.UNREADABLE).exists()
            or ExperimentEntry.objects.filter(content_hash__startswith=prior).exists()
        )
        if not found:
            _unreadable(
                line, f"It corrects {prior[:20]!r}, which is not known.", "Import the line that it corrects too."
            )
            line.save(update_fields=["state", "problems"])


# --- an evidence map ---


def check_map(job: ImportJob, plan: MapPlan) -> int:
    """The dry run of a map: its rows as lines, and what can't be read. Returns how many lines."""
    lines = _map_lines(job, plan)
    ImportLine.objects.bulk_create(lines)
    counts = Counter(line.state for line in lines)
    guidelines = sum(line.state != UNCHANGED for line in plan.guidelines)
    rows = {f"row_{state}": counts.get(state, 0) for state in (State.NEW, State.CHANGED)}
    job.counts = {state: counts.get(state, 0) for state in State.values} | rows | {"guidelines": guidelines}
    job.total = len(lines)
    job.message = "; ".join(plan.map.notes)
    return len(lines)


def _map_lines(job: ImportJob, plan: MapPlan) -> list[ImportLine]:
    lines = []
    proposed = already_proposed(job.author, plan.fit)
    for found in plan.fit:
        line = ImportLine(job=job, line=found.row.line, kind=ROW, key=found.row.code, state=State.NEW, note="")
        line.document = {"content": found.content}
        if found.unreadable_numbers:
            line.note = f"kept as text, not read as numbers: {', '.join(found.unreadable_numbers)}"
        _take(line, found, proposed.get(found.row.code, ""))
        line.target = found.row.code
        lines.append(line)
    for problem in plan.problems:
        line = ImportLine(job=job, line=problem.line, kind=ROW, state=State.NEW)
        _unreadable(line, problem.message, problem.fix, problem.column)
        lines.append(line)
    lines.sort(key=lambda line: line.line)
    for number, line in enumerate(lines, start=1):
        line.number = number
    return lines
