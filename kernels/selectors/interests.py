"""What evidence asks of specs: who rests on a row, and who has an open spec on a lever."""

from typing import Any

from evidence.families import lever_families
from evidence.models import EvidenceRow, Lever, LeverAlias
from kernels.models import Citation, Spec, SpecDraft, SpecRevision
from kernels.selectors.specs import spec_statuses, specs_citing
from v2kb.rules.antiloop_facts import code_order, items, mapping
from v2kb.rules.names import lever_key


def citations_of_row(row: EvidenceRow) -> list[dict[str, Any]]:
    """Live specs whose newest revision cites the row: {"title", "url", "state"} each."""
    specs = {citation.revision.spec for citation in specs_citing(row.pk)}
    return [
        {"title": spec.code, "url": spec.get_absolute_url(), "state": ""}
        for spec in sorted(specs, key=lambda s: s.code)
    ]


def authors_on_lever(slug: str) -> set[int]:
    """Authors of live specs of which a revision, or their own draft, adopts the lever or one below it.

    Not the newest revision alone: else one turns the choice to "defers", accepts, and turns it back.
    """
    names = _names_of(slug)
    revisions = SpecRevision.objects.filter(spec__archived_at__isnull=True)
    told = revisions.values_list("spec_id", "content__choices")
    specs = {spec_id for spec_id, choices in told if _adopts({"choices": choices}, names)}
    authors = set(SpecRevision.objects.filter(spec__in=specs).values_list("author_id", flat=True))
    drafts = SpecDraft.objects.filter(spec__archived_at__isnull=True).values_list("user_id", "content")
    authors |= {user_id for user_id, content in drafts if _adopts(content, names)}
    return authors | set(Spec.objects.filter(pk__in=specs).values_list("created_by_id", flat=True))


def specs_resting_on(slug: str) -> list[dict[str, Any]]:
    """Live specs whose newest revision adopts the lever or one below it, or cites a row of these: {"title", "url",
    "state", "how"} each.
    """
    adopting, citing = set(_adopting(_names_of(slug))), _citing(slug)
    specs = list(Spec.objects.filter(pk__in=adopting | citing.keys()).select_related("head").order_by("code"))
    statuses = spec_statuses(specs) if specs else {}
    found = []
    for spec in specs:
        how = ["adopts it"] if spec.pk in adopting else []
        if codes := citing.get(spec.pk):
            how.append(f"cites {', '.join(sorted(codes, key=code_order))}")
        state, url = statuses[spec.pk].state, spec.get_absolute_url()
        found.append({"title": str(spec), "url": url, "state": state, "how": ", ".join(how)})
    return found


def _family(slug: str) -> set[int]:
    return lever_families().below(Lever.objects.filter(slug=slug).values_list("pk", flat=True))


def _citing(slug: str) -> dict[int, set[str]]:
    """Spec id -> codes of the lever's rows that its newest revision cites."""
    of_lever = Citation.objects.filter(evidence__row__head__lever__in=_family(slug))
    live = of_lever.filter(revision__head_of__isnull=False, revision__head_of__archived_at__isnull=True)
    found: dict[int, set[str]] = {}
    for spec_id, code in live.values_list("revision__spec", "evidence__row__code"):
        found.setdefault(spec_id, set()).add(code)
    return found


def _names_of(slug: str) -> set[str]:
    """The keys of all names of the lever and of those below it."""
    return set(LeverAlias.objects.filter(lever__in=_family(slug)).values_list("normalised", flat=True))


def _adopting(names: set[str]) -> list[int]:
    heads = SpecRevision.objects.filter(head_of__archived_at__isnull=True, head_of__isnull=False)
    return [spec_id for spec_id, content in heads.values_list("spec_id", "content") if _adopts(content, names)]


def _adopts(content: Any, names: set[str]) -> bool:
    """Whether a choice adopts one of these; a draft holds whatever was typed."""
    return any(
        choice.get("polarity") == "adopts" and lever_key(str(choice.get("lever", ""))) in names
        for choice in map(mapping, items(mapping(content).get("choices")))
    )
