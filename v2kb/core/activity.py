"""Writing and reading the append-only activity log."""

from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any

from django.db import models
from django.utils import timezone

from v2kb.core.actor import Actor
from v2kb.core.models import Activity, ActivityHead
from v2kb.rules.canonical import content_hash

recorded: ContextVar[int] = ContextVar("recorded_activity", default=0)
touched: ContextVar[list[models.Model] | None] = ContextVar("touched_objects", default=None)
"""What the running service left activity about, or told of by `also_changed`."""


def activity_hash(entry: Activity) -> str:
    """The hash of one line, over everything it says and the hash of the line before."""
    return content_hash(
        {
            "at": entry.at.isoformat(),
            "user": entry.user_id,
            "actor": [entry.actor_name, entry.actor_kind, entry.channel, entry.roles, entry.request_id],
            "verb": entry.verb,
            "object": [entry.object_type, entry.object_id, entry.object_label],
            "summary": entry.summary,
            "before": entry.before,
            "after": entry.after,
            "rule_version": entry.rule_version,
            "previous": entry.previous_hash,
        }
    )


def lock_log() -> ActivityHead:
    """The end of the chain, locked until the commit: whoever holds it is the one who writes."""
    return ActivityHead.objects.select_for_update().get_or_create(pk=1)[0]


def record(
    actor: Actor,
    verb: str,
    obj: models.Model,
    summary: str,
    *,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
    rule_version: str = "",
) -> Activity:
    """Append one line about `obj`. Call it inside a service; it locks the head of the chain until the commit.

    `before` and `after` hold only ints, strings, booleans, lists and dicts (canonical form).
    """
    head = lock_log()
    entry = Activity(
        at=timezone.now(),
        user=actor.user,
        actor_name=actor.name[:150],
        actor_kind=actor.kind,
        channel=actor.channel,
        roles=sorted(actor.roles),
        request_id=actor.request_id,
        verb=verb,
        object_type=obj._meta.label_lower,
        object_id=str(obj.pk),
        object_label=str(obj)[:200],
        summary=summary,
        before=before,
        after=after,
        rule_version=rule_version,
        previous_hash=head.hash,
    )
    entry.hash = activity_hash(entry)
    entry.save(force_insert=True)
    head.hash = entry.hash
    head.save(update_fields=["hash"])
    recorded.set(recorded.get() + 1)
    if (objects := touched.get()) is not None:
        objects.append(obj)
    return entry


def also_changed(objects: Iterable[models.Model]) -> None:
    """Tell that the running service changed these too, beside what it leaves activity about: followers hear of them."""
    if (known := touched.get()) is not None:
        known.extend(objects)


def activity_of(obj: models.Model, limit: int = 50) -> models.QuerySet[Activity]:
    """The newest lines about one object."""
    return Activity.objects.filter(object_type=obj._meta.label_lower, object_id=str(obj.pk)).select_related("user")[
        :limit
    ]


def broken_links() -> list[int]:
    """Ids of lines whose hash, or whose link to the line before, does not hold."""
    broken, previous = [], ""
    for entry in Activity.objects.order_by("id").iterator():
        if entry.previous_hash != previous or activity_hash(entry) != entry.hash:
            broken.append(entry.pk)
        previous = entry.hash
    return broken
