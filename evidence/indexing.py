"""Rows, levers and experiments in the search: what is indexed, what keeps it in step, their hits in the top bar."""

import re
from typing import Any

from django.db.models import QuerySet

from evidence.families import lever_families
from evidence.models import EvidenceRevision, EvidenceRow, ExperimentEntry, Lever, LeverAlias, Proposal
from evidence.search import Query, hits_of, search_rows
from evidence.services.facts import refresh_facts, row_documents, rows_with_other_facts
from v2kb.core.registry import SEARCHES, follow
from v2kb.core.search import INDEXED, Document, Hit, Indexed, Kind, find, hash_starts, index, shown
from v2kb.core.values import whole_number
from v2kb.rules.names import lever_key
from v2kb.rules.search_expression import of_word
from v2kb.rules.search_words import words

MAX_HASHED = 50
_NUMBERED = re.compile(r"\bexperiment\s*#?\s*([0-9]{1,18})\b", re.ASCII | re.IGNORECASE)


def _all_rows() -> list[int]:
    return list(EvidenceRow.objects.filter(head__isnull=False).order_by("pk").values_list("pk", flat=True))


def _all_levers() -> list[int]:
    return list(Lever.objects.filter(archived_at__isnull=True).order_by("pk").values_list("pk", flat=True))


def _levers(ids: list[int]) -> list[Document]:
    levers = Lever.objects.filter(pk__in=ids, archived_at__isnull=True).prefetch_related("aliases")
    return [Document(Kind.LEVER, lever.pk, lever.name, _lever_text(lever)) for lever in levers]


def _lever_text(lever: Lever) -> str:
    return " · ".join([lever.description, *(alias.name for alias in lever.aliases.all()), lever.slug])


def _all_experiments() -> list[int]:
    return list(ExperimentEntry.objects.order_by("pk").values_list("pk", flat=True))


def _entries() -> QuerySet[ExperimentEntry]:
    return ExperimentEntry.objects.select_related("lever").prefetch_related("lever__aliases", "links", "corrections")


def _experiments(ids: list[int]) -> list[Document]:
    families = lever_families()
    entries = list(_entries().filter(pk__in=ids))
    standing = {entry.lever_id: families.survivor(entry.lever_id) for entry in entries if entry.lever_id}
    survivors = Lever.objects.prefetch_related("aliases").in_bulk(set(standing.values()))
    return [
        Document(
            Kind.EXPERIMENT,
            entry.pk,
            f"{entry} {entry.verdict}",
            _experiment_text(entry, survivors.get(standing.get(entry.lever_id))),
        )
        for entry in entries
    ]


def _experiment_text(entry: ExperimentEntry, standing: Lever | None) -> str:
    said = [_experiment_said(entry), str(entry.on), entry.content_hash]
    return " · ".join(filter(None, [*said, *([standing.name, _lever_text(standing)] if standing else [])]))


def _experiment_said(entry: ExperimentEntry) -> str:
    links = [link.target if link.kind == "row" else str(link) for link in entry.links.all()]
    lever = entry.lever.name if entry.lever else ""
    return " · ".join(filter(None, [entry.why, entry.env, lever, entry.trace, entry.commit, *links]))


ROWS = Indexed(Kind.ROW, _all_rows, row_documents, write=refresh_facts, beside=rows_with_other_facts)
LEVERS = Indexed(Kind.LEVER, _all_levers, _levers)
EXPERIMENTS = Indexed(Kind.EXPERIMENT, _all_experiments, _experiments)


def follow_rows(rows: list[EvidenceRow]) -> None:
    """Facts and search entries of changed rows."""
    refresh_facts(row.pk for row in rows)


def follow_proposals(proposals: list[Proposal]) -> None:
    """An open proposal contests its row."""
    refresh_facts({proposal.row_id for proposal in proposals if proposal.row_id})


def follow_levers(levers: list[Lever]) -> None:
    """Rows and experiments are also found by their lever's names, and by those of a lever that was merged with it."""
    mine = lever_families().merged_with(lever.pk for lever in levers)
    heads = EvidenceRevision.objects.filter(lever__in=mine, head_of__isnull=False)
    refresh_facts(heads.values_list("row_id", flat=True))
    EXPERIMENTS.refresh(ExperimentEntry.objects.filter(lever__in=mine).values_list("pk", flat=True))
    LEVERS.refresh(lever.pk for lever in levers)


def follow_experiments(entries: list[ExperimentEntry]) -> None:
    """New lines of the history; a line never changes."""
    EXPERIMENTS.refresh(entry.pk for entry in entries)


def find_rows(query: str, limit: int) -> list[dict[str, Any]]:
    """Rows for the top bar. Raises Refusal evidence.query."""
    if not query.strip():
        return []
    found = search_rows(Query(text=query))
    wanted = [word for text in found.query.wanted for word in text.words]
    wanted += [word for _, known in found.corrections for word in words(known)]
    return [
        shown(
            Hit(hit.row.pk, hit.why, tuple(wanted), hit.row.pk in found.guessed),
            title=f"{hit.code} {hit.row.head.title}",
            url=hit.row.get_absolute_url(),
            text=_said(hit.row),
            kind="evidence row",
        )
        | {"verdict": hit.row.head.verdict}
        for hit in hits_of(found, found.ids[:limit].tolist())
    ]


def _said(row: EvidenceRow) -> str:
    content = row.head.content
    named = ("measured_note", "mechanism", "bound", "not_checked")
    said = [*(content[name] for name in named), *content["approaches"], row.head.lever.name]
    said += [source["text"] for source in content["sources"]]
    text = " · ".join(text for text in said if text)
    return text if text.startswith(row.head.verdict) else f"{row.head.verdict}: {text}"


def find_levers(query: str, limit: int) -> list[dict[str, Any]]:
    """Levers for the top bar: one called just so first."""
    names = LeverAlias.objects.filter(normalised=lever_key(query), lever__archived_at__isnull=True)
    hits = find(Kind.LEVER, query, limit, [(pk, "its name") for pk in names.values_list("lever_id", flat=True)])
    levers = Lever.objects.prefetch_related("aliases").in_bulk([hit.object_id for hit in hits])
    return [
        shown(hit, title=lever.name, url=lever.get_absolute_url(), text=_lever_text(lever), kind="lever")
        for hit in hits
        if (lever := levers.get(hit.object_id))
    ]


def find_experiments(query: str, limit: int) -> list[dict[str, Any]]:
    """Lines of the experiment history: by number, by the beginning of a commit or content hash, by words."""
    numbers = [whole_number(number) for number in _NUMBERED.findall(query)]
    named = ExperimentEntry.objects.filter(pk__in=numbers).values_list("pk", flat=True)
    exact = dict.fromkeys(named, "the id")
    for start in hash_starts(query):
        matching = index().match(Kind.EXPERIMENT, of_word(words(start)[0]))[-MAX_HASHED:].tolist()
        held = ExperimentEntry.objects.filter(pk__in=matching).order_by("-pk")
        for pk in held.filter(commit__istartswith=start).values_list("pk", flat=True):
            exact.setdefault(pk, "the commit")
        for pk in held.filter(content_hash__startswith=start).values_list("pk", flat=True):
            exact.setdefault(pk, "the hash of a line")
    hits = find(Kind.EXPERIMENT, query, limit, exact.items())
    entries = _entries().in_bulk([hit.object_id for hit in hits])
    return [
        shown(
            hit,
            title=_experiment_title(entry),
            url=entry.get_absolute_url(),
            text=_experiment_said(entry),
            kind="experiment",
        )
        for hit in hits
        if (entry := entries.get(hit.object_id))
    ]


def _experiment_title(entry: ExperimentEntry) -> str:
    later = [f", corrected by {later}" for later in entry.corrections.all()]
    return f"{str(entry).capitalize()} {entry.verdict}, {entry.on}{''.join(later)}"


def register() -> None:
    """Fill the hooks of core; called once when the app is ready."""
    INDEXED.add("rows", ROWS)
    INDEXED.add("levers", LEVERS)
    INDEXED.add("experiments", EXPERIMENTS)
    follow("evidence.evidencerow", follow_rows)
    follow("evidence.proposal", follow_proposals)
    follow("evidence.lever", follow_levers)
    follow("evidence.experimententry", follow_experiments)
    SEARCHES.add("evidence", find_rows)
    SEARCHES.add("levers", find_levers)
    SEARCHES.add("experiments", find_experiments)
