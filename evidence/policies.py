"""Who may change evidence. Every signed-in user reads it and may raise a flag."""

from evidence.models import Flag
from v2kb.core.actor import Actor
from v2kb.core.errors import Forbidden
from v2kb.core.policies import has_role, require_role

PROPOSER_ROLES = ("designer", "validator", "curator")
CURATOR_ROLES = ("curator",)
LEVER_ROLES = ("curator", "administrator")
HISTORY_ROLES = ("designer", "implementer", "validator", "curator")


def require_proposer(actor: Actor) -> None:
    """Raise Forbidden unless the actor may propose changes of evidence."""
    require_role(actor, *PROPOSER_ROLES)


def require_historian(actor: Actor) -> None:
    """Raise Forbidden unless the actor may add lines to the experiment history."""
    require_role(actor, *HISTORY_ROLES)


def require_curator(actor: Actor) -> None:
    """Raise Forbidden unless the actor may decide proposals, import a map, confirm flags and archive rows."""
    require_role(actor, *CURATOR_ROLES)


def require_lever_editor(actor: Actor) -> None:
    """Raise Forbidden unless the actor may change the vocabulary of levers."""
    require_role(actor, *LEVER_ROLES)


def require_watcher(actor: Actor) -> None:
    """Raise Forbidden unless the system itself acts: it alone flags rows whose recorded bounds are passed."""
    if actor.kind != "system":
        raise Forbidden("core.role", "Only the system checks the bounds of rows.", fix="Flag the row yourself.")


def may_propose(actor: Actor) -> bool:
    """Whether to show the buttons for proposing."""
    return has_role(actor, *PROPOSER_ROLES)


def may_write_history(actor: Actor) -> bool:
    """Whether to show the buttons for lines of the experiment history."""
    return has_role(actor, *HISTORY_ROLES)


def may_curate(actor: Actor) -> bool:
    """Whether to show the buttons for deciding."""
    return has_role(actor, *CURATOR_ROLES)


def may_confirm(actor: Actor, flag: Flag) -> bool:
    """Whether to show the button that confirms this flag: a curator's, for a flag of others or of the system."""
    return may_curate(actor) and not flag.confirmed_at and flag.raised_by_id != actor.user.pk


def may_edit_levers(actor: Actor) -> bool:
    """Whether to show the buttons for levers."""
    return has_role(actor, *LEVER_ROLES)
