"""Reading evidence: levers, rows with their states, proposals, pins."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, OuterRef, Prefetch, Q, QuerySet
from django.utils import timezone

from evidence.deciding import DECIDED
from evidence.families import lever_families
from evidence.models import (
    EvidenceRevision,
    EvidenceRow,
    Flag,
    Lever,
    LeverAlias,
    Proposal,
    ProposalClaim,
    ProposalDecision,
    RowBounds,
    RunReceipt,
    Supersession,
)
from evidence.policies import may_curate
from v2kb.core.actor import Actor
from v2kb.core.errors import Missing
from v2kb.core.models import Activity
from v2kb.rules.antiloop_facts import code_order
from v2kb.rules.evidence_change import Reason, material_change
from v2kb.rules.names import lever_key
from v2kb.rules.row_facts import RowStates

# A row is superseded by one that replaces it or merges it with others; the other relations leave it standing.
SUPERSEDING = (Supersession.Kind.REPLACES, Supersession.Kind.MERGES)


def live_rows() -> QuerySet[EvidenceRow]:
    """Rows that are not archived, with their heads and levers."""
    return EvidenceRow.objects.filter(head__isnull=False, archived_at__isnull=True).select_related("head__lever")


def get_row(code: str) -> EvidenceRow:
    """The row with this code, archived or not, with head, lever and author. Raises Missing evidence.no_row."""
    rows = EvidenceRow.objects.select_related("head__lever__parent", "head__author").filter(head__isnull=False)
    row = rows.filter(code=code.upper()).first()
    if row is None:
        raise Missing("evidence.no_row", f"There is no evidence row {code[:40]}.", fix="Look it up in the list.")
    return row


def get_revision(row: EvidenceRow, number: int) -> EvidenceRevision:
    """A revision of the row. Raises Missing evidence.no_revision."""
    revision = row.revisions.select_related("lever", "author").filter(number=min(number, 10**9)).first()
    if revision is None:
        raise Missing(
            "evidence.no_revision",
            f"{row.code} has no revision {number}.",
            fix=f"It has revisions 1 to {row.head.number}.",
        )
    revision.row = row
    return revision


def get_flag(pk: int) -> Flag:
    """The flag with its row and the row's head. Raises Missing evidence.no_flag."""
    found = Flag.objects.select_related("row__head").filter(pk=min(pk, 2**62)).first()
    if found is None:
        raise Missing("evidence.no_flag", f"There is no flag {pk}.", fix="Pick one on the row's page.")
    return found


def states_of(row_ids: Iterable[int]) -> dict[int, RowStates]:
    """Row id -> its flags, open proposals and successors, in three queries for any number of rows."""
    ids = list(row_ids)
    open_flags = Flag.objects.filter(row_id__in=ids, cleared_at__isnull=True).values("row_id")
    flags = {
        line["row_id"]: (line["all"], line["confirmed"])
        for line in open_flags.annotate(all=Count("id"), confirmed=Count("confirmed_at")).order_by()
    }
    open_proposals = Proposal.objects.filter(row_id__in=ids, state=Proposal.State.OPEN).values("row_id")
    proposals = {line["row_id"]: line["all"] for line in open_proposals.annotate(all=Count("id")).order_by()}
    successors: dict[int, list[str]] = {}
    edges = Supersession.objects.filter(older_id__in=ids, kind__in=SUPERSEDING).values_list("older_id", "newer__code")
    for older_id, code in edges:
        successors.setdefault(older_id, []).append(code)
    return {
        row_id: RowStates(
            *flags.get(row_id, (0, 0)), proposals.get(row_id, 0), tuple(sorted(set(successors.get(row_id, []))))
        )
        for row_id in ids
    }


def revisions_of(row: EvidenceRow) -> QuerySet[EvidenceRevision]:
    """All revisions, newest first, with author and the proposal's deciders."""
    return row.revisions.select_related("author", "proposal__author", "proposal__reverts_to").prefetch_related(
        "proposal__decisions__user"
    )


def find_revision(code: str, revision_hash: str) -> EvidenceRevision | None:
    """The newest revision of a row with this content hash: what a citation pins. None where there is none."""
    found = EvidenceRevision.objects.filter(row__code=code, content_hash=revision_hash)
    return found.select_related("row__head").first()


def standing(prefix: str = "") -> list[Prefetch | str]:
    """What `pin_reasons` looks at beside the heads, to be prefetched for rows at `prefix`."""
    confirmed = Flag.objects.filter(confirmed_at__isnull=False, cleared_at__isnull=True)
    return [Prefetch(f"{prefix}flags", confirmed), f"{prefix}superseded_by"]


def pin_reasons(
    revision: EvidenceRevision,
    pinned_at: datetime,
    *,
    content: dict[str, Any] | None = None,
    superseded: bool = False,
    flagged: bool = False,
) -> list[Reason]:
    """Why a spec that pinned this revision at this time is stale now; empty while nothing material changed.

    Compares the pinned content with the head (or with `content`, if that became the head), and counts supersessions
    (`superseded`: one more) and confirmed flags (`flagged`: one more) since the pin.
    """
    row = revision.row
    newer = any(edge.kind in SUPERSEDING and edge.created_at > pinned_at for edge in row.superseded_by.all())
    confirmed = [flag.confirmed_at for flag in row.flags.all() if flag.confirmed_at and not flag.cleared_at]
    return material_change(
        revision.content,
        row.head.content if content is None else content,
        new_superseded=superseded or newer,
        flag_confirmed=flagged or any(at > pinned_at for at in confirmed),
    )


def resolve_lever(name: str) -> Lever | None:
    """The lever that a name, slug or alias in any spelling stands for, or None; names of a merged lever stand for the
    one that it was merged into.
    """
    key = lever_key(name)
    alias = LeverAlias.objects.select_related("lever").filter(normalised=key).first() if key else None
    return alias.lever if alias else None


def standing_lever(lever: Lever) -> Lever | None:
    """The lever that stands for a merged one; None for a lever that was not merged."""
    return Lever.objects.get(pk=lever_families().survivor(lever.pk)) if lever.merged_into_id else None


def merge_of(lever: Lever) -> Activity | None:
    """The line of the log that tells of the lever's newest merge into another."""
    about = Activity.objects.filter(object_type="evidence.lever", object_id=str(lever.pk))
    return about.filter(verb="evidence.merge_levers").order_by("-pk").first()


def is_slug_of_lever(name: str, lever: Lever) -> bool:
    """Whether `name` is the slug of this lever, or of one that was merged into it."""
    return name == lever.slug or Lever.objects.filter(slug=name, merged_into__isnull=False).exists()


def list_levers(*, archived: bool = False, query: str = "") -> QuerySet[Lever]:
    """Levers with parent, aliases and the number of live rows; a query keeps those with a name that holds it."""
    rows = Q(revisions__head_of__isnull=False, revisions__head_of__archived_at__isnull=True)
    levers = Lever.objects.filter(archived_at__isnull=not archived).select_related("parent", "merged_into")
    key = lever_key(query)
    if key:
        levers = levers.filter(Exists(LeverAlias.objects.filter(lever=OuterRef("pk"), normalised__contains=key)))
    elif query.strip():
        levers = levers.none()
    counted = levers.prefetch_related("aliases").annotate(row_count=Count("revisions", filter=rows, distinct=True))
    return counted.order_by("name")


def get_lever(slug: str) -> Lever:
    """The lever with parent, children and aliases. Raises Missing evidence.no_lever."""
    levers = Lever.objects.select_related("parent", "merged_into").prefetch_related("aliases", "children", "merged")
    lever = levers.filter(slug=slug).first()
    if lever is None:
        raise Missing("evidence.no_lever", f"There is no lever {slug[:80]}.", fix="Pick one from the list.")
    return lever


def other_names(lever: Lever) -> list[LeverAlias]:
    """The aliases that are not just the lever's own name or slug."""
    own = {lever_key(lever.name), lever_key(lever.slug)}
    return [alias for alias in lever.aliases.all() if alias.normalised not in own]


_PROPOSALS = ("row__head__lever__parent", "base", "author", "reverts_to", "merges__row__head__lever__parent")


def list_proposals(state: str = Proposal.State.OPEN, kind: str = "") -> QuerySet[Proposal]:
    """Proposals in this state and of this kind ("" for all), oldest first while open, else newest first."""
    proposals = Proposal.objects.select_related(*_PROPOSALS, "claim__user").annotate(
        receipt_count=Count("receipts"), decided=DECIDED
    )
    proposals = proposals.prefetch_related("decisions__user")
    if state:
        proposals = proposals.filter(state=state)
    if kind:
        proposals = proposals.filter(kind=kind)
    return proposals.order_by("id" if state == Proposal.State.OPEN else "-id")


def claim_on(proposal: Proposal) -> ProposalClaim | None:
    """The claim on an open proposal that still holds."""
    claim = getattr(proposal, "claim", None)
    holds = claim is not None and claim.until > timezone.now() and proposal.state == Proposal.State.OPEN
    return claim if holds else None


def count_kinds(state: str) -> dict[str, int]:
    """Kind -> how many proposals in this state ("" for all)."""
    proposals = Proposal.objects.filter(state=state) if state else Proposal.objects.all()
    return dict(proposals.order_by().values_list("kind").annotate(count=Count("id")))


def get_proposals(ids: Iterable[int]) -> list[Proposal]:
    """These proposals in the order of `ids`. Raises Missing evidence.no_proposal."""
    ids = list(ids)
    found = {proposal.pk: proposal for proposal in list_proposals("").filter(pk__in=[min(pk, 2**62) for pk in ids])}
    for pk in ids:
        if pk not in found:
            raise Missing("evidence.no_proposal", f"There is no proposal {pk}.", fix="Pick one from the queue.")
    return [found[pk] for pk in ids]


def get_proposal(pk: int) -> Proposal:
    """The proposal with row, base, author, decisions and receipts. Raises Missing evidence.no_proposal."""
    related = (*_PROPOSALS, "replaces__author", "replaced_by", "claim__user")
    proposals = Proposal.objects.select_related(*related).annotate(decided=DECIDED)
    proposal = proposals.prefetch_related("decisions__user", "receipts__submitted_by").filter(pk=min(pk, 2**62)).first()
    if proposal is None:
        raise Missing("evidence.no_proposal", f"There is no proposal {pk}.", fix="Pick one from the queue.")
    return proposal


def is_stale(proposal: Proposal) -> bool:
    """Whether the row has moved on since an open proposal was made."""
    return (
        proposal.state == Proposal.State.OPEN and proposal.row is not None and proposal.base_id != proposal.row.head_id
    )


def proposals_for(actor: Actor) -> list[Proposal]:
    """Open proposals that this curator may still decide, oldest first: not their own, not yet decided by them."""
    if actor.user is None or not may_curate(actor):
        return []
    proposals = Proposal.objects.filter(state=Proposal.State.OPEN).exclude(author=actor.user)
    proposals = proposals.exclude(decisions__user=actor.user).exclude(receipts__submitted_by=actor.user)
    recused = ProposalDecision.objects.filter(user=actor.user, decision=ProposalDecision.Decision.RECUSE)
    proposals = proposals.exclude(replaces__in=recused.values("proposal"))
    return list(proposals.exclude(replaces__author=actor.user).select_related("row", "author").order_by("id")[:200])


def row_facts(row: EvidenceRow) -> dict[str, Any]:
    """What a row's page shows beside its head: flags, supersessions, receipts, open proposals."""
    return {
        "flags": list(row.flags.filter(cleared_at__isnull=True).select_related("raised_by", "confirmed_by")),
        "newer": list(row.superseded_by.select_related("newer", "author")),
        "older": list(row.supersedes.select_related("older", "author")),
        "receipts": list(receipts_of(row)[:50]),
        "bounds": RowBounds.objects.select_related("snapshot", "set_by").filter(row=row).first(),
        "proposals": list(row.proposals.filter(state=Proposal.State.OPEN).select_related("author", "base")),
    }


def merged_codes(row_ids: Iterable[int]) -> dict[int, str]:
    """Id of a row that another one took in -> the code of that one."""
    edges = Supersession.objects.filter(kind=Supersession.Kind.MERGES, older_id__in=set(row_ids))
    return dict(edges.values_list("older_id", "newer__code"))


def merged_into(row: EvidenceRow) -> set[int]:
    """Ids of the rows that this one took in, directly or through others."""
    taken: dict[int, list[int]] = {}
    for newer, older in Supersession.objects.filter(kind=Supersession.Kind.MERGES).values_list("newer_id", "older_id"):
        taken.setdefault(newer, []).append(older)
    found, waiting = set(), list(taken.get(row.pk, ()))
    while waiting:
        current = waiting.pop()
        if current not in found:
            found.add(current)
            waiting += taken.get(current, ())
    return found


def receipts_of(row: EvidenceRow) -> QuerySet[RunReceipt]:
    """Runs that speak of the row or of one that it took in, newest first."""
    receipts = RunReceipt.objects.filter(row_id__in={row.pk, *merged_into(row)})
    return receipts.select_related("submitted_by", "proposal", "row")


def by_code(rows: Iterable[EvidenceRow]) -> list[EvidenceRow]:
    """Rows in the order of their codes: D2 before D10."""
    return sorted(rows, key=lambda row: code_order(row.code))


def rows_of_lever(lever: Lever) -> list[EvidenceRow]:
    """Live rows whose head is about this lever, or about one that was merged with it."""
    return by_code(live_rows().filter(head__lever__in=lever_families().merged_with([lever.pk])))


def get_full_row(code: str) -> EvidenceRow:
    """The row with its `open_flags`, `successors` and receipts, in a fixed number of queries. Raises Missing."""
    flags = Flag.objects.filter(cleared_at__isnull=True).select_related("raised_by", "row")
    rows = EvidenceRow.objects.filter(head__isnull=False, code=code.upper()).select_related(
        "head__lever", "head__author", "bounds"
    )
    row = rows.prefetch_related(
        Prefetch("flags", flags, to_attr="open_flags"),
        Prefetch("superseded_by", Supersession.objects.select_related("newer"), to_attr="successors"),
    ).first() or get_row(code)
    row.all_receipts = list(receipts_of(row))
    return row


def get_counted_lever(slug: str) -> Lever:
    """The lever, archived or not, with aliases and the number of its live rows. Raises Missing evidence.no_lever."""
    lever = get_lever(slug)
    return list_levers(archived=lever.archived_at is not None).get(pk=lever.pk)
