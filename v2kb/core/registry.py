"""Hooks that a lower app offers and a higher one fills: panels, tabs, turn counters, link resolvers."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Registry(Generic[T]):
    """Named entries in the order in which they were added."""

    def __init__(self) -> None:
        self._entries: dict[str, T] = {}

    def add(self, name: str, entry: T) -> None:
        """Add or replace the entry called `name`."""
        self._entries[name] = entry

    def get(self, name: str) -> T | None:
        """The entry called `name`, or None."""
        return self._entries.get(name)

    def items(self) -> list[tuple[str, T]]:
        """All entries."""
        return list(self._entries.items())


# object type label -> functions (request, object) -> {"title", "template", "context"} shown in its right rail
PANELS: dict[str, list[Callable[..., dict[str, Any] | None]]] = {}

# name -> (user) -> list of {"title", "why", "since", "url"}: what waits for this user
TURNS: Registry[Callable[..., list[dict[str, Any]]]] = Registry()

# kind -> (text) -> (url, label) or None, for [[kind:target]] and [[CODE]] in markdown
LINKS: Registry[Callable[[str], tuple[str, str] | None]] = Registry()

# name -> (query, limit) -> list of hits as v2kb.core.search.shown gives them: the top bar's search, by kind.
# A query that can't be read raises Refusal or QueryError.
SEARCHES: Registry[Callable[..., list[dict[str, Any]]]] = Registry()


def add_panel(label: str, function: Callable[..., dict[str, Any] | None]) -> None:
    """Show what `function` returns in the rail of every object of type `label` ("evidence.evidencerow")."""
    PANELS.setdefault(label, []).append(function)


def follow(label: str, function: Callable[[list[Any]], None]) -> None:
    """Call `function` with the objects of type `label` that a service left activity about, before it commits."""
    FOLLOWERS[label] = function


def panels_of(request: Any, obj: Any) -> list[dict[str, Any]]:
    """The rail panels of one object."""
    found = (function(request, obj) for function in PANELS.get(obj._meta.label_lower, []))
    return [panel for panel in found if panel]


# object type label -> (objects) -> None: brings what is derived from these objects up to date (search entries, facts)
FOLLOWERS: dict[str, Callable[[list[Any]], None]] = {}

# name -> () -> None: fills an empty installation with starter data and first logins; does nothing on a filled one
STARTERS: Registry[Callable[[], None]] = Registry()
