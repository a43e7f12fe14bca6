"""Who acts, and through which door. Every service takes an Actor; none takes a user or a request."""

import uuid
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from django.http import HttpRequest

from v2kb.core.models import User

Channel = Literal["page", "api", "admin", "cli", "worker", "system"]
Kind = Literal["user", "token", "worker", "system"]


@dataclass(frozen=True)
class Actor:
    """The one who acts: a user (by page or token), a worker's run, or the system itself."""

    user: User | None
    kind: Kind
    channel: Channel
    request_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    label: str = ""

    @cached_property
    def roles(self) -> frozenset[str]:
        """Role names at this moment; empty without an active user."""
        if self.user is None or not self.user.is_active:
            return frozenset()
        return frozenset(self.user.groups.values_list("name", flat=True))

    @property
    def name(self) -> str:
        """How the activity log calls this actor."""
        if self.user is not None:
            return self.user.display_name
        return self.label or self.kind

    @classmethod
    def system(cls, channel: Channel = "system", label: str = "system") -> "Actor":
        """The application itself: migrations, starter data, the reaper."""
        return cls(user=None, kind="system", channel=channel, label=label)

    @classmethod
    def worker(cls, label: str, request_id: str = "") -> "Actor":
        """A worker that holds a run key; it may only write to that run."""
        return cls(user=None, kind="worker", channel="worker", label=label, request_id=request_id or uuid.uuid4().hex)

    @classmethod
    def of_user(cls, user: User, channel: Channel = "cli") -> "Actor":
        """A user outside a request: command line and tests."""
        return cls(user=user, kind="user", channel=channel)


def actor_from_request(request: HttpRequest, channel: Channel = "page") -> Actor:
    """The Actor of a request, the same one each time, so that its roles are looked up once.

    An anonymous request gives an Actor without user, which no policy lets write.
    """
    user = request.user if getattr(request, "user", None) is not None and request.user.is_authenticated else None
    kind: Kind = "token" if getattr(request, "auth", None) else "user"
    known: dict[tuple, Actor] = request.__dict__.setdefault("_actors", {})
    key = (user.pk if user else None, kind, channel)
    if key not in known:
        request_id = getattr(request, "request_id", "") or uuid.uuid4().hex
        known[key] = Actor(user=user, kind=kind, channel=channel, request_id=request_id)
    return known[key]
