"""The board of step 0 of a spec: what is known of a planned design. No filter takes a DEAD row off it.

Words find rows as everywhere; picked levers bring the rows of their families whatever the words are. Fields of the
query, negations and facets narrow WIN and UNTESTED rows only (evidence-and-gate section 2).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evidence.families import lever_families
from evidence.models import EvidenceRow, Lever, Verdict
from evidence.search.columns import columns
from evidence.search.engine import Found, Query, search_rows
from evidence.search.hits import Hit, hits_of
from evidence.selectors import resolve_lever, states_of
from evidence.vocabulary import scope_aliases
from v2kb.core.errors import Missing
from v2kb.rules.row_facts import RowStates
from v2kb.rules.search_query import MAX_CHARS, split_query
from v2kb.rules.search_receipt import Standing, standing
from v2kb.rules.search_tiers import ABOVE, BELOW, MAX_ROWS, OWN

NARROWING = ("verdict", "cause", "blocking", "tier", "state")


@dataclass(frozen=True)
class Design:
    """What somebody plans: words in the query language, levers (slugs), a scope (None: not given), facets."""

    text: str = ""
    levers: tuple[str, ...] = ()
    scope: dict[str, Any] | None = None
    chosen: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def is_blank(self) -> bool:
        return not (self.text.strip() or self.levers or self.scope)

    def as_document(self) -> dict[str, Any]:
        """The search as a receipt stores it."""
        filters = {name: list(values) for name, values in self.chosen.items()}
        return {"query": self.text, "levers": list(self.levers), "scope": self.scope, "filters": filters}

    @classmethod
    def of_document(cls, content: dict[str, Any]) -> "Design":
        """The search of a stored receipt."""
        filters = {name: tuple(values) for name, values in content["filters"].items()}
        return cls(content["query"], tuple(content["levers"]), content["scope"], filters)


@dataclass(frozen=True)
class BoardRow:
    """A row on the board. `speaks_of` are the picked levers that it counts for (slugs)."""

    row: EvidenceRow
    why: str
    standing: Standing
    states: RowStates
    speaks_of: tuple[str, ...]

    def as_document(self) -> dict[str, Any]:
        """What a receipt, and the rules over it, need of the row."""
        head = self.row.head
        return {
            "code": self.row.code,
            "content_hash": head.content_hash,
            "verdict": head.verdict,
            "lever": head.lever.slug,
            "lever_name": head.lever.name,
            "for": list(self.speaks_of),
            "blocks": self.standing.blocks,
            "why": self.standing.why,
        }


@dataclass(frozen=True)
class Board:
    """The rows, DEAD first, each verdict in the order of the search. `left_out` counts those beyond `MAX_ROWS`."""

    design: Design
    rows: tuple[BoardRow, ...]
    levers: tuple[Lever, ...]
    found: Found
    left_out: int = 0

    @property
    def change(self) -> int:
        """High-water mark of the evidence that was searched."""
        return self.found.change

    def of(self, verdict: str) -> list[BoardRow]:
        """The rows with this verdict."""
        return [row for row in self.rows if row.row.head.verdict == verdict]


def board_of(design: Design) -> Board:
    """Search for a design, in a constant number of queries.

    Raises Refusal evidence.query for what can't be read, Missing evidence.no_lever for a lever that is not there.
    """
    found = search_rows(Query(design.text[: MAX_CHARS + 1], design.chosen))
    held_words, left_words = split_query(design.text)
    by_words, archived = search_rows(Query(held_words)), search_rows(Query(held_words, archived=True))
    allowed = search_rows(Query(left_words, design.chosen))
    filters = [wanted for wanted in found.query.filters if wanted.name == "lever" and not wanted.negated]
    named = [value for wanted in filters for value in wanted.values]
    family = _Family({*design.levers, *(lever.slug for name in named if (lever := resolve_lever(name)))})
    of_levers = _rows_of(family.sides)
    only_levers = bool(family.picked) and not held_words
    dead = () if only_levers else _joined(by_words.of(Verdict.DEAD), archived.of(Verdict.DEAD))
    ids = _joined(dead, of_levers[Verdict.DEAD])
    for verdict in (Verdict.WIN, Verdict.UNTESTED):
        narrowed = set(allowed.of(verdict).tolist())
        ids += _joined(() if only_levers else found.of(verdict), (pk for pk in of_levers[verdict] if pk in narrowed))
    if len(ids) > MAX_ROWS:  # whatever else is left out, the DEAD rows of the picked levers are not
        ids = _joined(of_levers[Verdict.DEAD], ids)
    rows = _board_rows((by_words, archived), ids[:MAX_ROWS], design, family)
    return Board(design, tuple(rows), tuple(family.picked), found, max(0, len(ids) - MAX_ROWS))


class _Family:
    """The picked levers with those above and below them. `sides` maps a lever's id to how it stands to them."""

    def __init__(self, slugs: set[str]) -> None:
        self.picked: list[Lever] = []
        self.sides: dict[int, str] = {}
        self._for: dict[int, list[str]] = {}
        if not slugs:
            return
        self.picked = list(Lever.objects.filter(slug__in=slugs).order_by("name"))
        if gone := slugs - {lever.slug for lever in self.picked}:
            raise Missing("evidence.no_lever", f"There is no lever {min(gone)[:80]}.", fix="Pick another one.")
        families = lever_families()
        own = families.merged_with(lever.pk for lever in self.picked)
        above, below = dict.fromkeys(families.above(own), ABOVE), dict.fromkeys(families.below(own), BELOW)
        self.sides = below | above | dict.fromkeys(own, OWN)
        for lever in self.picked:
            for above_it in families.above([lever.pk]):
                self._for.setdefault(above_it, []).append(lever.slug)

    def speaks_of(self, lever_id: int) -> tuple[str, ...]:
        """The picked levers for which a row of this lever counts: the lever itself and what lies below it."""
        return tuple(self._for.get(lever_id, ()))


def _rows_of(levers: Iterable[int]) -> dict[str, list[int]]:
    """Verdict -> ids of the rows of these levers in the order of their codes; archived ones when DEAD."""
    held = columns()
    places = np.flatnonzero(held.categories["lever"].mask([str(pk) for pk in levers]))
    places = places[np.argsort(held.rank[places])]
    verdicts = held.categories["verdict"]
    rows: dict[str, list[int]] = {verdict: [] for verdict in Verdict.values}
    for place in places.tolist():
        verdict = verdicts.values[verdicts.codes[place]][0]
        if verdict == Verdict.DEAD or not held.archived[place]:
            rows[verdict].append(int(held.ids[place]))
    return rows


def _joined(first: Iterable[int], second: Iterable[int]) -> list[int]:
    return list(dict.fromkeys([*map(int, first), *map(int, second)]))


def _board_rows(searches: Sequence[Found], ids: list[int], design: Design, family: _Family) -> list[BoardRow]:
    """The rows with these ids. The first of the searches that found a row says why."""
    states, aliases = states_of(ids), scope_aliases()
    hits: dict[int, Hit] = {}
    for found in searches:
        held = set(found.ids.tolist()) - hits.keys()
        hits |= {hit.row.pk: hit for hit in hits_of(found, [pk for pk in ids if pk in held])}
    others = EvidenceRow.objects.select_related("head__lever").in_bulk([pk for pk in ids if pk not in hits])
    rows = []
    for hit in (hits.get(pk) or Hit(others[pk]) for pk in ids):
        head, state = hit.row.head, states[hit.row.pk]
        speaks_of = family.speaks_of(head.lever_id)
        seen = standing(
            head.content,
            design.scope,
            is_my_lever=bool(speaks_of) or not family.picked,
            superseded_by=state.superseded_by,
            flagged=state.flags > 0,
            archived=hit.row.archived_at is not None,
            aliases=aliases,
        )
        rows.append(BoardRow(hit.row, hit.why or family.sides.get(head.lever_id, ""), seen, state, speaks_of))
    return rows
