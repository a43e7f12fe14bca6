"""Who may: each policy returns nothing or raises Forbidden with a sentence."""

from v2kb.core.actor import Actor
from v2kb.core.errors import Forbidden
from v2kb.core.models import User
from v2kb.core.roles import ROLES, WORKING_ROLES


def require_user(actor: Actor) -> None:
    """Raise Forbidden unless an active, signed-in user acts."""
    if actor.user is None or not actor.user.is_active:
        raise Forbidden("core.sign_in", "Only a signed-in user can do this.", fix="Sign in first.")


def require_role(actor: Actor, *roles: str) -> None:
    """Raise Forbidden unless the actor has one of `roles`. The system itself passes; superusers get no exception."""
    if actor.kind == "system":
        return
    require_user(actor)
    if not actor.roles.intersection(roles):
        named = " or ".join(role.replace("_", " ") for role in roles)
        raise Forbidden(
            "core.role",
            f"This needs the role {named}.",
            fix="Ask an administrator for the role.",
            facts={"needs": sorted(roles), "has": sorted(actor.roles)},
        )


def has_role(actor: Actor, *roles: str) -> bool:
    """Whether the actor has one of `roles`; for showing or hiding a button, never for enforcing."""
    return actor.kind == "system" or bool(actor.roles.intersection(roles))


def roles_to_give(actor: Actor, user: User) -> tuple[str, ...]:
    """The roles that the actor may give to `user` and take away: none for whoever manages nobody.

    Curators give what decides about nothing, so that nobody makes the second person that a verdict needs, and neither
    to themselves nor to administrators.
    """
    if has_role(actor, "administrator"):
        return tuple(ROLES)
    is_own = actor.user is not None and actor.user.pk == user.pk
    if not has_role(actor, "curator") or is_own or user.groups.filter(name="administrator").exists():
        return ()
    return WORKING_ROLES
