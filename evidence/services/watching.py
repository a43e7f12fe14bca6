"""Watching rows: bounds that the system checks, and people who want to know what changes."""

from collections.abc import Iterable

from django.db.models import Q
from django.utils import timezone

from evidence.models import EvidenceRow, Flag, RowBounds, RowSubscription
from evidence.policies import require_proposer, require_watcher
from evidence.services.revisions import locked_row
from references.models import UpstreamSnapshot
from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.errors import Refusal
from v2kb.core.policies import require_user
from v2kb.core.service import service
from v2kb.core.values import check_text
from v2kb.rules.scope import normalise_scope

MAX_BOUND = 80


@service("evidence.set_bounds")
def set_bounds(
    actor: Actor, code: str, *, baseline: str = "", driver: str = "", snapshot: int | None = None
) -> RowBounds:
    """Record what a row was measured on: commit of the baseline, driver, upstream snapshot (its id). Empty is not
    watched. A snapshot that is not the newest flags the row at once.

    Raises Forbidden core.role; Missing evidence.no_row; Refusal evidence.bound, core.bad_text.
    """
    require_proposer(actor)
    require_user(actor)
    values = {"baseline": baseline.strip(), "driver": driver.strip()}
    for name, value in values.items():
        check_text(value, field=name)
        if len(value) > MAX_BOUND:
            raise Refusal("evidence.bound", f"The {name} has more than {MAX_BOUND} characters.", field=name)
    upstream = UpstreamSnapshot.objects.filter(pk=snapshot).first() if snapshot else None
    if snapshot and upstream is None:
        raise Refusal(
            "evidence.bound", f"There is no upstream snapshot {snapshot}.", field="snapshot", fix="Pick one that is."
        )
    row = locked_row(code)
    bounds, _ = RowBounds.objects.update_or_create(
        row=row, defaults={**values, "snapshot": upstream, "set_by": actor.user}
    )
    named = {**values, "snapshot": str(upstream or "")}
    said = ", ".join(f"{name} {value}" for name, value in named.items() if value) or "nothing"
    record(actor, "evidence.set_bounds", row, f"{row.code} was measured on {said}"[:2000], after=named)
    newest = _newest_of(upstream) if upstream else None
    if newest is not None:
        note_snapshot(Actor.system(label="watcher"), newest)
    return bounds


def _newest_of(snapshot: UpstreamSnapshot) -> UpstreamSnapshot | None:
    return (
        UpstreamSnapshot.objects.filter(repository=snapshot.repository, branch=snapshot.branch).order_by("-pk").first()
    )


@service("evidence.note_snapshot", silent=True)
def note_snapshot(actor: Actor, snapshot: UpstreamSnapshot) -> list[Flag]:
    """Flag every row that was measured on an older snapshot of the same branch. The same snapshot twice flags once.

    Raises Forbidden core.role: this is the system's.
    """
    require_watcher(actor)
    older = RowBounds.objects.filter(
        snapshot__repository=snapshot.repository, snapshot__branch=snapshot.branch, snapshot__lt=snapshot.pk
    ).exclude(snapshot__commit=snapshot.commit)
    if snapshot.studied_on:
        older = older.exclude(snapshot__studied_on__gt=snapshot.studied_on)
    where = f"{snapshot.repository} {snapshot.branch}".strip()
    now = f"Upstream moved on: {where} is at {snapshot.commit[:12]} now"
    return _flag_all(
        actor,
        older.select_related("row", "snapshot"),
        lambda bounds: (
            f"snapshot {bounds.snapshot.commit} {snapshot.commit}",
            f"{now}; this was measured on {bounds.snapshot.commit[:12]}.",
        ),
    )


@service("evidence.note_driver", silent=True)
def note_driver(actor: Actor, *, driver: str, arch: str, worker: str) -> list[Flag]:
    """Flag every row about `arch` (or any) that was measured on another driver than a worker of it reports.

    Raises Forbidden core.role: this is the system's.
    """
    require_watcher(actor)
    others = RowBounds.objects.exclude(driver="").exclude(driver=driver).select_related("row__head")
    about = [
        bounds for bounds in others if arch in (normalise_scope(bounds.row.head.content["scope"]).get("arch") or [arch])
    ]
    return _flag_all(
        actor,
        about,
        lambda bounds: (
            f"driver {bounds.driver} {driver}",
            f"{worker} ({arch}) reports driver {driver}; this was measured on {bounds.driver}.",
        ),
    )


@service("evidence.note_baseline", silent=True)
def note_baseline(actor: Actor, *, code: str, baseline: str, run_id: str) -> list[Flag]:
    """Flag a row whose run was made against another baseline than the row was. An abbreviated commit is the same.

    Raises Forbidden core.role: this is the system's.
    """
    require_watcher(actor)
    recorded = RowBounds.objects.filter(row__code=code).exclude(Q(baseline="") | Q(baseline=baseline))
    moved = [bounds for bounds in recorded.select_related("row") if not _same_commit(bounds.baseline, baseline)]
    return _flag_all(
        actor,
        moved,
        lambda bounds: (
            f"baseline {bounds.baseline} {baseline}",
            f"Run {run_id} was made against baseline {baseline}; this was measured against {bounds.baseline}.",
        ),
    )


def _same_commit(one: str, other: str) -> bool:
    short, long = sorted((one.lower(), other.lower()), key=len)
    return len(short) >= 7 and long.startswith(short)


def _flag_all(actor: Actor, passed: Iterable[RowBounds], say) -> list[Flag]:
    """Flag the rows of these bounds, each once per cause; `say(bounds)` gives (cause, reason)."""
    raised = []
    for bounds in passed:
        cause, reason = say(bounds)
        row = locked_row(bounds.row)
        if Flag.objects.filter(row=row, cause=cause[:300]).exists():
            continue
        raised.append(Flag.objects.create(row=row, cause=cause[:300], reason=reason))
        record(actor, "evidence.flag_row", row, f"{row.code} flagged: {reason}"[:2000])
    return raised


@service("evidence.watch_row", silent=True)
def watch_row(actor: Actor, code: str) -> RowSubscription:
    """Show the actor what happens to a row from now on. Twice is once. Raises Missing evidence.no_row."""
    require_user(actor)
    row = locked_row(code)
    now = timezone.now()
    return RowSubscription.objects.get_or_create(row=row, user=actor.user, defaults={"seen_at": now})[0]


@service("evidence.unwatch_row", silent=True)
def unwatch_row(actor: Actor, code: str) -> EvidenceRow:
    """Watch a row no longer. Raises Missing evidence.no_row."""
    require_user(actor)
    row = locked_row(code)
    RowSubscription.objects.filter(row=row, user=actor.user).delete()
    return row


@service("evidence.mark_seen", silent=True)
def mark_seen(actor: Actor, code: str = "") -> int:
    """The actor has seen what happened to a row that they watch, or without `code` to all of them. Returns how many."""
    require_user(actor)
    watched = RowSubscription.objects.filter(user=actor.user)
    if code:
        watched = watched.filter(row__code=code)
    return watched.update(seen_at=timezone.now())
