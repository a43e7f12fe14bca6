"""Merging two levers that are one technique. Nothing that cites, pins or names either of them changes."""

from django.utils import timezone

from evidence.families import lever_families
from evidence.models import EvidenceChange, Lever
from evidence.policies import require_curator
from evidence.services.levers import lever_document, standing_lever
from evidence.services.revisions import checked_reason
from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict, Refusal
from v2kb.core.service import service
from v2kb.rules.lever_family import Families


@service("evidence.merge_levers")
def merge_levers(actor: Actor, slug: str, *, into: str, reason: str) -> Lever:
    """Merge the lever `slug` into the lever `into`: its names and the levers below it move there, and it is archived.

    Rows, citations and specs keep the name that they have. A merge arms and never disarms, so one curator may do it:
    the merged lever keeps its place in the vocabulary, and what blocked a design of either lever, or of one below,
    blocks it still, and now those of the other one too. For that reason it is never undone.
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
    before = {"taken": lever_document(lever), "into": lever_document(target)}
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
