"""The one way to write: a service is a function that takes an Actor and leaves rows and activity behind."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Concatenate, ParamSpec, TypeVar

from django.db import DatabaseError, models, transaction

from v2kb.core.activity import recorded, touched
from v2kb.core.actor import Actor
from v2kb.core.guards.errors import refusal_from_database
from v2kb.core.registry import FOLLOWERS

P = ParamSpec("P")
R = TypeVar("R")

SERVICES: dict[str, Callable] = {}


class SilentService(AssertionError):
    """A service changed data without an activity line: a programming error."""


@contextmanager
def _following() -> Iterator[None]:
    """At the end of the outermost service, bring up to date what is derived from the objects that it changed."""
    if touched.get() is not None:
        yield
        return
    objects: dict[tuple[str, Any], models.Model] = {}
    token = touched.set([])
    try:
        yield
        objects = {(obj._meta.label_lower, obj.pk): obj for obj in touched.get() or []}
    finally:
        touched.reset(token)
    for label, follower in FOLLOWERS.items():
        if changed := [obj for (own, _), obj in objects.items() if own == label]:
            follower(changed)


def service(
    name: str, *, silent: bool = False
) -> Callable[[Callable[Concatenate[Actor, P], R]], Callable[Concatenate[Actor, P], R]]:
    """Register a mutating function under `name` and run it in one transaction.

    The function must record activity before it returns, unless it is declared `silent` (autosaved drafts, heartbeats).
    Errors that the database's guards raise come out as one Refusal with a stable code.
    """

    def decorate(function: Callable[Concatenate[Actor, P], R]) -> Callable[Concatenate[Actor, P], R]:
        if name in SERVICES:
            raise RuntimeError(f"two services are called {name}")

        @functools.wraps(function)
        def run(actor: Actor, *args: P.args, **kwargs: P.kwargs) -> R:
            if not isinstance(actor, Actor):
                raise TypeError(f"{name} takes an Actor first, not {type(actor).__name__}")
            count = recorded.get()
            try:
                with transaction.atomic(), _following():
                    result = function(actor, *args, **kwargs)
                    if not silent and recorded.get() == count:
                        raise SilentService(f"{name} recorded no activity")
                    return result
            except DatabaseError as error:
                refusal = refusal_from_database(error)
                if refusal is None:
                    raise
                raise refusal from error

        SERVICES[name] = run
        run.service_name = name
        return run

    return decorate
