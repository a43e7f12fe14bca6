"""Doubts about a row: anyone raises one, a curator who did not raise it confirms it, any curator clears it."""

from django.utils import timezone

from evidence.models import Flag
from evidence.policies import may_curate, require_curator
from evidence.selectors import get_flag
from evidence.services.revisions import checked_reason, locked_row
from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict, Forbidden
from v2kb.core.policies import require_user
from v2kb.core.service import service


@service("evidence.flag_row")
def flag_row(actor: Actor, code: str, *, reason: str) -> Flag:
    """Raise a doubt about a row; it shows at once. Raises Missing evidence.no_row, Refusal evidence.reason_missing,
    Conflict evidence.flag_open when the actor's own earlier flag is still open."""
    require_user(actor)
    reason = checked_reason(reason)
    row = locked_row(code)
    if row.flags.filter(raised_by=actor.user, cleared_at__isnull=True).exists():
        raise Conflict(
            "evidence.flag_open", f"Your flag on {row.code} is still open.", fix="Wait for a curator, or clear it."
        )
    flag = Flag.objects.create(row=row, reason=reason, raised_by=actor.user)
    record(actor, "evidence.flag_row", row, f"{row.code} flagged: {reason}"[:2000])
    return flag


@service("evidence.confirm_flag")
def confirm_flag(actor: Actor, flag_id: int) -> Flag:
    """Confirm somebody else's flag, or one of the system: from now on the row can't be cited, and approved specs that
    pinned it are stale. Raises Forbidden core.role, evidence.own_flag; Conflict evidence.flag_closed.
    """
    require_curator(actor)
    require_user(actor)
    flag = _open_flag(flag_id)
    if flag.confirmed_at:
        raise Conflict("evidence.flag_closed", "This flag is confirmed already.", fix="Nothing is left to do.")
    if flag.raised_by_id == actor.user.pk:
        raise Forbidden(
            "evidence.own_flag",
            "You raised this flag, and nobody confirms their own.",
            fix="Ask another curator, or take it down.",
        )
    flag.confirmed_by, flag.confirmed_at = actor.user, timezone.now()
    flag.save(update_fields=["confirmed_by", "confirmed_at"])
    record(actor, "evidence.confirm_flag", flag.row, f"flag on {flag.row.code} confirmed: {flag.reason}"[:2000])
    return flag


@service("evidence.clear_flag")
def clear_flag(actor: Actor, flag_id: int, *, reason: str) -> Flag:
    """Take a flag down: a curator any, its author an unconfirmed one. Raises Forbidden evidence.not_author, Refusal
    evidence.reason_missing, Conflict evidence.flag_closed."""
    require_user(actor)
    reason = checked_reason(reason)
    flag = _open_flag(flag_id)
    own_and_unconfirmed = flag.raised_by_id == actor.user.pk and not flag.confirmed_at
    if not may_curate(actor) and not own_and_unconfirmed:
        raise Forbidden("evidence.not_author", "Only a curator can take this flag down.", fix="Ask a curator.")
    flag.cleared_by, flag.cleared_at = actor.user, timezone.now()
    flag.save(update_fields=["cleared_by", "cleared_at"])
    record(actor, "evidence.clear_flag", flag.row, f"flag on {flag.row.code} cleared: {reason}"[:2000])
    return flag


def _open_flag(flag_id: int) -> Flag:
    """The flag, its row locked. Raises Missing evidence.no_flag, Conflict evidence.flag_closed."""
    row = locked_row(get_flag(flag_id).row)
    flag = Flag.objects.select_for_update().get(pk=flag_id)
    flag.row = row
    if flag.cleared_at:
        raise Conflict(
            "evidence.flag_closed", "This flag is cleared already.", fix="Raise a new one if the doubt remains."
        )
    return flag
