"""Services on anchors: named, captured by a run, pinned on a machine, stale when the machine or the binary moved."""

from typing import Any

from django.utils import timezone

from kernels import policies
from kernels.models import Anchor, Op, Run
from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict, Refusal
from v2kb.core.moves import move
from v2kb.core.service import service
from v2kb.core.values import check_text, check_values


@service("kernels.name_anchor")
def name_anchor(actor: Actor, *, name: str, op: Op, method: str, metric: str = "time_us") -> Anchor:
    """Name an anchor to plan with. It is UNVERIFIED until a capture run pins it."""
    policies.may_run(actor)
    check_values(Anchor, name=name, method=method, metric=metric)
    if Anchor.objects.filter(name=name).exists():
        raise Conflict("anchor.name_taken", f"An anchor {name} exists already.", field="name")
    anchor = Anchor.objects.create(name=name, op=op, method=method, metric=metric)
    record(
        actor,
        "kernels.name_anchor",
        anchor,
        f"anchor {name} named, unverified",
        after={"op": op.slug, "method": method},
    )
    return anchor


def pin_from_capture(actor: Actor, run: Run, values: dict[str, Any], machine: str) -> Anchor:
    """Pin the anchor that a finished capture run measured. Part of the service that stores the run's result.

    A run without a usable time pins nothing; the anchor stays as it was.
    """
    anchor = Anchor.objects.select_for_update().get(pk=run.anchor_id)
    if not values:
        record(actor, "kernels.pin_anchor", anchor, f"{run.public_id} measured nothing; {anchor.name} stays as it was")
        return anchor
    before = {"state": anchor.state, "values": anchor.values, "machine": anchor.machine}
    anchor.version = run.version
    anchor.capture = run
    anchor.values = values
    anchor.machine = machine
    anchor.captured_at = timezone.now()
    move(anchor, Anchor.State.PINNED, "anchor.not_pinned")
    anchor.save()
    record(
        actor,
        "kernels.pin_anchor",
        anchor,
        f"anchor {anchor.name} pinned by {run.public_id}",
        before=before,
        after={"state": anchor.state, "values": values, "machine": machine},
    )
    return anchor


@service("kernels.mark_anchor_stale")
def mark_anchor_stale(actor: Actor, *, anchor: Anchor, reason: str) -> Anchor:
    """Say that an anchor no longer holds (machine, driver or binary moved). Only a new capture pins it again."""
    policies.may_run(actor)
    check_text(reason, "reason")
    if not reason.strip():
        raise Refusal("anchor.reason_missing", "Say what moved.", field="reason")
    anchor = Anchor.objects.select_for_update().get(pk=anchor.pk)
    move(anchor, Anchor.State.STALE, "anchor.not_pinned")
    anchor.save(update_fields=["state"])
    record(
        actor,
        "kernels.mark_anchor_stale",
        anchor,
        f"anchor {anchor.name} is stale: {reason}",
        before={"state": "PINNED"},
        after={"state": "STALE"},
    )
    return anchor
