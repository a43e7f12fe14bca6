"""Merging two levers that are one technique, and undoing a wrong merge. Nothing that cites, pins or names either of
them changes.
"""

from typing import Any

from django.utils import timezone

from evidence.families import lever_families
from evidence.hooks import open_spec_authors
from evidence.models import EvidenceChange, Lever, LeverAlias
from evidence.policies import require_curator
from evidence.selectors import merge_of
from evidence.services.levers import find_lever, lever_document, standing_lever
from evidence.services.revisions import checked_reason
from v2kb.core.activity import also_changed, record
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict, Forbidden, Refusal
from v2kb.core.models import Activity
from v2kb.core.policies import require_user
from v2kb.core.service import service
from v2kb.rules.lever_family import Families


@service("evidence.merge_levers")
def merge_levers(actor: Actor, slug: str, *, into: str, reason: str) -> Lever:
    """Merge the lever `slug` into the lever `into`: its names and the levers below it move there, and it is archived.

    Rows, citations and specs keep the name that they have. A merge arms and never disarms, so one curator may do it:
    the merged lever keeps its place in the vocabulary, and what blocked a design of either lever, or of one below,
    blocks it still, and now those of the other one too. Undoing it takes another curator (`unmerge_levers`).
    Raises Forbidden core.role; Missing evidence.no_lever; Refusal evidence.reason_missing, evidence.merge_lever_self,
    evidence.lever_cycle; Conflict evidence.lever_merged, evidence.lever_archived.
    """
    require_curator(actor)
    reason = checked_reason(reason)
    if slug == into:
        raise Refusal(
            "evidence.merge_lever_self", "A lever can't be merged into itself.", field="into", fix="Pick another lever."
        )
    list(Lever.objects.select_for_update(of=("self",)).filter(slug__in=[slug, into]).order_by("pk"))
    lever, target = standing_lever(slug), standing_lever(into, field="into")
    if target.archived_at:
        raise Conflict(
            "evidence.lever_archived", f"{target.slug} is archived.", field="into", fix="Restore it, or pick another."
        )
    children = sorted(lever.children.exclude(pk=target.pk).values_list("slug", flat=True))
    before = {"taken": lever_document(lever), "into": lever_document(target), "children": children}
    before |= {"archived": lever.archived_at is not None, "names": list(lever.aliases.values_list("pk", flat=True))}
    if target.parent_id == lever.pk:
        target.parent = lever.parent
        target.save(update_fields=["parent"])
    elif lever.pk in Families(lever_families().parents, {}).above([target.pk]):
        raise Refusal(
            "evidence.lever_cycle",
            f"{target.slug} stands below {lever.slug}, with others between them.",
            field="into",
            fix=f"Merge {target.slug} into {lever.slug} instead.",
        )
    names = sorted(lever.aliases.values_list("name", flat=True))
    lever.aliases.update(lever=target)
    lever.children.exclude(pk=target.pk).update(parent=target)
    lever.merged_into, lever.archived_at = target, lever.archived_at or timezone.now()
    lever.save(update_fields=["merged_into", "archived_at"])
    after = {"taken": lever_document(lever), "into": lever_document(target)}
    summary = f"lever {lever.slug} merged into {target.slug}: {reason}"[:2000]
    record(actor, "evidence.merge_levers", lever, summary, before=before, after=after)
    record(actor, "evidence.merge_levers", target, summary, after={"taken": lever.slug, "names": names})
    EvidenceChange.objects.create()  # rows above either lever count for more now: stored searches are run again
    return target


@service("evidence.unmerge_levers")
def unmerge_levers(actor: Actor, slug: str, *, reason: str) -> Lever:
    """Undo the merge of the lever `slug`: its names, the levers below it and its place are as they were before.

    It disarms: what blocked one of the two through the merge no longer does. So the curator is another one than who
    merged, and no author of an open spec on either lever. What was given away or moved since stays where it is.
    Raises Forbidden core.role, evidence.unmerge_own, evidence.unmerge_interest; Missing evidence.no_lever; Refusal
    evidence.reason_missing, evidence.lever_cycle; Conflict evidence.lever_not_merged.
    """
    require_curator(actor)
    require_user(actor)
    reason = checked_reason(reason)
    lever = find_lever(slug, lock=True)
    if lever.merged_into_id is None:
        raise Conflict("evidence.lever_not_merged", f"{slug} is not merged.", fix="Nothing is left to do.")
    target = Lever.objects.select_for_update(of=("self",)).get(pk=lever.merged_into_id)
    merge = merge_of(lever)
    _refuse_interested(actor, lever, target, merge)
    summary = f"merge of {lever.slug} into {target.slug} undone: {reason}"[:2000]
    record(actor, "evidence.unmerge_levers", lever, summary, before={"into": target.slug}, after={"reason": reason})
    before = merge.before if merge else {}
    changed = {*lever_families().merged_with([lever.pk])}
    _take_apart(lever, target, before)
    changed |= set(Lever.objects.filter(slug__in=before.get("children", ())).values_list("pk", flat=True))
    levers = list(Lever.objects.filter(pk__in=changed).order_by("pk"))
    also_changed(levers)
    documents = [lever_document(one) for one in levers]
    record(actor, "evidence.lever_left", target, summary, after={"left": lever.slug, "documents": documents})
    EvidenceChange.objects.create()  # rows count for other levers than before: stored searches are run again
    return lever


def _refuse_interested(actor: Actor, lever: Lever, target: Lever, merge: Activity | None) -> None:
    if merge is not None and merge.user_id == actor.user.pk:
        raise Forbidden(
            "evidence.unmerge_own",
            f"You merged {lever.slug} into {target.slug} yourself.",
            fix="Ask another curator to undo it: it takes blocks away, so two people look at it.",
        )
    if actor.user.pk in open_spec_authors(lever.slug) | open_spec_authors(target.slug):
        raise Forbidden(
            "evidence.unmerge_interest",
            "You are an author of an open spec on one of the two levers.",
            fix="Ask a curator who is none.",
        )


def _take_apart(lever: Lever, target: Lever, before: dict[str, Any]) -> None:
    """Give back the names and the levers below that are still with those it was merged with, and its place."""
    into, merged = before.get("into", {}), lever_families().merged_with([lever.pk])
    LeverAlias.objects.filter(pk__in=before.get("names", ()), lever__in=merged).update(lever=lever)
    Lever.objects.filter(slug__in=before.get("children", ()), parent__in=merged).update(parent=lever)
    if into.get("parent") == lever.slug and target.parent_id == lever.parent_id:
        target.parent = lever
        target.save(update_fields=["parent"])
    lever.merged_into = None
    lever.archived_at = lever.archived_at if before.get("archived") else None
    lever.save(update_fields=["merged_into", "archived_at"])
    families = lever_families()
    for one in families.parents:
        if one in Families(families.parents, {}).above([families.parents[one]]):
            raise Refusal(
                "evidence.lever_cycle",
                f"The levers were moved since: {lever.slug} would stand above itself.",
                fix="Move it or its levers below first.",
            )
