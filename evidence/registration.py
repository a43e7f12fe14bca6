"""What this app fills of core's hooks: links to rows, the top bar's search, turns of curators."""

from typing import Any

from django.urls import reverse

from evidence import history
from evidence.models import EvidenceRevision, EvidenceRow, ExperimentEntry, Lever, Proposal
from evidence.search import Query, hits_of, search_rows
from evidence.selectors import proposals_for, resolve_lever
from evidence.services.facts import refresh_facts
from v2kb.core.actor import Actor
from v2kb.core.registry import LINKS, SEARCHES, TURNS, add_panel, follow
from v2kb.core.values import whole_number
from v2kb.rules.names import exact_codes


def link_to_code(text: str) -> tuple[str, str] | None:
    """[[D3]]: the row with this code, or None."""
    codes = exact_codes(text)
    if codes != [text.strip().upper()]:
        return None
    row = EvidenceRow.objects.filter(code=codes[0], head__isnull=False).only("code").first()
    return (row.get_absolute_url(), row.code) if row else None


def link_to_lever(text: str) -> tuple[str, str] | None:
    """[[lever:split-k]]: the lever with this name, slug or alias, or None."""
    lever = resolve_lever(text)
    return (lever.get_absolute_url(), lever.name) if lever else None


def find(query: str, limit: int) -> list[dict[str, Any]]:
    """Rows for the top bar's search."""
    found = search_rows(Query(text=query))
    return [
        {
            "title": f"{hit.code} {hit.row.head.title}",
            "url": hit.row.get_absolute_url(),
            "snippet": f"{hit.row.head.verdict}: {_short(hit.row.head.content['mechanism'])}",
            "kind": "evidence row",
            "why": hit.why,
        }
        for hit in (hits_of(found, found.ids[:limit].tolist()) if query.strip() else [])
    ]


def turns(user: Any) -> list[dict[str, Any]]:
    """Open proposals that this curator may decide."""
    return [
        {
            "title": f"Decide the proposal on {proposal.row.code}"
            if proposal.row
            else "Decide the proposal of a new row",
            "why": f"{proposal.author.display_name} proposed it and you are a curator",
            "since": proposal.created_at,
            "url": reverse("evidence:proposal_detail", args=[proposal.pk]),
        }
        for proposal in proposals_for(Actor.of_user(user, "page"))
    ]


def experiments_panel(kind: str, target: str) -> dict[str, Any] | None:
    """The experiments that speak of a row, kernel or run."""
    entries = history.linked_entries(kind, target)
    if not entries:
        return None
    more = f"{reverse('evidence:experiment_list')}?link={kind}:{target}" if len(entries) > history.MAX_PANEL else ""
    context = {"entries": entries[: history.MAX_PANEL], "more_url": more}
    return {"title": "Experiments", "template": "evidence/_experiments.html", "context": context}


def experiments_of_row(request: Any, row: EvidenceRow) -> dict[str, Any] | None:
    """The experiments that speak of a row."""
    return experiments_panel("row", row.code)


def experiments_of_kernel(request: Any, kernel: Any) -> dict[str, Any] | None:
    """The experiments that speak of a kernel."""
    return experiments_panel("kernel", kernel.slug)


def experiments_of_run(request: Any, run: Any) -> dict[str, Any] | None:
    """The experiments that speak of a run."""
    return experiments_panel("run", run.public_id)


def link_to_experiment(text: str) -> tuple[str, str] | None:
    """[[experiment:12]]."""
    pk = whole_number(text.strip())
    found = ExperimentEntry.objects.filter(pk=pk).only("pk").first()
    return (found.get_absolute_url(), str(found)) if found else None


def follow_rows(rows: list[EvidenceRow]) -> None:
    """Facts and search entries of changed rows."""
    refresh_facts(row.pk for row in rows)


def follow_proposals(proposals: list[Proposal]) -> None:
    """An open proposal contests its row."""
    refresh_facts({proposal.row_id for proposal in proposals if proposal.row_id})


def follow_levers(levers: list[Lever]) -> None:
    """Rows are also found by their lever's name."""
    heads = EvidenceRevision.objects.filter(lever__in=levers, head_of__isnull=False)
    refresh_facts(heads.values_list("row_id", flat=True))


def register() -> None:
    """Fill the hooks; called once when the app is ready."""
    follow("evidence.evidencerow", follow_rows)
    follow("evidence.proposal", follow_proposals)
    follow("evidence.lever", follow_levers)
    add_panel("evidence.evidencerow", experiments_of_row)
    add_panel("kernels.kernel", experiments_of_kernel)
    add_panel("kernels.run", experiments_of_run)
    LINKS.add("experiment", link_to_experiment)
    LINKS.add("code", link_to_code)
    LINKS.add("lever", link_to_lever)
    SEARCHES.add("evidence", find)
    TURNS.add("evidence", turns)


def _short(text: str, longest: int = 160) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= longest else f"{flat[: longest - 1].rsplit(' ', 1)[0]}…"
