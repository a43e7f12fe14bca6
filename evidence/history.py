"""Reading the experiment history, and how the verdict of a lever moved."""

import datetime
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.urls import NoReverseMatch, reverse

from evidence.families import lever_families
from evidence.models import EvidenceRevision, EvidenceRow, ExperimentEntry, ExperimentLink, Lever, LeverAlias
from v2kb.core.errors import Missing
from v2kb.rules.experiments import VERDICTS
from v2kb.rules.names import lever_key

MAX_PANEL = 10
MAX_TEXT = 200


@dataclass(frozen=True)
class EntryFilter:
    """What narrows the history. `link` is a text such as `row:D3`; `current` leaves out corrected lines."""

    text: str = ""
    lever: str = ""
    env: str = ""
    verdicts: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    link: str = ""
    current: bool = False

    @classmethod
    def of_params(cls, params: Mapping[str, Any]) -> "EntryFilter":
        """The filter of a request's parameters; what can't be read narrows nothing."""

        def text(name: str) -> str:
            return str(params.get(name) or "").strip()[:MAX_TEXT]

        wanted = params.getlist("verdict")  # type: ignore[attr-defined]
        return cls(
            text=text("q"),
            lever=text("lever"),
            env=text("env"),
            verdicts=tuple(word for word in VERDICTS if word in wanted),
            since=_day(text("since")),
            until=_day(text("until")),
            link=text("link"),
            current=params.get("current") == "1",
        )


def unread_filters(params: Mapping[str, Any]) -> list[str]:
    """What a request asks for that can't be read, and so narrows nothing: a sentence each."""
    words = [word for word in params.getlist("verdict") if word and word not in VERDICTS]  # type: ignore[attr-defined]
    told = [f"Verdict: “{word[:40]}” is none of {', '.join(VERDICTS)}." for word in words]
    for name, label in (("since", "From day"), ("until", "To day")):
        text = str(params.get(name) or "").strip()
        if text and not _day(text):
            told.append(f"{label}: “{text[:40]}” is no day; write for example 2026-07-03.")
    return told


def _day(text: str) -> str:
    try:
        return datetime.date.fromisoformat(text).isoformat()
    except ValueError:
        return ""


def list_entries(wanted: EntryFilter | None = None) -> QuerySet[ExperimentEntry]:
    """Entries, newest day first, with lever, author, links and what corrects them."""
    entries = ExperimentEntry.objects.select_related("lever", "author", "corrects")
    entries = entries.prefetch_related("links", "corrections")
    return entries.filter(_narrowed(wanted)) if wanted else entries


def _narrowed(wanted: EntryFilter) -> Q:
    narrowed = Q()
    for word in wanted.text.split():
        places = ("why", "env", "trace", "commit", "lever__name", "lever__slug")
        narrowed &= _anywhere(places, word)
    if wanted.lever:
        called = LeverAlias.objects.filter(normalised=lever_key(wanted.lever)).values_list("lever_id", flat=True)
        narrowed &= Q(lever__in=lever_families().merged_with(called))
    if wanted.env:
        narrowed &= Q(env=wanted.env)
    if wanted.verdicts:
        narrowed &= Q(verdict__in=wanted.verdicts)
    if wanted.since:
        narrowed &= Q(on__gte=wanted.since)
    if wanted.until:
        narrowed &= Q(on__lte=wanted.until)
    if wanted.link:
        kind, _, target = wanted.link.rpartition(":")
        linked = ExperimentLink.objects.filter(kind=kind or "row", target=target).values("entry")
        narrowed &= Q(pk__in=linked)
    if wanted.current:
        narrowed &= Q(corrections__isnull=True)
    return narrowed


def _anywhere(places: Iterable[str], word: str) -> Q:
    found = Q()
    for place in places:
        found |= Q(**{f"{place}__icontains": word})
    return found


def get_entry(pk: int) -> ExperimentEntry:
    """The entry with its links. Raises Missing evidence.no_entry."""
    entry = list_entries().filter(pk=min(pk, 2**62)).first()
    if entry is None:
        raise Missing("evidence.no_entry", f"There is no experiment {pk}.", fix="Pick one from the history.")
    return entry


def chain_of(entry: ExperimentEntry) -> list[ExperimentEntry]:
    """The entry with its prior claims and corrections, oldest first."""
    chain, known = [entry], {entry.pk}
    while (prior := chain[0].corrects) is not None and prior.pk not in known:
        chain.insert(0, prior)
        known.add(prior.pk)
    while (later := chain[-1].corrections.first()) is not None and later.pk not in known:
        chain.append(later)
        known.add(later.pk)
    return chain


def entry_document(entry: ExperimentEntry) -> dict[str, Any]:
    """An entry as v2kb.rules.experiments has it. Its links are best loaded before."""
    values = {name: getattr(entry, name) for name in ("env", "verdict", "why", "trace", "commit")}
    links = sorted(str(link) for link in entry.links.all())
    lever = entry.lever.slug if entry.lever else ""
    return {"on": entry.on.isoformat(), **values, "lever": lever, "links": links}


def environments() -> list[str]:
    """The environments that entries name, most used first."""
    counted = ExperimentEntry.objects.values("env").annotate(count=Count("pk")).order_by("-count", "env")
    return [line["env"] for line in counted[:50]]


def verdict_counts(wanted: EntryFilter) -> dict[str, int]:
    """Verdict -> number of entries, under all of the filter but its verdicts."""
    narrowed = _narrowed(EntryFilter(**{**wanted.__dict__, "verdicts": ()}))
    counted = ExperimentEntry.objects.filter(narrowed).values("verdict").annotate(count=Count("pk", distinct=True))
    counts = {line["verdict"]: line["count"] for line in counted.order_by()}
    return {verdict: counts.get(verdict, 0) for verdict in VERDICTS}


def linked_entries(kind: str, target: str) -> list[ExperimentEntry]:
    """The newest entries that speak of a row, kernel or run."""
    return list(list_entries().filter(links__kind=kind, links__target=target)[: MAX_PANEL + 1])


def link_shown(link: ExperimentLink) -> dict[str, str]:
    """A link as {"label", "url"}."""
    name = {"row": "evidence:row_detail", "kernel": "kernels:kernel_detail", "run": "kernels:run_detail"}[link.kind]
    try:
        url = reverse(name, args=[link.target])
    except NoReverseMatch:
        url = ""
    return {"label": link.target if link.kind == "row" else f"{link.kind} {link.target}", "url": url}


def rows_ever_of(lever: Lever) -> QuerySet[EvidenceRow]:
    """Rows, archived ones too, any revision of which is about the lever or one that was merged with it."""
    ever = EvidenceRevision.objects.filter(lever__in=lever_families().merged_with([lever.pk])).values("row")
    return EvidenceRow.objects.filter(pk__in=ever, head__isnull=False).select_related("head__lever").order_by("code")


def verdict_moves(lever: Lever) -> list[dict[str, Any]]:
    """How the verdict of the lever's rows moved, oldest first: first revisions, changed verdicts, changed levers.

    Each {"row", "revision", "old", "new"}; `old` is empty for a row's first revision.
    """
    revisions = EvidenceRevision.objects.filter(row__in=rows_ever_of(lever)).select_related("row", "author", "lever")
    by_row: dict[int, list[EvidenceRevision]] = defaultdict(list)
    for revision in revisions.order_by("number"):
        by_row[revision.row_id].append(revision)
    moves = []
    for mine in by_row.values():
        for before, revision in zip([None, *mine], mine, strict=False):
            if before is None or before.verdict != revision.verdict or before.lever_id != revision.lever_id:
                old = before.verdict if before else ""
                moves.append({"row": revision.row, "revision": revision, "old": old, "new": revision.verdict})
    return sorted(moves, key=lambda move: (move["revision"].created_at, move["revision"].pk))


def standing_of(lever: Lever) -> dict[str, list[EvidenceRow]]:
    """Verdict -> live rows that are about the lever now."""
    mine = lever_families().merged_with([lever.pk])
    live = [row for row in rows_ever_of(lever) if row.archived_at is None and row.head.lever_id in mine]
    return {verdict: [row for row in live if row.head.verdict == verdict] for verdict in ("DEAD", "WIN", "UNTESTED")}
