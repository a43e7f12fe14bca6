"""Rows as cards: what the board, the table and step 0 of a spec show of each, in a constant number of queries."""

from collections.abc import Mapping, Sequence
from typing import Any

from evidence.hooks import resting_on
from evidence.presenters import blocking_words, figure, scope_parts, short
from evidence.search import Hit
from evidence.selectors import states_of
from evidence.vocabulary import scope_aliases
from v2kb.rules.evidence import cause_label, weak_dead
from v2kb.rules.row_facts import RowStates
from v2kb.rules.scope import NO_ALIASES, Aliases
from v2kb.rules.search_receipt import Standing, standing


def cards_of(hits: Sequence[Hit], scope: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """The hits as cards, compared with `scope` where one is given."""
    ids = [hit.row.pk for hit in hits]
    states, resting = states_of(ids), resting_on(ids)
    aliases = scope_aliases() if scope is not None else NO_ALIASES
    return [
        card_of(hit, states[hit.row.pk], _standing(hit, states[hit.row.pk], scope, aliases), resting) for hit in hits
    ]


def card_of(hit: Hit, states: RowStates, seen: Standing, resting: Mapping[int, int]) -> dict[str, Any]:
    """One row as a card. `seen` says how it stands to a design, `resting` how many specs rest on each row."""
    row, head = hit.row, hit.row.head
    content, specs = head.content, resting.get(row.pk, 0)
    return {
        "code": row.code,
        "verdict": head.verdict,
        "title": head.title,
        "url": row.get_absolute_url(),
        "lever": head.lever.name,
        "lever_url": head.lever.get_absolute_url(),
        "figure": figure(content),
        "mechanism": short(content["mechanism"] or content["bound"]),
        "scope": scope_parts(content["scope"]),
        "relation": seen.relation_words,
        "scopes": seen.scopes,
        "measured_on": head.measured_on,
        "cause": cause_label(head.cause_class),
        "blocking": blocking_words(content, head.blocking, states.superseded_by),
        "blocks": seen.blocks,
        "blocks_why": seen.why,
        "notes": _notes(hit, states),
        "sources": _sources(content["sources"]),
        "resting": f"{specs} {'spec rests' if specs == 1 else 'specs rest'} on it" if specs else "",
        "why": hit.why,
        "number": head.number,
        "content_hash": head.content_hash,
    }


def _standing(hit: Hit, states: RowStates, scope: Mapping[str, Any] | None, aliases: Aliases) -> Standing:
    return standing(
        hit.row.head.content,
        scope,
        is_my_lever=True,
        superseded_by=states.superseded_by,
        flagged=states.flags > 0,
        archived=hit.row.archived_at is not None,
        aliases=aliases,
    )


def _notes(hit: Hit, states: RowStates) -> list[str]:
    """What else must be known of the row."""
    content = hit.row.head.content
    notes = ["archived"] if hit.row.archived_at else []
    if weak_dead(content):
        notes.append("weak: one approach tried" if content["approaches"] else "weak: no approach named")
    if states.superseded_by:
        notes.append(f"superseded by {', '.join(states.superseded_by)}")
    if states.confirmed:
        notes.append("flag confirmed")
    elif states.flags:
        notes.append("flagged")
    if states.proposals:
        notes.append("1 open proposal" if states.proposals == 1 else f"{states.proposals} open proposals")
    return notes


def _sources(sources: Sequence[Mapping[str, str]]) -> str:
    """How many sources there are, and the first of them."""
    if not sources:
        return "No source"
    first = short(sources[0]["text"] or sources[0]["document"], 80)
    return f"Source: {first}" if len(sources) == 1 else f"{len(sources)} sources: {first}"
