"""Writing guidelines: the measurement rules, contract steps and known gaps that a document states."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from references.models import Document, Guideline
from references.policies import require_import
from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.errors import Refusal
from v2kb.core.service import service
from v2kb.rules.canonical import content_hash

MAX_ITEMS = 200


class GuidelineItem(TypedDict):
    """One rule, step or gap: a short title, its text (markdown), and the anchor of the section it stands in."""

    title: str
    text: str
    anchor: str


@dataclass(frozen=True)
class GuidelineChanges:
    """Numbers (from 1) of the guidelines of one kind, by what happened to them."""

    new: list[int]
    changed: list[int]
    unchanged: list[int]
    removed: list[int]


@service("references.set_guidelines", silent=True)
def set_guidelines(actor: Actor, document: Document, kind: str, items: Sequence[GuidelineItem]) -> GuidelineChanges:
    """Make the document's guidelines of this kind be `items`, numbered from 1 in their order.

    Writes (and records activity) only where something differs. Raises Refusal for an unknown kind, an item without
    title or text, or too many items.
    """
    require_import(actor)
    _check(kind, items)
    present = {guideline.number: guideline for guideline in document.guidelines.select_for_update().filter(kind=kind)}
    changes = GuidelineChanges([], [], [], [])
    for number, item in enumerate(items, start=1):
        digest = content_hash({"title": item["title"], "text": item["text"], "anchor": item["anchor"]})
        guideline = present.pop(number, None)
        if guideline is None:
            Guideline.objects.create(document=document, kind=kind, number=number, content_hash=digest, **_fields(item))
            changes.new.append(number)
        elif guideline.content_hash == digest:
            changes.unchanged.append(number)
        else:
            for name, value in _fields(item).items():
                setattr(guideline, name, value)
            guideline.content_hash = digest
            guideline.save()
            changes.changed.append(number)
    for number, guideline in sorted(present.items()):
        guideline.delete()
        changes.removed.append(number)
    if changes.new or changes.changed or changes.removed:
        record(
            actor,
            "guidelines.set",
            document,
            f"{document.slug}: {len(items)} of kind {Guideline.Kind(kind).label}",
            before={"count": len(items) - len(changes.new) + len(changes.removed)},
            after={"count": len(items), "new": changes.new, "changed": changes.changed, "removed": changes.removed},
        )
    return changes


def _fields(item: GuidelineItem) -> dict[str, str]:
    return {"title": item["title"][:300], "text": item["text"], "anchor": item["anchor"][:160]}


def _check(kind: str, items: Sequence[GuidelineItem]) -> None:
    if kind not in Guideline.Kind.values:
        raise Refusal(
            "references.guideline_kind",
            f"{kind} is no kind of guideline.",
            field="kind",
            fix=f"Use one of {', '.join(Guideline.Kind.values)}.",
        )
    if len(items) > MAX_ITEMS:
        raise Refusal(
            "references.too_many_guidelines",
            f"{len(items)} of kind {Guideline.Kind(kind).label}; a document may have {MAX_ITEMS}.",
            field="items",
            fix="Split the document.",
        )
    for number, item in enumerate(items, start=1):
        if not item["title"].strip() or not item["text"].strip():
            raise Refusal(
                "references.empty_guideline",
                f"Guideline {number} has no title or no text.",
                field="items",
                fix="Fill both.",
            )
