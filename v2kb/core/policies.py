"""Who may: each policy returns nothing or raises Forbidden with a sentence."""

from v2kb.core.actor import Actor
from v2kb.core.errors import Forbidden


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
