"""Who may change references. Every signed-in user reads them."""

from v2kb.core.actor import Actor
from v2kb.core.policies import has_role, require_role

IMPORT_ROLES = ("curator", "administrator")


def require_import(actor: Actor) -> None:
    """Raise Forbidden unless the actor may import, archive or restore documents."""
    require_role(actor, *IMPORT_ROLES)


def may_import(actor: Actor) -> bool:
    """Whether to show the buttons for it."""
    return has_role(actor, *IMPORT_ROLES)
