"""What evidence asks of specs: who rests on a row, and who has an open spec on a lever."""

from typing import Any

from evidence.families import lever_families
from evidence.models import EvidenceRow, Lever, LeverAlias
from kernels.models import Spec, SpecDraft, SpecRevision
from kernels.selectors.specs import spec_statuses, specs_citing
from v2kb.rules.antiloop_facts import items, mapping
from v2kb.rules.names import lever_key


def citations_of_row(row: EvidenceRow) -> list[dict[str, Any]]:
    """Live specs whose newest revision cites the row: {"title", "url", "state"} each."""
    specs = {citation.revision.spec for citation in specs_citing(row.pk)}
    return [
        {"title": spec.code, "url": spec.get_absolute_url(), "state": ""}
        for spec in sorted(specs, key=lambda s: s.code)
    ]


def authors_on_lever(slug: str) -> set[int]:
    """Authors of live specs whose newest revision, or their own draft, adopts the lever or one below it."""
    names = _names_of(slug)
    specs = _adopting(names)
    authors = set(SpecRevision.objects.filter(spec__in=specs).values_list("author_id", flat=True))
    drafts = SpecDraft.objects.filter(spec__archived_at__isnull=True).values_list("user_id", "content")
    authors |= {user_id for user_id, content in drafts if _adopts(content, names)}
    return authors | set(Spec.objects.filter(pk__in=specs).values_list("created_by_id", flat=True))


def specs_resting_on(slug: str) -> list[dict[str, Any]]:
    """Live specs whose newest revision adopts the lever, or one below it: {"title", "url", "state"} each."""
    specs = list(Spec.objects.filter(pk__in=_adopting(_names_of(slug))).select_related("head").order_by("code"))
    statuses = spec_statuses(specs) if specs else {}
    return [{"title": str(spec), "url": spec.get_absolute_url(), "state": statuses[spec.pk].state} for spec in specs]


def _names_of(slug: str) -> set[str]:
    """The keys of all names of the lever and of those below it."""
    own = Lever.objects.filter(slug=slug).values_list("pk", flat=True)
    levers = lever_families().below(own)
    return set(LeverAlias.objects.filter(lever__in=levers).values_list("normalised", flat=True))


def _adopting(names: set[str]) -> list[int]:
    heads = SpecRevision.objects.filter(head_of__archived_at__isnull=True, head_of__isnull=False)
    return [spec_id for spec_id, content in heads.values_list("spec_id", "content") if _adopts(content, names)]


def _adopts(content: Any, names: set[str]) -> bool:
    """Whether a choice adopts one of these; a draft holds whatever was typed."""
    return any(
        choice.get("polarity") == "adopts" and lever_key(str(choice.get("lever", ""))) in names
        for choice in map(mapping, items(mapping(content).get("choices")))
    )
