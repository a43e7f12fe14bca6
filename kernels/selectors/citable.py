"""What a choice could rest on, as it is typed: rows of its lever and of the ops' levers, the catalogue's families."""

from collections.abc import Mapping
from typing import Any

from evidence.models import EvidenceRow
from kernels.selectors.checks import contracts_of
from references.selectors import cited_families

MAX_ROWS = 60


def citable(document: Mapping[str, Any], choice: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(target, title) of suggestions, rows in the order of their codes; the family's own section first."""
    family = document["engine"].get("family") if isinstance(document["engine"], dict) else ""
    levers = {lever for contract in contracts_of(document).values() for lever in contract["levers"]}
    if isinstance(choice.get("lever"), str):
        levers.add(choice["lever"])
    rows = EvidenceRow.objects.filter(head__lever__slug__in=levers, archived_at__isnull=True).select_related("head")
    found = [(row.code, f"{row.head.verdict}: {row.head.title}") for row in rows[:MAX_ROWS]]
    families = sorted(cited_families(), key=lambda one: (one.letter != family, one.letter))
    sections = [(f"{one.snapshot.document_revision.document.slug}#{one.anchor}", one) for one in families]
    return [(target, f"Family {one.letter}: {one.title}") for target, one in sections] + found
