"""Who a management command acts as."""

from django.core.management import CommandError

from v2kb.core.actor import Actor
from v2kb.core.models import User


def actor_named(username: str, command: str) -> Actor:
    """The user of this name, or the system for `command` where no name is given. Raises CommandError."""
    if not username:
        return Actor.system("cli", command)
    user = User.objects.filter(username=username).first()
    if user is None:
        raise CommandError(f"There is no user {username}.")
    return Actor.of_user(user, "cli")
