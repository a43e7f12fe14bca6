"""Writing the experiment history: one line per experiment, never changed; a correction names the prior claim."""

from collections.abc import Sequence
from typing import Any

from evidence.models import EvidenceRow, ExperimentEntry, ExperimentLink, ImportJob, Lever
from evidence.policies import require_curator, require_historian
from evidence.services.levers import standing_lever
from v2kb.core.activity import also_changed, lock_log, record
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict, Missing, Refusal, refuse_problems
from v2kb.core.policies import require_user
from v2kb.core.registry import LINKS
from v2kb.core.service import service
from v2kb.rules.experiments import entry_hash, read_entry


@service("evidence.add_entry")
def add_entry(actor: Actor, *, entry: dict[str, Any]) -> ExperimentEntry:
    """Append a line to the experiment history. `entry` has the fields of v2kb.rules.experiments.

    Raises Forbidden core.role; Refusal evidence.entry, evidence.no_link; Missing evidence.no_lever; Conflict
    evidence.entry_exists where the history says this already.
    """
    require_historian(actor)
    require_user(actor)
    return _append(actor, entry, corrects=None)


@service("evidence.correct_entry")
def correct_entry(actor: Actor, pk: int, *, entry: dict[str, Any]) -> ExperimentEntry:
    """Append a line that takes the place of an earlier claim. Both stay.

    Raises as `add_entry`, Missing evidence.no_entry, Conflict evidence.entry_corrected (correct the newest instead),
    Refusal evidence.no_change.
    """
    require_historian(actor)
    require_user(actor)
    lock_log()
    prior = ExperimentEntry.objects.filter(pk=min(pk, 2**62)).first()
    if prior is None:
        raise Missing("evidence.no_entry", f"There is no experiment {pk}.", fix="Pick one from the history.")
    later = ExperimentEntry.objects.filter(corrects=prior).first()
    if later is not None:
        raise Conflict(
            "evidence.entry_corrected",
            f"Experiment {pk} was corrected already, by experiment {later.pk}.",
            fix=f"Correct experiment {later.pk} instead.",
            facts={"entry": later.pk},
        )
    return _append(actor, entry, corrects=prior)


def _append(actor: Actor, raw: dict[str, Any], corrects: ExperimentEntry | None) -> ExperimentEntry:
    entry = checked_entry(raw)
    lever = standing_lever(entry["lever"], field="lever") if entry["lever"] else None
    lock_log()
    hash_ = entry_hash(entry)
    if corrects is not None and corrects.content_hash == hash_:
        raise Refusal("evidence.no_change", "The prior line says this already.", fix="Change a field.")
    twin = ExperimentEntry.objects.filter(content_hash=hash_, corrections__isnull=True).first()
    if twin is not None:
        raise Conflict(
            "evidence.entry_exists",
            f"Experiment {twin.pk} says this already.",
            fix="Link to it, or say what is different.",
            facts={"entry": twin.pk},
        )
    made = ExperimentEntry.objects.create(**_columns(entry, lever), corrects=corrects, author=actor.user)
    ExperimentLink.objects.bulk_create(_links(made, entry))
    said = f"{made.on} {made.env}: {made.verdict}"
    summary = f"experiment {made.pk} corrects {corrects.pk}: {said}" if corrects else f"experiment {made.pk}: {said}"
    record(
        actor,
        "evidence.correct_entry" if corrects else "evidence.add_entry",
        made,
        summary,
        after={"content": hash_, "corrects": corrects.pk if corrects else 0},
    )
    return made


def checked_entry(raw: dict[str, Any]) -> dict[str, Any]:
    """The entry in its one spelling. Raises Refusal evidence.entry with one problem per field, evidence.no_link."""
    entry, problems = read_entry(raw)
    refuse_problems("evidence.entry", problems)
    lost = unknown_links(entry["links"])
    if lost:
        raise Refusal(
            "evidence.no_link",
            f"{', '.join(lost)} can't be found.",
            field="links",
            fix="Write row:D3, kernel:its-name or run:its-id of one that exists.",
        )
    return entry


def unknown_links(links: Sequence[str]) -> list[str]:
    """The links that lead nowhere."""
    codes = [link.removeprefix("row:") for link in links if link.startswith("row:")]
    known = {f"row:{code}" for code in EvidenceRow.objects.filter(code__in=codes).values_list("code", flat=True)}
    return [link for link in links if link not in known and not (link[:4] != "row:" and _resolve(link))]


def _resolve(link: str) -> tuple[str, str] | None:
    kind, _, target = link.partition(":")
    find = LINKS.get(kind)
    return find(target) if find else None


@service("evidence.import_entries")
def import_entries(
    actor: Actor, *, job: ImportJob, entries: Sequence[tuple[dict[str, Any], int | None]]
) -> list[ExperimentEntry]:
    """Append the lines of an imported log, a batch at a time; one line of activity names them all.

    `entries` are (entry, number of the one that it corrects or None), checked by the dry run. Raises Forbidden;
    Refusal evidence.entry.
    """
    require_curator(actor)
    checked = []
    for raw, corrects in entries:
        entry, problems = read_entry(raw)
        refuse_problems("evidence.entry", problems)
        checked.append((entry, corrects))
    lock_log()
    levers = Lever.objects.in_bulk([entry["lever"] for entry, _ in checked if entry["lever"]], field_name="slug")
    made = ExperimentEntry.objects.bulk_create(
        ExperimentEntry(**_columns(entry, levers.get(entry["lever"])), corrects_id=corrects, author=actor.user)
        for entry, corrects in checked
    )
    ExperimentLink.objects.bulk_create(
        link for one, (entry, _) in zip(made, checked, strict=True) for link in _links(one, entry)
    )
    also_changed(made)
    corrected = sum(corrects is not None for _, corrects in checked)
    record(
        actor,
        "evidence.import_entries",
        job,
        f"{len(made)} lines of {job.name} added to the experiment history"
        + (f", {corrected} of them corrections" if corrected else ""),
        after={"entries": [one.pk for one in made], "content": [one.content_hash for one in made]},
    )
    return made


def _columns(entry: dict[str, Any], lever: Lever | None) -> dict[str, Any]:
    names = ("on", "env", "verdict", "why", "trace", "commit")
    return {name: entry[name] for name in names} | {"lever": lever, "content_hash": entry_hash(entry)}


def _links(made: ExperimentEntry, entry: dict[str, Any]) -> list[ExperimentLink]:
    return [
        ExperimentLink(entry=made, kind=kind, target=target)
        for kind, _, target in (link.partition(":") for link in entry["links"])
    ]
