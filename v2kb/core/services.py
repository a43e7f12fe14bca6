"""Services on users."""

from collections.abc import Collection
from typing import Any

from django.contrib.auth.models import Group

from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict, Forbidden, Missing, Refusal
from v2kb.core.models import User
from v2kb.core.policies import require_role, require_user, roles_to_give
from v2kb.core.roles import ROLES, WORKING_ROLES
from v2kb.core.service import service
from v2kb.core.values import check_text

MAX_REASON_CHARS = 4000


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
    _refuse_unknown_roles(roles)
    if User.objects.filter(username=username).exists():
        raise Conflict("core.user_exists", f"A user {username} exists already.", field="username")
    details: dict[str, Any] = {"first_name": first_name, "last_name": last_name, "engine_name": engine_name}
    user = User.objects.create_user(
        username, password=password, is_staff=staff, must_change_password=one_time_password, **details
    )
    user.groups.set(Group.objects.filter(name__in=roles))
    record(actor, "core.create_user", user, f"user {username} made", after={"roles": sorted(roles), **details})
    return user


def _refuse_unknown_roles(roles: Collection[str]) -> None:
    unknown = sorted(set(roles) - set(ROLES))
    if unknown:
        raise Refusal(
            "core.unknown_role",
            f"There is no role {', '.join(unknown)}.",
            field="roles",
            facts={"roles": list(ROLES)},
        )


@service("core.change_roles")
def change_roles(actor: Actor, username: str, roles: Collection[str], reason: str) -> User:
    """Give and take roles: `roles` are all that the user has afterwards. Administrators change any, curators those of
    `roles_to_give`.

    Raises Forbidden core.role, core.role_to_give; Missing core.no_user; Refusal core.unknown_role,
    core.reason_missing, core.no_change; Conflict core.last_administrator.
    """
    require_role(actor, "administrator", "curator")
    _refuse_unknown_roles(roles)
    check_text(username, "username")
    check_text(reason, "reason")
    reason = reason.strip()
    if not reason or len(reason) > MAX_REASON_CHARS:
        said = f"A change of roles needs a reason of at most {MAX_REASON_CHARS:,} characters."
        raise Refusal("core.reason_missing", said, field="reason", fix="Say in a sentence why.")
    user = User.objects.select_for_update(no_key=True).filter(username=username).first()
    if user is None:
        raise Missing("core.no_user", f"There is no user {username[:60]!r}.", field="username", fix="Look at the list.")
    before = user_facts(user)
    given, taken = sorted({*roles} - {*before["roles"]}), sorted({*before["roles"]} - {*roles})
    if beyond := [role for role in (*given, *taken) if role not in roles_to_give(actor, user)]:
        raise Forbidden(
            "core.role_to_give",
            f"You may neither give {user.username} the role {', '.join(beyond)} nor take it.",
            field="roles",
            fix="Ask an administrator. Curators change roles of others who are no administrators, and only "
            f"{', '.join(WORKING_ROLES)}.",
            facts={"roles": beyond},
        )
    if not given and not taken:
        raise Refusal("core.no_change", f"{user.username} has these roles already.", field="roles", fix="Change one.")
    user.groups.set(Group.objects.filter(name__in=roles))
    after = user_facts(user)
    refuse_last_administrator(user, before, after)
    said = ", ".join([*(f"{role} given" for role in given), *(f"{role} taken" for role in taken)])
    record(actor, "core.change_roles", user, f"user {username}: {said}: {reason}"[:2000], before=before, after=after)
    return user


def user_facts(user: User) -> dict[str, Any]:
    """What an administrator can set of a user, without the password."""
    return {
        "username": user.username,
        "name": user.get_full_name(),
        "engine": user.engine_name,
        "active": user.is_active,
        "staff": user.is_staff,
        "must_change_password": user.must_change_password,
        "roles": sorted(user.groups.values_list("name", flat=True)),
    }


def refuse_last_administrator(user: User, before: dict[str, Any], after: dict[str, Any]) -> None:
    """Refuse an edit (`user_facts` before and after) that leaves nobody who could manage people.

    Part of the transaction that makes the edit. Raises Conflict core.last_administrator.
    """

    def manages(facts: dict[str, Any]) -> bool:
        return facts["active"] and facts["staff"] and "administrator" in facts["roles"]

    if not manages(before) or manages(after):
        return
    Group.objects.select_for_update().get(name="administrator")  # two who take each other's role come one by one
    others = User.objects.exclude(pk=user.pk).filter(is_active=True, is_staff=True, groups__name="administrator")
    if not others.exists():
        raise Conflict(
            "core.last_administrator",
            f"{user.username} is the only administrator who can sign in here.",
            field="roles",
            fix="Make another active user with staff status an administrator first.",
        )


@service("core.note_user_edit")
def note_user_edit(actor: Actor, *, user: User, before: dict[str, Any] | None) -> None:
    """Note that an administrator made or changed a user; part of the transaction that did it.

    Raises Conflict core.last_administrator.
    """
    require_role(actor, "administrator")
    after = user_facts(User.objects.get(pk=user.pk))
    said = f"user {user.username} {'made' if before is None else 'changed'}"
    record(actor, "core.edit_user", user, said, before=before, after=after)
    if before is not None:
        refuse_last_administrator(user, before, after)


@service("core.note_password_issued")
def note_password_issued(actor: Actor, *, user: User) -> None:
    """Note that an administrator set a password; somebody else's is good for one sign-in."""
    require_role(actor, "administrator")
    user = User.objects.select_for_update().get(pk=user.pk)
    user.must_change_password = actor.user is None or user.pk != actor.user.pk
    user.save(update_fields=["must_change_password"])
    record(actor, "core.issue_password", user, f"password of {user.username} set anew")
