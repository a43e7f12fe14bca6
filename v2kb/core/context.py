"""Template context that every page needs."""

from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from v2kb.core.actor import actor_from_request
from v2kb.core.registry import TURNS


def turns_of(user: Any) -> list[dict[str, Any]]:
    """What waits for this user, oldest first. Agents get no turn."""
    if user.is_agent:
        return []
    waiting = [turn for _, find in TURNS.items() for turn in find(user)]
    return sorted(waiting, key=lambda turn: turn["since"])


def frame(request: HttpRequest) -> dict[str, Any]:
    """Roles of the signed-in user, what waits for them, and whether the site is in debug mode.

    What waits is looked up when a template asks for it: a part of a page does not.
    """
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return {"my_roles": frozenset(), "turn_count": 0, "debug_site": settings.DEBUG}
    actor = actor_from_request(request)
    turns = cache(lambda: turns_of(user))
    return {
        "my_roles": actor.roles,
        "turns": turns,
        "turn_count": lambda: len(turns()),
        "debug_site": settings.DEBUG,
    }
