"""Services on users."""

from typing import Any

from django.contrib.auth.models import Group

from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict, Refusal
from v2kb.core.models import User
from v2kb.core.policies import require_role, require_user
from v2kb.core.roles import ROLES
from v2kb.core.service import service


@service("core.password_changed")
def password_changed(actor: Actor) -> User:
    """Note that the actor chose a password of their own; a one-time password is spent."""
    require_user(actor)
    user = User.objects.select_for_update().get(pk=actor.user.pk)
    user.must_change_password = False
    user.save(update_fields=["must_change_password"])
    record(actor, "core.password_changed", user, f"{user.username} changed the password")
    return user


@service("core.create_user")
def create_user(
    actor: Actor,
    *,
    username: str,
    password: str,
    roles: list[str],
    first_name: str = "",
    last_name: str = "",
    engine_name: str = "",
    staff: bool = False,
    one_time_password: bool = True,
) -> User:
    """Make a user with roles. Raises Conflict for a taken name and Refusal for an unknown role."""
    require_role(actor, "administrator")
    unknown = sorted(set(roles) - set(ROLES))
    if unknown:
        raise Refusal(
            "core.unknown_role",
            f"There is no role {', '.join(unknown)}.",
            field="roles",
            facts={"roles": list(ROLES)},
        )
    if User.objects.filter(username=username).exists():
        raise Conflict("core.user_exists", f"A user {username} exists already.", field="username")
    details: dict[str, Any] = {"first_name": first_name, "last_name": last_name, "engine_name": engine_name}
    user = User.objects.create_user(
        username, password=password, is_staff=staff, must_change_password=one_time_password, **details
    )
    user.groups.set(Group.objects.filter(name__in=roles))
    record(actor, "core.create_user", user, f"user {username} made", after={"roles": sorted(roles), **details})
    return user
