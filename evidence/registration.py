"""What this app fills of core's hooks: links to rows, turns of curators."""

from typing import Any

from django.urls import reverse

from evidence import history, indexing
from evidence.models import EvidenceRow, ExperimentEntry
from evidence.selectors import proposals_for, resolve_lever
from evidence.services.watching import note_snapshot
from references.hooks import SNAPSHOT_IMPORTED
from references.models import UpstreamSnapshot
from v2kb.core.actor import Actor
from v2kb.core.registry import LINKS, TURNS, add_panel
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


def hear_of_snapshot(snapshot: UpstreamSnapshot) -> None:
    """Rows that were measured on an older one are flagged."""
    note_snapshot(Actor.system(label="watcher"), snapshot)


def register() -> None:
    """Fill the hooks; called once when the app is ready."""
    SNAPSHOT_IMPORTED.add("bounds", hear_of_snapshot)
    indexing.register()
    add_panel("evidence.evidencerow", experiments_of_row)
    add_panel("kernels.kernel", experiments_of_kernel)
    add_panel("kernels.run", experiments_of_run)
    LINKS.add("experiment", link_to_experiment)
    LINKS.add("code", link_to_code)
    LINKS.add("lever", link_to_lever)
    TURNS.add("evidence", turns)
