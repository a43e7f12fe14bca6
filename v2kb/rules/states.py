"""States of the vocabulary page: which moves are allowed, and which states are derived from facts.

Proposals, runs and anchors move by these tables alone. A spec's state is never stored: `spec_state` derives
it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

PROPOSAL: Mapping[str, tuple[str, ...]] = {
    "draft": ("open", "withdrawn"),
    "open": ("accepted", "rejected", "withdrawn", "superseded"),
    "accepted": (),
    "rejected": (),
    "withdrawn": (),
    "superseded": (),
}
RUN: Mapping[str, tuple[str, ...]] = {
    "queued": ("claimed", "cancelled"),
    "claimed": ("running", "queued", "finished", "cancelled"),
    "running": ("queued", "finished", "cancelled"),
    "finished": (),
    "cancelled": (),
}
ANCHOR: Mapping[str, tuple[str, ...]] = {
    "UNVERIFIED": ("PINNED",),
    "PINNED": ("PINNED", "STALE"),
    "STALE": ("PINNED",),
}
TABLES: Mapping[str, Mapping[str, tuple[str, ...]]] = {"proposal": PROPOSAL, "run": RUN, "anchor": ANCHOR}
MAX_ATTEMPTS = 2

DRAFT, IN_REVIEW, APPROVED, READY = "draft", "in review", "approved to build", "verdict-ready"
STALE, STOPPED, ARCHIVED = "stale", "stopped", "archived"
SPEC_STATES = (DRAFT, IN_REVIEW, APPROVED, READY, STALE, STOPPED, ARCHIVED)


@dataclass(frozen=True)
class MoveRefused:
    """A move that the table does not hold. `message` names from, to, and what is allowed."""

    thing: str
    current: str
    wanted: str
    allowed: tuple[str, ...]
    message: str


def move_refused(thing: str, current: str, wanted: str, name: str = "") -> MoveRefused | None:
    """Return why `thing` ("proposal", "run" or "anchor") can't go from `current` to `wanted`, or None when
    it can. `name` is what the sentence calls it.

    Staying where it is counts as a move: only a pinned anchor is pinned again, by a new capture. Raises KeyError for
    a thing without a table.
    """
    table, named = TABLES[thing], name or f"This {thing}"
    if current not in table:
        known = ", ".join(table)
        return MoveRefused(thing, current, wanted, (), f"A {thing} has no state {current!r}; it has {known}.")
    allowed = table[current]
    if wanted in allowed:
        return None
    if wanted not in table:
        message = f"A {thing} has no state {wanted!r}; it has {', '.join(table)}."
    elif not allowed:
        message = f"{named} is {current}, which is final; it can't become {wanted}."
    else:
        message = f"{named} is {current} and can't become {wanted}; it can become {' or '.join(allowed)}."
    return MoveRefused(thing, current, wanted, allowed, message)


def requeue_refused(attempt: int, outcome: str = "") -> str:
    """Return why a run can't be attempted again after attempt number `attempt` (from 1), or an empty text.

    A lost worker (no outcome) and INFRA are tried once more; a wedge never runs again unchanged.
    """
    if outcome == "WEDGE":
        return "A run that wedged is never repeated unchanged; record a protocol audit first."
    if outcome not in ("", "INFRA"):
        return f"The run ended as {outcome}; only a lost worker or INFRA is tried again."
    if attempt >= MAX_ATTEMPTS:
        return f"The run had {attempt} attempts; {MAX_ATTEMPTS} are allowed."
    return ""


@dataclass(frozen=True)
class SpecFacts:
    """What the state of a spec follows from. Revisions are content hashes, empty where there is none.

    `moved_pins` names evidence rows whose head changed materially since the approved revision pinned them.
    `anchor_states` are those of the anchors that its predictions name; `registrations` counts predictions
    that need a seal, `sealed` those that have one.
    """

    head_revision: str = ""
    submitted_revision: str = ""
    approved_revision: str = ""
    moved_pins: tuple[str, ...] = ()
    anchor_states: tuple[str, ...] = ()
    registrations: int = 0
    sealed: int = 0
    stopped_reason: str = ""
    archived: bool = False


@dataclass(frozen=True)
class SpecState:
    """One of `SPEC_STATES`, and why in plain English."""

    name: str
    reason: str


def spec_state(facts: SpecFacts) -> SpecState:
    """Derive the state of a spec from its rows."""
    if facts.archived:
        return SpecState(ARCHIVED, "It was archived.")
    if facts.stopped_reason:
        return SpecState(STOPPED, f"Stopped before design, as it should be: {facts.stopped_reason}")
    if not facts.head_revision:
        return SpecState(DRAFT, "Nothing was submitted yet.")
    if facts.approved_revision == facts.head_revision:
        return _approved_state(facts)
    if facts.submitted_revision == facts.head_revision:
        why = (
            "It changed after its approval and needs a new one." if facts.approved_revision else "It waits for review."
        )
        return SpecState(IN_REVIEW, why)
    why = "It changed after its approval and was not submitted again." if facts.approved_revision else "Not submitted."
    return SpecState(DRAFT, why)


def _share(count: int, total: int, noun: str) -> str:
    """Return "1 anchor", "2 anchors" or "1 of 2 anchors"."""
    if count == total:
        return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
    return f"{count} of {total} {noun}s"


def _approved_state(facts: SpecFacts) -> SpecState:
    """Tell approved to build, verdict-ready and stale apart."""
    if facts.moved_pins:
        return SpecState(STALE, f"Evidence changed since it was pinned: {', '.join(facts.moved_pins)}.")
    missing = []
    if not facts.registrations:
        missing.append("no prediction to judge")
    elif facts.sealed < facts.registrations:
        missing.append(f"{_share(facts.registrations - facts.sealed, facts.registrations, 'prediction')} not sealed")
    loose = [state for state in facts.anchor_states if state != "PINNED"]
    if not facts.anchor_states:
        missing.append("no anchor")
    elif loose:
        missing.append(f"{_share(len(loose), len(facts.anchor_states), 'anchor')} not pinned")
    if missing:
        return SpecState(APPROVED, f"Approved to build; for a verdict: {', '.join(missing)}.")
    return SpecState(READY, "Approved, every anchor pinned, every prediction sealed.")
